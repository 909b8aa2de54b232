//! The kinds of proposals; those of parameters, with the logarithms of their Hastings ratios: the density of the way back by
//! that of the way there.

use super::chain::{Block, Chain};
use super::guided_spr::{OF_A_SUBTREE, likelihood_spr, parsimony_spr};
use super::guided_tbr::parsimony_tbr;
use super::length_moves::{
    BRANCHES, draw_branch, ln_factor, multiply_branch, multiply_lengths, multiply_tree, slide_node,
};
use super::lengths::LengthSet;
use super::parameters::Parameter;
use super::proposal::{Proposal, Swap, Undo};
use super::proposal_context::ProposalContext;
use super::reference::{Coordinates, Learner};
use super::topology_moves::{AROUND, extending_spr, extending_tbr, interchange, local};
use crate::likelihood::Result;
use crate::model::bounds::PINV_MAX;
use crate::rng::Rng;
use rand::RngExt;

/// Share of the changes of single lengths that are draws by their densities.
const DRAWN: f64 = 0.8;

/// A kind of proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// A branch length is multiplied.
    Branch,
    /// A branch length is drawn by its density, given all others.
    DrawBranch,
    /// An inner node slides between two of its neighbours, whose distance is multiplied.
    NodeSlider,
    /// All branch lengths are multiplied.
    TreeLength,
    /// A nearest-neighbour interchange.
    Nni,
    /// LOCAL: three branches on a path are multiplied, and a subtree beside it slides along the path.
    Local,
    /// An extending SPR.
    Espr,
    /// An extending TBR.
    Etbr,
    /// An SPR guided by parsimony.
    ParsimonySpr,
    /// A TBR guided by parsimony.
    ParsimonyTbr,
    /// An SPR guided by the likelihood.
    LikelihoodSpr,
    /// All parameters of a model and the tree length, by what was learned of them: those with this number in
    /// [`Coordinates::list`], which are of the partition with the other number.
    Together(usize, usize),
    /// A parameter.
    Parameter(Parameter),
}

impl Move {
    /// All kinds for these parameters, with their weights: in this proportion they are proposed.
    pub(super) fn list(
        parameters: &[Parameter],
        coordinates: &[Coordinates],
        num_tips: usize,
        has_own_lengths: bool,
    ) -> Vec<(Move, f64)> {
        let mut moves = vec![
            (Move::Branch, 20.0 * (1.0 - DRAWN)),
            (Move::DrawBranch, 20.0 * DRAWN),
            (Move::NodeSlider, 3.0),
            (Move::TreeLength, 1.0),
        ];
        if num_tips > 3 {
            moves.extend([(Move::Nni, 10.0), (Move::Espr, 0.5)]);
            moves.push((Move::ParsimonySpr, 36.0));
            // It brings what SPR brings, and takes half as long again. The cut branch of four taxa has no other places.
            let has_tbr = num_tips > 4 && !has_own_lengths;
            moves.extend(has_tbr.then_some((Move::ParsimonyTbr, 4.0)));
            if !has_own_lengths {
                moves.push((Move::Local, 0.5));
                // It needs as much time as ten others.
                moves.push((Move::LikelihoodSpr, 0.1));
            }
        }
        if num_tips > 4 {
            moves.push((Move::Etbr, 0.5));
        }
        let together = coordinates.iter().enumerate();
        let weight = 0.6 + 5.4 / coordinates.len().max(1) as f64;
        moves.extend(together.map(|(number, one)| (Move::Together(number, one.partition), weight)));
        // Alone they serve where the distribution that was learned has too little weight.
        let weight = |parameter: Parameter| {
            let is_among = |one: &Coordinates| Some(one.partition) == parameter.partition();
            match parameter {
                // Each proposal changes two of as many as there are partitions.
                Parameter::Multipliers => 4.0,
                _ if coordinates.iter().any(is_among) => 0.5,
                _ => 1.0,
            }
        };
        moves.extend(parameters.iter().map(|&one| (Move::Parameter(one), weight(one))));
        moves
    }

    /// How many proposals of its kind are made in a row.
    pub(super) fn in_a_row(self) -> u32 {
        match self {
            // The CLVs between two neighbouring branches are one: from one branch to a random one are many.
            Move::Branch | Move::DrawBranch => BRANCHES,
            // So are those around an interchange.
            Move::Nni => AROUND,
            // The CLVs of the tree without the subtree are the same.
            Move::ParsimonySpr => OF_A_SUBTREE,
            // The CLVs of the old parameters are not needed before the last proposal was refused.
            Move::Parameter(_) | Move::Together(..) => 4,
            _ => 1,
        }
    }

