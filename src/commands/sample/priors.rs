//! Priors of a sample, as they are typed: `--brlenspr exp{10}`, `--prset shapepr=uni{0/50},statefreqpr=dir{10}`.

use crate::model::bounds::{ALPHA_MAX, ALPHA_MIN, PINV_MAX, PINV_MIN};
use crate::plan::Refusals;
use crate::sampler::{BrlenPrior, NumberPrior, Priors, SharesPrior};

/// All priors; of those that are not given, the defaults.
pub(super) fn read_priors(
    brlens: Option<&str>,
    others: Option<&str>,
    refusals: &mut Refusals,
) -> Priors {
    let mut priors = Priors::default();
    if let Some(text) = brlens {
        priors.brlens = refusals.or(parse_brlens("--brlenspr", text), priors.brlens);
    }
    let mut seen = Vec::new();
    for part in others.into_iter().flat_map(|text| text.split(',')) {
        let name = part.split('=').next().unwrap_or_default().to_ascii_lowercase();
        if seen.contains(&name) || (name == "brlenspr" && brlens.is_some()) {
            refusals.add(format!("--prset {part}: {name} is given twice"));
        } else if let Err(fault) = set(&mut priors, part) {
            refusals.add(fault);
        }
        seen.push(name);
    }
    priors
}

/// Sets one prior.
fn set(priors: &mut Priors, part: &str) -> Result<(), String> {
    let (name, text) = part.split_once('=').unwrap_or((part, ""));
    let option = format!("--prset {name}");
    match name.to_ascii_lowercase().as_str() {
        "brlenspr" => priors.brlens = parse_brlens(&option, text)?,
        "revmatpr" => priors.exchange = parse_shares(&option, text)?,
        "statefreqpr" => priors.freqs = parse_shares(&option, text)?,
        "tratiopr" => priors.kappa = parse_shares(&option, text)?,
        "omegapr" => priors.omega = parse_shares(&option, text)?,
        "shapepr" => priors.shape = parse_number(&option, text, [ALPHA_MIN, ALPHA_MAX])?,
        "pinvarpr" => priors.pinv = parse_number(&option, text, [PINV_MIN, PINV_MAX])?,
        "ratepr" => priors.multipliers = parse_shares(&option, text)?,
        "freeratepr" => priors.free_rates = parse_shares(&option, text)?,
        "freeweightpr" => priors.free_weights = parse_shares(&option, text)?,
        _ => {
            let names = Priors::default().describe().into_iter().map(|(name, _)| name);
            return Err(format!(
                "--prset {part}: expected NAME=PRIOR, with one of the names {}",
                names.collect::<Vec<_>>().join(", ")
            ));
        }
    }
    Ok(())
}

/// The name of a distribution, in short, and its numbers.
fn parse_distribution(text: &str) -> Option<(&'static str, Vec<f64>)> {
    let (name, values) = text.split_once(['{', '['])?;
    let values = values.strip_suffix(['}', ']'])?;
    let values: Option<Vec<f64>> = values
        .split('/')
        .map(|value| value.trim().parse().ok().filter(|x: &f64| (0.0..=1e6).contains(x)))
        .collect();
    let name = match name.to_ascii_lowercase().as_str() {
        "exp" | "exponential" => "exp",
        "uni" | "uniform" => "uni",
        "dir" | "dirichlet" => "dir",
        "beta" => "beta",
        "gammadir" => "gammadir",
        _ => return None,
    };
    Some((name, values?))
}

/// True for numbers from which no density overflows.
fn is_positive(value: &f64) -> bool {
    *value >= 1e-6
}

fn parse_brlens(option: &str, text: &str) -> Result<BrlenPrior, String> {
    match parse_distribution(text).as_ref().map(|(name, values)| (*name, values.as_slice())) {
        Some(("exp", &[rate])) if is_positive(&rate) => Ok(BrlenPrior::Exponential { rate }),
        Some(("uni", &[from, to])) if from + 1e-6 <= to && to <= 100.0 => {
            Ok(BrlenPrior::Uniform { from, to })
        }
        Some(("gammadir", values @ &[shape, rate, alpha, ratio]))
            if values.iter().all(is_positive) =>
        {
            Ok(BrlenPrior::GammaDirichlet { shape, rate, alpha, ratio })
        }
        _ => Err(format!(
            "{option} {text}: expected gammadir{{SHAPE/RATE/ALPHA/RATIO}} or exp{{RATE}}, with positive numbers, or uni{{FROM/TO}}, \
             at most 100"
        )),
    }
}

fn parse_number(option: &str, text: &str, [least, most]: [f64; 2]) -> Result<NumberPrior, String> {
    match parse_distribution(text).as_ref().map(|(name, values)| (*name, values.as_slice())) {
        Some(("exp", &[rate])) if is_positive(&rate) => Ok(NumberPrior::Exponential { rate }),
        Some(("uni", &[from, to])) if from.max(least) + 1e-6 <= to.min(most) => {
            Ok(NumberPrior::Uniform { from, to })
        }
        _ => Err(format!(
            "{option}={text}: expected exp{{RATE}} or uni{{FROM/TO}}, within {least} and {most}; a value in braces in the model \
             fixes the parameter"
        )),
    }
}

fn parse_shares(option: &str, text: &str) -> Result<SharesPrior, String> {
    match parse_distribution(text) {
        Some(("dir", values)) if values.iter().all(is_positive) => Ok(SharesPrior::new(values)),
        Some(("beta", values)) if values.len() == 2 && values.iter().all(is_positive) => {
            Ok(SharesPrior::new(values))
        }
        _ => Err(format!(
            "{option}={text}: expected dir{{A}}, dir{{A/B/...}} or, of two shares, beta{{A/B}}, with positive numbers; values in \
             braces in the model fix the parameter"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priors_are_read_as_they_are_described() {
        let mut refusals = Refusals::default();
        let text = "shapepr=uni{0/50},statefreqpr=dir{10/5/5/10},tratiopr=beta{3/1},ratepr=dir{2},brlenspr=uni{0/5}";
        let priors = read_priors(None, Some(text), &mut refusals);
        assert!(refusals.0.is_empty());
        let described: Vec<String> =
            priors.describe().into_iter().map(|(name, prior)| format!("{name}={prior}")).collect();
        for part in text.split(',') {
            assert!(described.iter().any(|one| one == part), "{part}: {described:?}");
        }
        let again = read_priors(None, Some(&described.join(",")), &mut refusals);
        assert_eq!(again, priors);
        for bad in [
            "shape=exp{1}",
            "shapepr",
            "shapepr=exp{0}",
            "shapepr=uni{3/2}",
            "pinvarpr=dir{1}",
            "pinvarpr=uni{0.995/1}",
        ] {
            let mut refusals = Refusals::default();
            read_priors(None, Some(bad), &mut refusals);
            assert!(!refusals.0.is_empty(), "{bad}");
        }
    }
}
