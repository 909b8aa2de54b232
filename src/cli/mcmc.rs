//! `--mcmc`: a sample from the posterior distribution, in the words of MrBayes.

use super::args::{Args, Switch};
use super::priors::resolve_priors;
use super::values::{MAX_COUNT, parse_count};
use super::verb::{Faults, Verb};
use crate::plan::{DEFAULT_GENERATIONS, SamplingPlan, StopRule, TreeSource};

/// Most generations of a run.
const MAX_GENERATIONS: u64 = 1_000_000_000_000;
/// Most samples of a run: all of them are in memory.
const MAX_SAMPLES: u64 = MAX_COUNT as u64;
/// Stepping stones if no number is given, as in MrBayes.
const DEFAULT_STONES: usize = 50;
/// Most runs, and most chains of a run.
const MAX_CHAINS: usize = 1000;

/// What is asked for.
pub(super) fn resolve_mcmc(args: &Args, faults: &mut Faults) -> SamplingPlan {
    let standard = SamplingPlan::default();
    let mut generations = |option: &str, text: &Option<String>, standard: u64| match text {
        Some(text) => faults.or(parse_generations(option, text), standard),
        None => standard,
    };
    let total = generations("--ngen", &args.ngen, DEFAULT_GENERATIONS);
    let sample_every = generations("--samplefreq", &args.samplefreq, standard.sample_every);
    let diagnose_every = generations("--diagnfreq", &args.diagnfreq, total.div_ceil(20));
    if sample_every > total {
        faults.add(format!(
            "--samplefreq {sample_every}: no sample would be drawn in the {total} generations of --ngen"
        ));
    } else if total / sample_every > MAX_SAMPLES {
        faults.add(format!(
            "--ngen {total} --samplefreq {sample_every}: more than {MAX_SAMPLES} samples of a run, which are all in \
             memory: give a larger --samplefreq"
        ));
    }
    let mut count = |option: &str, text: &Option<String>, standard: usize| match text {
        Some(text) => match parse_count(option, text) {
            Ok(number) if number <= MAX_CHAINS => number,
            _ => {
                faults.add(format!("{option} {text}: expected a number from 1 to {MAX_CHAINS}"));
                standard
            }
        },
        None => standard,
    };
    let num_runs = count("--nruns", &args.nruns, standard.num_runs);
    let num_chains = count("--nchains", &args.nchains, standard.num_chains);
    let stop = args.stop.as_deref().map(|text| parse_stop(text, faults)).unwrap_or_default();
    if stop.asdsf.is_some() && num_runs < 2 {
        faults.add("--stop asdsf compares several runs: give --nruns 2 or more");
    }
    let stones = args.ss.as_ref().map(|text| resolve_stones(text.as_deref(), total, faults));
    if stones.is_some() && args.prior_only {
        faults.add("--ss is the marginal likelihood of the data: leave out --prior-only");
    }
    SamplingPlan {
        generations: total,
        sample_every,
        diagnose_every,
        num_runs,
        num_chains,
        temperature: args
            .temp
            .as_deref()
            .map(|text| number(Some(text), "--temp", 0.0, faults, |x| x >= 0.0)),
        burnin: number(args.burninfrac.as_deref(), "--burninfrac", standard.burnin, faults, |x| {
            (0.0..0.9).contains(&x)
        }),
        stop,
        prior_only: args.prior_only,
        stones,
        priors: resolve_priors(args.brlenspr.as_deref(), args.prset.as_deref(), faults),
    }
}

/// Refuses options of samples in other analyses, and what cannot be sampled.
pub(super) fn check_mcmc_options(args: &Args, verb: Verb, faults: &mut Faults) {
    let given = [
        ("--ngen", args.ngen.is_some()),
        ("--samplefreq", args.samplefreq.is_some()),
        ("--diagnfreq", args.diagnfreq.is_some()),
        ("--nruns", args.nruns.is_some()),
        ("--nchains", args.nchains.is_some()),
        ("--temp", args.temp.is_some()),
        ("--burninfrac", args.burninfrac.is_some()),
        ("--stop", args.stop.is_some()),
        ("--prior-only", args.prior_only),
        ("--ss", args.ss.is_some()),
        ("--brlenspr", args.brlenspr.is_some()),
        ("--prset", args.prset.is_some()),
    ];
    if verb != Verb::Sample {
        for (option, _) in given.iter().filter(|(_, is_given)| *is_given) {
            faults.add(format!("{option} applies only to --mcmc"));
        }
    }
    if verb == Verb::Sample && args.opt_branches == Some(Switch::Off) {
        faults.add("--mcmc samples branch lengths: leave out --opt-branches off");
    }
}

/// Trees that are made, one for each chain; trees that are given are dealt to the chains in turn.
pub(super) fn give_each_chain_a_tree(trees: &mut Vec<TreeSource>, asked: &SamplingPlan) {
    let number = asked.num_runs * asked.num_chains;
    match trees.as_mut_slice() {
        [TreeSource::Parsimony(made) | TreeSource::Random(made)] if *made == 1 => *made = number,
        [TreeSource::Auto] => *trees = vec![TreeSource::Parsimony(number)],
        _ => {}
    }
}

/// Number of stepping stones, of which each has at least one generation.
fn resolve_stones(text: Option<&str>, generations: u64, faults: &mut Faults) -> u64 {
    let stones = match text {
        Some(text) => faults.or(parse_count("--ss", text), DEFAULT_STONES),
        None => DEFAULT_STONES,
    } as u64;
    if generations / (stones + 1) == 0 {
        faults
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
    faults: &mut Faults,
    is_allowed: impl Fn(f64) -> bool,
) -> f64 {
    let Some(text) = text else { return standard };
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && is_allowed(x) => x,
        _ => {
            let range = if option == "--temp" { "0 or more" } else { "from 0 to below 0.9" };
            faults.add(format!("{option} {text}: expected a number, {range}"));
            standard
        }
    }
}

/// `asdsf=0.01,ess=625`.
fn parse_stop(text: &str, faults: &mut Faults) -> StopRule {
    let mut rule = StopRule::default();
    for part in text.split(',') {
        let value = part.split_once('=');
        let value = value.map(|(name, value)| (name, value.parse::<f64>().unwrap_or(f64::NAN)));
        match value {
            Some(("asdsf", x)) if x > 0.0 && x < 1.0 => rule.asdsf = Some(x),
            Some(("ess", x)) if x >= 1.0 && x.is_finite() => rule.ess = Some(x),
            _ => faults.add(format!(
                "--stop {part}: expected asdsf=X (above 0, below 1), ess=N, or both separated by a comma"
            )),
        }
    }
    rule
}
