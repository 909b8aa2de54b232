//! The proposals, with the logarithms of their Hastings ratios: the density of the way back by that of the way there.

use super::chain::{Block, Chain};
use super::guided_spr::{OF_A_SUBTREE, likelihood_spr, parsimony_spr};
use super::lengths::LengthSet;
use super::parameters::Parameter;
use super::reference::{Coordinates, Learner};
use super::topology_moves::{AROUND, Swap, extending_spr, interchange, ln_weakness};
use super::undo::Undo;
use crate::likelihood::Result;
use crate::model::bounds::PINV_MAX;
use crate::parsimony::ParsimonyData;
use crate::rng::Rng;
use crate::tree::{EdgeId, NodeId, Tree};
use rand::RngExt;

/// A kind of proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// A branch length is multiplied.
    Branch,
    /// An inner node slides between two of its neighbours, whose distance is multiplied.
    NodeSlider,
    /// All branch lengths are multiplied.
    TreeLength,
    /// A nearest-neighbour interchange.
    Nni,
    /// An extending SPR.
    Espr,
    /// An SPR guided by parsimony.
    ParsimonySpr,
    /// An SPR guided by the likelihood.
    LikelihoodSpr,
    /// All parameters of a model and the tree length, by what was learned of them: those with this number in
    /// [`Coordinates::list`], which are of the partition with the other number.
    Together(usize, usize),
    /// A parameter.
    Parameter(Parameter),
}

/// What proposals are made with.
#[derive(Clone, Copy)]
pub(super) struct Means<'a> {
    pub(super) boldness: f64,
    /// The power to which the chain's posterior is raised.
    pub(super) heat: f64,
    /// The power to which the likelihood is raised in it.
    pub(super) data_heat: f64,
    /// What is changed together.
    pub(super) coordinates: &'a [Coordinates],
    /// What was learned of it.
    pub(super) learners: &'a [Learner],
    /// For moves that are guided by parsimony.
    pub(super) parsimony: Option<&'a ParsimonyData>,
    pub(super) prior_only: bool,
}

impl Move {
    /// All kinds for these parameters, with their weights: in this proportion they are proposed.
    pub(super) fn list(
        parameters: &[Parameter],
        coordinates: &[Coordinates],
        num_tips: usize,
        has_own_lengths: bool,
    ) -> Vec<(Move, f64)> {
        let mut moves =
            vec![(Move::Branch, 30.0), (Move::NodeSlider, 3.0), (Move::TreeLength, 1.0)];
        if num_tips > 3 {
            moves.extend([(Move::Nni, 20.0), (Move::Espr, 0.5)]);
            moves.push((Move::ParsimonySpr, 20.0));
            // It needs lengths that all partitions share, and as much time as ten others.
            moves.extend((!has_own_lengths).then_some((Move::LikelihoodSpr, 0.1)));
        }
        let together = coordinates.iter().enumerate();
        let weight = 0.6 + 5.4 / coordinates.len().max(1) as f64;
        moves.extend(together.map(|(number, one)| (Move::Together(number, one.gene), weight)));
        // Alone they serve where the distribution that was learned has too little weight.
        let weight = |parameter: Parameter| {
            let is_among = |one: &Coordinates| Some(one.gene) == parameter.gene();
            if coordinates.iter().any(is_among) { 0.5 } else { 1.0 }
        };
        moves.extend(parameters.iter().map(|&one| (Move::Parameter(one), weight(one))));
        moves
    }

    /// How many proposals of its kind are made in a row.
    pub(super) fn in_a_row(self) -> u32 {
        match self {
            // The vectors between two neighbouring branches are one: from one branch to a random one are many.
            Move::Branch => 8,
            // So are those around an interchange.
            Move::Nni => AROUND,
            // The vectors of the tree without the subtree are the same.
            Move::ParsimonySpr => OF_A_SUBTREE,
            // The vectors of the old parameters are not needed before the last proposal was refused.
            Move::Parameter(_) | Move::Together(..) => 4,
            _ => 1,
        }
    }

