//! The engine for NVIDIA cards: it gives the bits of the CPU engine. Its kernels are in `cuda/` at the root of the
//! repository; this folder plans programs of work for them (`program`, `batch`, `tape`), plans its memory (`memory`, `recomputation`), keeps the data of genes on a card (`gene`,
//! `card`) and is the only part of mlsearch that speaks to the driver (`device`, `launch`).
//!
//! Without the feature `cuda`, only an entry remains that refuses with a message (`disabled`).

#[cfg(feature = "cuda")]
mod batch;
#[cfg(feature = "cuda")]
mod card;
#[cfg(feature = "cuda")]
mod device;
#[cfg(not(feature = "cuda"))]
mod disabled;
#[cfg(feature = "cuda")]
mod engine;
#[cfg(feature = "cuda")]
mod gene;
#[cfg(feature = "cuda")]
mod launch;
#[cfg(feature = "cuda")]
mod memory;
#[cfg(feature = "cuda")]
mod modules;
#[cfg(feature = "cuda")]
mod pair_distances;
#[cfg(feature = "cuda")]
mod probe;
#[cfg(feature = "cuda")]
mod program;
#[cfg(feature = "cuda")]
mod recomputation;
#[cfg(feature = "cuda")]
mod sweep;
#[cfg(feature = "cuda")]
mod tape;

#[cfg(not(feature = "cuda"))]
pub use disabled::{ENTRY, PairCards, describe, free_bytes, rates};
#[cfg(feature = "cuda")]
pub use engine::{ENTRY, describe, free_bytes, rates};
#[cfg(feature = "cuda")]
pub use pair_distances::PairCards;
