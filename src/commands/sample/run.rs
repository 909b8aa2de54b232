//! `--mcmc`: runs of coupled chains, compared with each other from time to time.

use super::posterior::{Diagnosis, Mixing, Sampled, deliver_posterior};
use super::posterior::{SAMPLED_PARAMETERS, SAMPLED_TREES};
use super::report::MarginalReport;
use crate::error::{Error, Result};
use crate::likelihood::Evaluator;
use crate::model::{FreqsMode, Model};
use crate::observer::{Advance, Event, Observer};
use crate::parallel::used_memory;
use crate::parsimony::ParsimonyData;
use crate::runtime::{JobContext, Jobs, Resources, Session, Setup, Shares, first_tree};
use crate::sampler::{
    CoupledRun, Parameter, RunState, Sample, SamplerOptions, SamplingPlan, SteppingStones,
    StonesState, admit_parameters, list_parameters, priors_without_parameters,
};
use crate::steps::starts::START_TREE;
use crate::steps::starts::{StartLengths, StartTree, make_starts, write_starts};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// Generations with which the speed of a chain is measured, at least, and for how long at most, in seconds.
const LEAST_GENERATIONS: u64 = 50;
const MOST_SECONDS: f64 = 1.0;

/// What a run has done between two comparisons.
#[derive(Clone, Serialize, Deserialize)]
struct Leg {
    state: RunState,
    samples: Vec<Sample>,
}

/// Draws the sample and writes it.
///
/// # Errors
/// A model that cannot be sampled; an engine that has failed; a file that cannot be written.
pub(crate) fn sample(sampling: &SamplingPlan, mut session: Session) -> Result<()> {
    let (parameters, models) = find_parameters(sampling, &mut session)?;
    let starts = make_starts(&mut session, StartLengths::FromParsimony, Some("the sample"))?;
    let newicks = write_starts(&session, &starts);
    session.record.write(START_TREE, &newicks)?;
    let mut files = Vec::new();
    for run in 1..=sampling.num_runs {
        let kinds = [SAMPLED_PARAMETERS, SAMPLED_TREES];
        let [parameters, trees] = kinds.map(|kind| session.record.grow_numbered(kind, run));
        files.push([parameters?, trees?]);
    }
    session.stage("sampling");
    let parsimony = parsimony_of(&session.setup);
    let mut sampled = Sampled::new(&session.setup, sampling, &parameters, &models);
    let options: Vec<SamplerOptions> = (0..sampling.num_runs)
        .map(|run| options_of(&session.setup, sampling, &parameters, &parsimony, run))
        .collect();
    let num_tips = session.setup.loaded.taxa.len();
    let kinds = options[0].move_groups(&models, num_tips);
    let mut states: Vec<Option<RunState>> = vec![None; sampling.num_runs];
    let shares = share_out(sampling, &session.setup);
    let runs = Runs::new(&session.setup, &models, &starts, &options, shares);
    let num_legs = sampling.generations.div_ceil(sampling.diagnose_every) as usize;
    for leg in 0..num_legs {
        let end = ((leg as u64 + 1) * sampling.diagnose_every).min(sampling.generations);
        let jobs = Jobs {
            before: leg * sampling.num_runs,
            most: num_legs * sampling.num_runs,
            ..Jobs::new("part of a run", sampling.num_runs, shares)
        };
        let legs = session
            .record
            .run_jobs(&jobs, |job| runs.go_on(states[job.number].as_ref(), end, job))?;
        states.clear();
        for (run, leg) in legs.into_iter().enumerate() {
            leg.samples.iter().for_each(|sample| sampled.add(&session.setup, run, sample));
            states.push(Some(leg.state));
        }
        sampled.grow(session.setup.plan.seed, &files);
        let diagnosis = sampled.compare(end);
        let described = [diagnosis.describe()].into_iter().chain(describe_mixing(&kinds, &states));
        let described = described.collect::<Vec<_>>().join("; ");
        session.record.progress.text(&format!("generation {end}: {described}"));
        if sampling.may_stop(end) && is_reached(sampling, &diagnosis) {
            sampled.is_stopped = true;
            break;
        }
    }
    drop(runs);
    let mixing = states.iter().flatten().zip(&options).map(|(state, options)| Mixing {
        acceptance: state.acceptance(options, &models, num_tips),
        swaps: state.swaps().to_vec(),
        temperature: state.temperature(),
    });
    let mixing: Vec<Mixing> = mixing.collect();
    let marginal = match sampling.stones {
        Some(stones) => Some(step_over(
            &mut session,
            sampling,
            stones,
            &parameters,
            &parsimony,
            &starts,
            &models,
        )?),
        None => None,
    };
    deliver_posterior(session.record, &session.setup, &sampled, &mixing, marginal)
}

