//! The tree as SVG. All sizes are in points, 72 to the inch; the width of the picture is in millimetres.

use super::layout::{Layout, Shape};
use super::letters::width_of;
use crate::output::svg::escaped;
use crate::tree::NewickTree;
use std::f64::consts::PI;
use std::fmt::Write;

/// Points in a millimetre.
const POINTS: f64 = 72.0 / 25.4;
/// Highest picture: a page without margins of the text.
const MOST_HEIGHT: f64 = 240.0 * POINTS;
/// Sizes of the font of names: what journals ask for, and what can still be read.
const FONT: [f64; 2] = [4.0, 7.5];
/// A row of a tip, in sizes of its font.
const ROW: f64 = 1.2;
/// Free space around everything, and between a branch and its name.
const MARGIN: f64 = 6.0;
const GAP: f64 = 3.0;
/// Width of lines.
const LINE: f64 = 0.7;
/// Share of the circle that is used: where the rest is, the first and the last taxon are apart.
const CIRCLE: f64 = 0.97;
/// Least radius of the tree in a circle.
const LEAST_RADIUS: f64 = 30.0;

/// How a tree is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TreeLook {
    /// Its shape.
    pub shape: Shape,
    /// Width of the picture in millimetres.
    pub width: f64,
    /// Names in italics.
    pub is_italic: bool,
    /// Small clades first.
    pub is_ladder: bool,
    /// Labels of inner branches, such as support, that are numbers below this are left out.
    pub least_label: Option<f64>,
    /// Colours of clades.
    pub clades: Vec<Clade>,
}

/// A clade with a colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clade {
    /// Some of its taxa: the clade is the smallest with all of these.
    pub taxa: Vec<String>,
    /// The colour, as SVG has it.
    pub colour: String,
    /// Its name for the legend, if it has one.
    pub name: Option<String>,
}

/// Where the nodes are on the paper.
struct Paper {
    layout: Layout,
    is_circular: bool,
    /// Of the root at the top left or, in a circle, of the centre.
    origin: [f64; 2],
    /// Points for a unit of x, and for a row.
    scale: [f64; 2],
}

impl Paper {
    fn angle(&self, y: f64) -> f64 {
        -0.5 * PI + ((y + 0.5) / self.layout.rows as f64 * CIRCLE + 0.5 * (1.0 - CIRCLE)) * 2.0 * PI
    }

    /// The point at a distance from the root in a row, and so much further out.
    fn at(&self, x: f64, y: f64, further: f64) -> [f64; 2] {
        let [left, top] = self.origin;
        if !self.is_circular {
            return [left + x * self.scale[0] + further, top + (y + 0.5) * self.scale[1]];
        }
        let (radius, angle) = (x * self.scale[0] + further, self.angle(y));
        [left + radius * libm::cos(angle), top + radius * libm::sin(angle)]
    }
}

