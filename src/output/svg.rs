//! Plots as SVG: panels with axes, lines and dots. They say nothing that the tables do not.

use std::fmt::Write;

/// Size of a panel, its frame included.
const PANEL: [f64; 2] = [440.0, 240.0];
/// What is left free around the axes of a panel: left, top, right, bottom.
const MARGINS: [f64; 4] = [70.0, 26.0, 14.0, 40.0];
/// Most points of a line: more cannot be told apart.
const MOST_POINTS: usize = 1000;
/// Colours that the colour-blind tell apart (Okabe & Ito 2008); one after the other for the series of a panel.
const COLOURS: [&str; 7] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];

/// Dashes of the lines of a panel, so that not only their colours tell them apart.
const DASHES: [&str; 4] =
    ["", " stroke-dasharray=\"6 3\"", " stroke-dasharray=\"2 2\"", " stroke-dasharray=\"8 2 2 2\""];
/// Most names of series in a panel.
const MOST_NAMES: usize = 8;

/// What a plot is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surface {
    /// White, in a file of its own.
    Paper,
    /// A page, whose colour of text it takes.
    Page,
}

impl Surface {
    /// The colour of axes and text.
    fn ink(self) -> &'static str {
        match self {
            Surface::Paper => "black",
            Surface::Page => "currentColor",
        }
    }
}

/// Points of a panel in one colour.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series {
    /// x and y.
    pub points: Vec<[f64; 2]>,
    /// Joined by a line.
    pub is_line: bool,
    /// What they are, if that is to be shown.
    pub name: String,
}

/// A pair of axes with what is drawn between them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Panel {
    /// Above it.
    pub title: String,
    /// Below the horizontal axis.
    pub x_label: String,
    /// Left and right end, bottom and top, at least.
    pub least_range: Option<[[f64; 2]; 2]>,
    /// In the order of their colours.
    pub series: Vec<Series>,
    /// From the left end to here the background is grey.
    pub grey_until: Option<f64>,
    /// Ends of a dashed line.
    pub dashed: Option<[[f64; 2]; 2]>,
}

/// All panels, so many beside each other, under a line of text.
pub(crate) fn draw(heading: &str, panels: &[Panel], beside: usize) -> String {
    draw_on(Surface::Paper, heading, panels, beside)
}

