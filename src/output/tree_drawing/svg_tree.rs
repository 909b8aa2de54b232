//! The tree as SVG. All sizes are in points, 72 to the inch; the width of the picture is in millimetres.

use super::layout::{Layout, Shape};
use super::letters::{abridged_to, width_of};
use super::room::Room;
use crate::output::svg::escaped;
use crate::tree::{NewickNode, NewickTree};
use std::f64::consts::PI;
use std::fmt::Write;

/// Points in a millimetre.
const POINTS: f64 = 72.0 / 25.4;
/// Highest picture: a page without margins of the text.
const MOST_HEIGHT: f64 = 240.0 * POINTS;
/// Sizes of the font of names: what journals ask for, and what can still be read.
const FONT: [f64; 2] = [4.0, 7.5];
/// Size to which it is made smaller for long names, which are abridged if that is not enough.
const FONT_OF_LONG: f64 = 5.0;
/// Most of the width that names get, and of the radius in a circle.
const MOST_FOR_NAMES: [f64; 2] = [0.75, 0.6];
/// Size of the font of labels, in sizes of that of names.
const LABEL: f64 = 0.75;
/// Where a label is above or below its branch, in sizes of its font: the line that it stands on, and its middle.
const LABEL_LINES: [[f64; 2]; 2] = [[-0.25, -0.61], [0.95, 0.59]];
/// A row of a tip, in sizes of its font.
const ROW: f64 = 1.2;
/// Free space around everything, and between a branch and its name.
const MARGIN: f64 = 6.0;
const GAP: f64 = 3.0;
/// Free space between a label and the node behind its branch.
const BESIDE_NODE: f64 = 1.5;
/// Width of lines.
const LINE: f64 = 0.7;
/// Share of the circle that is used: where the rest is, the first and the last taxon are apart.
const CIRCLE: f64 = 0.97;

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

impl TreeLook {
    /// True if this label of a branch is drawn.
    fn shows(&self, label: &str) -> bool {
        let first = label.split('/').next().and_then(|first| first.parse::<f64>().ok());
        let is_weak = |least| first.is_some_and(|value| value < least);
        !label.is_empty() && !self.least_label.is_some_and(is_weak)
    }
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

/// A drawing, and what it had no room for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TreeDrawing {
    /// SVG.
    pub svg: String,
    /// Number of names that are abridged.
    pub abridged: usize,
    /// Width of the picture (millimetres) in which none is.
    pub width_for_names: f64,
    /// Number of labels of branches that are left out.
    pub left_out: usize,
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

    /// The angle of text in a row that can be read without turning the head, and whether it is on the left.
    fn turn(&self, y: f64) -> (f64, bool) {
        let angle = self.angle(y);
        let is_left = angle > 0.5 * PI;
        (angle + if is_left { PI } else { 0.0 }, is_left)
    }

