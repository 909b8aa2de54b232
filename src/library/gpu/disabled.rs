//! What a build without the feature `cuda` answers.

use super::GpuError;

/// The refusal of everything on a GPU.
pub(crate) fn not_built() -> GpuError {
    let reason = "this mlsearch was built without it (build it with the default features)";
    GpuError::Unavailable(reason.to_string())
}
