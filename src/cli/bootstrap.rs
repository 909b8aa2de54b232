//! Bootstrap replicates: how many, when to stop making them, and what is drawn for them.

use super::args::Args;
use super::values::{MAX_COUNT, parse_count};
use super::verb::{Faults, Verb};
use crate::plan::{
    Bootstop, BootstopCriterion, BootstrapOptions, DEFAULT_CUTOFF, DEFAULT_HALVINGS,
    DEFAULT_MOST_REPLICATES, DEFAULT_REPLICATES, DEFAULT_SEED, Sampling, SamplingUnit,
};
use std::path::Path;

/// Fewest halvings of a test: RAxML's.
const LEAST_HALVINGS: usize = 100;

/// How many replicates, and when to stop making them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Number {
    /// How many, or how many at most.
    replicates: usize,
    criterion: Option<BootstopCriterion>,
}

impl Number {
    const NONE: Number = Number { replicates: 0, criterion: None };
}

/// The replicates of a command; none where it makes none.
pub(super) fn resolve_bootstrap(args: &Args, verb: Verb, faults: &mut Faults) -> BootstrapOptions {
    let number = resolve_number(args, verb, faults);
    let seed = args.seed.unwrap_or(DEFAULT_SEED);
    BootstrapOptions {
        replicates: number.replicates,
        bootstop: resolve_bootstop(args, number.criterion, faults),
        sampling: resolve_sampling(args, verb, faults),
        seed: args.replicate_seed().unwrap_or(seed),
        with_brlens: args.bs_brlens,
    }
}

/// What is drawn for a replicate.
fn resolve_sampling(args: &Args, verb: Verb, faults: &mut Faults) -> Sampling {
    let makes_replicates = verb.makes_replicates(args);
    if (args.sampling.is_some() || args.jackknife.is_some()) && !makes_replicates {
        faults.add("--sampling and --jackknife apply only to bootstrap replicates");
    }
    let unit = match args.sampling.as_deref() {
        None => SamplingUnit::Sites,
        Some(name) => {
            let unit = SamplingUnit::ALL.into_iter().find(|u| u.name().eq_ignore_ascii_case(name));
            unit.unwrap_or_else(|| {
                faults.add(format!("--sampling {name}: expected site, gene or genesite"));
                SamplingUnit::Sites
            })
        }
    };
    let model_is_file = args.model.as_deref().is_some_and(|model| Path::new(model).is_file());
    if unit != SamplingUnit::Sites && args.partitions.is_none() && !model_is_file {
        faults.add("--sampling gene and genesite draw partitions: give a partition file with -q");
    }
    let jackknife = args.jackknife.as_deref().and_then(|text| match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Some(share),
        _ => {
            faults.add(format!(
                "--jackknife {text}: expected the share to be deleted, above 0 and below 1, as 0.5"
            ));
            None
        }
    });
    Sampling { unit, jackknife }
}

/// The rule of bootstopping, with the options that belong to it.
fn resolve_bootstop(
    args: &Args,
    criterion: Option<BootstopCriterion>,
    faults: &mut Faults,
) -> Option<Bootstop> {
    let by_trees = criterion.is_some_and(|criterion| criterion != BootstopCriterion::Frequencies);
    if args.bs_cutoff.is_some() && !by_trees {
        faults.add("--bs-cutoff (-B) applies only to the bootstopping rules autoMRE and autoMR");
    }
    if args.bs_perms.is_some() && criterion.is_none() {
        faults.add("--bs-perms applies only to bootstopping (autoMRE, autoMR, autoFC)");
    }
    let cutoff = match args.bs_cutoff.as_deref() {
        None => DEFAULT_CUTOFF,
        Some(text) => match text.parse::<f64>() {
            Ok(cutoff) if cutoff > 0.0 && cutoff < 1.0 => cutoff,
            _ => {
                faults.add(format!(
                    "--bs-cutoff (-B) {text}: expected a distance above 0 and below 1, as 0.03 for 3 %"
                ));
                DEFAULT_CUTOFF
            }
        },
    };
    let halvings = args.bs_perms.as_deref().map(|text| {
        let halvings = faults.or(parse_count("--bs-perms", text), LEAST_HALVINGS);
        if halvings < LEAST_HALVINGS {
            faults.add(format!("--bs-perms {text}: expected at least {LEAST_HALVINGS}"));
        }
        halvings
    });
    let halvings = halvings.unwrap_or(DEFAULT_HALVINGS);
    criterion.map(|criterion| Bootstop { criterion, cutoff, halvings })
}

