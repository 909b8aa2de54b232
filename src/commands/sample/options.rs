//! The options of `sample`, in the words of MrBayes.

use super::command::Sample;
use super::posterior::{
    ASDSF_PLOT, MAP_TREE, POSTERIOR_SPLITS, POSTERIOR_TREE, SAMPLED_PARAMETERS, SAMPLED_TREES,
    SPLIT_PLOT, TRACE_PLOT,
};
use super::priors::read_priors;
use super::report::SECTION;
use crate::commands::{Analysis, Group, Word, guide};
use crate::plan::{
    AnalysisOptions, DataArgs, MAX_COUNT, ModelIs, OutputArgs, Plan, Reading, Refusals, Replaces,
    RunArgs, Switch, TreeSource, parse_count,
};
use crate::sampler::{DEFAULT_GENERATIONS, SamplingPlan, StopRule};
use crate::steps::options::{ConstraintArgs, StartArgs};
use crate::steps::starts::START_TREE;
use clap::{ArgMatches, Args, FromArgMatches};

const SAMPLING: &str = "Sampling";

/// The word.
pub(crate) const WORD: Word = Word {
    name: "sample",
    group: Group::FromAlignments,
    about: "trees and parameters from the posterior (MCMC)",
    usage: "-s <FILE> -m <MODEL>",
    guide: guide!("sample"),
    flat: "mcmc",
    outputs: &[
        START_TREE,
        POSTERIOR_TREE,
        POSTERIOR_SPLITS,
        MAP_TREE,
        SAMPLED_PARAMETERS,
        SAMPLED_TREES,
        TRACE_PLOT,
        SPLIT_PLOT,
        ASDSF_PLOT,
    ],
    replaces: Replaces::AllOfAnalyses,
    sections: &[SECTION.schema()],
    args: SampleArgs::augment_args,
    read,
    ..Word::BLANK
};

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct SampleArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    chains: ChainArgs,
    #[command(flatten)]
    start: StartArgs,
    #[command(flatten)]
    constraint: ConstraintArgs,
    /// Sample the parameters of the model [default: on]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = SAMPLING, hide_short_help = true)]
    opt_model: Option<Switch>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Chains and priors.