    /// A kind of change of a single length.
    pub(super) fn of_a_length(rng: &mut Rng) -> Move {
        if rng.random::<f64>() < DRAWN { Move::DrawBranch } else { Move::Branch }
    }

    /// True if a proposal of this kind is, or may be, the next of a block.
    pub(super) fn goes_on_with(self, block: Block) -> bool {
        match block {
            Block::None => true,
            Block::Branches(..) => matches!(self, Move::Branch | Move::DrawBranch),
            Block::Parameters(_) => self.is_of_parameters(),
            Block::Around(..) => {
                matches!(self, Move::Nni | Move::Branch | Move::DrawBranch)
            }
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
            Move::Branch | Move::DrawBranch | Move::NodeSlider | Move::TreeLength => "lengths",
            Move::Nni
            | Move::Local
            | Move::Espr
            | Move::Etbr
            | Move::ParsimonySpr
            | Move::ParsimonyTbr
            | Move::LikelihoodSpr => "topologies",
            Move::Together(..) | Move::Parameter(_) => "parameters",
        }
    }

    /// Its name in tables. `numbers` are those of the partitions in their file, from 1.
    pub(super) fn name(self, numbers: &[usize]) -> String {
        match self {
            Move::Branch => "branch length".to_string(),
            Move::DrawBranch => "branch length by its density".to_string(),
            Move::NodeSlider => "node slider".to_string(),
            Move::TreeLength => "tree length".to_string(),
            Move::Nni => "NNI".to_string(),
            Move::Local => "LOCAL".to_string(),
            Move::Espr => "extending SPR".to_string(),
            Move::Etbr => "extending TBR".to_string(),
            Move::ParsimonySpr => "parsimony-guided SPR".to_string(),
            Move::ParsimonyTbr => "parsimony-guided TBR".to_string(),
            Move::LikelihoodSpr => "likelihood-guided SPR".to_string(),
            Move::Together(_, partition) => format!("all parameters {{{}}}", numbers[partition]),
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
                match parameter.partition() {
                    Some(partition) => format!("{name} {{{}}}", numbers[partition]),
                    None => name.to_string(),
                }
            }
        }
    }

    /// Where it stands in tables: proposals of partitions after the others, in the order of these.
    pub(super) fn place(self, numbers: &[usize]) -> usize {
        let partition = match self {
            Move::Together(_, partition) => Some(partition),
            Move::Parameter(parameter) => parameter.partition(),
            _ => None,
        };
        partition.map_or(0, |partition| numbers[partition])
    }

    /// How bold it begins.
    pub(super) fn first_step_size(self) -> f64 {
        match self {
            Move::Branch | Move::NodeSlider | Move::Local => 1.5,
            Move::TreeLength | Move::Together(..) | Move::Parameter(Parameter::Alpha(_)) => 0.5,
            _ => 0.2,
        }
    }

    /// Changes the chain's state. `None` if there is nothing to propose.
    ///
    /// # Errors
    /// The engine has failed.
    pub(super) fn propose(
        self,
        chain: &mut Chain,
        context: &ProposalContext,
    ) -> Result<Option<Proposal>> {
        let (step_size, heat) = (context.step_size, context.data_heat);
        let guide = &context.guide();
        let of_swaps = |(swaps, ln_ratio): (Vec<Swap>, f64)| {
            (!swaps.is_empty()).then_some((Undo::Swaps(swaps, Vec::new()), ln_ratio))
        };
        let known = match self {
            Move::Nni => return Ok(interchange(chain, guide)),
            Move::Local => return Ok(local(chain, guide, step_size)),
            Move::ParsimonySpr => {
                let data = context.parsimony;
                return Ok(data.and_then(|data| parsimony_spr(chain, data, heat, guide)));
            }
            Move::ParsimonyTbr => {
                let data = context.parsimony;
                return Ok(data.and_then(|data| parsimony_tbr(chain, data, heat, guide)));
            }
            Move::LikelihoodSpr => return likelihood_spr(chain, context.prior_only, heat, guide),
            Move::Branch => multiply_branch(chain, step_size),
            Move::DrawBranch => draw_branch(chain, context)?,
            Move::NodeSlider => slide_node(chain, step_size),
            Move::TreeLength => multiply_tree(chain, step_size),
            Move::Espr => of_swaps(extending_spr(chain)),
            Move::Etbr => of_swaps(extending_tbr(chain)),
            Move::Together(number, _) => change_together(chain, number, context),
            Move::Parameter(parameter) => Some(change_parameter(chain, parameter, step_size)),
        };
        Ok(known.map(Proposal::from))
    }
}

