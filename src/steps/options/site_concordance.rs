//! `--scf`: of how many quartets of taxa sites are counted.

use crate::plan::{Refusals, parse_count};

/// Quartets of each branch if no number is given, as in the publication (Minh, Hahn & Lanfear 2020).
const DEFAULT_QUARTETS: usize = 100;

/// The number of quartets of each branch, if the option is given.
pub(crate) fn read_quartets(scf: Option<Option<String>>, refusals: &mut Refusals) -> Option<usize> {
    scf.map(|number| match number {
        Some(text) => refusals.or(parse_count("--scf", &text), DEFAULT_QUARTETS),
        None => DEFAULT_QUARTETS,
    })
}