/// Number of replicates, with every spelling; 0 where the command makes none.
fn resolve_number(args: &Args, verb: Verb, faults: &mut Faults) -> Number {
    let makes_replicates = verb.makes_replicates(args);
    if args.replicate_seed().is_some() && !makes_replicates {
        faults.add(
            "-b SEED (-x SEED) applies only to bootstrap replicates, and this analysis makes none",
        );
    }
    if args.bs_brlens && (!makes_replicates || verb == Verb::BsMsa) {
        faults.add("-k (--bs-brlens) applies only to bootstrap replicates");
    }
    if !makes_replicates {
        if args.bs_trees.is_some() && !matches!(verb, Verb::Support | Verb::BsConverge) {
            faults.add("--bs-trees applies only to --bootstrap, --all, --bsmsa, --dist, --support and --bsconverge");
        }
        if args.runs.is_some() && !matches!(verb, Verb::Search | Verb::Start) {
            faults.add("-# applies only to searches, starting trees and bootstrap replicates");
        }
        let criterion = (verb == Verb::BsConverge).then(|| resolve_rule(args, faults));
        return Number { replicates: 0, criterion };
    }
    let number = match (args.runs.as_deref(), args.bs_trees.as_deref()) {
        (Some(_), Some(_)) => {
            faults
                .add("-# and --bs-trees both set the number of replicates: give only one of them");
            Number::NONE
        }
        (Some(text), None) => faults.or(parse_number("-#", text), Number::NONE),
        (None, Some(text)) => faults.or(parse_number("--bs-trees", text), Number::NONE),
        (None, None) => Number { replicates: DEFAULT_REPLICATES, criterion: None },
    };
    if verb == Verb::BsMsa && number.criterion.is_some() {
        faults.add("--bsmsa makes no trees: give a number of replicates, no rule of bootstopping");
    }
    number
}

/// The rule by which given trees are tested.
fn resolve_rule(args: &Args, faults: &mut Faults) -> BootstopCriterion {
    let stand_in = BootstopCriterion::ExtendedMajority;
    match args.bsconverge.clone().flatten().or(args.raxml_bsconverge.clone()) {
        None => stand_in,
        Some(name) => find_rule(&name).unwrap_or_else(|| {
            faults.add(format!("bootstopping rule '{name}': expected {}", rules()));
            stand_in
        }),
    }
}

/// `100`, `autoMRE`, `autoFC{500}`; braces may be brackets.
fn parse_number(option: &str, text: &str) -> std::result::Result<Number, String> {
    if !text.to_ascii_lowercase().starts_with("auto") {
        return Ok(Number { replicates: parse_count(option, text)?, criterion: None });
    }
    let (name, most) = match text.split_once(['{', '[']) {
        None => (text, None),
        Some((name, rest)) => (name, Some(rest)),
    };
    let criterion = find_rule(name);
    let most = match most {
        None => Some(DEFAULT_MOST_REPLICATES),
        Some(rest) => {
            let number = rest.strip_suffix(['}', ']']).and_then(|number| number.parse().ok());
            number.filter(|number| (1..=MAX_COUNT).contains(number))
        }
    };
    match (criterion, most) {
        (Some(criterion), Some(replicates)) => {
            Ok(Number { replicates, criterion: Some(criterion) })
        }
        _ => Err(format!(
            "{option} {text}: expected a number of replicates, or {}, if need be with the largest number of replicates \
             (1 to {MAX_COUNT}) in braces, as autoMRE{{1000}}",
            rules()
        )),
    }
}

fn find_rule(name: &str) -> Option<BootstopCriterion> {
    BootstopCriterion::ALL.into_iter().find(|rule| rule.name().eq_ignore_ascii_case(name))
}

fn rules() -> String {
    BootstopCriterion::ALL.map(BootstopCriterion::name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use BootstopCriterion::{ExtendedMajority, Frequencies, Majority};

    #[test]
    fn a_number_of_replicates_is_given_or_found() {
        for (text, replicates, criterion) in [
            ("100", 100, None),
            ("autoMRE", 1000, Some(ExtendedMajority)),
            ("automre{50}", 50, Some(ExtendedMajority)),
            ("AUTOFC[700]", 700, Some(Frequencies)),
            ("autoMR{1}", 1, Some(Majority)),
        ] {
            let number = parse_number("-#", text).unwrap();
            assert_eq!(number, Number { replicates, criterion }, "{text}");
        }
        for text in
            ["0", "x", "auto", "autoMRE_IGN", "autoMRE{0}", "autoMRE{5", "autoFC{}", "auto{9}"]
        {
            assert!(parse_number("-#", text).unwrap_err().contains(text), "{text}");
        }
    }
}