/// The same on some surface.
pub(crate) fn draw_on(surface: Surface, heading: &str, panels: &[Panel], beside: usize) -> String {
    let beside = beside.clamp(1, panels.len().max(1));
    let top = if heading.is_empty() { 0.0 } else { 24.0 };
    let width = PANEL[0] * beside as f64;
    let height = top + PANEL[1] * panels.len().div_ceil(beside) as f64;
    let titles: Vec<&str> = panels.iter().map(|panel| panel.title.as_str()).collect();
    let (place, ground) = match surface {
        Surface::Paper => (
            String::new(),
            format!("<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"),
        ),
        Surface::Page => {
            let label = escaped(&titles.join(", "));
            (format!(" class=\"plot\" role=\"img\" aria-label=\"{label}\""), String::new())
        }
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\"{place}>\n{ground}"
    );
    if !heading.is_empty() {
        let heading = escaped(heading);
        put(&mut svg, format_args!("<text x=\"8\" y=\"16\" font-size=\"13\">{heading}</text>"));
    }
    for (number, panel) in panels.iter().enumerate() {
        let x = PANEL[0] * (number % beside) as f64;
        let y = top + PANEL[1] * (number / beside) as f64;
        svg.push_str(&format!("<g transform=\"translate({x} {y})\">\n"));
        panel.draw(surface, &mut svg);
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

impl Panel {
    /// Ends of both axes: what all points and the least range need.
    fn ranges(&self) -> [[f64; 2]; 2] {
        let points = self.series.iter().flat_map(|series| &series.points);
        let mut ranges = self.least_range.unwrap_or([[f64::INFINITY, f64::NEG_INFINITY]; 2]);
        for point in points.filter(|point| point.iter().all(|x| x.is_finite())) {
            for (range, x) in ranges.iter_mut().zip(point) {
                *range = [range[0].min(*x), range[1].max(*x)];
            }
        }
        ranges.map(|[from, to]| match to - from {
            width if width.is_nan() || width < 0.0 => [0.0, 1.0],
            0.0 => [from - 0.5, from + 0.5],
            _ => [from, to],
        })
    }

    fn draw(&self, surface: Surface, svg: &mut String) {
        let ink = surface.ink();
        let ranges = self.ranges();
        let [left, top, right, bottom] = MARGINS;
        let [x_end, y_end] = [PANEL[0] - right, PANEL[1] - bottom];
        let share = |axis: usize, value: f64| {
            let [from, to] = ranges[axis];
            (value - from) / (to - from)
        };
        let x = |value: f64| left + share(0, value) * (x_end - left);
        let y = |value: f64| y_end - share(1, value) * (y_end - top);
        let (width, height) = (x_end - left, y_end - top);
        let frame = format!("x=\"{left}\" y=\"{top}\" height=\"{height}\"");
        if let Some(until) = self.grey_until {
            let grey = share(0, until).clamp(0.0, 1.0) * width;
            put(
                svg,
                format_args!(
                    "<rect {frame} width=\"{grey:.2}\" fill=\"#888888\" fill-opacity=\"0.15\"/>"
                ),
            );
        }
        put(svg, format_args!("<rect {frame} width=\"{width}\" fill=\"none\" stroke=\"{ink}\"/>"));
        let title = escaped(&self.title);
        put(svg, format_args!("<text x=\"{left}\" y=\"{}\">{title}</text>", top - 8.0));
        let label = escaped(&self.x_label);
        let (middle, below) = (left + 0.5 * width, y_end + 32.0);
        put(
            svg,
            format_args!(
                "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">{label}</text>"
            ),
        );
        for tick in ticks(ranges[0]) {
            let at = x(tick);
            put(
                svg,
                format_args!(
                    "<path d=\"M{at:.2} {y_end}v4\" stroke=\"{ink}\"/><text x=\"{at:.2}\" y=\"{}\" \
                     text-anchor=\"middle\">{tick}</text>",
                    y_end + 16.0
                ),
            );
        }
        for tick in ticks(ranges[1]) {
            let at = y(tick);
            put(
                svg,
                format_args!(
                    "<path d=\"M{left} {at:.2}h-4\" stroke=\"{ink}\"/><text x=\"{}\" y=\"{:.2}\" \
                     text-anchor=\"end\">{tick}</text>",
                    left - 7.0,
                    at + 4.0
                ),
            );
        }
        if let Some([from, to]) = self.dashed {
            put(
                svg,
                format_args!(
                    "<path d=\"M{:.2} {:.2}L{:.2} {:.2}\" stroke=\"#888888\" stroke-dasharray=\"4 3\"/>",
                    x(from[0]),
                    y(from[1]),
                    x(to[0]),
                    y(to[1])
                ),
            );
        }
        let looks = COLOURS.iter().cycle().zip(DASHES.iter().cycle());
        for (series, (colour, dashes)) in self.series.iter().zip(looks) {
            let colour = if *colour == "#000000" { ink } else { colour };
            // On paper, lines have always been solid.
            let dashes = if surface == Surface::Page { dashes } else { "" };
            let step = match series.is_line {
                true => series.points.len().div_ceil(MOST_POINTS).max(1),
                false => 1,
            };
            let finite = series.points.iter().filter(|point| point.iter().all(|x| x.is_finite()));
            let places = finite.step_by(step).map(|point| [x(point[0]), y(point[1])]);
            if series.is_line {
                let path: Vec<String> = places.map(|[x, y]| format!("{x:.2},{y:.2}")).collect();
                let path = path.join(" ");
                put(
                    svg,
                    format_args!(
                        "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\"{dashes}/>"
                    ),
                );
            } else {
                for [x, y] in places {
                    put(
                        svg,
                        format_args!(
                            "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"3\" fill=\"{colour}\" fill-opacity=\"0.6\"/>"
                        ),
                    );
                }
            }
        }
        self.draw_names(surface, svg, [x_end, y_end]);
    }

    /// The names of the series with pieces of their lines, in the lower right corner.
    fn draw_names(&self, surface: Surface, svg: &mut String, [x_end, y_end]: [f64; 2]) {
        let looks = COLOURS.iter().cycle().zip(DASHES.iter().cycle());
        let named = self.series.iter().zip(looks).filter(|(series, _)| !series.name.is_empty());
        let named: Vec<_> = named.take(MOST_NAMES).collect();
        if named.len() < 2 {
            return;
        }
        for (place, (series, (colour, dashes))) in named.iter().enumerate() {
            let colour = if **colour == "#000000" { surface.ink() } else { colour };
            let y = y_end - 8.0 - 14.0 * (named.len() - 1 - place) as f64;
            let (x, name) = (x_end - 34.0, escaped(&series.name));
            put(
                svg,
                format_args!(
                    "<path d=\"M{x:.2} {:.2}h26\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/><text x=\"{:.2}\" \
                     y=\"{y:.2}\" text-anchor=\"end\">{name}</text>",
                    y - 4.0,
                    x - 6.0
                ),
            );
        }
    }
}

/// Adds a line.
fn put(svg: &mut String, line: std::fmt::Arguments) {
    let _ = svg.write_fmt(line);
    svg.push('\n');
}

/// Three to seven round numbers within a range.
fn ticks([from, to]: [f64; 2]) -> Vec<f64> {
    let rough = (to - from) / 6.0;
    let power = libm::pow(10.0, libm::log10(rough.max(f64::MIN_POSITIVE)).floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| *step >= rough).unwrap_or(10.0 * power);
    let first = (from / step).ceil() as i64;
    let last = (to / step).floor() as i64;
    // Whole multiples, written without the remainder of their products.
    let scale = libm::pow(10.0, (-libm::log10(step).floor()).clamp(0.0, 300.0));
    let round = |x: f64| (x * scale).round() / scale;
    (first..=last).take(20).map(|number| round(number as f64 * step)).collect()
}

/// Text in which nothing is taken for markup.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks([0.0, 1.0]), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(ticks([-5730.3, -5710.0]), [-5730.0, -5725.0, -5720.0, -5715.0, -5710.0]);
        assert_eq!(ticks([0.021, 0.0249]), [0.021, 0.022, 0.023, 0.024]);
        for range in [[0.0, 1e-9], [1e6, 1e6 + 1e5], [-1.0, 1e12]] {
            let found = ticks(range);
            assert!((3..=8).contains(&found.len()), "{found:?}");
            assert!(found.iter().all(|tick| (range[0]..=range[1]).contains(tick)), "{found:?}");
        }
    }

    #[test]
    fn a_plot_is_well_formed_and_its_points_are_inside() {
        let line = Series {
            points: vec![[0.0, 2.0], [1.0, 4.0], [2.0, f64::NAN]],
            is_line: true,
            ..Series::default()
        };
        let dots = Series { points: vec![[0.5, 3.0]], is_line: false, ..Series::default() };
        let panel = Panel {
            title: "r(A<->C) & \"more\"".to_string(),
            series: vec![line, dots],
            grey_until: Some(0.5),
            dashed: Some([[0.0, 2.0], [1.0, 4.0]]),
            ..Panel::default()
        };
        let empty = Panel::default();
        let svg = draw("a < b", &[panel, empty], 2);
        assert!(svg.contains("r(A&lt;-&gt;C) &amp; &quot;more&quot;"));
        assert!(svg.contains("points=\"70.00,200.00 426.00,26.00\""), "{svg}");
        assert!(svg.contains("<circle cx=\"248.00\" cy=\"113.00\""), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        for tag in ["svg", "g", "text"] {
            let opened = svg.matches(&format!("<{tag}")).count();
            assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