/// Shares of accepted proposals and swaps in all runs since the end of the adaptation; `None` before.
fn describe_mixing(kinds: &[&'static str], states: &[Option<RunState>]) -> Option<String> {
    let states: Vec<&RunState> = states.iter().flatten().collect();
    let sums = |counts: &mut dyn Iterator<Item = [u64; 2]>| {
        counts.fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]])
    };
    let percent = |name: &str, [tried, accepted]: [u64; 2]| {
        (tried > 0).then(|| format!("{name} {:.0}", 100.0 * accepted as f64 / tried as f64))
    };
    let all = || states.iter().flat_map(|state| kinds.iter().copied().zip(state.accepted()));
    let kinds = ["lengths", "topologies", "parameters"].map(|name| {
        let same = all().filter(|(group, _)| *group == name);
        (name, sums(&mut same.map(|(_, counts)| counts)))
    });
    let swaps = sums(&mut states.iter().flat_map(|state| state.swaps()).copied());
    let shares: Vec<String> = kinds
        .into_iter()
        .chain([("swaps", swaps)])
        .filter_map(|(name, counts)| percent(name, counts))
        .collect();
    (!shares.is_empty()).then(|| format!("accepted (%): {}", shares.join(", ")))
}

/// The marginal likelihood, by as many runs as the sample has, with its starting trees.
fn step_over(
    session: &mut Session,
    sampling: &SamplingPlan,
    stones: u64,
    parameters: &[Parameter],
    parsimony: &Arc<ParsimonyData>,
    starts: &[StartTree],
    models: &[Model],
) -> Result<MarginalReport> {
    session.stage("stepping stones");
    let length = sampling.generations / (stones + 1);
    let setup = &session.setup;
    let jobs = setup.jobs("run of stepping stones", sampling.num_runs);
    let of_runs = session.record.run_jobs(&jobs, |job| {
        let options = SamplerOptions {
            num_chains: 1,
            ..options_of(setup, sampling, parameters, parsimony, job.number)
        };
        let evaluator = evaluators(setup, job.resources, models, starts, &options)?.swap_remove(0);
        let saved =
            job.resume_state(|state: &StonesState| state.fits(&evaluator, models, &options))?;
        let mut climb = match saved {
            Some(state) => SteppingStones::resume(evaluator, models, &options, state),
            None => SteppingStones::begin(evaluator, models, &options)?,
        };
        while climb.steps_done() <= stones {
            job.save_state(false, || (climb.state(), None))?;
            climb.step(stones, length)?;
            let share = climb.steps_done() as f64 / (stones + 1) as f64;
            job.advance(Advance { whole: Some(share), ..Advance::default() });
        }
        Ok(climb.ln_marginal())
    })?;
    let ln = of_runs.iter().sum::<f64>() / of_runs.len() as f64;
    Ok(MarginalReport { steps: stones, generations_per_step: length, ln, of_runs })
}

/// What one chain takes, of the runs that `--check` describes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChainCost {
    /// Processor time of a generation.
    pub seconds: f64,
    /// Memory, if the system tells.
    pub bytes: Option<u64>,
    /// Bytes of a sample.
    pub sample_bytes: u64,
}

/// How the runs of a sample and their chains share the threads.
pub(crate) fn share_out(sampling: &SamplingPlan, setup: &Setup) -> Shares {
    let Setup { resources, plan, .. } = setup;
    resources.share_out_parts(plan, sampling.num_runs, &sampling.chain_steps())
}

