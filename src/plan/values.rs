//! Values that are small languages of their own: `pars{5},rand{5}`, `auto{4}`, counts, kernel sets.
//!
//! Every function returns the value, or a message that says why it is refused.

use super::options::{Threads, TreeSource};
use crate::distance::DistanceTree;
use crate::likelihood::ScorePrecision;
use crate::likelihood::select::{ENGINE_OF_GPUS, INSTRUCTION_SETS, engine_names};
use crate::tree::ConsensusRule;
use crate::tree_distance::TreeMetric;
use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// "on" or "off".
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// The seed of all random numbers, or of the resampling.
pub(crate) fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "a seed is a whole number".to_string())
}

/// More runs, trees or taxa than this are a typing error, which must not exhaust the memory.
pub(crate) const MAX_COUNT: usize = 1_000_000;

/// A positive count.
pub(crate) fn parse_count(option: &str, text: &str) -> std::result::Result<usize, String> {
    match text.parse::<usize>() {
        Ok(n) if (1..=MAX_COUNT).contains(&n) => Ok(n),
        _ => Err(format!("{option} {text}: expected a number from 1 to {MAX_COUNT}")),
    }
}

/// `pars{5},rand{5},FILE`; braces may be brackets; without a number it is one.
pub(crate) fn parse_trees(text: &str) -> std::result::Result<Vec<TreeSource>, String> {
    // The name of an existing file may contain commas.
    if Path::new(text).is_file() {
        return Ok(vec![TreeSource::File(PathBuf::from(text))]);
    }
    text.split(',')
        .map(|part| match part.split_once(['{', '[']) {
            _ if part.is_empty() => {
                Err(format!("--tree {text}: one of the entries separated by commas is empty"))
            }
            None if part == "auto" => Ok(TreeSource::Auto),
            None if part == "pars" => Ok(TreeSource::Parsimony(1)),
            None if part == "rand" => Ok(TreeSource::Random(1)),
            None if distance_tree(part).is_some() => {
                Ok(TreeSource::Distances(distance_tree(part).expect("it was found")))
            }
            Some(("pars", n)) => brace_count(part, n).map(TreeSource::Parsimony),
            Some(("rand", n)) => brace_count(part, n).map(TreeSource::Random),
            _ => Ok(TreeSource::File(PathBuf::from(part))),
        })
        .collect()
}

/// The tree of distances with this name.
pub(crate) fn distance_tree(name: &str) -> Option<DistanceTree> {
    DistanceTree::ALL.into_iter().find(|kind| kind.name() == name)
}

fn brace_count(whole: &str, rest: &str) -> std::result::Result<usize, String> {
    let number = rest.strip_suffix(['}', ']']).and_then(|n| n.trim().parse::<usize>().ok());
    number.filter(|n| (1..=MAX_COUNT).contains(n)).ok_or_else(|| {
        format!("'{whole}': expected a number from 1 to {MAX_COUNT} in braces, as in pars{{5}}")
    })
}

/// `4`, `auto`, `auto{4}`.
pub(crate) fn parse_threads(text: Option<&str>) -> std::result::Result<Threads, String> {
    let Some(text) = text else {
        return Ok(Threads::Auto { max: None });
    };
    let lower = text.to_ascii_lowercase();
    if lower == "auto" {
        return Ok(Threads::Auto { max: None });
    }
    if let Some(rest) = lower.strip_prefix("auto{").or_else(|| lower.strip_prefix("auto[")) {
        return brace_count(text, rest).map(|n| Threads::Auto { max: Some(n) });
    }
    match text.parse::<usize>() {
        Ok(n) if (1..=4096).contains(&n) => Ok(Threads::Fixed(n)),
        _ => Err(format!(
            "--threads (-T) {text}: expected a number from 1 to 4096, auto or auto{{N}}"
        )),
    }
}

/// `auto`, or a number of ranks.
pub(crate) fn parse_ranks_per_job(
    text: Option<&str>,
) -> std::result::Result<Option<usize>, String> {
    match text {
        None => Ok(None),
        Some(text) if text.eq_ignore_ascii_case("auto") => Ok(None),
        Some(text) => match text.parse::<usize>() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(format!("--ranks-per-job {text}: expected a number of at least 1, or auto")),
        },
    }
}

