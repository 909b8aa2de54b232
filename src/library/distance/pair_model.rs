//! [`PairModel`]: the likelihood of two sequences as a function of their distance, in as few numbers as possible.
//!
//! The sites of a pair fall into *classes*, one for each unordered pair of characters that both sequences know. Under a
//! reversible model with the eigenvalues λ_k and the rate categories (r_c, w_c), the probability of class x at distance t is
//!
//! ```text
//! p_x(t) = p_x(0) + Σ_k C[x][k] h_k(t),      h_k(t) = Σ_c w_c (exp(λ_k r_c t) - 1)
//! ```
//!
//! with p_x(0) the probability of equal states and C[x][k] = Σ π_i V[i][k] V⁻¹[k][j] over the states that the characters
//! stand for (Felsenstein 1981, J. Mol. Evol. 17:368). Under continuous gamma rates of shape a, exp(λt) is replaced by its
//! mean (1 - λt/a)^-a. Equal eigenvalues are one term, so F84 has two and Jukes-Cantor one.

use super::pair_tables::PartitionTables;
use crate::alphabet::DataType;
use crate::model::{EigenModel, Model, RateCats};
use mlsearch_kernels::elementary::{exp_minus_one_of, ln_of};

/// Relative difference below which eigenvalues are equal, and probabilities proportional.
const EQUAL: f64 = 1e-12;

/// "No class": one of the characters says nothing.
pub(super) const NO_CLASS: u32 = u32::MAX;

/// The classes of pairs of different nucleotides that bit planes count, after those of equal ones (A, C, G, T): A-G,
/// C-T, then the transversions A-C, A-T, C-G, G-T.
const DNA_PAIRS: [(usize, usize); 6] = [(0, 2), (1, 3), (0, 1), (0, 3), (1, 2), (2, 3)];

/// Number of classes of determined nucleotides.
pub(super) const DNA_CLASSES: usize = 10;

/// How the terms change with distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Decay {
    /// exp(λt) in every category.
    Exponential,
    /// Its mean over a gamma distribution of this shape.
    Gamma(f64),
}

/// One h_k: an eigenvalue with the (rate, weight) of the categories.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Term {
    pub(super) eigenvalue: f64,
    pub(super) cats: Vec<(f64, f64)>,
}

/// The likelihood of a pair of sequences in one partition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PairModel {
    pub(super) decay: Decay,
    pub(super) terms: Vec<Term>,
    /// `[class]`: probability at distance 0.
    pub(super) at_zero: Vec<f64>,
    /// `[class][term]`.
    pub(super) coefficients: Vec<f64>,
    /// Share of sites that differ between sequences without any relation: from it, a search for the distance begins.
    pub(super) saturation: f64,
    /// (a, b): of sequences whose distance would be u after their share of different sites if all changes were of one kind
    /// (Felsenstein 1981), the distance is about u (1 + a u + b u²).
    pub(super) bends: [f64; 2],
    /// All transversions are one class.
    pub(super) joins_transversions: bool,
}

/// Which class the sites with two characters belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Classes {
    num_codes: usize,
    /// `[code][code]`.
    of_codes: Vec<u32>,
    /// `[class]`: the state sets of its characters.
    masks: Vec<(u64, u64)>,
}

impl Classes {
    /// The classes of these codes; for DNA those that bit planes count come first.
    pub(super) fn new(data_type: DataType, code_masks: &[u64]) -> Self {
        let num_codes = code_masks.len();
        let any = code_masks[usize::from(data_type.undetermined())];
        let mut classes = Classes {
            num_codes,
            of_codes: vec![NO_CLASS; num_codes * num_codes],
            masks: Vec::new(),
        };
        if data_type == DataType::Dna {
            let code = |state: usize| usize::from(data_type.code_of_state(state));
            let equal = (0..4).map(|state| (state, state));
            for (a, b) in equal.chain(DNA_PAIRS) {
                classes.add(code(a), code(b), code_masks);
            }
        }
        let says_something = |code: &usize| code_masks[*code] != 0 && code_masks[*code] != any;
        for a in (0..num_codes).filter(says_something) {
            for b in (a..num_codes).filter(says_something) {
                classes.add(a, b, code_masks);
            }
        }
        classes
    }

    fn add(&mut self, a: usize, b: usize, code_masks: &[u64]) {
        if self.of_codes[a * self.num_codes + b] == NO_CLASS {
            let class = self.masks.len() as u32;
            self.of_codes[a * self.num_codes + b] = class;
            self.of_codes[b * self.num_codes + a] = class;
            self.masks.push((code_masks[a], code_masks[b]));
        }
    }

