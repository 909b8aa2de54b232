//! Which distances between trees there are.

/// A distance between two trees over the same taxa.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TreeMetric {
    /// Number of splits in one of the two trees only (Robinson & Foulds 1981, Math. Biosci. 53:131).
    RobinsonFoulds,
    /// Sum over all splits, also those of single tips, of the absolute difference of the branch lengths, where a split
    /// that a tree does not have counts with length 0 (Robinson & Foulds 1979, Lect. Notes Math. 748:119).
    Weighted,
    /// Branch score: the root of the sum of the squares of these differences (Kuhner & Felsenstein 1994,
    /// Mol. Biol. Evol. 11:459).
    BranchScore,
    /// Number of sets of four taxa whose relationships differ, also where they are resolved in one of the trees only
    /// (Estabrook, McMorris & Meacham 1985, Syst. Zool. 34:193).
    Quartet,
}

impl TreeMetric {
    /// All of them, in the order in which they are shown.
    pub const ALL: [TreeMetric; 4] = [
        TreeMetric::RobinsonFoulds,
        TreeMetric::Weighted,
        TreeMetric::BranchScore,
        TreeMetric::Quartet,
    ];

    /// Its name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            TreeMetric::RobinsonFoulds => "rf",
            TreeMetric::Weighted => "wrf",
            TreeMetric::BranchScore => "kf",
            TreeMetric::Quartet => "quartet",
        }
    }

    /// Its name for readers.
    pub fn description(self) -> &'static str {
        match self {
            TreeMetric::RobinsonFoulds => "Robinson-Foulds distance",
            TreeMetric::Weighted => "weighted Robinson-Foulds distance",
            TreeMetric::BranchScore => "branch score distance",
            TreeMetric::Quartet => "quartet distance",
        }
    }

    /// True if every branch needs a length.
    pub fn needs_lengths(self) -> bool {
        matches!(self, TreeMetric::Weighted | TreeMetric::BranchScore)
    }

    /// The largest distance of two trees of so many tips, where there is one by which distances are divided: 2(n-3)
    /// splits, and all sets of four tips.
    pub fn most(self, num_tips: usize) -> Option<f64> {
        match self {
            TreeMetric::RobinsonFoulds => Some(2.0 * num_tips.saturating_sub(3) as f64),
            TreeMetric::Quartet => Some(super::quartets::num_quartets(num_tips) as f64),
            TreeMetric::Weighted | TreeMetric::BranchScore => None,
        }
    }

    /// A distance divided by the largest one; 0 where trees cannot differ, `None` where there is no largest one.
    pub fn relative(self, distance: f64, num_tips: usize) -> Option<f64> {
        self.most(num_tips).map(|most| if most == 0.0 { 0.0 } else { distance / most })
    }
}