/// `500M`, `8G`, `1.5gb`: bytes.
pub(crate) fn parse_memory(text: Option<&str>) -> std::result::Result<Option<u64>, String> {
    let Some(text) = text else { return Ok(None) };
    let lower = text.to_ascii_lowercase();
    let number = lower.trim_end_matches("ib").trim_end_matches('b');
    let units = [('k', 10), ('m', 20), ('g', 30), ('t', 40)];
    let unit =
        units.into_iter().find_map(|(letter, bits)| Some((number.strip_suffix(letter)?, bits)));
    let (number, bits) = unit.unwrap_or((number, 0));
    match number.parse::<f64>() {
        Ok(size) if size > 0.0 && size.is_finite() && bits > 0 => {
            Ok(Some((size * (1_u64 << bits) as f64) as u64))
        }
        _ => Err(format!("--mem {text}: expected a size with its unit, as 500M or 8G")),
    }
}

/// Name of an instruction set; RAxML-NG's `none` is the first, which every machine has.
pub(crate) fn parse_instruction_set(
    text: Option<&str>,
) -> std::result::Result<Option<&'static str>, String> {
    let text = text.map(|text| match text.to_ascii_lowercase().as_str() {
        "none" => INSTRUCTION_SETS[0].to_string(),
        other => other.to_string(),
    });
    one_of("--simd", text.as_deref(), INSTRUCTION_SETS)
}

/// Name of an engine; GPUs are chosen for the engine that has them.
pub(crate) fn parse_engine(
    text: Option<&str>,
    gpus: Option<&str>,
) -> std::result::Result<Option<&'static str>, String> {
    let engine = one_of("--backend", text, &engine_names())?;
    match (engine, gpus) {
        (None, Some(_)) => Ok(Some(ENGINE_OF_GPUS)),
        (Some(other), Some(gpus)) if other != ENGINE_OF_GPUS => Err(format!(
            "--gpu {gpus} chooses GPUs for --backend {ENGINE_OF_GPUS}, not for {other}"
        )),
        _ => Ok(engine),
    }
}

/// Precision of scores, for runs on GPUs: the engine that is meant, and the precision.
pub(crate) fn parse_precision(
    text: Option<&str>,
    engine: Option<&'static str>,
    searches: bool,
) -> std::result::Result<(Option<&'static str>, ScorePrecision), String> {
    let Some(text) = text else { return Ok((engine, ScorePrecision::Double)) };
    let precision = match text {
        "double" => ScorePrecision::Double,
        "single" => ScorePrecision::Single,
        _ => return Err(format!("--gpu-precision {text}: expected double or single")),
    };
    match engine {
        Some(other) if other != ENGINE_OF_GPUS => Err(format!(
            "--gpu-precision {text} is for --backend {ENGINE_OF_GPUS}, not for {other}: leave it out"
        )),
        _ if precision == ScorePrecision::Double => Ok((engine, precision)),
        _ if !searches => {
            Err("--gpu-precision single applies only to searches: leave it out".to_string())
        }
        // Only GPUs have it.
        _ => Ok((Some(ENGINE_OF_GPUS), precision)),
    }
}

/// Numbers of GPUs, `0` or `0,1`, as bits.
pub(crate) fn parse_gpus(text: Option<&str>) -> std::result::Result<u64, String> {
    let mut gpus = 0;
    for word in text.into_iter().flat_map(|text| text.split(',')) {
        let number = word.trim().parse::<u32>().ok().filter(|&number| number < u64::BITS);
        let number = number.ok_or_else(|| {
            let text = text.unwrap_or_default();
            format!("--gpu {text}: expected numbers of GPUs, the first of which is 0, as 0 or 0,1")
        })?;
        gpus |= 1 << number;
    }
    Ok(gpus)
}

/// One of some names, or none for `auto`.
fn one_of(
    option: &str,
    text: Option<&str>,
    names: &[&'static str],
) -> std::result::Result<Option<&'static str>, String> {
    let Some(text) = text.filter(|text| *text != "auto") else { return Ok(None) };
    match names.iter().find(|name| **name == text) {
        Some(name) => Ok(Some(name)),
        None => Err(format!("{option} {text}: expected auto, {}", names.join(", "))),
    }
}

