//! [`optimize_in_steps`]: optimisation that an interrupted run resumes between two steps.

use crate::error::Result;
use crate::likelihood::Evaluator;
use crate::model::Model;
use crate::optimize::{Optimisation, OptimizeOptions, OptimizePlan, OptimizeState};
use crate::runtime::JobContext;

/// Optimises branch lengths and models by a plan, from the state in the checkpoint if the job was interrupted. `models` must be the
/// current models of the evaluator's partitions and are updated together with it; parameters are started again from `initial` ones.
/// Returns the log-likelihood.
///
/// # Errors
/// The engine has failed, or the run is to end.
pub(crate) fn optimize_in_steps(
    plan: OptimizePlan,
    evaluator: &mut Evaluator,
    models: &mut [Model],
    initial: &[Model],
    options: &OptimizeOptions,
    job: &mut JobContext,
) -> Result<f64> {
    let mut optimisation =
        match job.resume_state(|state: &OptimizeState| state.fits(evaluator, models))? {
            None => Optimisation::go_on(plan, evaluator, models, initial, options),
            Some(state) => Optimisation::resume(state, evaluator, models, initial, options),
        };
    while !optimisation.is_done() {
        job.save_state(false, || (optimisation.state(), None))?;
        optimisation.step(job)?;
    }
    Ok(optimisation.log_likelihood()?)
}