/// Lets a chain go a short way from a parsimony tree.
///
/// # Errors
/// A model that cannot be sampled; an engine that has failed; too little memory.
pub(crate) fn measure_chain(sampling: &SamplingPlan, session: &mut Session) -> Result<ChainCost> {
    let (parameters, models) = find_parameters(sampling, session)?;
    let setup = &session.setup;
    let resources = share_out(sampling, setup).resources;
    let sampling = SamplingPlan { num_chains: 1, ..sampling.clone() };
    let options = options_of(setup, &sampling, &parameters, &parsimony_of(setup), 0);
    let (tree, _) = first_tree(setup.plan, &setup.loaded);
    let before = used_memory();
    let partitions = &setup.loaded.partitions;
    let evaluator = setup.evaluator(resources, partitions, &models, tree, setup.linkage)?;
    let mut run = CoupledRun::begin(vec![evaluator], &models, &options)?;
    let start = Instant::now();
    while run.generation() < LEAST_GENERATIONS || start.elapsed().as_secs_f64() < MOST_SECONDS {
        run.go_on(u64::MAX)?;
    }
    let elapsed = start.elapsed().as_secs_f64() * resources.threads() as f64;
    let sample = run.sample();
    let newick = setup.newick(&sample.tree, true).len();
    Ok(ChainCost {
        seconds: elapsed / run.generation() as f64,
        bytes: used_memory().zip(before).map(|(after, before)| after.saturating_sub(before)),
        sample_bytes: (newick + (3 + sample.values.len()) * size_of::<f64>()) as u64,
    })
}

/// The parameters that are sampled, with a word on frequencies that are not, and the models with which chains begin.
fn find_parameters(
    sampling: &SamplingPlan,
    session: &mut Session,
) -> Result<(Vec<Parameter>, Vec<Model>)> {
    let mut models = session.setup.models();
    if !session.setup.plan.search.opt_model {
        return Ok((Vec::new(), models));
    }
    let counted = models.iter().any(|model| {
        matches!(
            model.freqs_mode,
            FreqsMode::Empirical
                | FreqsMode::F1x4 { counted: true }
                | FreqsMode::F3x4 { counted: true }
        )
    });
    if counted {
        session.event(Event::Note(
            "frequencies that are counted in the alignment are fixed; +FO samples those of DNA, binary and multi-state models \
             and proteins"
                .to_string(),
        ));
    }
    let has_scalers = session.setup.linkage.has_scalers();
    let parameters =
        list_parameters(&models, has_scalers, &sampling.priors).map_err(Error::Usage)?;
    let unused = priors_without_parameters(&parameters, &models, &sampling.priors);
    if !unused.is_empty() {
        let names = unused.join(", ");
        session
            .event(Event::Note(format!("no model has a parameter for --prset {names}: no effect")));
    }
    admit_parameters(&parameters, &sampling.priors, &mut models);
    Ok((parameters, models))
}

/// The data as guided proposals read them.
fn parsimony_of(Setup { loaded, .. }: &Setup) -> Arc<ParsimonyData> {
    Arc::new(ParsimonyData::of_partitions(loaded.taxa.len(), &loaded.partitions))
}

fn options_of(
    setup: &Setup,
    sampling: &SamplingPlan,
    parameters: &[Parameter],
    parsimony: &Arc<ParsimonyData>,
    run: usize,
) -> SamplerOptions {
    SamplerOptions {
        parameters: parameters.to_vec(),
        priors: sampling.priors.clone(),
        has_own_lengths: setup.linkage.has_own_lengths(),
        prior_only: sampling.prior_only,
        num_chains: sampling.num_chains,
        temperature: sampling.temperature,
        sample_every: sampling.sample_every,
        num_adapting: sampling.num_adapting(),
        parsimony: Arc::clone(parsimony),
        constraint: setup.loaded.constraint.clone(),
        numbers: setup.loaded.numbers_in_file(),
        seed: setup.plan.seed,
        run: run as u64,
    }
}

/// True if the rule to stop says so.
fn is_reached(sampling: &SamplingPlan, diagnosis: &Diagnosis) -> bool {
    let agree = sampling.stop.asdsf.is_none_or(|most| diagnosis.asdsf.is_some_and(|x| x <= most));
    let enough = sampling.stop.ess.is_none_or(|least| diagnosis.ess.is_some_and(|x| x >= least));
    agree && enough
}