    /// The class of two characters.
    #[inline(always)]
    pub(super) fn of(&self, a: u16, b: u16) -> u32 {
        self.of_codes[usize::from(a) * self.num_codes + usize::from(b)]
    }

    pub(super) fn len(&self) -> usize {
        self.masks.len()
    }

    pub(super) fn num_codes(&self) -> usize {
        self.num_codes
    }

    /// `[code][code]`.
    pub(super) fn table(&self) -> &[u32] {
        &self.of_codes
    }

    /// The state sets of a class.
    pub(super) fn masks(&self, class: usize) -> (u64, u64) {
        self.masks[class]
    }
}

impl PairModel {
    /// The model at its current parameters; with `gamma`, the rates are gamma-distributed with this shape instead of
    /// those of the model's categories.
    pub(super) fn new(model: &Model, gamma: Option<f64>, classes: &Classes) -> Self {
        let cats = model.rate_cats();
        let eigens = model.eigen_models();
        let mut builder = Builder { terms: Vec::new(), joints: Vec::new() };
        match eigens.as_slice() {
            [one] => builder.add(one, one_rate_or_all(&cats, gamma), 1.0),
            many => {
                for (matrix, eigen) in many.iter().enumerate() {
                    // The weight of a matrix is in its coefficients.
                    let (own, weight) = of_matrix(&cats, matrix);
                    let rates = match gamma {
                        Some(_) => vec![(own.rates[0], 1.0)],
                        None => one_rate_or_all(&own, None),
                    };
                    builder.add(eigen, rates, weight);
                }
            }
        }
        let n = model.num_states();
        let total = |state: usize| -> f64 {
            match eigens.as_slice() {
                [one] => one.freqs[state],
                many => {
                    let variable = cats.matrices.iter().zip(&cats.weights);
                    let variable: f64 =
                        variable.map(|(&matrix, w)| w * many[matrix].freqs[state]).sum();
                    // Sites that cannot vary have the frequencies of the model.
                    variable + cats.pinv * model.freqs[state]
                }
            }
        };
        let freqs: Vec<f64> = (0..n).map(total).collect();
        builder.merge_equal_eigenvalues();
        let num_terms = builder.terms.len();
        let mut at_zero = Vec::with_capacity(classes.len());
        let mut coefficients = Vec::with_capacity(classes.len() * num_terms);
        for class in 0..classes.len() {
            let (a, b) = classes.masks(class);
            let states = |mask: u64| (0..n).filter(move |state| mask >> state & 1 == 1);
            at_zero.push(states(a & b).map(|state| freqs[state]).sum());
            for joint in &builder.joints {
                let pairs = states(a).flat_map(|i| states(b).map(move |j| (i, j)));
                coefficients
                    .push(pairs.map(|(i, j)| 0.5 * (joint[i * n + j] + joint[j * n + i])).sum());
            }
        }
        let decay = gamma.map_or(Decay::Exponential, Decay::Gamma);
        let saturation = 1.0 - freqs.iter().map(|freq| freq * freq).sum::<f64>();
        let mut model = PairModel {
            decay,
            terms: builder.terms,
            at_zero,
            coefficients,
            saturation,
            bends: [0.0; 2],
            joins_transversions: false,
        };
        model.bends = model.find_bends(classes);
        model.joins_transversions = n == 4 && model.has_proportional_transversions();
        model
    }

    /// The model as plain lists.
    pub(super) fn tables(&self) -> PartitionTables {
        let numbers = |term: &Term| -> Vec<[f64; 5]> {
            let of_cat = |&(rate, weight): &(f64, f64)| {
                let slope = term.eigenvalue * rate;
                let bend = weight * slope * slope;
                [slope, weight, weight * slope, bend, bend * slope]
            };
            term.cats.iter().map(of_cat).collect()
        };
        PartitionTables {
            at_zero: self.at_zero.clone(),
            coefficients: self.coefficients.clone(),
            cats: self.terms.iter().flat_map(numbers).collect(),
            num_terms: self.terms.len(),
            saturation: self.saturation,
            bends: self.bends,
            gamma: match self.decay {
                Decay::Exponential => None,
                Decay::Gamma(shape) => Some(shape),
            },
            joins_transversions: self.joins_transversions,
            ..PartitionTables::default()
        }
    }

    /// The coefficients of a class.
    #[inline(always)]
    pub(super) fn row(&self, class: usize) -> &[f64] {
        &self.coefficients[class * self.terms.len()..][..self.terms.len()]
    }