/// A rule of consensus: `MR`, `STRICT`, `MRE`, or a threshold in percent as in `MR75` and RAxML's `T_75`.
pub(crate) fn parse_consensus_rule(text: &str) -> Result<ConsensusRule, String> {
    let spelled = text.to_ascii_uppercase();
    let percent = spelled.strip_prefix("T_").or(spelled.strip_prefix("MR"));
    let percent = percent.and_then(|digits| digits.parse::<u32>().ok());
    match (spelled.as_str(), percent) {
        ("MR", _) => Ok(ConsensusRule::Majority(0.5)),
        ("STRICT", _) => Ok(ConsensusRule::Strict),
        ("MRE", _) => Ok(ConsensusRule::Extended),
        (_, Some(percent @ 50..=100)) => Ok(ConsensusRule::Majority(f64::from(percent) / 100.0)),
        _ => Err(format!(
            "consensus rule '{text}': expected MR, STRICT, MRE, or MR50 to MR100 for a percentage of the trees"
        )),
    }
}

/// Names of distances between trees, separated by commas; in the order in which they are shown, each once.
pub(crate) fn parse_tree_metrics(text: &str) -> Result<Vec<TreeMetric>, String> {
    let metric = |word: &str| {
        let known =
            TreeMetric::ALL.into_iter().find(|known| word.eq_ignore_ascii_case(known.name()));
        known.ok_or_else(|| {
            format!("--rfdist-metric {word}: expected some of rf, wrf, kf and quartet, separated by commas")
        })
    };
    let mut metrics = text.split(',').map(metric).collect::<Result<Vec<_>, _>>()?;
    metrics.sort_unstable();
    metrics.dedup();
    Ok(metrics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use TreeSource::{File, Parsimony, Random};

    #[test]
    fn lists_of_trees() {
        let file = |name: &str| File(PathBuf::from(name));
        for (text, expected) in [
            ("pars{5},rand{3}", vec![Parsimony(5), Random(3)]),
            ("rand,best.nwk,pars[2]", vec![Random(1), file("best.nwk"), Parsimony(2)]),
            ("dir/my{1}.tre", vec![file("dir/my{1}.tre")]),
        ] {
            assert_eq!(parse_trees(text).unwrap(), expected, "{text}");
        }
        for text in [
            "pars{0}",
            "rand{x}",
            "rand{9999999}",
            "pars{99999999999999999999}",
            "pars{5",
            "pars{5},",
            "",
        ] {
            assert!(parse_trees(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_of_memory_have_a_unit() {
        let cases = [("500M", 500 << 20), ("8g", 8 << 30), ("1.5GiB", 3 << 29), ("64kb", 64 << 10)];
        for (text, bytes) in cases {
            assert_eq!(parse_memory(Some(text)), Ok(Some(bytes)), "{text}");
        }
        assert_eq!(parse_memory(None), Ok(None));
        for text in ["", "G", "500", "-1G", "0M", "infG", "nanG", "50%", "1X"] {
            assert!(parse_memory(Some(text)).unwrap_err().contains("as 500M or 8G"), "{text}");
        }
    }

    #[test]
    fn counts_threads_and_kernel_sets() {
        assert_eq!(parse_count("-#", "100"), Ok(100));
        for text in ["0", "-1", "1000001", "99999999999999999999"] {
            assert!(parse_count("-#", text).is_err(), "{text}");
        }
        assert_eq!(parse_threads(Some("3")), Ok(Threads::Fixed(3)));
        assert_eq!(parse_threads(Some("AUTO{4}")), Ok(Threads::Auto { max: Some(4) }));
        assert_eq!(parse_threads(None), Ok(Threads::Auto { max: None }));
        for text in ["0", "auto{0}", "two", "100000"] {
            assert!(parse_threads(Some(text)).is_err(), "{text}");
        }
        assert_eq!(parse_instruction_set(Some("none")), Ok(Some(INSTRUCTION_SETS[0])));
        let last = INSTRUCTION_SETS.last().copied();
        let typed = last.map(str::to_ascii_uppercase);
        assert_eq!(parse_instruction_set(typed.as_deref()), Ok(last));
        assert!(parse_instruction_set(Some("sse3")).is_err());
        assert_eq!(parse_engine(Some("auto"), None), Ok(None));
        assert_eq!(parse_engine(Some("auto"), Some("1")), Ok(Some(ENGINE_OF_GPUS)));
        assert!(parse_engine(Some("abacus"), None).is_err());
        assert_eq!(parse_gpus(None), Ok(0));
        assert_eq!(parse_gpus(Some("0, 3")), Ok(0b1001));
        assert!(parse_gpus(Some("64")).is_err() && parse_gpus(Some("0,")).is_err());
    }
}