/// The runs of a sample. Where there is memory for the chains of all, they stay alive from one comparison to the next.
struct Runs<'a> {
    setup: &'a Setup<'a>,
    models: &'a [Model],
    starts: &'a [StartTree],
    /// Of each run.
    options: &'a [SamplerOptions],
    /// For the chains of a run.
    threads: usize,
    /// Each run that waits for a comparison, if it stays alive.
    waiting: Option<Vec<Mutex<Option<CoupledRun<'a>>>>>,
}

impl<'a> Runs<'a> {
    fn new(
        setup: &'a Setup<'a>,
        models: &'a [Model],
        starts: &'a [StartTree],
        options: &'a [SamplerOptions],
        shares: Shares,
    ) -> Self {
        let stay_alive = shares.have_room_for(options.len());
        let waiting = stay_alive.then(|| options.iter().map(|_| Mutex::default()).collect());
        Runs { setup, models, starts, options, threads: shares.parts, waiting }
    }

    /// A run from a state, or from its beginning, to a generation.
    fn go_on(&self, begin: Option<&RunState>, end: u64, job: &mut JobContext) -> Result<Leg> {
        let (mut run, mut samples) = self.begin_leg(begin, job)?;
        let from = begin.map_or(0, RunState::generation);
        let hundredth = ((end - from) / 100).max(1);
        let mut told = run.generation();
        while run.generation() < end {
            job.save_state(false, || (Leg { state: run.state(), samples: samples.clone() }, None))?;
            samples.extend(run.go_on(end)?);
            if run.generation() >= told + hundredth {
                told = run.generation();
                let share = (run.generation() - from) as f64 / (end - from) as f64;
                job.advance(Advance { whole: Some(share), ..Advance::default() });
            }
        }
        let state = run.state();
        if let Some(waiting) = &self.waiting {
            *lock(&waiting[job.number]) = Some(run);
        }
        Ok(Leg { state, samples })
    }

    /// The run of a job, and what it has sampled since the last comparison.
    fn begin_leg(
        &self,
        begin: Option<&RunState>,
        job: &mut JobContext,
    ) -> Result<(CoupledRun<'a>, Vec<Sample>)> {
        let (models, options) = (self.models, &self.options[job.number]);
        let waiting = self.waiting.as_ref().and_then(|all| lock(&all[job.number]).take());
        // Meanwhile, another rank may have gone on with the run.
        let is_there =
            |run: &CoupledRun| begin.is_some_and(|at| at.generation() == run.generation());
        if let Some(run) = waiting.filter(is_there) {
            // A state would be one of those that it is about to go through.
            job.resume_state(|_: &Leg| true)?;
            return Ok((run, Vec::new()));
        }
        let evaluators = evaluators(self.setup, job.resources, models, self.starts, options)?;
        let saved = job.resume_state(|leg: &Leg| leg.state.fits(&evaluators, models, options))?;
        let (run, samples) = match (saved, begin) {
            (Some(leg), _) => {
                (CoupledRun::resume(evaluators, models, options, leg.state), leg.samples)
            }
            (None, Some(state)) => {
                (CoupledRun::resume(evaluators, models, options, state.clone()), Vec::new())
            }
            (None, None) => {
                let run = CoupledRun::begin(evaluators, models, options)?;
                let first = run.sample();
                (run, vec![first])
            }
        };
        Ok((run.on_threads(self.threads), samples))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// One evaluator for each chain of a run, with its starting tree.
fn evaluators(
    setup: &Setup,
    resources: Resources,
    models: &[Model],
    starts: &[StartTree],
    options: &SamplerOptions,
) -> Result<Vec<Evaluator>> {
    let make = |chain: usize| {
        let number = options.run as usize * options.num_chains + chain;
        let mut tree = starts[number % starts.len()].tree.clone();
        options.priors.brlens.admit(&mut tree);
        setup.evaluator(resources, &setup.loaded.partitions, models, tree, setup.linkage)
    };
    (0..options.num_chains).map(make).collect()
}
