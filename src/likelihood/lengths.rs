//! All branch lengths at once: bounds, factors, starts, averages.

use super::BRLEN_BOUNDS;
use super::evaluator::{BrlenLinkage, Evaluator};
use super::gene_state::GeneState;
use crate::tree::{EdgeId, Tree, to_length_grid};

/// How much longer a branch is, the data hardly tell.
const SATURATED: f64 = 1.0;

impl Evaluator {
    /// Lifts and cuts all lengths to [`BRLEN_BOUNDS`]: the global ones, and when unlinked the genes' own.
    /// Says how many global lengths were lifted and cut.
    pub fn clamp_brlens(&mut self) -> (usize, usize) {
        let [min, max] = BRLEN_BOUNDS.map(to_length_grid);
        let changed = self.tree.clamp_brlens(min, max);
        if changed != (0, 0) {
            self.distances_valid = false;
            self.update_restrictions();
        }
        if self.linkage == BrlenLinkage::Unlinked {
            let is_outside = |state: &&mut GeneState| {
                let tree = state.tree.tree();
                tree.edges().any(|edge| !(min..=max).contains(&tree.brlen(edge)))
            };
            for state in self.genes.iter_mut().filter(is_outside) {
                state.change_own_brlens(|length, _| length);
            }
        }
        changed
    }

    /// Multiplies every length by `factor`, within [`BRLEN_BOUNDS`]: the global ones, and when unlinked the
    /// genes' own.
    pub fn scale_brlens(&mut self, factor: f64) {
        self.change_brlens(|length, _| factor * length);
    }

    /// Gives all branches to tips one length and all others one, in units of the mean of the lengths as
    /// they are: of the global tree, and when unlinked of each gene's.
    pub fn start_brlens(&mut self, tip: f64, inner: f64) {
        fn length(tree: &Tree, tip: f64, inner: f64) -> impl Fn(f64, bool) -> f64 + use<> {
            let mean = mean_brlen(tree);
            move |_, is_tip| mean * if is_tip { tip } else { inner }
        }
        let of_tree = length(&self.tree, tip, inner);
        change_brlens(&mut self.tree, of_tree);
        self.distances_valid = false;
        self.update_restrictions();
        if self.linkage == BrlenLinkage::Unlinked {
            for state in &mut self.genes {
                let of_gene = length(state.tree.tree(), tip, inner);
                state.change_own_brlens(of_gene);
            }
        }
    }

    /// Every length from what it is and whether its branch leads to a tip, within [`BRLEN_BOUNDS`].
    fn change_brlens(&mut self, length: impl Fn(f64, bool) -> f64) {
        change_brlens(&mut self.tree, &length);
        self.distances_valid = false;
        self.update_restrictions();
        if self.linkage == BrlenLinkage::Unlinked {
            self.genes.iter_mut().for_each(|state| state.change_own_brlens(&length));
        }
    }

    /// Multiplies a gene's lengths by its scaler, within [`BRLEN_BOUNDS`]; the scaler is 1 from now on.
    ///
    /// # Panics
    /// If other genes share the lengths.
    pub fn absorb_brlen_scaler(&mut self, gene: usize) {
        let scaler = self.brlen_scaler(gene);
        self.set_brlen_scaler(gene, 1.0);
        if self.linkage == BrlenLinkage::Unlinked {
            self.genes[gene].change_own_brlens(|length, _| scaler * length);
        } else {
            assert_eq!(self.genes.len(), 1, "genes that share their lengths");
            self.scale_brlens(scaler);
        }
    }

    /// Under unlinked lengths: sets each global length to the mean, weighted by sites, over the genes
    /// whose induced edge contains it, of that edge's length divided by the number of global edges
    /// on it. Edges on no gene's path keep their length; they are returned.
    pub fn average_brlens(&mut self) -> Vec<EdgeId> {
        let mut undetermined = Vec::new();
        let mut shares: Vec<Vec<f64>> = Vec::new();
        for state in &self.genes {
            let restriction = &self.restrictions[state.set];
            let mut count = vec![0.0; state.tree.tree().num_edges()];
            if restriction.taxa().len() >= 2 {
                for edge in self.tree.edges().filter(|&edge| restriction.is_on_path(edge)) {
                    count[restriction.image(edge).edge.index()] += 1.0;
                }
            }
            shares.push(
                state
                    .tree
                    .tree()
                    .edges()
                    .zip(count)
                    .map(|(e, n)| state.tree.tree().brlen(e) / n)
                    .collect(),
            );
        }
        for edge in self.tree.edges() {
            let (mut sum, mut sites) = (0.0, 0.0);
            for (state, shares) in self.genes.iter().zip(&shares) {
                let restriction = &self.restrictions[state.set];
                if restriction.taxa().len() >= 2 && restriction.is_on_path(edge) {
                    sum += state.num_sites * shares[restriction.image(edge).edge.index()];
                    sites += state.num_sites;
                }
            }
            if sites > 0.0 {
                self.tree.set_brlen(edge, sum / sites);
            } else {
                undetermined.push(edge);
            }
        }
        undetermined
    }
}

impl GeneState {
    /// Changes the gene's own lengths, within [`BRLEN_BOUNDS`].
    pub(super) fn change_own_brlens(&mut self, length: impl Fn(f64, bool) -> f64) {
        let mut tree = self.tree.tree().clone();
        change_brlens(&mut tree, length);
        for edge in tree.edges() {
            if self.tree.set_brlen(edge, tree.brlen(edge)) {
                self.lnl = None;
            }
        }
    }
}

fn change_brlens(tree: &mut Tree, length: impl Fn(f64, bool) -> f64) {
    let [min, max] = BRLEN_BOUNDS.map(to_length_grid);
    for edge in tree.edges() {
        let is_tip = tree.ends(edge).iter().any(|&end| tree.is_tip(end));
        let length = length(tree.brlen(edge), is_tip).clamp(min, max);
        tree.set_brlen(edge, length);
    }
}

/// Mean length; a saturated branch counts as one of [`SATURATED`].
fn mean_brlen(tree: &Tree) -> f64 {
    let sum: f64 = tree.edges().map(|edge| tree.brlen(edge).min(SATURATED)).sum();
    sum / tree.num_edges().max(1) as f64
}