    /// See [`PairModel::bends`]: so that it is right at two distances.
    fn find_bends(&self, classes: &Classes) -> [f64; 2] {
        let is_equal = |class: &usize| {
            let (a, b) = classes.masks(*class);
            a == b && a.is_power_of_two()
        };
        let [(near, bend_near), (far, bend_far)] = [0.1, 0.6].map(|t| {
            let changes = |term: &Term| -> f64 {
                let mean = |&(rate, weight): &(f64, f64)| {
                    let x = term.eigenvalue * rate * t;
                    let value = match self.decay {
                        Decay::Exponential => exp_minus_one_of(x),
                        Decay::Gamma(shape) => exp_minus_one_of(-shape * ln_of(1.0 - x / shape)),
                    };
                    weight * value
                };
                term.cats.iter().map(mean).sum()
            };
            let changes: Vec<f64> = self.terms.iter().map(changes).collect();
            let of_class = |class: usize| -> f64 {
                self.row(class).iter().zip(&changes).map(|(x, change)| x * change).sum()
            };
            let differ: f64 = (0..self.at_zero.len()).filter(is_equal).map(of_class).sum();
            let simple = -self.saturation * ln_of(1.0 + differ / self.saturation);
            (simple, (t / simple - 1.0) / simple)
        });
        let slope = (bend_far - bend_near) / (far - near);
        let bends = [slope.mul_add(-near, bend_near), slope];
        if bends.iter().all(|bend| bend.is_finite()) { bends } else { [0.0; 2] }
    }

    /// True if the probabilities of all transversions have the same ratios at any distance: then only their number counts.
    fn has_proportional_transversions(&self) -> bool {
        let first = self.row(6);
        let scale = first.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let pivot = first.iter().position(|x| x.abs() == scale).unwrap_or(0);
        (7..DNA_CLASSES).all(|class| {
            let row = self.row(class);
            let ratio = row[pivot] / first[pivot];
            let close =
                |(x, y): (&f64, &f64)| (x * ratio - y).abs() <= EQUAL * (scale * ratio).abs();
            first.iter().zip(row).all(close)
        })
    }
}

/// The categories with this matrix, with weights that sum to 1, and the sum of their weights.
fn of_matrix(cats: &RateCats, matrix: usize) -> (RateCats, f64) {
    let own: Vec<usize> =
        (0..cats.rates.len()).filter(|&cat| cats.matrices[cat] == matrix).collect();
    let weight: f64 = own.iter().map(|&cat| cats.weights[cat]).sum();
    let share = |&cat: &usize| if weight > 0.0 { cats.weights[cat] / weight } else { 0.0 };
    let own = RateCats {
        rates: own.iter().map(|&cat| cats.rates[cat]).collect(),
        weights: own.iter().map(share).collect(),
        matrices: vec![0; own.len()],
        pinv: 0.0,
    };
    (own, weight)
}

/// The categories of a model with one matrix; continuous rates are those of the variable sites.
fn one_rate_or_all(cats: &RateCats, gamma: Option<f64>) -> Vec<(f64, f64)> {
    match gamma {
        Some(_) => vec![(1.0 / (1.0 - cats.pinv), 1.0 - cats.pinv)],
        None => cats.rates.iter().copied().zip(cats.weights.iter().copied()).collect(),
    }
}

/// Terms with the joint probabilities `[i][j]` that they contribute.
struct Builder {
    terms: Vec<Term>,
    joints: Vec<Vec<f64>>,
}

impl Builder {
    /// The terms of a matrix; that of eigenvalue 0 never changes.
    fn add(&mut self, eigen: &EigenModel, cats: Vec<(f64, f64)>, weight: f64) {
        let n = eigen.num_states;
        for k in 1..n {
            let joint = |i: usize, j: usize| {
                weight
                    * eigen.freqs[i]
                    * eigen.eigenvecs[i * n + k]
                    * eigen.inv_eigenvecs[k * n + j]
            };
            self.joints.push((0..n * n).map(|at| joint(at / n, at % n)).collect());
            self.terms.push(Term { eigenvalue: eigen.eigenvals[k], cats: cats.clone() });
        }
    }

    fn merge_equal_eigenvalues(&mut self) {
        let (terms, joints) = (std::mem::take(&mut self.terms), std::mem::take(&mut self.joints));
        for (term, joint) in terms.into_iter().zip(joints) {
            let equal = |other: &Term| {
                let difference = (other.eigenvalue - term.eigenvalue).abs();
                difference <= EQUAL * term.eigenvalue.abs() && other.cats == term.cats
            };
            match self.terms.iter().position(equal) {
                Some(at) => {
                    self.joints[at].iter_mut().zip(&joint).for_each(|(sum, more)| *sum += more)
                }
                None => {
                    self.terms.push(term);
                    self.joints.push(joint);
                }
            }
        }
    }
}
