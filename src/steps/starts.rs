//! Starting trees: those of the user, parsimony trees, random trees, distance trees.

use super::distance_trees::{check_usual_place, folder_of, starting_tree};
use crate::dataset::{GivenTree, describe_violation};
use crate::distance::DistanceTree;
use crate::error::{Error, Result};
use crate::likelihood::BRLEN_BOUNDS;
use crate::observer::{Event, Observer};
use crate::output::OutputKind;
use crate::parsimony::{parsimony_brlens, parsimony_score};
use crate::plan::TreeSource;
use crate::rng::{Purpose, stream};
use crate::runtime::{Session, Setup, warn_of_each};
use crate::search::parsimony_start;
use crate::tree::{DEFAULT_BRLEN, Tree, random_tree};
use serde::{Deserialize, Serialize};

/// The starting trees.
pub(crate) const START_TREE: OutputKind =
    OutputKind::new(4, "startTree", "the starting trees").of_trees("support");

/// A tree to begin with, and where it came from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StartTree {
    /// `pars 1`, `rand 2`, `FILE, tree 3`.
    pub source: String,
    /// The tree, with lengths.
    pub tree: Tree,
    /// False if a file gave the tree without some of its lengths.
    pub has_lengths: bool,
}

/// How a tree is to be made.
enum Recipe {
    Parsimony(u64),
    Random(u64),
    Distances(DistanceTree),
    Given(GivenTree),
}

/// What branches without a length in a file get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartLengths {
    /// The default. An evaluation that optimises lengths ends higher from there than from parsimony, where it
    /// may not leave the shortest branches (354 taxa: -6609.96 instead of -6610.38).
    AsGiven,
    /// All branches of the tree get lengths from parsimony: these are nearer to the final ones, so a search
    /// takes less time.
    FromParsimony,
}

/// All starting trees, in the order of the command line; `then` is what comes after them, if that takes longer.
///
/// # Errors
/// None so far; jobs may fail.
pub(crate) fn make_starts(
    session: &mut Session,
    lengths: StartLengths,
    then: Option<&str>,
) -> Result<Vec<StartTree>> {
    let recipes = keep_to_bounds(session);
    let from_parsimony = lengths == StartLengths::FromParsimony;
    let needs_data = recipes.iter().any(|recipe| match recipe {
        Recipe::Given(given) => !given.has_lengths && from_parsimony,
        _ => true,
    });
    if !needs_data {
        // The packed columns of a large alignment take time and memory.
        let given = recipes.into_iter().filter_map(|recipe| match recipe {
            Recipe::Given(GivenTree { source, tree, has_lengths }) => {
                Some(StartTree { source, tree, has_lengths })
            }
            _ => None,
        });
        return Ok(given.collect());
    }
    let kinds: Vec<DistanceTree> = recipes
        .iter()
        .filter_map(|recipe| match recipe {
            Recipe::Distances(kind) => Some(*kind),
            _ => None,
        })
        .collect();
    check_usual_place(&kinds, session.setup.num_reduced_taxa(), &folder_of(session.setup.plan))?;
    session.stage_before("starting trees", then);
    let setup = &session.setup;
    let partitions = setup.reduced(&setup.loaded.partitions);
    let resources = setup.resources.share_out(setup.plan, recipes.len()).resources;
    let resources = resources.without_companions();
    let data = setup.parsimony_data(resources, &partitions);
    // All threads compute each of them.
    let (mut of_distances, mut tallies) = (Vec::new(), Vec::new());
    for recipe in &recipes {
        of_distances.push(match recipe {
            Recipe::Distances(kind) => {
                let (tree, tally) = starting_tree(*kind, setup, &partitions)?;
                check_constraint(setup, *kind, &tree)?;
                tallies.push((*kind, tally));
                Some(tree)
            }
            _ => None,
        });
    }
    drop(partitions);
    for (kind, mut tally) in tallies {
        let what = format!("get the largest distance in the starting tree '{}'", kind.name());
        tally.warn("", &what, session.record);
    }
    let setup = &session.setup;
    let jobs = setup.jobs("starting tree", recipes.len());
    let starts = session.record.run_jobs(&jobs, |job| {
        let seed = setup.plan.seed;
        let (source, mut tree, has_lengths) = match &recipes[job.number] {
            Recipe::Parsimony(i) => {
                let tree = parsimony_start(&data, seed, Purpose::ParsimonyTree, *i);
                (format!("pars {}", i + 1), tree, true)
            }
            Recipe::Random(i) => {
                let mut rng = stream(seed, Purpose::RandomTree, *i);
                let tree = match data.constraint() {
                    Some(constraint) => constraint.random_tree(DEFAULT_BRLEN, &mut rng),
                    None => random_tree(data.num_taxa(), DEFAULT_BRLEN, &mut rng),
                };
                (format!("rand {}", i + 1), tree, false)
            }
            Recipe::Distances(kind) => {
                let tree = of_distances[job.number].clone().expect("it was made");
                (kind.name().to_string(), tree, true)
            }
            Recipe::Given(given) => {
                (given.source.clone(), setup.reduced_tree(&given.tree), given.has_lengths)
            }
        };
        if !has_lengths && from_parsimony {
            parsimony_brlens(&mut tree, &data);
        }
        let score = parsimony_score(&tree, &data);
        job.event(&Event::Detail(format!("{source}: parsimony score {score}")));
        let tree = setup.whole_tree(&tree);
        Ok((StartTree { source, tree, has_lengths }, score))
    })?;
    let scores = || starts.iter().map(|start| start.1);
    if let (Some(least), Some(most)) = (scores().min(), scores().max()) {
        let scores = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let plural = if starts.len() == 1 { "starting tree" } else { "starting trees" };
        let count = starts.len();
        session.record.progress.text(&format!("{count} {plural}, parsimony score {scores}"));
    }
    Ok(starts.into_iter().map(|start| start.0).collect())
}