fn change_parameter(chain: &mut Chain, parameter: Parameter, step_size: f64) -> (Undo, f64) {
    let shares = parameter.shares(&chain.models, &chain.evaluator);
    let before = shares.clone();
    let moved = shares.map(|shares| slide_between_two(shares, step_size, &mut chain.rng));
    let Some(partition) = parameter.partition() else {
        let [before, after] = [before, moved].map(|shares| shares.expect("multipliers are shares"));
        return (set_multipliers(chain, &before, &after), 0.0);
    };
    let before = chain.models[partition].clone();
    let mut ln_ratio = 0.0;
    match moved {
        Some(shares) => parameter.set_shares(&mut chain.models[partition], &shares),
        None => {
            let value = parameter.number(&chain.models).expect("a number");
            let value = match parameter {
                Parameter::Alpha(_) => {
                    ln_ratio = ln_factor(&mut chain.rng, step_size);
                    value * libm::exp(ln_ratio)
                }
                _ => slide(value, PINV_MAX, step_size, &mut chain.rng),
            };
            parameter.set_number(&mut chain.models[partition], value);
        }
    }
    chain.show_model(partition);
    (Undo::Model(partition, Box::new(before), Vec::new()), ln_ratio)
}

fn change_together(
    chain: &mut Chain,
    number: usize,
    context: &ProposalContext,
) -> Option<(Undo, f64)> {
    let coordinates = &context.coordinates[number];
    let reference = context.learners[number].reference.as_ref()?;
    let (from, ln_jacobian) = coordinates.of(chain)?;
    let (to, ln_ratio) = reference.propose(&from, context.step_size, context.heat, &mut chain.rng);
    let partition = coordinates.partition;
    let before = chain.models[partition].clone();
    let mut lengths = Vec::new();
    if let Some(length) = coordinates.set(&to, &mut chain.models[partition]) {
        let set = LengthSet::of_partition(&chain.evaluator, partition);
        let factor = length / set.tree(&chain.evaluator).total_length();
        lengths = multiply_lengths(set, chain, factor);
    }
    chain.show_model(partition);
    let undo = Undo::Model(partition, Box::new(before), lengths);
    // What cannot be written as such a vector has no density.
    let after = coordinates.of(chain).map_or(f64::NEG_INFINITY, |after| after.1);
    Some((undo, ln_ratio + after - ln_jacobian))
}

/// Moves part of one share to another; the reverse has the same density.
fn slide_between_two(mut shares: Vec<f64>, step_size: f64, rng: &mut Rng) -> Vec<f64> {
    let first = rng.random_range(0..shares.len());
    let second = (first + rng.random_range(1..shares.len())) % shares.len();
    let both = shares[first] + shares[second];
    shares[first] = slide(shares[first], both, step_size, rng);
    shares[second] = both - shares[first];
    shares
}

/// A number in a window of width `boldness`, at most twice the largest number, around another, reflected at 0 and `most`.
fn slide(from: f64, most: f64, step_size: f64, rng: &mut Rng) -> f64 {
    let width = step_size.min(2.0 * most);
    let to = (from + width * (rng.random::<f64>() - 0.5)).abs();
    if to > most { 2.0 * most - to } else { to }
}

/// A partition's multiplier is its share in all substitutions by its share in all sites. Those whose shares are as before keep
/// their bits, and with them their likelihoods.
fn set_multipliers(chain: &mut Chain, before: &[f64], shares: &[f64]) -> Undo {
    let evaluator = &mut chain.evaluator;
    let scalers = (0..evaluator.num_partitions())
        .map(|partition| evaluator.brlen_scaler(partition))
        .collect();
    let sites: f64 =
        (0..evaluator.num_partitions()).map(|partition| evaluator.num_sites_of(partition)).sum();
    let changed =
        shares.iter().zip(before).enumerate().filter(|(_, (share, before))| share != before);
    for (partition, (share, _)) in changed {
        let scaler = share * sites / evaluator.num_sites_of(partition);
        evaluator.set_brlen_scaler(partition, scaler);
    }
    Undo::Scalers(scalers)
}