/// The tree as an SVG file.
pub(crate) fn draw_tree(tree: &NewickTree, look: &TreeLook) -> String {
    let layout = Layout::new(tree, look.shape, look.is_ladder);
    let has_scale =
        look.shape != Shape::Cladogram && tree.nodes().any(|node| node.length().is_some());
    let name = |node: usize| tree.node(node as u32).name().unwrap_or_default();
    let tips = (0..tree.num_nodes()).filter(|&node| layout.children[node].is_empty());
    let tips: Vec<usize> = tips.collect();
    let width = look.width * POINTS;
    let legend: Vec<&Clade> = look.clades.iter().filter(|clade| clade.name.is_some()).collect();
    let below = if has_scale { 20.0 } else { 0.0 } + 11.0 * legend.len() as f64;
    let rows = layout.rows as f64;
    let is_circular = look.shape == Shape::Circular;
    let depth = layout.depth;
    let longest = tips.iter().map(|&tip| width_of(name(tip))).fold(0.0, f64::max);
    let (font, paper, height) = if is_circular {
        // Names take at most a third of the radius on each side.
        let half = 0.5 * width - MARGIN;
        let around = 2.0 * PI * CIRCLE * (half - FONT[0] * longest - GAP).max(LEAST_RADIUS) / rows;
        let font = (around / ROW).clamp(FONT[0].min(FONT[1]), FONT[1]);
        let radius = (half - font * longest - GAP).max(LEAST_RADIUS);
        let origin = [0.5 * width, MARGIN + half];
        let paper = Paper { layout, is_circular, origin, scale: [radius / depth, 1.0] };
        (font, paper, 2.0 * (half + MARGIN) + below)
    } else {
        let font = ((MOST_HEIGHT - below - 2.0 * MARGIN) / rows / ROW).clamp(FONT[0], FONT[1]);
        // What the names of long branches need decides on the scale.
        let room = width - 2.0 * MARGIN - GAP;
        let fits = tips.iter().map(|&tip| {
            let x = layout.x[tip].max(1e-3 * depth);
            (room - font * width_of(name(tip))).max(0.25 * room) / x
        });
        let scale = fits.fold(f64::INFINITY, f64::min);
        let scale = if scale.is_finite() { scale } else { room / depth };
        let origin = [MARGIN, MARGIN];
        let height = rows * font * ROW + 2.0 * MARGIN + below;
        (font, Paper { layout, is_circular, origin, scale: [scale, font * ROW] }, height)
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}mm\" height=\"{:.2}mm\" viewBox=\"0 0 {width:.2} {height:.2}\" \
         font-family=\"Helvetica, Arial, sans-serif\" stroke-linecap=\"square\">\n",
        look.width,
        height / POINTS
    );
    let colours = colours_of(&paper.layout, &look.clades, name);
    draw_branches(&paper, &colours, &mut svg);
    draw_names(tree, &paper, look, font, &colours, &mut svg);
    let mut y = height - below + 4.0;
    if has_scale {
        draw_scale(&paper, y, &mut svg);
        y += 20.0;
    }
    for clade in legend {
        let (colour, name) = (&clade.colour, clade.name.as_deref().unwrap_or_default());
        put(
            &mut svg,
            format_args!(
                "<rect x=\"{MARGIN}\" y=\"{:.2}\" width=\"8\" height=\"8\" fill=\"{colour}\"/><text x=\"{:.2}\" y=\"{:.2}\" \
                 font-size=\"7\">{}</text>",
                y - 4.0,
                MARGIN + 12.0,
                y + 2.5,
                escaped(name)
            ),
        );
        y += 11.0;
    }
    svg.push_str("</svg>\n");
    svg
}

/// `[node]`: the colour of the branch above it. Clades within others are coloured after these.
fn colours_of<'c>(
    layout: &Layout,
    clades: &'c [Clade],
    name: impl Fn(usize) -> &'c str,
) -> Vec<&'c str> {
    let number = layout.parent.len();
    let order = layout.preorder();
    let mut size = vec![0usize; number];
    for &node in order.iter().rev() {
        size[node] = size[node].max(1);
        if let Some(parent) = layout.parent[node] {
            size[parent] += size[node];
        }
    }
    let top_of = |clade: &Clade| -> usize {
        let mut inside = vec![0usize; number];
        for &node in order.iter().rev() {
            if layout.children[node].is_empty() {
                inside[node] = usize::from(clade.taxa.iter().any(|taxon| taxon == name(node)));
            }
            if inside[node] == clade.taxa.len() {
                return node;
            }
            if let Some(parent) = layout.parent[node] {
                inside[parent] += inside[node];
            }
        }
        0
    };
    let mut tops: Vec<(usize, &Clade)> =
        clades.iter().map(|clade| (top_of(clade), clade)).collect();
    tops.sort_by_key(|(top, _)| std::cmp::Reverse(size[*top]));
    let mut colours = vec!["black"; number];
    for (top, clade) in tops {
        let mut stack = vec![top];
        while let Some(node) = stack.pop() {
            colours[node] = &clade.colour;
            stack.extend(&layout.children[node]);
        }
    }
    colours
}