    /// How wide the name of a tip may be in a picture of this width.
    fn room_for_name(&self, tip: usize, width: f64) -> f64 {
        let x = if self.is_circular { self.layout.depth } else { self.layout.x[tip] };
        // The scale may be such that a name fits exactly.
        let rounding = 0.01;
        width - MARGIN - (self.origin[0] + x * self.scale[0] + GAP) + rounding
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
pub(crate) fn draw_tree(tree: &NewickTree, look: &TreeLook) -> TreeDrawing {
    let layout = Layout::new(tree, look.shape, look.is_ladder);
    let has_length = |node: NewickNode| node.length().is_some_and(|length| length > 0.0);
    let has_scale = look.shape != Shape::Cladogram && tree.nodes().any(has_length);
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
    // For names with so much room.
    let smaller = |font: f64, room: f64| font.min((room / longest).max(FONT_OF_LONG));
    let (font, paper, height) = if is_circular {
        let half = 0.5 * width - MARGIN;
        let least_radius = (1.0 - MOST_FOR_NAMES[1]) * half;
        let around = 2.0 * PI * CIRCLE * (half - FONT[0] * longest - GAP).max(least_radius) / rows;
        let font = smaller((around / ROW).clamp(FONT[0], FONT[1]), half - GAP - least_radius);
        let radius = (half - font * longest - GAP).max(least_radius);
        let origin = [0.5 * width, MARGIN + half];
        let paper = Paper { layout, is_circular, origin, scale: [radius / depth, 1.0] };
        (font, paper, 2.0 * (half + MARGIN) + below)
    } else {
        let font = ((MOST_HEIGHT - below - 2.0 * MARGIN) / rows / ROW).clamp(FONT[0], FONT[1]);
        // What the names of long branches need decides on the scale.
        let room = width - 2.0 * MARGIN - GAP;
        let font = smaller(font, MOST_FOR_NAMES[0] * room);
        let fits = tips.iter().map(|&tip| {
            let x = layout.x[tip].max(1e-3 * depth);
            (room - font * width_of(name(tip))).max((1.0 - MOST_FOR_NAMES[0]) * room) / x
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
    let (tips, inner): (Vec<usize>, Vec<usize>) = paper
        .layout
        .preorder()
        .into_iter()
        .partition(|&node| paper.layout.children[node].is_empty());
    let mut room = Room::new(LABEL * font);
    let style = if look.is_italic { " font-style=\"italic\"" } else { "" };
    let mut abridged = 0;
    for tip in tips {
        let shown = abridged_to(paper.room_for_name(tip, width) / font, name(tip));
        abridged += usize::from(shown.is_some());
        let shown = shown.as_deref().unwrap_or(name(tip));
        draw_name(shown, tip, &paper, (font, colours[tip], style), &mut room, &mut svg);
    }
    let labels = inner.into_iter().filter(|&node| node != 0 && look.shows(name(node)));
    let is_left_out =
        |&node: &usize| !draw_label(name(node), node, &paper, LABEL * font, &mut room, &mut svg);
    let left_out = labels.filter(is_left_out).count();
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
    let width_for_names = match is_circular {
        true => 2.0 * (MARGIN + (FONT_OF_LONG * longest + GAP) / MOST_FOR_NAMES[1]),
        false => 2.0 * MARGIN + GAP + FONT_OF_LONG * longest / MOST_FOR_NAMES[0],
    };
    TreeDrawing { svg, abridged, width_for_names: (width_for_names / POINTS).ceil(), left_out }
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

/// The name of a tip, in a font of this size with a colour and a style.
fn draw_name(
    text: &str,
    tip: usize,
    paper: &Paper,
    (size, colour, style): (f64, &str, &str),
    room: &mut Room,
    svg: &mut String,
) {
    let (mut x, y) = (paper.layout.x[tip], paper.layout.y[tip]);
    let (mut anchor, mut turned) = ("start", String::new());
    if paper.is_circular {
        // Names stand on the rim of the circle, where all have room; thin lines lead there.
        let ([x0, y0], [x1, y1]) = (paper.at(x, y, 0.0), paper.at(paper.layout.depth, y, 0.0));
        put(
            svg,
            format_args!(
                "<path d=\"M{x0:.2} {y0:.2}L{x1:.2} {y1:.2}\" stroke=\"#aaaaaa\" stroke-width=\"0.3\" \
                 stroke-dasharray=\"1 2\"/>"
            ),
        );
        x = paper.layout.depth;
    }
    let [px, py] = paper.at(x, y, GAP);
    if paper.is_circular {
        let (angle, is_left) = paper.turn(y);
        anchor = if is_left { "end" } else { "start" };
        turned = turn(angle, [px, py]);
    } else {
        room.take([px, py], [px + size * width_of(text), py]);
    }
    // The middle of small letters is at the height of the branch.
    let py = py + 0.35 * size;
    put(
        svg,
        format_args!(
            "<text x=\"{px:.2}\" y=\"{py:.2}\" font-size=\"{size:.2}\" text-anchor=\"{anchor}\" \
             fill=\"{colour}\"{style}{turned}>{}</text>",
            escaped(text)
        ),
    );
}

/// The label of the branch above a node: above the branch, or else below it. Returns false if there is no room for it.
fn draw_label(
    text: &str,
    node: usize,
    paper: &Paper,
    size: f64,
    room: &mut Room,
    svg: &mut String,
) -> bool {
    let (x, y, width) = (paper.layout.x[node], paper.layout.y[node], size * width_of(text));
    let (anchor, angle, [px, py], towards_root) = if paper.is_circular {
        if x * paper.scale[0] < width + BESIDE_NODE {
            return false;
        }
        let (angle, is_left) = paper.turn(y);
        let out = paper.angle(y);
        let towards_root = [-libm::cos(out), -libm::sin(out)];
        let anchor = if is_left { "start" } else { "end" };
        (anchor, angle, paper.at(x, y, -BESIDE_NODE), towards_root)
    } else {
        let [px, py] = paper.at(x, y, -BESIDE_NODE);
        // Inside the picture, also where the branch is short.
        ("end", 0.0, [px.max(MARGIN + width), py], [-1.0, 0.0])
    };
    let up = [libm::sin(angle), -libm::cos(angle)];
    let line = LABEL_LINES.into_iter().find(|[_, middle]| {
        let from = [px - middle * size * up[0], py - middle * size * up[1]];
        let to = [from[0] + width * towards_root[0], from[1] + width * towards_root[1]];
        room.take_if_free(from, to)
    });
    let Some([line, _]) = line else { return false };
    let turned = if angle == 0.0 { String::new() } else { turn(angle, [px, py]) };
    // With a white edge, so that no line crosses it.
    put(
        svg,
        format_args!(
            "<text x=\"{px:.2}\" y=\"{:.2}\" font-size=\"{size:.2}\" text-anchor=\"{anchor}\"{turned} stroke=\"white\" \
             stroke-width=\"1.2\" stroke-linejoin=\"round\" paint-order=\"stroke\" fill=\"black\">{}</text>",
            py + line * size,
            escaped(text)
        ),
    );
    true
}

fn turn(angle: f64, [x, y]: [f64; 2]) -> String {
    format!(" transform=\"rotate({:.2} {x:.2} {y:.2})\"", angle * 180.0 / PI)
}

/// A round length of about a fifth of the tree.
fn draw_scale(paper: &Paper, y: f64, svg: &mut String) {
    let rough = paper.layout.depth / 5.0;
    let power = libm::pow(10.0, libm::log10(rough).floor());
    let steps = [10.0, 5.0, 2.0, 1.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| *step <= rough).unwrap_or(power);
    let unit = if step == 1.0 { "substitution" } else { "substitutions" };
    // Without the remainder of the product.
    let digits = (-libm::log10(power).round()).max(0.0) as usize;
    let (x0, x1) = (MARGIN, MARGIN + step * paper.scale[0]);
    put(
        svg,
        format_args!(
            "<path d=\"M{x0:.2} {:.2}v5M{x0:.2} {:.2}H{x1:.2}M{x1:.2} {:.2}v5\" stroke=\"black\" stroke-width=\"{LINE}\" \
             fill=\"none\"/><text x=\"{:.2}\" y=\"{:.2}\" font-size=\"7\">{step:.digits$} {unit} per site</text>",
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

    fn draw(text: &str, look: &TreeLook) -> TreeDrawing {
        draw_tree(&read_newick(text, "t").unwrap()[0], look)
    }

    fn drawn(text: &str, look: &TreeLook) -> String {
        draw(text, look).svg
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

    /// The number that an attribute of a line has.
    fn number(line: &str, attribute: &str) -> f64 {
        let text = line.split(&format!(" {attribute}=\"")).nth(1).unwrap();
        text.split('"').next().unwrap().parse().unwrap()
    }

    /// Where the texts that are not turned begin and end.
    fn spans(svg: &str) -> Vec<(String, [f64; 2])> {
        let texts =
            svg.lines().filter(|line| line.starts_with("<text") && !line.contains("rotate"));
        let span = |line: &str| {
            let text = line.split('>').nth(1).unwrap().split('<').next().unwrap();
            let text = text.replace("&amp;", "&");
            let (x, width) = (number(line, "x"), number(line, "font-size") * width_of(&text));
            let from = if line.contains("text-anchor=\"end\"") { x - width } else { x };
            (text, [from, from + width])
        };
        texts.map(span).collect()
    }

    #[test]
    fn all_text_is_inside() {
        let long = "Homo_sapiens_neanderthalensis_from_Vindija_NC_011137.1";
        let tree = TREE.replace("A:", &format!("{long}:"));
        let labels = tree.replace(")95:0.1", ")99.8/100:0.0001");
        for (text, width, abridged) in
            [(TREE, 85.0, 0), (&tree, 85.0, 0), (&tree, 30.0, 1), (&labels, 85.0, 0)]
        {
            for shape in [Shape::Phylogram, Shape::Cladogram, Shape::Circular] {
                let drawing = draw(text, &TreeLook { width, ..look(shape) });
                if shape == Shape::Phylogram {
                    assert_eq!(drawing.abridged, abridged, "{}", drawing.svg);
                    assert_eq!(drawing.left_out, 0);
                }
                let wider = TreeLook { width: drawing.width_for_names, ..look(shape) };
                assert_eq!(draw(text, &wider).abridged, 0, "{shape:?}, {}", wider.width);
                for (text, [from, to]) in spans(&drawing.svg) {
                    let is_inside = from >= 0.0 && to <= width * POINTS + 0.1;
                    assert!(is_inside || text.contains("per site"), "{text}: {from} to {to}");
                }
            }
        }
    }

    /// Labels that would be over each other: one is below its branch, and what has no room is counted.
    #[test]
    fn labels_do_not_hide_each_other() {
        let tree = "((((A:1,B:1)91:0.01,C:1)92:0.01,D:1)93:0.01,E:1,F:1);";
        let drawing = draw(tree, &look(Shape::Phylogram));
        let shown = drawing.svg.matches("fill=\"black\">9").count();
        assert_eq!(shown + drawing.left_out, 3);
        assert!(shown >= 2, "{}", drawing.svg);
        let circle = draw(tree, &look(Shape::Circular));
        assert_eq!(circle.svg.matches("fill=\"black\">9").count() + circle.left_out, 3);
        // Zero lengths have no scale.
        assert!(!drawn("(A:0,B:0,C:0);", &look(Shape::Phylogram)).contains("per site"));
        assert!(drawn("(A:5,B:5,C:2);", &look(Shape::Phylogram)).contains(">1 substitution per"));
    }
}
