//! Small partitions on which engines are compared: by `mlsearch gpu-selftest` and by the tests.

use super::sequences::{SimModel, simulate_states};
use crate::alignment::Patterns;
use crate::alphabet::{Code, DataType};
use crate::model::Model;
use crate::rng::Rng;
use crate::tree::Tree;
use rand::RngExt;

/// One of so many sites of every taxon is a gap.
const SITES_PER_GAP: usize = 11;

/// One of so many sites of every taxon has a character that stands for several states, if there is one.
const SITES_PER_AMBIGUITY: usize = 13;

/// Patterns of sequences that were simulated along a tree, of `num_taxa` taxa drawn at random, with gaps and ambiguous
/// characters. Under a correction of ascertainment bias there are none, and two taxa differ everywhere: invariable sites
/// cannot have been seen.
#[doc(hidden)]
pub fn sample_partition(
    tree: &Tree,
    model: &Model,
    num_taxa: usize,
    num_sites: usize,
    rng: &mut Rng,
) -> Patterns {
    let (matrices, cats) = (model.eigen_models(), model.rate_cats());
    let sim_model = SimModel { matrices: &matrices, cats: &cats };
    let states = simulate_states(tree, &sim_model, num_sites, rng);
    let mut taxa: Vec<usize> = (0..tree.num_tips()).collect();
    while taxa.len() > num_taxa {
        taxa.remove(rng.random_range(0..taxa.len()));
    }
    let (data_type, is_biased) = (model.data_type, model.ascertainment.is_some());
    let ambiguities: Vec<Vec<Code>> =
        (0..model.num_states()).map(|state| ambiguities_of(data_type, state)).collect();
    Patterns::compress(data_type, tree.num_tips(), num_sites, |taxon, row| {
        for (site, code) in row.iter_mut().enumerate() {
            let state = match is_biased && taxon == taxa[0] {
                true => (usize::from(states[taxa[1]][site]) + 1) % model.num_states(),
                false => usize::from(states[taxon][site]),
            };
            let is_gap = !is_biased && (taxon + 3 * site).is_multiple_of(SITES_PER_GAP);
            let is_ambiguous =
                !is_biased && (5 * taxon + 2 * site).is_multiple_of(SITES_PER_AMBIGUITY);
            let several = &ambiguities[state];
            *code = match taxa.contains(&taxon) && !is_gap {
                true if is_ambiguous && !several.is_empty() => several[site % several.len()],
                true => data_type.code_of_state(state),
                false => data_type.undetermined(),
            };
        }
    })
}

/// Codes of characters that stand for this state and others, but not for all.
fn ambiguities_of(data_type: DataType, state: usize) -> Vec<Code> {
    let masks = data_type.code_masks();
    let is_one = |mask: u64| {
        mask >> state & 1 == 1 && (2..data_type.num_states() as u32).contains(&mask.count_ones())
    };
    (0..masks.len()).filter(|&code| is_one(masks[code])).map(|code| code as Code).collect()
}
