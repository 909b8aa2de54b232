//! [`TopologyTest`]: the tests, their names and their sources.

/// A test, or a measure, of the trees of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopologyTest {
    /// The share of the replicates in which the tree is the best one (Kishino, Miyata & Hasegawa 1990, J. Mol. Evol.
    /// 31:151); trees that are equally good share it.
    Bp,
    /// Against the best of the other trees, one-sided (Kishino & Hasegawa 1989, J. Mol. Evol. 29:170). Right only if
    /// the trees were not chosen by their likelihood.
    Kh,
    /// Against the best tree, corrected for the choice of the best of all (Shimodaira & Hasegawa 1999, Mol. Biol.
    /// Evol. 16:1114). Conservative if there are many trees.
    Sh,
    /// As `Kh`, against the tree with the greatest difference in its standard deviations.
    Wkh,
    /// As `Sh`, with all differences in their standard deviations (Shimodaira 2002, Syst. Biol. 51:492).
    Wsh,
    /// The expected likelihood weight (Strimmer & Rambaut 2002, Proc. R. Soc. B 269:137); the weights sum to 1.
    Elw,
    /// The approximately unbiased test (Shimodaira 2002, Syst. Biol. 51:492).
    Au,
}

impl TopologyTest {
    /// All tests, in the order in which they are shown.
    pub const ALL: [TopologyTest; 7] = [
        TopologyTest::Bp,
        TopologyTest::Kh,
        TopologyTest::Sh,
        TopologyTest::Wkh,
        TopologyTest::Wsh,
        TopologyTest::Elw,
        TopologyTest::Au,
    ];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            TopologyTest::Bp => "bp",
            TopologyTest::Kh => "kh",
            TopologyTest::Sh => "sh",
            TopologyTest::Wkh => "wkh",
            TopologyTest::Wsh => "wsh",
            TopologyTest::Elw => "elw",
            TopologyTest::Au => "au",
        }
    }

    /// The head of its column: p-values are named `p`.
    pub fn title(self) -> &'static str {
        match self {
            TopologyTest::Bp => "bp-RELL",
            TopologyTest::Kh => "p-KH",
            TopologyTest::Sh => "p-SH",
            TopologyTest::Wkh => "p-WKH",
            TopologyTest::Wsh => "p-WSH",
            TopologyTest::Elw => "c-ELW",
            TopologyTest::Au => "p-AU",
        }
    }

    /// True if the values of all trees sum to 1, so that the confidence set is that of the highest values.
    pub(super) fn is_share(self) -> bool {
        matches!(self, TopologyTest::Bp | TopologyTest::Elw)
    }

    /// True if it needs the standard deviations of all differences.
    pub(super) fn is_weighted(self) -> bool {
        matches!(self, TopologyTest::Wkh | TopologyTest::Wsh)
    }
}