fn draw_branches(paper: &Paper, colours: &[&str], svg: &mut String) {
    let layout = &paper.layout;
    for node in layout.preorder() {
        let (x, y, colour) = (layout.x[node], layout.y[node], colours[node]);
        if let Some(parent) = layout.parent[node] {
            let ([x0, y0], [x1, y1]) = (paper.at(layout.x[parent], y, 0.0), paper.at(x, y, 0.0));
            put(
                svg,
                format_args!(
                    "<path d=\"M{x0:.2} {y0:.2}L{x1:.2} {y1:.2}\" stroke=\"{colour}\" stroke-width=\"{LINE}\"/>"
                ),
            );
        }
        let ends = layout.children[node].first().zip(layout.children[node].last());
        let Some((&first, &last)) = ends.filter(|ends| ends.0 != ends.1) else { continue };
        let [x0, y0] = paper.at(x, layout.y[first], 0.0);
        let [x1, y1] = paper.at(x, layout.y[last], 0.0);
        let line = if paper.is_circular {
            let radius = x * paper.scale[0];
            let turn = paper.angle(layout.y[last]) - paper.angle(layout.y[first]);
            format!("A{radius:.2} {radius:.2} 0 {} 1 {x1:.2} {y1:.2}", u8::from(turn > PI))
        } else {
            format!("L{x1:.2} {y1:.2}")
        };
        put(
            svg,
            format_args!(
                "<path d=\"M{x0:.2} {y0:.2}{line}\" stroke=\"{colour}\" stroke-width=\"{LINE}\" fill=\"none\"/>"
            ),
        );
    }
}

fn draw_names(
    tree: &NewickTree,
    paper: &Paper,
    look: &TreeLook,
    font: f64,
    colours: &[&str],
    svg: &mut String,
) {
    let layout = &paper.layout;
    let style = if look.is_italic { " font-style=\"italic\"" } else { "" };
    for node in layout.preorder() {
        let Some(text) = tree.node(node as u32).name() else { continue };
        let (x, y) = (layout.x[node], layout.y[node]);
        let is_tip = layout.children[node].is_empty();
        if !is_tip {
            let first = text.split('/').next().and_then(|first| first.parse::<f64>().ok());
            let is_weak = |least| first.is_some_and(|value| value < least);
            if node == 0 || text.is_empty() || look.least_label.is_some_and(is_weak) {
                continue;
            }
            // Near the centre there is room only along the branch.
            let above = layout.parent[node].map_or(0.0, |parent| layout.x[parent]);
            let room = (x - above) * paper.scale[0];
            if paper.is_circular && room < 0.75 * font * width_of(text) {
                continue;
            }
        }
        let (size, colour) = if is_tip { (font, colours[node]) } else { (0.75 * font, "black") };
        let (mut anchor, mut turned) = (if is_tip { "start" } else { "end" }, String::new());
        // In a circle, names stand on its rim, where all have room; thin lines lead there.
        let is_on_rim = is_tip && paper.is_circular;
        if is_on_rim {
            let ([x0, y0], [x1, y1]) = (paper.at(x, y, 0.0), paper.at(layout.depth, y, 0.0));
            put(
                svg,
                format_args!(
                    "<path d=\"M{x0:.2} {y0:.2}L{x1:.2} {y1:.2}\" stroke=\"#aaaaaa\" stroke-width=\"0.3\" \
                     stroke-dasharray=\"1 2\"/>"
                ),
            );
        }
        let x = if is_on_rim { layout.depth } else { x };
        let [px, mut py] = paper.at(x, y, if is_tip { GAP } else { -1.5 });
        if paper.is_circular {
            let angle = paper.angle(y);
            let is_left = angle > 0.5 * PI;
            if is_left {
                anchor = if is_tip { "end" } else { "start" };
            }
            let degrees = (angle + if is_left { PI } else { 0.0 }) * 180.0 / PI;
            turned = format!(" transform=\"rotate({degrees:.2} {px:.2} {py:.2})\"");
        }
        // The middle of small letters is at the height of the branch; labels stand above theirs.
        py += if is_tip { 0.35 * size } else { -0.25 * size };
        put(
            svg,
            format_args!(
                "<text x=\"{px:.2}\" y=\"{py:.2}\" font-size=\"{size:.2}\" text-anchor=\"{anchor}\" fill=\"{colour}\"{}{turned}>{}</text>",
                if is_tip { style } else { "" },
                escaped(text)
            ),
        );
    }
}

