//! [`Sample`]: what is known of a sample before it is drawn.

use super::check::describe_sample;
use super::posterior::{
    MAP_TREE, POSTERIOR_SPLITS, POSTERIOR_TREE, SAMPLED_PARAMETERS, SAMPLED_TREES,
};
use super::run::{measure_chain, sample};
use crate::commands::Command;
use crate::error::Result;
use crate::parallel::used_memory;
use crate::plan::{Facts, MemoryPlan, Plan, Workload};
use crate::runtime::{RunRecord, Session};
use crate::sampler::{SamplingPlan, StopRule};
use crate::steps::dry_run::describe_run;
use crate::steps::select::select_models;
use crate::steps::starts::START_TREE;

/// Trees and parameters from their posterior distribution.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample(pub SamplingPlan);

impl Command for Sample {
    fn facts(&self, _: &Plan) -> Facts {
        let Sample(sampling) = self;
        Facts {
            task: sampling.describe(),
            outputs: vec![
                START_TREE,
                POSTERIOR_TREE,
                POSTERIOR_SPLITS,
                MAP_TREE,
                SAMPLED_PARAMETERS,
                SAMPLED_TREES,
            ],
            numbered: sampling.num_runs,
            resumes: true,
            workload: Workload {
                memory: MemoryPlan::Chains(sampling.num_chains),
                ..Workload::default()
            },
            identity: identity(sampling),
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        sample(&self.0, select_models(Session::start(plan, record)?)?)
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        let mut session = Session::start(plan, record)?;
        let used = used_memory().unwrap_or(0);
        let chain = measure_chain(&self.0, &mut session)?;
        describe_run(session, |setup, rows| Ok(describe_sample(&self.0, chain, setup, used, rows)))
    }
}

/// Every option is named here, so that a new one is not forgotten.
fn identity(sampling: &SamplingPlan) -> Vec<(&'static str, String)> {
    let SamplingPlan {
        generations,
        sample_every,
        diagnose_every,
        num_runs,
        num_chains,
        temperature,
        burnin,
        stop,
        prior_only,
        stones,
        priors,
    } = sampling;
    let described = priors.describe().into_iter().map(|(name, prior)| format!("{name}={prior}"));
    let described: Vec<String> = described.collect();
    vec![
        ("--ngen", generations.to_string()),
        ("--samplefreq", sample_every.to_string()),
        ("--diagnfreq", diagnose_every.to_string()),
        ("--nruns", num_runs.to_string()),
        ("--nchains", num_chains.to_string()),
        ("--temp", temperature.map_or("default".to_string(), |value| value.to_string())),
        ("--burninfrac", burnin.to_string()),
        ("--stop", describe_stop(stop)),
        ("--prior-only", prior_only.to_string()),
        ("--ss", stones.map_or("none".to_string(), |number| number.to_string())),
        ("priors", described.join(", ")),
    ]
}

fn describe_stop(StopRule { asdsf, ess }: &StopRule) -> String {
    let number = |value: &Option<f64>| value.map_or("none".to_string(), |value| value.to_string());
    format!("asdsf {}, ess {}", number(asdsf), number(ess))
}
