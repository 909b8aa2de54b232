//! Errors of a GPU as those of the engine.

use crate::gpu::{GpuError, NAME};
use crate::likelihood::engine::EngineError;

impl From<GpuError> for EngineError {
    fn from(error: GpuError) -> Self {
        match error {
            GpuError::Unavailable(reason) => EngineError::Unavailable { engine: NAME, reason },
            GpuError::Lost(reason) => EngineError::Lost { engine: NAME, reason },
        }
    }
}
