//! How far searches from different starting trees agree, in numbers and in words.
//!
//! A single search makes one round from each of several starting trees, and goes on from what is best in them; several
//! searches each end in a tree. Either way there are trees to compare, and how much they differ tells whether the data
//! determine the tree, and whether it was easy to find.

use super::outcome::Outcome;
use crate::likelihood::NO_LENGTH;
use crate::output::AgreementReport;
use crate::tree::Tree;
use crate::tree_distance::branch_differences;

/// Trees whose log-likelihoods differ by less than this are about equally good: no usual test of topologies
/// distinguishes them.
const ABOUT_EQUAL: f64 = 2.0;

/// If at least one in this number of perturbations led to a better tree, further ones may, too.
const MANY: usize = 4;

/// The comparison of the trees that the searches found or, for a single search, of those after one round from each
/// starting tree; `None` if there is nothing to compare.
pub(crate) fn compare(outcomes: &[Outcome]) -> Option<AgreementReport> {
    let histories: Option<Vec<_>> = outcomes.iter().map(|o| o.history.as_ref()).collect();
    let histories = histories?;
    let trees: Vec<(f64, &Tree)> = match histories.as_slice() {
        [one] => one.reached.iter().map(|(lnl, tree)| (*lnl, tree)).collect(),
        _ => outcomes.iter().map(|o| (o.lnl, &o.tree)).collect(),
    };
    if trees.len() < 2 || trees[0].1.num_tips() < 4 {
        return None;
    }
    let lnls = trees.iter().map(|tree| tree.0);
    let (lowest, highest) =
        lnls.fold((f64::MAX, f64::MIN), |(low, high), lnl| (low.min(lnl), high.max(lnl)));
    let topologies: Vec<&Tree> = trees.iter().map(|tree| tree.1).collect();
    let differences = branch_differences(&topologies, NO_LENGTH);
    Some(AgreementReport {
        starting_trees: trees.len(),
        after_one_round: outcomes.len() == 1,
        still_adding: outcomes.len() == 1 && histories[0].still_adding,
        log_likelihood_range: highest - lowest,
        fewest_different_branches: differences.fewest,
        most_different_branches: differences.most,
        branches: differences.branches,
        perturbations: histories.iter().map(|history| history.perturbations).sum(),
        improvements: histories.iter().map(|history| history.improvements).sum(),
    })
}

/// One or two lines: how much the trees differ, and what that means.
pub(crate) fn describe(found: &AgreementReport) -> String {
    let AgreementReport { starting_trees, branches, .. } = *found;
    let (fewest, most) = (found.fewest_different_branches, found.most_different_branches);
    let subject = match found.after_one_round {
        true => format!("one round from each of {starting_trees} starting trees led"),
        false => format!("the searches from {starting_trees} starting trees led"),
    };
    let mut text = if most == 0 {
        format!("Search: {subject} to the same tree")
    } else {
        let number = if fewest == most { format!("{most}") } else { format!("{fewest} to {most}") };
        format!(
            "Search: {subject} to trees that differ in {number} of {branches} inner branches and by {:.1} \
             log-likelihood units",
            found.log_likelihood_range
        )
    };
    if found.perturbations > 0 {
        text.push_str(&format!(
            "; {} of {} perturbations led to a better tree",
            found.improvements, found.perturbations
        ));
    }
    text.push('\n');
    text.push_str(advice(found).unwrap_or_default());
    text
}

/// What the user should do, if anything.
fn advice(found: &AgreementReport) -> Option<&'static str> {
    if found.most_different_branches == 0 {
        None
    } else if found.log_likelihood_range < ABOUT_EQUAL {
        Some(
            "  Different trees are about equally likely: rely only on branches with support (--all)\n",
        )
    } else if found.still_adding
        || !found.after_one_round
        || found.improvements > 0 && found.improvements * MANY >= found.perturbations
    {
        Some(
            "  The best tree is not easy to find: --thorough or another seed may find a better one\n",
        )
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agreement_of_searches_is_told_in_words() {
        let same = AgreementReport {
            starting_trees: 4,
            after_one_round: true,
            branches: 98,
            perturbations: 5,
            ..AgreementReport::default()
        };
        assert_eq!(
            describe(&same),
            "Search: one round from each of 4 starting trees led to the same tree; 0 of 5 perturbations led to a better tree\n"
        );
        let similar = AgreementReport {
            after_one_round: false,
            log_likelihood_range: 0.31,
            fewest_different_branches: 2,
            most_different_branches: 6,
            perturbations: 0,
            ..same
        };
        assert_eq!(
            describe(&similar),
            "Search: the searches from 4 starting trees led to trees that differ in 2 to 6 of 98 inner branches and by 0.3 \
             log-likelihood units\n  Different trees are about equally likely: rely only on branches with support \
             (--all)\n"
        );
        let hard = AgreementReport { log_likelihood_range: 12.5, ..similar };
        assert!(describe(&hard).contains("by 12.5") && describe(&hard).contains("--thorough"));
        let found = AgreementReport { after_one_round: true, ..hard };
        assert!(!describe(&found).contains("--thorough"), "perturbations added nothing");
        let improved = AgreementReport { perturbations: 8, improvements: 2, ..found };
        assert!(describe(&improved).contains("--thorough"));
        let hardly = AgreementReport { perturbations: 12, ..improved };
        assert!(!describe(&hardly).contains("--thorough"));
        let unfinished = AgreementReport { still_adding: true, ..found };
        assert!(describe(&unfinished).contains("--thorough"));
    }
}
