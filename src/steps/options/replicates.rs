//! The options of bootstrap replicates: how many, when to stop making them, and what is drawn for them.

use crate::bootstrap::{
    Bootstop, BootstopCriterion, DEFAULT_CUTOFF, DEFAULT_HALVINGS, Sampling, SamplingUnit,
};
use crate::plan::{
    BootstrapOptions, DEFAULT_MOST_REPLICATES, DEFAULT_REPLICATES, MAX_COUNT, Refusals,
    parse_count, parse_seed,
};
use clap::Args;

const BOOTSTRAP: &str = "Bootstrap and support";

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

/// How many replicates, and how they are drawn.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DrawArgs {
    /// Number of replicates, or autoMRE [default: 100]
    ///
    /// With a rule, replicates are made until there are enough (bootstopping): autoMRE, autoMR or autoFC, tested
    /// after every 50 replicates, with the largest number in braces: autoMRE{500} [default: 1000].
    #[arg(long, value_name = "N|RULE", help_heading = BOOTSTRAP)]
    pub bs_trees: Option<String>,
    /// Number of replicates as in --bs-trees; also -N
    ///
    /// In a search without --all, -b and -x it is the number of starting trees.
    #[arg(short = '#', short_alias = 'N', value_name = "N", help_heading = BOOTSTRAP)]
    pub runs: Option<String>,
    /// Seed of the resampling [default: that of -p]
    ///
    /// With -# N or --bs-trees N; without a word, replicates alone are made, as in RAxML.
    #[arg(short = 'b', value_name = "SEED", value_parser = parse_seed, help_heading = BOOTSTRAP)]
    pub bootstrap_seed: Option<u64>,
    /// The same as -b: rapid replicates are not available; standard ones are made instead
    #[arg(short = 'x', value_name = "SEED", value_parser = parse_seed, conflicts_with = "bootstrap_seed", help_heading = BOOTSTRAP, hide_short_help = true)]
    pub rapid_seed: Option<u64>,
    /// Draw site, gene or genesite [default: site]
    ///
    /// Sites within partitions; partitions with all their sites; or partitions, then sites within those drawn.
    #[arg(long, value_name = "WHAT", help_heading = BOOTSTRAP)]
    pub sampling: Option<String>,
    /// Jackknife: replicates lack this share of the sites of each partition (of the partitions with --sampling gene, of
    /// both with genesite) instead of a bootstrap [default: off]
    #[arg(long, value_name = "SHARE", help_heading = BOOTSTRAP, hide_short_help = true)]
    pub jackknife: Option<String>,
}

/// When there are enough replicates.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StopArgs {
    /// Greatest weighted Robinson-Foulds distance of halves of the replicates that agree, of autoMRE and autoMR
    /// [default: 0.03]
    #[arg(short = 'B', long, value_name = "X", help_heading = BOOTSTRAP, hide_short_help = true)]
    pub bs_cutoff: Option<String>,
    /// Number of random halvings of the replicates in each test of bootstopping, at least 100 [default: 1000]
    #[arg(long, value_name = "N", help_heading = BOOTSTRAP, hide_short_help = true)]
    pub bs_perms: Option<String>,
}

/// Replicates and their trees.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ReplicateArgs {
    #[allow(missing_docs)]
    #[command(flatten)]
    pub draw: DrawArgs,
    #[allow(missing_docs)]
    #[command(flatten)]
    pub stop: StopArgs,
    /// Write the replicate trees with optimised branch lengths (substitutions per site) [default: off]
    #[arg(short = 'k', long, help_heading = BOOTSTRAP, hide_short_help = true)]
    pub bs_brlens: bool,
}

impl DrawArgs {
    /// The seed of `-b` or `-x`.
    pub(crate) fn seed(&self) -> Option<u64> {
        self.bootstrap_seed.or(self.rapid_seed)
    }

    /// True if any option demands replicates; `-#` alone may count something else.
    pub(crate) fn demand_some(&self) -> bool {
        self.bs_trees.is_some() || self.seed().is_some()
    }

    /// What users of `-x` should know.
    pub(crate) fn note_rapid(&self, notes: &mut Vec<String>) {
        if self.rapid_seed.is_some() {
            notes.push(
                "-x: rapid bootstrapping is not available; standard replicates are made instead, as with -b"
                    .into(),
            );
        }
    }

    /// Their meaning, with the rule of bootstopping; `seed` is that of the run.
    pub(crate) fn read(
        &self,
        seed: u64,
        has_partitions: bool,
        refusals: &mut Refusals,
    ) -> (BootstrapOptions, Option<BootstopCriterion>) {
        let Number { replicates, criterion } = self.number(refusals);
        let options = BootstrapOptions {
            replicates,
            bootstop: None,
            sampling: self.sampling(has_partitions, refusals),
            seed: self.seed().unwrap_or(seed),
            with_brlens: false,
        };
        (options, criterion)
    }