    /// True if a proposal of this kind is, or may be, the next of a block.
    pub(super) fn goes_on_with(self, block: Block) -> bool {
        match block {
            Block::None => true,
            Block::Branches(..) => self == Move::Branch,
            Block::Parameters(_) => self.is_of_parameters(),
            Block::Around(..) => matches!(self, Move::Nni | Move::Branch),
            Block::Subtree(..) => self == Move::ParsimonySpr,
        }
    }

    /// True if it changes parameters of models.
    pub(super) fn is_of_parameters(self) -> bool {
        matches!(self, Move::Parameter(_) | Move::Together(..))
    }

    /// True if it can be made yet.
    pub(super) fn is_ready(self, learners: &[Learner]) -> bool {
        !matches!(self, Move::Together(number, _) if learners[number].reference.is_none())
    }

    /// What it changes, in a word.
    pub(super) fn group(self) -> &'static str {
        match self {
            Move::Branch | Move::NodeSlider | Move::TreeLength => "lengths",
            Move::Nni | Move::Espr | Move::ParsimonySpr | Move::LikelihoodSpr => "topologies",
            Move::Together(..) | Move::Parameter(_) => "parameters",
        }
    }

    /// Its name in tables.
    pub(super) fn name(self) -> String {
        match self {
            Move::Branch => "branch length".to_string(),
            Move::NodeSlider => "node slider".to_string(),
            Move::TreeLength => "tree length".to_string(),
            Move::Nni => "NNI".to_string(),
            Move::Espr => "extending SPR".to_string(),
            Move::ParsimonySpr => "parsimony-guided SPR".to_string(),
            Move::LikelihoodSpr => "likelihood-guided SPR".to_string(),
            Move::Together(_, gene) => format!("all parameters {{{}}}", gene + 1),
            Move::Parameter(parameter) => {
                let name = match parameter {
                    Parameter::Rates(_) => "exchange rates",
                    Parameter::Freqs(_) => "frequencies",
                    Parameter::Kappa(_) => "kappa",
                    Parameter::Omega(_) => "omega",
                    Parameter::Alpha(_) => "alpha",
                    Parameter::Pinv(_) => "pinvar",
                    Parameter::FreeRates(_) => "free rates",
                    Parameter::FreeWeights(_) => "weights of free rates",
                    Parameter::Multipliers => "multipliers",
                };
                match parameter.gene() {
                    Some(gene) => format!("{name} {{{}}}", gene + 1),
                    None => name.to_string(),
                }
            }
        }
    }

    /// How bold it begins.
    pub(super) fn first_boldness(self) -> f64 {
        match self {
            Move::Branch | Move::NodeSlider => 1.5,
            Move::TreeLength | Move::Together(..) | Move::Parameter(Parameter::Alpha(_)) => 0.5,
            _ => 0.2,
        }
    }

    /// Changes the chain's state. Returns what takes it back and the logarithm of the Hastings ratio; `None` if there is
    /// nothing to propose.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn propose(self, chain: &mut Chain, means: &Means) -> Result<Option<(Undo, f64)>> {
        let boldness = means.boldness;
        let of_swaps = |(swaps, ln_ratio): (Vec<Swap>, f64)| {
            (!swaps.is_empty()).then_some((Undo::Swaps(swaps), ln_ratio))
        };
        Ok(match self {
            Move::Branch => multiply_branch(chain, boldness),
            Move::NodeSlider => slide_node(chain, boldness),
            Move::TreeLength => multiply_tree(chain, boldness),
            Move::Nni => of_swaps((interchange(chain), 0.0)),
            Move::Espr => of_swaps(extending_spr(chain)),
            Move::ParsimonySpr => {
                means.parsimony.and_then(|data| parsimony_spr(chain, data, means.data_heat))
            }
            Move::LikelihoodSpr => likelihood_spr(chain, means.prior_only, means.data_heat)?,
            Move::Together(number, _) => change_together(chain, number, means),
            Move::Parameter(parameter) => Some(change_parameter(chain, parameter, boldness)),
        })
    }
}

/// The logarithm of a factor: uniform in a window around 0. Its Hastings ratio is the factor.
fn ln_factor(rng: &mut Rng, boldness: f64) -> f64 {
    boldness * (rng.random::<f64>() - 0.5)
}

