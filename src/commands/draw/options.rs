//! The options of `draw`.

use super::run::{Draw, LARGEST_WIDTH, TREE_DRAWING, TREE_PDF, TREE_PNG};
use crate::commands::{Analysis, Group, Word, guide};
use crate::output::{MISSING, Shape, TreeLook};
use crate::plan::{DataOptions, OutputArgs, Reading, RunArgs, Switch, one_file};
use crate::steps::options::RootArgs;
use clap::{ArgMatches, Args, FromArgMatches, ValueEnum};
use std::path::PathBuf;

/// The word.
pub(crate) const WORD: Word = Word {
    name: "draw",
    group: Group::GivenTrees,
    about: "a tree as SVG, PDF or PNG, for a publication",
    usage: "<TREE>",
    guide: guide!("draw"),
    value: Some("tree"),
    outputs: &[TREE_DRAWING, TREE_PDF, TREE_PNG],
    args: DrawArgs::augment_args,
    read,
    ..Word::BLANK
};

/// Width of a column of a journal, in millimetres.
const COLUMN: f64 = 85.0;
/// Least and largest width.
const WIDTHS: [f64; 2] = [30.0, LARGEST_WIDTH];

/// Pixels to the inch: what journals ask for, and the least and the most that are useful.
const DPI: f64 = 300.0;
const DPIS: [f64; 2] = [20.0, 2400.0];

/// Formats of drawings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// For browsers and to edit
    Svg,
    /// One page, with text that can be searched
    Pdf,
    /// Pixels, on white
    Png,
}

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
    #[arg(long, value_name = "MM", value_parser = parse_width, help_heading = "Drawing")]
    width: Option<f64>,
    /// svg, pdf or png, or several, separated by commas [default: svg]
    #[arg(long, value_name = "FORMATS", value_delimiter = ',', help_heading = "Drawing")]
    format: Vec<FormatArg>,
    /// Pixels to the inch, of PNG [default: 300]
    #[arg(long, value_name = "N", help_heading = "Drawing")]
    dpi: Option<f64>,
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

/// Millimetres, with or without the unit.
fn parse_width(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("mm").unwrap_or(text).trim();
    number.parse().map_err(|_| "expected a number of millimetres".to_string())
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
    let dpi = args.dpi.unwrap_or(DPI);
    if !(DPIS[0]..=DPIS[1]).contains(&dpi) {
        let [least, most] = DPIS;
        refusals.add(format!("--dpi {dpi}: expected pixels to the inch from {least} to {most}"));
    }
    let mut formats = args.format;
    if args.dpi.is_some() && !formats.contains(&FormatArg::Png) {
        refusals.add("--dpi: only PNG has pixels; add --format png");
    }
    if let Some(reason) = MISSING.filter(|_| formats.iter().any(|one| *one != FormatArg::Svg)) {
        refusals.add(format!("--format: {reason}"));
    }
    if formats.is_empty() {
        formats.push(FormatArg::Svg);
    }
    let kinds = [FormatArg::Svg, FormatArg::Pdf, FormatArg::Png].into_iter().zip(WORD.outputs);
    let kinds = kinds.filter(|(format, _)| formats.contains(format)).map(|(_, kind)| *kind);
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
    let draw = Draw { tree, look, colours: args.clade_colours, kinds: kinds.collect(), dpi };
    Ok(Analysis::new(&WORD, plan, Box::new(draw)))
}