#[derive(Debug, Clone, Args)]
struct ChainArgs {
    /// Generations of each run [default: 1000000]
    ///
    /// Proposals in each of its chains.
    #[arg(long, value_name = "N", help_heading = SAMPLING)]
    pub ngen: Option<String>,
    /// Generations between samples [default: 500]
    #[arg(long, value_name = "N", help_heading = SAMPLING)]
    pub samplefreq: Option<String>,
    /// Generations between two comparisons of the runs [default: a twentieth of --ngen]
    #[arg(long, value_name = "N", help_heading = SAMPLING, hide_short_help = true)]
    pub diagnfreq: Option<String>,
    /// Number of independent runs [default: 2]
    ///
    /// They are computed at the same time if there are threads.
    #[arg(long, value_name = "N", help_heading = SAMPLING)]
    pub nruns: Option<String>,
    /// Coupled chains in each run [default: 4]
    ///
    /// All but the first are heated.
    #[arg(long, value_name = "N", help_heading = SAMPLING)]
    pub nchains: Option<String>,
    /// Heating: the posterior of chain i is raised to the power 1/(1+iX), from chain 0 on [default:
    /// adapted until 40 % of the swaps are accepted]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = SAMPLING, hide_short_help = true)]
    pub temp: Option<String>,
    /// Share of the samples of each run, from the first on, that is left aside [default: 0.25]
    #[arg(long, value_name = "SHARE", help_heading = SAMPLING, hide_short_help = true)]
    pub burninfrac: Option<String>,
    /// End early: asdsf=0.01, ess=625, or both
    ///
    /// The runs end when the frequencies of splits and the effective sample sizes are as good: asdsf=0.01,ess=625
    /// [default: off].
    #[arg(long, value_name = "RULES", help_heading = SAMPLING)]
    pub stop: Option<String>,
    /// Sample from the priors, without the data [default: off]
    #[arg(long, help_heading = SAMPLING, hide_short_help = true)]
    pub prior_only: bool,
    /// Marginal likelihood by stepping stones
    ///
    /// By this number of steps, in as many generations again as the sample has [default: 50].
    #[arg(long, num_args = 0..=1, value_name = "STEPS", help_heading = SAMPLING)]
    pub ss: Option<Option<String>>,
    /// Prior of branch lengths: gammadir, exp, uni
    ///
    /// gammadir{SHAPE/RATE/ALPHA/RATIO} (gamma distribution of the tree length, Dirichlet distribution of the shares
    /// of the branches in it), exp{RATE} or uni{FROM/TO} [default: gammadir{1/0.1/1/1}].
    #[arg(long, value_name = "PRIOR", help_heading = SAMPLING)]
    pub brlenspr: Option<String>,
    /// Other priors, by MrBayes' names
    ///
    /// Separated by commas: shapepr=uni{0/50},statefreqpr=dir{10/10/10/10} [default: those of MrBayes].
    #[arg(long, value_name = "NAME=PRIOR,...", help_heading = SAMPLING)]
    pub prset: Option<String>,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = SampleArgs::from_arg_matches(matches)?;
    let data = args.data.read(ModelIs::Needed, reading);
    let plan = reading.plan(data, &args.run, &args.output, None);
    let refusals = &mut reading.refusals;
    let sampling = read_chains(&args.chains, refusals);
    let mut trees = args.start.read(None, TreeSource::Parsimony(1), refusals);
    give_each_chain_a_tree(&mut trees, &sampling);
    let search = AnalysisOptions {
        trees,
        opt_model: args.opt_model != Some(Switch::Off),
        constraint: args.constraint.tree_constraint,
        ..AnalysisOptions::default()
    };
    Ok(Analysis::new(&WORD, Plan { search, ..plan }, Box::new(Sample(sampling))))
}

/// Most generations of a run.
const MAX_GENERATIONS: u64 = 1_000_000_000_000;
/// Most samples of a run: all of them are in memory.
const MAX_SAMPLES: u64 = MAX_COUNT as u64;
/// Stepping stones if no number is given, as in MrBayes.
const DEFAULT_STONES: usize = 50;
/// Most runs, and most chains of a run.
const MAX_CHAINS: usize = 1000;

/// What is sampling for.
fn read_chains(args: &ChainArgs, refusals: &mut Refusals) -> SamplingPlan {
    let standard = SamplingPlan::default();
    let mut generations = |option: &str, text: &Option<String>, standard: u64| match text {
        Some(text) => refusals.or(parse_generations(option, text), standard),
        None => standard,
    };
    let total = generations("--ngen", &args.ngen, DEFAULT_GENERATIONS);
    let sample_every = generations("--samplefreq", &args.samplefreq, standard.sample_every);
    let diagnose_every = generations("--diagnfreq", &args.diagnfreq, total.div_ceil(20));
    if sample_every > total {
        refusals.add(format!(
            "--samplefreq {sample_every}: no sample would be drawn in the {total} generations of --ngen"
        ));
    } else if total / sample_every > MAX_SAMPLES {
        refusals.add(format!(
            "--ngen {total} --samplefreq {sample_every}: more than {MAX_SAMPLES} samples of a run, which are all in \
             memory: give a larger --samplefreq"
        ));
    }
    let mut count = |option: &str, text: &Option<String>, standard: usize| match text {
        Some(text) => match parse_count(option, text) {
            Ok(number) if number <= MAX_CHAINS => number,
            _ => {
                refusals.add(format!("{option} {text}: expected a number from 1 to {MAX_CHAINS}"));
                standard
            }
        },
        None => standard,
    };
    let num_runs = count("--nruns", &args.nruns, standard.num_runs);
    let num_chains = count("--nchains", &args.nchains, standard.num_chains);
    let stop = args.stop.as_deref().map(|text| parse_stop(text, refusals)).unwrap_or_default();
    if stop.asdsf.is_some() && num_runs < 2 {
        refusals.add("--stop asdsf compares several runs: give --nruns 2 or more");
    }
    let stones = args.ss.as_ref().map(|text| read_stones(text.as_deref(), total, refusals));
    if stones.is_some() && args.prior_only {
        refusals.add("--ss is the marginal likelihood of the data: leave out --prior-only");
    }
    SamplingPlan {
        generations: total,
        sample_every,
        diagnose_every,
        num_runs,
        num_chains,
        temperature: args.temp.as_deref().map(|text| {
            number(Some(text), "--temp", 0.0, refusals, |x| (0.0..=1000.0).contains(&x))
        }),
        burnin: number(
            args.burninfrac.as_deref(),
            "--burninfrac",
            standard.burnin,
            refusals,
            |x| (0.0..0.9).contains(&x),
        ),
        stop,
        prior_only: args.prior_only,
        stones,
        priors: read_priors(args.brlenspr.as_deref(), args.prset.as_deref(), refusals),
    }
}

