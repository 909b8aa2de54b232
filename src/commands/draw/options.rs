//! The options of `draw`.

use super::run::{Draw, TREE_DRAWING};
use crate::commands::{Analysis, Group, Word, guide};
use crate::output::{Shape, TreeLook};
use crate::plan::{DataOptions, OutputArgs, Reading, RunArgs, Switch, one_file};
use crate::steps::options::RootArgs;
use clap::{ArgMatches, Args, FromArgMatches, ValueEnum};
use std::path::PathBuf;

/// The word.
pub(crate) const WORD: Word = Word {
    name: "draw",
    group: Group::GivenTrees,
    about: "a tree as SVG, for a publication",
    usage: "<TREE>",
    guide: guide!("draw"),
    value: Some("tree"),
    outputs: &[TREE_DRAWING],
    args: DrawArgs::augment_args,
    read,
    ..Word::BLANK
};

/// Width of a column of a journal, in millimetres.
const COLUMN: f64 = 85.0;
/// Least and largest width.
const WIDTHS: [f64; 2] = [30.0, 2000.0];

/// Spellings of shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShapeArg {
    /// By branch lengths
    Phylogram,
    /// All tips below each other
    Cladogram,
    /// By branch lengths, from the centre outwards
    Circular,
}

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct DrawArgs {
    /// The tree
    #[arg(short = 't', long, value_name = "FILE", help_heading = "Trees")]
    tree: Option<PathBuf>,
    /// phylogram, cladogram or circular [default: phylogram]
    #[arg(long, value_name = "SHAPE", help_heading = "Drawing")]
    shape: Option<ShapeArg>,
    /// Width in millimetres: 85 (a column) or 180 (a page) [default: 85]
    #[arg(long, value_name = "MM", help_heading = "Drawing")]
    width: Option<f64>,
    /// Names of taxa in italics
    #[arg(long, help_heading = "Drawing")]
    italic: bool,
    /// Small clades above large ones
    #[arg(long, help_heading = "Drawing")]
    ladderise: bool,
    /// Leave out support below this [default: none]
    #[arg(long, value_name = "X", help_heading = "Drawing")]
    least_support: Option<f64>,
    /// Colours of clades: a TSV file of taxa and colours
    ///
    /// In each line taxa separated by commas, a colour (#0072B2 or a name) and, if wanted, a name for the legend, separated by
    /// tabulators.
    #[arg(long, value_name = "FILE", help_heading = "Drawing")]
    clade_colours: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    root: RootArgs,
    #[command(flatten)]
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = DrawArgs::from_arg_matches(matches)?;
    let refusals = &mut reading.refusals;
    let tree = one_file(args.tree, "--tree", None, "mlsearch draw", refusals);
    let width = args.width.unwrap_or(COLUMN);
    if !(WIDTHS[0]..=WIDTHS[1]).contains(&width) {
        let [least, most] = WIDTHS;
        refusals.add(format!("--width {width}: expected millimetres from {least} to {most}"));
    }
    if args.least_support.is_some_and(f64::is_nan) {
        refusals.add("--least-support: expected a number");
    }
    let root = args.root.read(refusals);
    let look = TreeLook {
        shape: match args.shape {
            None | Some(ShapeArg::Phylogram) => Shape::Phylogram,
            Some(ShapeArg::Cladogram) => Shape::Cladogram,
            Some(ShapeArg::Circular) => Shape::Circular,
        },
        width,
        is_italic: args.italic,
        is_ladder: args.ladderise,
        least_label: args.least_support,
        clades: Vec::new(),
    };
    // The drawing is what there is to look at.
    let output = OutputArgs { report: Some(Switch::Off), ..args.output };
    let mut plan = reading.plan(DataOptions::default(), &args.run, &output, Some(&tree));
    plan.output.root = root;
    Ok(Analysis::new(&WORD, plan, Box::new(Draw { tree, look, colours: args.clade_colours })))
}