/// Refuses a tree from distances that violates the constraint, of which distances know nothing.
fn check_constraint(setup: &Setup, kind: DistanceTree, tree: &Tree) -> Result<()> {
    let (constraint, path) = (&setup.loaded.constraint, &setup.plan.search.constraint);
    let (Some(constraint), Some(path)) = (constraint, path) else { return Ok(()) };
    let tree = setup.whole_tree(tree);
    match describe_violation(constraint, path, &tree, &setup.loaded.taxa) {
        Some(violation) => Err(Error::Usage(format!(
            "--tree {}: {violation}. Begin with --tree pars{{N}} or rand{{N}}, whose trees satisfy it",
            kind.name()
        ))),
        None => Ok(()),
    }
}

/// What to make, with the lengths of given trees within the bounds of optimised lengths: beyond them the
/// likelihood is flat, or its logarithm minus infinity, and an optimisation does not find its way back.
fn keep_to_bounds(session: &mut Session) -> Vec<Recipe> {
    let [least, most] = BRLEN_BOUNDS;
    let mut recipes = list_recipes(session);
    let mut warnings = Vec::new();
    for recipe in recipes.iter_mut().filter(|_| session.setup.plan.search.opt_branches) {
        let Recipe::Given(GivenTree { source, tree, has_lengths: true }) = recipe else { continue };
        let (lifted, cut) = tree.clamp_brlens(least, most);
        if lifted + cut > 0 {
            warnings.push(format!(
                "{source}: of {} branch lengths, {lifted} were raised to {least} and {cut} reduced to \
                 {most}, the bounds of optimised branch lengths (substitutions per site)",
                tree.num_edges()
            ));
        }
    }
    let summary = format!("{} trees had branch lengths outside their bounds", warnings.len());
    warn_of_each(session.record, &summary, warnings);
    recipes
}

fn list_recipes(session: &mut Session) -> Vec<Recipe> {
    let mut files = std::mem::take(&mut session.setup.loaded.trees).into_iter();
    let (mut num_parsimony, mut num_random) = (0, 0);
    let mut recipes = Vec::new();
    for source in &session.setup.plan.search.trees {
        match source {
            TreeSource::Auto => {
                // Three taxa have only one tree.
                let starts = match session.setup.loaded.taxa.len() {
                    3 => 1,
                    _ => session.setup.plan.search.effort.num_starts(session.setup.is_small()),
                };
                let end = num_parsimony + starts;
                recipes.extend((num_parsimony..end).map(Recipe::Parsimony));
                num_parsimony = end;
            }
            TreeSource::Parsimony(n) => {
                let end = num_parsimony + *n as u64;
                recipes.extend((num_parsimony..end).map(Recipe::Parsimony));
                num_parsimony = end;
            }
            TreeSource::Random(n) => {
                let end = num_random + *n as u64;
                recipes.extend((num_random..end).map(Recipe::Random));
                num_random = end;
            }
            TreeSource::Distances(kind) => recipes.push(Recipe::Distances(*kind)),
            TreeSource::File(_) => {
                let given = files.next().into_iter().flatten();
                recipes.extend(given.map(Recipe::Given));
            }
        }
    }
    recipes
}

/// The file of starting trees.
pub(crate) fn write_starts(session: &Session, starts: &[StartTree]) -> String {
    let newicks = starts.iter();
    newicks.map(|start| session.setup.newick(&start.tree, true) + "\n").collect()
}
