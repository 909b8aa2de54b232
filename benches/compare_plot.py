"""The plot of `compare.py`, as SVG written by hand: CPU time against log-likelihood, a panel for each dataset."""

import math
import statistics
from dataclasses import dataclass
from html import escape

# Okabe and Ito's colours, which the colour-blind tell apart (without yellow, which white paper swallows).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7F7F7F")
SHAPES = ("circle", "square", "triangle", "diamond", "inverted", "plus", "cross")

# Log units: below this the axis of log-likelihoods is about linear, above it logarithmic. Final trees that differ by less
# are the same tree.
SCALE = 0.1

PANEL_WIDTH, PANEL_HEIGHT = 340, 250
LEFT, RIGHT, ABOVE, BELOW = 64, 22, 48, 52
HEADER, LEGEND_ROW = 58, 24
MAX_COLUMNS = 3
SMALL, LARGE = 3.5, 6.5


@dataclass(frozen=True)
class Point:
    """One search: CPU seconds, and log units below the best tree of the dataset."""

    dataset: str
    program: str
    cpu: float
    below: float


def draw(points, programs, missing, subtitle):
    """The whole picture. missing -- (dataset, program, runs without a result)."""
    labels = list(dict.fromkeys([point.dataset for point in points] + [dataset for dataset, _, _ in missing]))
    styles = {name: (COLOURS[i % len(COLOURS)], SHAPES[i % len(SHAPES)]) for i, name in enumerate(programs)}
    columns = max(1, min(MAX_COLUMNS, len(labels)))
    panel_rows = math.ceil(len(labels) / columns)
    cell_width, cell_height = LEFT + PANEL_WIDTH + RIGHT, ABOVE + PANEL_HEIGHT + BELOW
    width = columns * cell_width
    legend, legend_height = draw_legend(programs, styles, width)
    height = HEADER + legend_height + panel_rows * cell_height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        text(16, 26, "Tree searches: CPU time and log-likelihood", size=17, weight="bold"),
        *wrapped(subtitle, width),
        f'<g transform="translate(0,{HEADER})">{legend}</g>',
    ]
    for number, label in enumerate(labels):
        x = (number % columns) * cell_width + LEFT
        y = HEADER + legend_height + (number // columns) * cell_height + ABOVE
        own = [point for point in points if point.dataset == label]
        failed = [f"{program} ({count})" for dataset, program, count in missing if dataset == label]
        parts.append(f'<g transform="translate({x},{y})">{draw_panel(label, own, failed, styles)}</g>')
    return "\n".join([*parts, "</svg>\n"])


def wrapped(subtitle, width):
    """The subtitle in as many short lines as there is room for (two)."""
    most = max(20, (width - 32) // 6)
    if len(subtitle) <= most:
        return [text(16, 46, subtitle, colour="#444")]
    cut = subtitle.rfind(" ", 0, most)
    return [
        text(16, 42, subtitle[:cut], size=11, colour="#444"),
        text(16, 55, subtitle[cut + 1 :], size=11, colour="#444"),
    ]


def draw_legend(programs, styles, width):
    """(SVG, height): markers and names, in as many rows as they need."""
    parts, x, y = [], 24, 16
    for name in programs:
        room = 34 + 7 * len(name)
        if x + room > width and x > 24:
            x, y = 24, y + LEGEND_ROW
        parts += [marker(x, y, LARGE, *styles[name]), text(x + 13, y + 4, name)]
        x += room
    return "".join(parts), y + LEGEND_ROW // 2


def draw_panel(label, points, failed, styles):
    """One dataset: small markers for runs, large ones for medians."""
    low, high = time_range([point.cpu for point in points])
    deepest = depth(max([1.0, *(point.below for point in points)])) * 1.08
    # Room above the best: half a large marker.
    top = -0.05 * deepest

    def place_x(cpu):
        return PANEL_WIDTH * (math.log10(max(cpu, low)) - math.log10(low)) / (math.log10(high) - math.log10(low))

    def place_y(below):
        return PANEL_HEIGHT * (depth(below) - top) / (deepest - top)

    parts = [text(0, -22, label, size=14, weight="bold")]
    if failed:
        parts.append(text(0, -7, "no result: " + ", ".join(failed), size=10, colour="#A00"))
    for tick in time_ticks(low, high):
        x = place_x(tick)
        parts.append(line(x, 0, x, PANEL_HEIGHT))
        parts.append(text(x, PANEL_HEIGHT + 17, f"{tick:g}", anchor="middle"))
    for tick in (0, 0.1, 1, 10, 100, 1000, 10000, 100000):
        if depth(tick) <= deepest:
            y = place_y(tick)
            parts.append(line(0, y, PANEL_WIDTH, y))
            parts.append(text(-8, y + 4, f"{tick:g}", anchor="end"))
    parts.append(f'<rect width="{PANEL_WIDTH}" height="{PANEL_HEIGHT}" fill="none" stroke="#444"/>')
    parts.append(text(PANEL_WIDTH / 2, PANEL_HEIGHT + 38, "CPU seconds", anchor="middle"))
    turned = f'transform="translate(-48,{PANEL_HEIGHT / 2}) rotate(-90)"'
    parts.append(f"<g {turned}>{text(0, 0, 'lnL below the best tree', anchor='middle')}</g>")
    for point in points:
        tip = f"{point.program}: {point.cpu:.2f} s, {point.below:.3f} below"
        shape = marker(place_x(point.cpu), place_y(point.below), SMALL, *styles[point.program], tip)
        parts.append(f'<g opacity="0.45">{shape}</g>')
    for name, style in styles.items():
        own = [point for point in points if point.program == name]
        if own:
            cpu = statistics.median(point.cpu for point in own)
            below = statistics.median(point.below for point in own)
            tip = f"{name}, medians: {cpu:.2f} s, {below:.3f} below"
            parts.append(marker(place_x(cpu), place_y(below), LARGE, *style, tip))
    return "".join(parts)


def depth(below):
    """Where a difference of log-likelihoods lies on its axis."""
    return math.log10(1.0 + max(0.0, below) / SCALE)


def time_range(times):
    """Ends of the time axis: a decade at least, and some room beside the outermost points."""
    times = [max(time, 1e-3) for time in times] or [1.0]
    low, high = min(times) / 1.4, max(times) * 1.4
    missing = max(0.0, 1.0 - math.log10(high / low)) / 2.0
    return low / 10.0**missing, high * 10.0**missing


def time_ticks(low, high):
    """1, 2, 5 of each decade, or the decades alone if there are many."""
    digits = (1, 2, 5) if high / low < 2000.0 else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = (digit * 10.0**decade for decade in decades for digit in digits)
    return [tick for tick in ticks if low <= tick <= high]


def text(x, y, words, size=12, weight="normal", anchor="start", colour="#000"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
        f'fill="{colour}">{escape(words)}</text>'
    )


def line(x1, y1, x2, y2):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#DDD"/>'


def marker(x, y, size, colour, shape, tip=""):
    """A marker of about the same area for every shape, with a white rim so that those on top of each other show."""
    outline = {
        "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        "triangle": [(0, -1.25), (1.15, 0.8), (-1.15, 0.8)],
        "inverted": [(0, 1.25), (1.15, -0.8), (-1.15, -0.8)],
        "diamond": [(0, -1.3), (1.1, 0), (0, 1.3), (-1.1, 0)],
        "plus": arms(0.0),
        "cross": arms(math.pi / 4.0),
    }.get(shape)
    title = f"<title>{escape(tip)}</title>" if tip else ""
    paint = f'fill="{colour}" stroke="white" stroke-width="1"'
    if outline is None:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" {paint}>{title}</circle>'
    corners = " ".join(f"{x + dx * size:.1f},{y + dy * size:.1f}" for dx, dy in outline)
    return f'<polygon points="{corners}" {paint}>{title}</polygon>'


def arms(turn):
    """The outline of a cross, turned."""
    long, wide = 1.3, 0.42
    arm = [(wide, wide), (long, wide), (long, -wide)]
    corners = []
    for quarter in range(4):
        angle = turn - quarter * math.pi / 2.0
        cosine, sine = math.cos(angle), math.sin(angle)
        corners += [(dx * cosine - dy * sine, dx * sine + dy * cosine) for dx, dy in arm]
    return corners