/// Trees that are made, one for each chain; trees that are given are dealt to the chains in turn.
fn give_each_chain_a_tree(trees: &mut Vec<TreeSource>, sampling: &SamplingPlan) {
    let number = sampling.num_runs * sampling.num_chains;
    match trees.as_mut_slice() {
        [TreeSource::Parsimony(made) | TreeSource::Random(made)] if *made == 1 => *made = number,
        [TreeSource::Auto] => *trees = vec![TreeSource::Parsimony(number)],
        _ => {}
    }
}

/// Number of stepping stones, of which each has at least one generation.
fn read_stones(text: Option<&str>, generations: u64, refusals: &mut Refusals) -> u64 {
    let stones = match text {
        Some(text) => refusals.or(parse_count("--ss", text), DEFAULT_STONES),
        None => DEFAULT_STONES,
    } as u64;
    if generations / (stones + 1) == 0 {
        refusals
            .add(format!("--ss {stones}: more steps than the {generations} generations of --ngen"));
    }
    stones
}

/// A positive number of generations; `1e6` is understood.
fn parse_generations(option: &str, text: &str) -> Result<u64, String> {
    let number = text.parse::<u64>().ok().or_else(|| {
        let number = text.parse::<f64>().ok().filter(|x| x.fract() == 0.0 && *x <= 1e15)?;
        (number >= 1.0).then_some(number as u64)
    });
    number.filter(|number| (1..=MAX_GENERATIONS).contains(number)).ok_or_else(|| {
        format!("{option} {text}: expected a number of generations from 1 to {MAX_GENERATIONS}")
    })
}

fn number(
    text: Option<&str>,
    option: &str,
    standard: f64,
    refusals: &mut Refusals,
    is_allowed: impl Fn(f64) -> bool,
) -> f64 {
    let Some(text) = text else { return standard };
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && is_allowed(x) => x,
        _ => {
            let range = if option == "--temp" { "from 0 to 1000" } else { "from 0 to below 0.9" };
            refusals.add(format!("{option} {text}: expected a number, {range}"));
            standard
        }
    }
}

/// `asdsf=0.01,ess=625`.
fn parse_stop(text: &str, refusals: &mut Refusals) -> StopRule {
    let mut rule = StopRule::default();
    for part in text.split(',') {
        let value = part.split_once('=');
        let value = value.map(|(name, value)| (name, value.parse::<f64>().unwrap_or(f64::NAN)));
        match value {
            Some(("asdsf", x)) if x > 0.0 && x < 1.0 => rule.asdsf = Some(x),
            Some(("ess", x)) if x >= 1.0 && x.is_finite() => rule.ess = Some(x),
            _ => refusals.add(format!(
                "--stop {part}: expected asdsf=X (above 0, below 1), ess=N, or both separated by a comma"
            )),
        }
    }
    rule
}
