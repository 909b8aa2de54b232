//! `--site-rates`: rate and profile of every site on the best tree of a search or an evaluation.

use super::branch_tests::evaluator_of;
use super::outcome::profile_of;
use super::{Outcome, best_of};
use crate::error::{Error, Result, abridged};
use crate::output::{OutputKind, SiteProfileReport};
use crate::partition::Partition;
use crate::plan::Plan;
use crate::runtime::{Session, Setup};
use crate::site_rates::{PatternRates, pattern_rates};
use std::fmt::Write as _;

/// Rates of sites.
pub(crate) const SITE_RATES: OutputKind =
    OutputKind::new(53, "siteRates", "the rate of every site, a posterior mean");

/// Profiles of sites, in the form of IQ-TREE's files.
pub(crate) const SITE_FREQS: OutputKind = OutputKind::new(
    54,
    "siteFreqs",
    "the frequencies of every site, posterior means under the profile mixture",
);

/// The files of rates and profiles of sites.
pub(crate) fn outputs(plan: &Plan) -> Vec<OutputKind> {
    match plan.output.site_rates {
        true => vec![SITE_RATES, SITE_FREQS],
        false => Vec::new(),
    }
}

/// Refuses rates of sites under a correction for sites that were left out, before anything is computed: each category of rates would have
/// a correction of its own.
///
/// # Errors
/// [`Error::Usage`] with the partition.
pub(crate) fn check(setup: &Setup) -> Result<()> {
    let is_corrected = |partition: &&Partition| partition.model.ascertainment.is_some();
    match setup.loaded.partitions.iter().find(is_corrected) {
        Some(Partition { name, .. }) if setup.plan.output.site_rates => Err(Error::Usage(format!(
            "--site-rates is not available under +ASC, the model of partition '{}': leave out one of them",
            abridged(name)
        ))),
        _ => Ok(()),
    }
}

/// Computes and writes the rates of all sites on the best tree, and their profiles under profile mixtures, if that is asked for.
///
/// # Errors
/// The engine has failed, or a file cannot be written.
pub(crate) fn deliver_site_rates(session: &mut Session, outcomes: &[Outcome]) -> Result<()> {
    if !session.setup.plan.output.site_rates {
        return Ok(());
    }
    session.stage("rates of sites");
    let best = &outcomes[best_of(outcomes)];
    let Session { setup, record } = session;
    let resources = setup.resources.share_out(setup.plan, 1).resources;
    let mut evaluator = evaluator_of(setup, resources, best)?;
    let mut rates = String::from("Part\tSite\tRate\tCategory\n");
    let mut along = vec![None; setup.loaded.num_sites];
    // By the column of the alignment.
    let mut profiles: Vec<(u32, String)> = Vec::new();
    for &index in &setup.loaded.file_order {
        let partition = &setup.loaded.partitions[index];
        if setup.loaded.presence[index].len() < 2 {
            continue;
        }
        let PatternRates { means, categories, profiles: of_patterns } =
            pattern_rates(&mut evaluator, index)?;
        for (columns, pattern) in partition.sites_and_patterns() {
            let (column, rate, category) = (columns[0] + 1, means[pattern], categories[pattern]);
            along[columns[0] as usize] = Some(rate);
            let _ = writeln!(rates, "{}\t{column}\t{rate:.6}\t{category}", partition.name);
            if let Some(profile) = of_patterns.as_ref().map(|profiles| &profiles[pattern]) {
                let freqs: Vec<String> = profile.iter().map(|freq| format!("{freq:.6}")).collect();
                profiles.push((column, freqs.join(" ")));
            }
        }
    }
    let along: Vec<f64> = along.into_iter().flatten().collect();
    let (sites_per_value, values) = profile_of(&along);
    let values = values.into_iter().map(f64::from).collect();
    record.report.site_rates = Some(SiteProfileReport { sites_per_value, values });
    record.write(SITE_RATES, &rates)?;
    if !profiles.is_empty() {
        profiles.sort_by_key(|profile| profile.0);
        let lines = profiles.iter().map(|(column, freqs)| format!("{column} {freqs}\n"));
        record.write(SITE_FREQS, &lines.collect::<String>())?;
    }
    Ok(())
}