/// The branch whose length is to change: near that of a block of interchanges, which follows, or beside the last one, if a
/// block goes on, or any branch, with which one begins.
fn next_branch(chain: &mut Chain) -> Option<(LengthSet, EdgeId, Option<EdgeId>)> {
    let Chain { evaluator, rng, block, .. } = chain;
    let mut any_of = |edges: &[EdgeId]| edges[rng.random_range(0..edges.len())];
    let near = |tree: &Tree, edge: EdgeId| -> Vec<EdgeId> {
        tree.edges_within(edge, 1).into_iter().map(|(edge, _)| edge).collect()
    };
    let (set, edge, left) = match *block {
        Block::Around(center, left @ 1..) => {
            *block = Block::Around(center, left - 1);
            let mut around = near(evaluator.tree(), center);
            around.push(center);
            return Some((LengthSet::Shared, any_of(&around), Some(center)));
        }
        Block::Branches(set, last, left @ 1..) => {
            let beside = near(set.tree(evaluator), last);
            (set, if beside.is_empty() { last } else { any_of(&beside) }, left - 1)
        }
        _ => {
            let set = LengthSet::draw(evaluator, 2, rng)?;
            let number = set.tree(evaluator).num_edges() as u32;
            (set, EdgeId(rng.random_range(0..number)), Move::Branch.in_a_row() - 1)
        }
    };
    *block = Block::Branches(set, edge, left);
    Some((set, edge, None))
}

fn multiply_branch(chain: &mut Chain, boldness: f64) -> Option<(Undo, f64)> {
    let (set, edge, center) = next_branch(chain)?;
    let ln_factor = ln_factor(&mut chain.rng, boldness);
    let ln_chance = |chain: &Chain| center.map_or(0.0, |edge| ln_weakness(&chain.evaluator, edge));
    let before = set.tree(&chain.evaluator).brlen(edge);
    let chance_before = ln_chance(chain);
    // At the virtual root a length changes without any change of vectors.
    set.move_roots(&mut chain.evaluator, edge);
    set.set(&mut chain.evaluator, &[(edge, before * libm::exp(ln_factor))]);
    let ln_ratio = ln_factor + ln_chance(chain) - chance_before;
    Some((Undo::Lengths(set, vec![(edge, before)]), ln_ratio))
}

/// With m = a + b, m is multiplied by c and a drawn uniformly from (0, cm): the densities are 1/(wm') and 1/m' on the way
/// there, 1/(wm) and 1/m on the way back.
fn slide_node(chain: &mut Chain, boldness: f64) -> Option<(Undo, f64)> {
    let set = LengthSet::draw(&chain.evaluator, 3, &mut chain.rng)?;
    let Chain { evaluator, rng, .. } = chain;
    let tree = set.tree(evaluator);
    let num_inner = tree.num_nodes() - tree.num_tips();
    let node = NodeId((tree.num_tips() + rng.random_range(0..num_inner)) as u32);
    let edges: Vec<EdgeId> = tree.links(node).map(|link| link.1).collect();
    let left_out = rng.random_range(0..edges.len());
    let edges = [edges[(left_out + 1) % 3], edges[(left_out + 2) % 3]];
    let before = edges.map(|edge| tree.brlen(edge));
    let ln_factor = ln_factor(rng, boldness);
    let both = (before[0] + before[1]) * libm::exp(ln_factor);
    let first = rng.random::<f64>() * both;
    set.move_roots(evaluator, edges[0]);
    set.set(evaluator, &[(edges[0], first), (edges[1], both - first)]);
    let undo = Undo::Lengths(set, edges.into_iter().zip(before).collect());
    Some((undo, 2.0 * ln_factor))
}

fn multiply_tree(chain: &mut Chain, boldness: f64) -> Option<(Undo, f64)> {
    let set = LengthSet::draw(&chain.evaluator, 2, &mut chain.rng)?;
    let ln_factor = ln_factor(&mut chain.rng, boldness);
    let before = multiply_lengths(set, chain, libm::exp(ln_factor));
    let ln_ratio = ln_factor * before.len() as f64;
    Some((Undo::Lengths(set, before), ln_ratio))
}

