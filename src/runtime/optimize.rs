//! [`optimize_kept`]: optimisation whose state is left at a job's desk after every step.

use super::desk::Desk;
use crate::error::Result;
use crate::likelihood::Evaluator;
use crate::model::Model;
use crate::optimize::{Goal, Optimisation, OptimizeOptions, OptimizeState};

/// Optimises branch lengths and models, from the state at the desk if the job was interrupted. `models` must be the
/// current models of the evaluator's genes and are updated together with it. Returns the log-likelihood.
///
/// # Errors
/// The engine has failed, or the run is to end.
pub(crate) fn optimize_kept(
    goal: Goal,
    evaluator: &mut Evaluator,
    models: &mut [Model],
    options: &OptimizeOptions,
    desk: &mut Desk,
) -> Result<f64> {
    let initial = models.to_vec();
    let mut optimisation =
        match desk.begin_steps(|state: &OptimizeState| state.fits(evaluator, models))? {
            None => Optimisation::new(goal, evaluator, models, &initial, options),
            Some(state) => Optimisation::resume(state, evaluator, models, &initial, options),
        };
    while !optimisation.is_done() {
        desk.keep(false, || (optimisation.state(), None))?;
        optimisation.step(desk)?;
    }
    Ok(optimisation.log_likelihood()?)
}