    fn number(&self, refusals: &mut Refusals) -> Number {
        match (self.runs.as_deref(), self.bs_trees.as_deref()) {
            (Some(_), Some(_)) => {
                refusals.add(
                    "-# and --bs-trees both set the number of replicates: give only one of them",
                );
                Number::NONE
            }
            (Some(text), None) => refusals.or(parse_number("-#", text), Number::NONE),
            (None, Some(text)) => refusals.or(parse_number("--bs-trees", text), Number::NONE),
            (None, None) => Number { replicates: DEFAULT_REPLICATES, criterion: None },
        }
    }

    /// What is drawn for a replicate.
    fn sampling(&self, has_partitions: bool, refusals: &mut Refusals) -> Sampling {
        let unit = match self.sampling.as_deref() {
            None => SamplingUnit::Sites,
            Some(name) => {
                let unit =
                    SamplingUnit::ALL.into_iter().find(|u| u.name().eq_ignore_ascii_case(name));
                unit.unwrap_or_else(|| {
                    refusals.add(format!("--sampling {name}: expected site, gene or genesite"));
                    SamplingUnit::Sites
                })
            }
        };
        if unit != SamplingUnit::Sites && !has_partitions {
            refusals
                .add("--sampling gene and genesite draw partitions: give a partition file with -q");
        }
        let jackknife = self.jackknife.as_deref().and_then(|text| match text.parse::<f64>() {
            Ok(share) if share > 0.0 && share < 1.0 => Some(share),
            _ => {
                refusals.add(format!(
                    "--jackknife {text}: expected the share to be deleted, above 0 and below 1, as 0.5"
                ));
                None
            }
        });
        Sampling { unit, jackknife }
    }
}

impl StopArgs {
    /// The rule of bootstopping, with the options that belong to it.
    pub(crate) fn read(
        &self,
        criterion: Option<BootstopCriterion>,
        refusals: &mut Refusals,
    ) -> Option<Bootstop> {
        let by_trees =
            criterion.is_some_and(|criterion| criterion != BootstopCriterion::Frequencies);
        if self.bs_cutoff.is_some() && !by_trees {
            refusals
                .add("--bs-cutoff (-B) applies only to the bootstopping rules autoMRE and autoMR");
        }
        if self.bs_perms.is_some() && criterion.is_none() {
            refusals.add("--bs-perms applies only to bootstopping (autoMRE, autoMR, autoFC)");
        }
        let cutoff = match self.bs_cutoff.as_deref() {
            None => DEFAULT_CUTOFF,
            Some(text) => match text.parse::<f64>() {
                Ok(cutoff) if cutoff > 0.0 && cutoff < 1.0 => cutoff,
                _ => {
                    refusals.add(format!(
                        "--bs-cutoff (-B) {text}: expected a distance above 0 and below 1, as 0.03 for 3 %"
                    ));
                    DEFAULT_CUTOFF
                }
            },
        };
        let halvings = self.bs_perms.as_deref().map(|text| {
            let halvings = refusals.or(parse_count("--bs-perms", text), LEAST_HALVINGS);
            if halvings < LEAST_HALVINGS {
                refusals.add(format!("--bs-perms {text}: expected at least {LEAST_HALVINGS}"));
            }
            halvings
        });
        let halvings = halvings.unwrap_or(DEFAULT_HALVINGS);
        criterion.map(|criterion| Bootstop { criterion, cutoff, halvings })
    }
}

impl ReplicateArgs {
    /// Their meaning; `seed` is that of the run.
    pub(crate) fn read(
        &self,
        seed: u64,
        has_partitions: bool,
        refusals: &mut Refusals,
    ) -> BootstrapOptions {
        let (options, criterion) = self.draw.read(seed, has_partitions, refusals);
        BootstrapOptions {
            bootstop: self.stop.read(criterion, refusals),
            with_brlens: self.bs_brlens,
            ..options
        }
    }

    /// Refuses what is about replicates, in a run without any; `how` says how to have some.
    pub(crate) fn refuse(&self, how: &str, refusals: &mut Refusals) {
        let given = [
            (self.draw.sampling.is_some(), "--sampling"),
            (self.draw.jackknife.is_some(), "--jackknife"),
            (self.stop.bs_cutoff.is_some(), "--bs-cutoff (-B)"),
            (self.stop.bs_perms.is_some(), "--bs-perms"),
            (self.bs_brlens, "-k (--bs-brlens)"),
        ];
        for (_, option) in given.into_iter().filter(|(is_given, _)| *is_given) {
            refusals.add(format!("{option} applies only to bootstrap replicates: {how}"));
        }
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

/// The rule of this name.
fn find_rule(name: &str) -> Option<BootstopCriterion> {
    BootstopCriterion::ALL.into_iter().find(|rule| rule.name().eq_ignore_ascii_case(name))
}

/// The names of all rules.
fn rules() -> String {
    BootstopCriterion::ALL.map(BootstopCriterion::name).join(", ")
}

/// The rule by which given trees are tested.
pub(crate) fn parse_rule(name: &str) -> Result<BootstopCriterion, String> {
    find_rule(name).ok_or_else(|| format!("bootstopping rule '{name}': expected {}", rules()))
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