/// Multiplies all lengths of a set. Returns those of before.
fn multiply_lengths(set: LengthSet, chain: &mut Chain, factor: f64) -> Vec<(EdgeId, f64)> {
    let tree = set.tree(&chain.evaluator);
    let before: Vec<(EdgeId, f64)> = tree.edges().map(|edge| (edge, tree.brlen(edge))).collect();
    let changed: Vec<(EdgeId, f64)> = before.iter().map(|&(edge, b)| (edge, b * factor)).collect();
    set.set(&mut chain.evaluator, &changed);
    before
}

fn change_parameter(chain: &mut Chain, parameter: Parameter, boldness: f64) -> (Undo, f64) {
    let shares = parameter.shares(&chain.models, &chain.evaluator);
    let moved = shares.map(|shares| slide_between_two(shares, boldness, &mut chain.rng));
    let Some(gene) = parameter.gene() else {
        return (set_multipliers(chain, &moved.expect("multipliers are shares")), 0.0);
    };
    let before = chain.models[gene].clone();
    let mut ln_ratio = 0.0;
    match moved {
        Some(shares) => parameter.set_shares(&mut chain.models[gene], &shares),
        None => {
            let value = parameter.number(&chain.models).expect("a number");
            let value = match parameter {
                Parameter::Alpha(_) => {
                    ln_ratio = ln_factor(&mut chain.rng, boldness);
                    value * libm::exp(ln_ratio)
                }
                _ => slide(value, PINV_MAX, boldness, &mut chain.rng),
            };
            parameter.set_number(&mut chain.models[gene], value);
        }
    }
    chain.show_model(gene);
    (Undo::Model(gene, Box::new(before), Vec::new()), ln_ratio)
}

fn change_together(chain: &mut Chain, number: usize, means: &Means) -> Option<(Undo, f64)> {
    let coordinates = &means.coordinates[number];
    let reference = means.learners[number].reference.as_ref()?;
    let (from, ln_jacobian) = coordinates.of(chain)?;
    let (to, ln_ratio) = reference.propose(&from, means.boldness, means.heat, &mut chain.rng);
    let gene = coordinates.gene;
    let before = chain.models[gene].clone();
    let mut lengths = Vec::new();
    if let Some(length) = coordinates.set(&to, &mut chain.models[gene]) {
        let set = LengthSet::of_gene(&chain.evaluator, gene);
        let factor = length / set.tree(&chain.evaluator).total_length();
        lengths = multiply_lengths(set, chain, factor);
    }
    chain.show_model(gene);
    let undo = Undo::Model(gene, Box::new(before), lengths);
    // What cannot be written as such a vector has no density.
    let after = coordinates.of(chain).map_or(f64::NEG_INFINITY, |after| after.1);
    Some((undo, ln_ratio + after - ln_jacobian))
}

/// Moves part of one share to another; the reverse has the same density.
fn slide_between_two(mut shares: Vec<f64>, boldness: f64, rng: &mut Rng) -> Vec<f64> {
    let first = rng.random_range(0..shares.len());
    let second = (first + rng.random_range(1..shares.len())) % shares.len();
    let both = shares[first] + shares[second];
    shares[first] = slide(shares[first], both, boldness, rng);
    shares[second] = both - shares[first];
    shares
}

/// A number in a window of width `boldness`, at most twice the largest number, around another, reflected at 0 and `most`.
fn slide(from: f64, most: f64, boldness: f64, rng: &mut Rng) -> f64 {
    let width = boldness.min(2.0 * most);
    let to = (from + width * (rng.random::<f64>() - 0.5)).abs();
    if to > most { 2.0 * most - to } else { to }
}

/// A partition's multiplier is its share in all substitutions by its share in all sites.
fn set_multipliers(chain: &mut Chain, shares: &[f64]) -> Undo {
    let evaluator = &mut chain.evaluator;
    let before = (0..evaluator.num_genes()).map(|gene| evaluator.brlen_scaler(gene)).collect();
    let sites: f64 = (0..evaluator.num_genes()).map(|gene| evaluator.num_sites_of(gene)).sum();
    for (gene, share) in shares.iter().enumerate() {
        let scaler = share * sites / evaluator.num_sites_of(gene);
        evaluator.set_brlen_scaler(gene, scaler);
    }
    Undo::Scalers(before)
}
