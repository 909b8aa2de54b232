//! Which engine computes: the only place, beside the engines' own rooms, that knows them by name.

use super::engine::{Checked, Engine, EngineError, EngineOptions, Entry, GeneData, Result};
use super::{cpu, naive};

/// What [`make_engine`] would make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Name of the engine.
    pub engine: &'static str,
    /// Its instruction set.
    pub instruction_set: &'static str,
}

/// All engines, the best first.
const ENGINES: &[Entry] = &[
    cpu::ENTRY,
    naive::ENTRY,
    #[cfg(test)]
    super::failing::ENTRY,
];

/// Names of instruction sets that likelihoods are compiled for.
pub const INSTRUCTION_SETS: &[&str] = cpu::INSTRUCTION_SETS;

/// The help of the option that chooses among them.
pub const INSTRUCTION_SET_HELP: &str = cpu::INSTRUCTION_SET_HELP;

fn entry(options: &EngineOptions) -> Result<&'static Entry> {
    let Some(name) = options.name else { return Ok(&ENGINES[0]) };
    ENGINES
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| EngineError::Unknown { name: name.to_string(), known: engine_names() })
}

/// Names of all engines.
pub fn engine_names() -> Vec<&'static str> {
    ENGINES.iter().map(|entry| entry.name).collect()
}

/// What [`make_engine`] would make, without making it.
///
/// # Errors
/// [`EngineError::Unknown`].
pub fn choose_engine(options: &EngineOptions) -> Result<Choice> {
    let entry = entry(options)?;
    Ok(Choice { engine: entry.name, instruction_set: (entry.instruction_set)(options)? })
}

/// What to go on with after an engine has failed, if there is anything.
pub fn after_failure(options: &EngineOptions) -> Option<EngineOptions> {
    let next = entry(options).ok()?.next?;
    Some(EngineOptions { name: Some(next), ..*options })
}

/// An engine for these genes.
///
/// # Errors
/// An engine or instruction set that this machine lacks, or too little memory.
pub fn make_engine(data: &[GeneData], options: &EngineOptions) -> Result<Box<dyn Engine>> {
    let engine = (entry(options)?.make)(data, options)?;
    Ok(Box::new(Checked::new(engine, data)))
}
