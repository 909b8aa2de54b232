//! Choice of the engine: apart from the engines' own folders, the only file that contains their names.

use super::engine::{Checked, Engine, EngineError, EngineOptions, Entry, GeneData, Result};
use super::{cpu, cuda, naive};

/// The engine and instruction set that [`make_engine`] would use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Name of the engine.
    pub engine: &'static str,
    /// Its instruction set.
    pub instruction_set: &'static str,
}

/// All engines; the first one is the default.
const ENGINES: &[Entry] = &[
    cpu::ENTRY,
    cuda::ENTRY,
    naive::ENTRY,
    #[cfg(test)]
    super::failing::ENTRY,
];

/// Names of the instruction sets for which likelihood kernels are compiled.
pub const INSTRUCTION_SETS: &[&str] = cpu::INSTRUCTION_SETS;

/// Help text of the option that selects one of [`INSTRUCTION_SETS`].
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

/// The engine and instruction set that [`make_engine`] would use, without allocating anything.
///
/// # Errors
/// [`EngineError::Unknown`] if this machine lacks the requested engine or instruction set.
pub fn choose_engine(options: &EngineOptions) -> Result<Choice> {
    let entry = entry(options)?;
    Ok(Choice { engine: entry.name, instruction_set: (entry.instruction_set)(options)? })
}

/// What a user should know of an instruction set that is much slower than others.
pub fn why_slow(choice: &Choice) -> Option<&'static str> {
    cpu::why_slow(choice.instruction_set)
}

/// Options for the engine that replaces a failed one; `None` if there is no other.
pub fn after_failure(options: &EngineOptions) -> Option<EngineOptions> {
    let next = entry(options).ok()?.next?;
    Some(EngineOptions { name: Some(next), ..*options })
}

/// Makes an engine for these genes. Its programs of work are checked ([`Checked`]).
///
/// # Errors
/// [`EngineError::Unknown`] if this machine lacks the requested engine or instruction set, and
/// [`EngineError::OutOfMemory`].
pub fn make_engine(data: &[GeneData], options: &EngineOptions) -> Result<Box<dyn Engine>> {
    let engine = (entry(options)?.make)(data, options)?;
    Ok(Box::new(Checked::new(engine, data)))
}
