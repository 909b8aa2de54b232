//! Prior densities of the branch lengths of an unrooted tree.

use crate::numeric::Gamma;
use crate::tree::{EdgeId, Tree};

/// Shortest and longest branch length that is sampled (substitutions per site): those of MrBayes.
const BRLEN_LIMITS: [f64; 2] = [1e-8, 100.0];

/// The prior of the branch lengths of an unrooted tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BrlenPrior {
    /// The tree length has a gamma distribution of this shape and rate; the shares of the branches in it have a Dirichlet
    /// distribution with the parameter `alpha` for terminal branches and `alpha * ratio` for inner ones (Rannala, Zhu &
    /// Yang 2012, Mol. Biol. Evol. 29:325).
    GammaDirichlet {
        /// Shape of the gamma distribution of the tree length.
        shape: f64,
        /// Its rate.
        rate: f64,
        /// Parameter of the Dirichlet distribution.
        alpha: f64,
        /// Of inner branches in proportion to terminal ones.
        ratio: f64,
    },
    /// Every branch has an exponential distribution with this rate.
    Exponential {
        /// The rate, the inverse of the mean.
        rate: f64,
    },
    /// Every branch has a uniform distribution between these lengths.
    Uniform {
        /// The shortest one.
        from: f64,
        /// The longest one.
        to: f64,
    },
}

impl Default for BrlenPrior {
    /// That of MrBayes 3.2.
    fn default() -> Self {
        BrlenPrior::GammaDirichlet { shape: 1.0, rate: 0.1, alpha: 1.0, ratio: 1.0 }
    }
}

impl BrlenPrior {
    /// As it is typed.
    pub fn describe(&self) -> String {
        match self {
            BrlenPrior::GammaDirichlet { shape, rate, alpha, ratio } => {
                format!("gammadir{{{shape}/{rate}/{alpha}/{ratio}}}")
            }
            BrlenPrior::Exponential { rate } => format!("exp{{{rate}}}"),
            BrlenPrior::Uniform { from, to } => format!("uni{{{from}/{to}}}"),
        }
    }

    /// Shortest and longest branch with a density.
    fn limits(&self) -> [f64; 2] {
        let [least, most] = BRLEN_LIMITS;
        match *self {
            BrlenPrior::Uniform { from, to } => [least.max(from), most.min(to)],
            _ => BRLEN_LIMITS,
        }
    }

    /// Gives all branches lengths with a density.
    pub fn admit(&self, tree: &mut Tree) {
        let [least, most] = self.limits();
        for edge in tree.edges() {
            let length = tree.brlen(edge);
            if !(least..=most).contains(&length) {
                let inside = 0.01 * (most - least);
                tree.set_brlen(edge, length.clamp(least + inside, most - inside));
            }
        }
    }

    /// Shape and rate of the gamma density nearest to that of the length of one branch, given the others.
    pub(super) fn of_branch(&self, tree: &Tree, edge: EdgeId) -> Gamma {
        match *self {
            // As good as any where the data say nothing: an integral is needed.
            BrlenPrior::Uniform { to, .. } => Gamma { shape: 1.0, rate: 1.0 / to },
            BrlenPrior::Exponential { rate } => Gamma { shape: 1.0, rate },
            BrlenPrior::GammaDirichlet { shape, rate, alpha, ratio } => {
                let own = |edge| alpha * if tree.is_terminal(edge) { 1.0 } else { ratio };
                let (mut sum, mut others) = (0.0, 0.0);
                for one in tree.edges() {
                    sum += own(one);
                    others += if one == edge { 0.0 } else { tree.brlen(one) };
                }
                // The tree length counts with the power of shape - sum.
                let of_total = (sum - shape) / others.max(0.1);
                Gamma { shape: own(edge), rate: rate + of_total }
            }
        }
    }

    /// Natural logarithm of the density of all branch lengths; minus infinity outside the limits.
    pub(super) fn ln_density(&self, tree: &Tree) -> f64 {
        let [least, most] = self.limits();
        if tree.edges().any(|edge| !(least..=most).contains(&tree.brlen(edge))) {
            return f64::NEG_INFINITY;
        }
        match *self {
            BrlenPrior::Uniform { .. } => -(tree.num_edges() as f64) * libm::log(most - least),
            BrlenPrior::Exponential { rate } => {
                tree.num_edges() as f64 * libm::log(rate) - rate * tree.total_length()
            }
            BrlenPrior::GammaDirichlet { shape, rate, alpha, ratio } => {
                let total = tree.total_length();
                let ln_gammas = [alpha, alpha * ratio].map(libm::lgamma);
                let (mut sum, mut ln_shares) = (0.0, 0.0);
                for edge in tree.edges() {
                    let is_inner = !tree.is_terminal(edge);
                    let own = if is_inner { alpha * ratio } else { alpha };
                    sum += own;
                    ln_shares -= ln_gammas[usize::from(is_inner)];
                    if own != 1.0 {
                        ln_shares += (own - 1.0) * libm::log(tree.brlen(edge) / total);
                    }
                }
                let ln_total = shape * libm::log(rate) - libm::lgamma(shape)
                    + (shape - 1.0) * libm::log(total)
                    - rate * total;
                // From the shares and the length of the tree to the lengths of the branches.
                let ln_jacobian = -((tree.num_edges() - 1) as f64) * libm::log(total);
                ln_total + libm::lgamma(sum) + ln_shares + ln_jacobian
            }
        }
    }
}
