//! What a user asks of the sampler, as plain data.

use super::priors::Priors;

/// Generations of a run if no number is given, as in MrBayes.
pub const DEFAULT_GENERATIONS: u64 = 1_000_000;

/// Temperature with which the adaptation begins, MrBayes' default.
pub(super) const FIRST_TEMPERATURE: f64 = 0.1;

/// At most so many generations adapt proposals: more bring nothing, and samples of the adaptation do not count.
const MOST_ADAPTING: u64 = 20_000;

/// Generations for which a heated chain makes one step after the adaptation: it costs time, and its samples do not count. What
/// it finds reaches the cold chain by swaps all the same.
pub(super) const HEATED_EVERY: u64 = 8;

/// The same during the adaptation, in which the proposals of heated chains are adapted, too.
pub(super) const HEATED_EVERY_ADAPTING: u64 = 2;

/// A sample from the posterior distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingPlan {
    /// Generations of each run: proposals in its cold chain. Heated ones make half as many while proposals are adapted, and
    /// fewer afterwards.
    pub generations: u64,
    /// Generations between two samples.
    pub sample_every: u64,
    /// Generations between two comparisons of the runs.
    pub diagnose_every: u64,
    /// Number of independent runs.
    pub num_runs: usize,
    /// Number of coupled chains in each run.
    pub num_chains: usize,
    /// Incremental heating: the posterior of chain i, from 0, is raised to the power 1 / (1 + i * temperature). If `None`, the
    /// temperature is adapted together with the proposals.
    pub temperature: Option<f64>,
    /// Share of the samples, from the first on, that is left aside.
    pub burnin: f64,
    /// The runs end before their last generation when all of these are reached.
    pub stop: StopRule,
    /// Sample from the priors, without the data.
    pub prior_only: bool,
    /// Number of stepping stones on the way to the marginal likelihood, if this is wanted.
    pub stones: Option<u64>,
    /// Priors of everything but the topology.
    pub priors: Priors,
}

/// When runs end early; never if all are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StopRule {
    /// Average standard deviation of the frequencies of splits between runs, at most.
    pub asdsf: Option<f64>,
    /// Effective sample size of every parameter, at least.
    pub ess: Option<f64>,
}

impl Default for SamplingPlan {
    /// The defaults of MrBayes 3.2, except for the comparisons, of which there are twenty.
    fn default() -> Self {
        SamplingPlan {
            generations: DEFAULT_GENERATIONS,
            sample_every: 500,
            diagnose_every: DEFAULT_GENERATIONS / 20,
            num_runs: 2,
            num_chains: 4,
            temperature: None,
            burnin: 0.25,
            stop: StopRule::default(),
            prior_only: false,
            stones: None,
            priors: Priors::default(),
        }
    }
}

impl SamplingPlan {
    /// Generations in which proposals are adapted: at most all whose samples are left aside at the end.
    pub fn num_adapting(&self) -> u64 {
        ((self.generations as f64 * self.burnin) as u64).min(MOST_ADAPTING)
    }

    /// Steps of each chain of a run, that of the cold chain first.
    pub fn chain_steps(&self) -> Vec<u64> {
        let adapting = self.num_adapting();
        let later = self.generations - adapting;
        let heated = adapting / HEATED_EVERY_ADAPTING + later / HEATED_EVERY;
        let mut steps = vec![heated; self.num_chains];
        steps[0] = self.generations;
        steps
    }

    /// Number of samples that are left aside among the first `count` ones of a run.
    pub fn num_burnin(&self, count: usize) -> usize {
        (count as f64 * self.burnin) as usize
    }

    /// True if a run may end after so many generations: none of the samples that count is of the adaptation.
    pub fn may_stop(&self, generation: u64) -> bool {
        let has_rule = self.stop.asdsf.is_some() || self.stop.ess.is_some();
        has_rule && generation as f64 * self.burnin >= self.num_adapting() as f64
    }

    /// What it asks for, in words.
    pub fn describe(&self) -> String {
        let on = if self.prior_only { "the priors alone" } else { "the posterior" };
        let (runs, chains) = (self.num_runs, self.num_chains);
        format!(
            "sample from {on}, {runs} runs of {chains} chains, {} generations",
            self.generations
        )
    }
}