/// A round length of about a fifth of the tree.
fn draw_scale(paper: &Paper, y: f64, svg: &mut String) {
    let rough = paper.layout.depth / 5.0;
    let power = libm::pow(10.0, libm::log10(rough).floor());
    let steps = [10.0, 5.0, 2.0, 1.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| *step <= rough).unwrap_or(power);
    // Without the remainder of the product.
    let digits = (-libm::log10(power).round()).max(0.0) as usize;
    let (x0, x1) = (MARGIN, MARGIN + step * paper.scale[0]);
    put(
        svg,
        format_args!(
            "<path d=\"M{x0:.2} {:.2}v5M{x0:.2} {:.2}H{x1:.2}M{x1:.2} {:.2}v5\" stroke=\"black\" stroke-width=\"{LINE}\" \
             fill=\"none\"/><text x=\"{:.2}\" y=\"{:.2}\" font-size=\"7\">{step:.digits$} substitutions per site</text>",
            y - 2.5,
            y,
            y - 2.5,
            x1 + 4.0,
            y + 2.5
        ),
    );
}

/// Adds a line.
fn put(svg: &mut String, line: std::fmt::Arguments) {
    let _ = svg.write_fmt(line);
    svg.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::read_newick;

    fn look(shape: Shape) -> TreeLook {
        TreeLook {
            shape,
            width: 85.0,
            is_italic: false,
            is_ladder: false,
            least_label: None,
            clades: Vec::new(),
        }
    }

    fn drawn(text: &str, look: &TreeLook) -> String {
        draw_tree(&read_newick(text, "t").unwrap()[0], look)
    }

    const TREE: &str = "((A:0.1,'B & C':0.2)95:0.1,(C:0.1,(D:0.1,E:0.3)40:0.1)100:0.05);";

    #[test]
    fn all_shapes_have_all_names_and_are_well_formed() {
        for shape in [Shape::Phylogram, Shape::Cladogram, Shape::Circular] {
            let svg = drawn(TREE, &look(shape));
            for part in
                [">A</text>", ">B &amp; C</text>", ">95</text>", ">40</text>", "width=\"85mm\""]
            {
                assert!(svg.contains(part), "{part}: {svg}");
            }
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
            assert_eq!(svg.contains("substitutions"), shape != Shape::Cladogram);
            assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        }
        // A tree of one point, and one of long names.
        let svg = drawn("(A:0,B:0,C:0);", &look(Shape::Phylogram));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        let long = format!("({}:1,B:1,C:0.1);", "x".repeat(300));
        assert!(!drawn(&long, &look(Shape::Circular)).contains("NaN"));
    }

    #[test]
    fn labels_below_the_least_are_left_out_and_clades_have_colours() {
        let clade = |taxa: &[&str], colour: &str| Clade {
            taxa: taxa.iter().map(|taxon| taxon.to_string()).collect(),
            colour: colour.into(),
            name: Some(format!("clade {colour}")),
        };
        // The inner clade is named first, and is still coloured.
        let clades = vec![clade(&["E"], "#ff0000"), clade(&["C", "E"], "#0000ff")];
        let look =
            TreeLook { least_label: Some(50.0), is_italic: true, clades, ..look(Shape::Phylogram) };
        let svg = drawn(TREE, &look);
        assert!(!svg.contains(">40</text>") && svg.contains(">95</text>"));
        let several = drawn(&TREE.replace(")40", ")40/1").replace(")95", ")95/0.1"), &look);
        assert!(!several.contains(">40/1</text>") && several.contains(">95/0.1</text>"));
        let colour = |name: &str| {
            let line = svg.lines().find(|line| line.contains(&format!(">{name}</text>"))).unwrap();
            line.split("fill=\"").nth(1).unwrap().split('"').next().unwrap().to_string()
        };
        assert_eq!(["A", "C", "D", "E"].map(colour), ["black", "#0000ff", "#0000ff", "#ff0000"]);
        assert!(svg.contains("clade #ff0000</text>") && svg.contains("font-style=\"italic\""));
    }

    #[test]
    fn names_are_inside() {
        let svg = drawn(TREE, &look(Shape::Phylogram));
        let width = 85.0 * POINTS;
        for line in svg.lines().filter(|line| line.contains("text-anchor=\"start\"")) {
            let x: f64 =
                line.split("x=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
            let name = line.split('>').nth(1).unwrap().split('<').next().unwrap();
            assert!(x + 7.5 * width_of(name) <= width, "{line}");
        }
    }
}
