// Draws a laid out tree with a pen: on a canvas for the screen, or as SVG to be kept or printed.
"use strict";

const TEXT_FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";
// Rows lower than this have no room for names.
const LEAST_ROW_WITH_NAME = 6;

class CanvasPen {
  constructor(context) {
    this.context = context;
  }
  line(points, colour, width, dash) {
    const context = this.context;
    context.beginPath();
    points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    this.stroke(colour, width, dash);
  }
  arc(x, y, radius, from, to, colour, width) {
    this.context.beginPath();
    this.context.arc(x, y, Math.max(radius, 0), from, to);
    this.stroke(colour, width, false);
  }
  stroke(colour, width, dash) {
    this.context.strokeStyle = colour;
    this.context.lineWidth = width;
    this.context.setLineDash(dash ? [4, 3] : []);
    this.context.stroke();
  }
  polygon(points, colour) {
    const context = this.context;
    context.beginPath();
    points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    context.closePath();
    context.fillStyle = colour;
    context.fill();
  }
  text(string, x, y, { size, colour, anchor = "start", angle = 0, italic = false, bold = false, edge = "" }) {
    const context = this.context;
    context.font = `${italic ? "italic " : ""}${bold ? "bold " : ""}${size}px ${TEXT_FONT}`;
    context.textAlign = anchor === "middle" ? "center" : anchor;
    context.textBaseline = "middle";
    context.save();
    context.translate(x, y);
    context.rotate(angle);
    if (edge !== "") {
      context.lineJoin = "round";
      context.setLineDash([]);
      [context.strokeStyle, context.lineWidth] = [edge, 3];
      context.strokeText(string, 0, 0);
    }
    context.fillStyle = colour;
    context.fillText(string, 0, 0);
    context.restore();
  }
}

function forXml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

class SvgPen {
  constructor(width, height, background) {
    this.size = [width, height];
    this.parts = background ? [`<rect width="${width}" height="${height}" fill="${background}"/>`] : [];
  }
  line(points, colour, width, dash) {
    const path = points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ");
    const dashes = dash ? ' stroke-dasharray="4 3"' : "";
    this.parts.push(`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="${width}"${dashes}/>`);
  }
  arc(x, y, radius, from, to, colour, width) {
    const at = (angle) => `${(x + radius * Math.cos(angle)).toFixed(2)} ${(y + radius * Math.sin(angle)).toFixed(2)}`;
    const isLong = to - from > Math.PI ? 1 : 0, r = radius.toFixed(2);
    const path = `M${at(from)}A${r} ${r} 0 ${isLong} 1 ${at(to)}`;
    this.parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="${width}"/>`);
  }
  polygon(points, colour) {
    const path = points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ");
    this.parts.push(`<polygon points="${path}" fill="${colour}"/>`);
  }
  text(string, x, y, { size, colour, anchor = "start", angle = 0, italic = false, bold = false, edge = "" }) {
    const turned = angle === 0 ? "" : ` transform="rotate(${((angle * 180) / Math.PI).toFixed(2)} ${x.toFixed(2)} ${y.toFixed(2)})"`;
    const style = (italic ? ' font-style="italic"' : "") + (bold ? ' font-weight="bold"' : "");
    const place = `x="${x.toFixed(2)}" y="${y.toFixed(2)}" dy="0.35em" text-anchor="${anchor}"`;
    const border = edge === "" ? "" : ` stroke="${edge}" stroke-width="2" stroke-linejoin="round" paint-order="stroke"`;
    this.parts.push(`<text ${place} font-size="${size.toFixed(2)}" fill="${colour}"${border}${style}${turned}>${forXml(string)}</text>`);
  }
  svg() {
    const [width, height] = this.size.map((x) => Math.ceil(x));
    const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    return `${head} font-family="${forXml(TEXT_FONT)}">\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

// Between two colours, given as three numbers each.
function between(a, b, share) {
  return `rgb(${a.map((x, i) => Math.round(x + (b[i] - x) * share)).join(",")})`;
}

// The value of a kind of support in a label such as "95/0.99"; NaN if there is none.
function supportOf(label, kind) {
  const text = label.split("/")[kind] ?? "";
  return text === "" ? NaN : Number(text);
}

// The places of a shape on paper: functions from layout to pixels. `frame` is { x, y, width, height } of the whole tree without
// names; of a circular one, x and y are those of its centre and width is its radius.
function placesOf(layout, isCircular, frame) {
  if (isCircular) {
    // A gap shows where the first and the last taxon are.
    const angle = (y) => -Math.PI / 2 + (((y + 0.5) / layout.rows) * 0.97 + 0.015) * 2 * Math.PI;
    const radius = (x) => (x / layout.depth) * frame.width;
    const at = (x, y) => [frame.x + radius(x) * Math.cos(angle(y)), frame.y + radius(x) * Math.sin(angle(y))];
    return { at, angle, radius, row: (2 * Math.PI * 0.97 * frame.width) / layout.rows };
  }
  const row = frame.height / layout.rows;
  const at = (x, y) => [frame.x + (x / layout.depth) * frame.width, frame.y + (y + 0.5) * row];
  return { at, row };
}

// Draws all that is within `seen` ([left, top, right, bottom]; null: everything). `look` has: isCircular, collapsed, marked (nodes
// found), selected, kind (of support, -1: none), full (its largest value), threshold, isColoured, isItalic, colours, fontSize,
// showsNames, shorten (a name, and the place where it begins, to what there is room for).
function drawTree(pen, tree, hung, layout, frame, look, seen) {
  const { at, angle, radius, row } = placesOf(layout, look.isCircular, frame);
  const { colours, collapsed } = look;
  const isSeen = (x, y, margin) =>
    seen === null || (x >= seen[0] - margin && x <= seen[2] + margin && y >= seen[1] - margin && y <= seen[3] + margin);
  const fontSize = look.fontSize;
  const hasNames = look.showsNames && row >= LEAST_ROW_WITH_NAME;
  const labels = [];
  // Thick lines would flow together where rows are low.
  const thin = Math.min(Math.max(row / 4, 0.35), 1);
  for (const node of hung.order) {
    const y = layout.y[node];
    if (y < 0) continue;
    const children = hung.children[node], parent = hung.parent[node];
    const isTip = children.length === 0, isCollapsed = collapsed.has(node);
    const place = at(layout.x[node], y);
    const branch = tree.branches[hung.branch[node]];
    let colour = colours.line, isWeak = false, value = NaN;
    if (branch && look.kind >= 0 && branch.label) {
      value = supportOf(branch.label, look.kind);
      isWeak = value < look.threshold;
      if (look.isColoured && !Number.isNaN(value)) {
        const share = Math.min(Math.max(value / look.full, 0), 1);
        colour = share < 0.5 ? between(colours.low, colours.middle, 2 * share) : between(colours.middle, colours.high, 2 * share - 1);
      }
    }
    const width = look.marked.has(node) ? 3 : (isWeak ? 1 : look.kind >= 0 && !Number.isNaN(value) ? 2 : 1.3) * thin;
    if (parent >= 0) {
      const start = at(layout.x[parent], y);
      const low = look.isCircular ? -Infinity : Math.min(start[1], place[1]);
      if (look.isCircular || seen === null || (low <= seen[3] + 5 && Math.max(start[1], place[1]) >= seen[1] - 5)) {
        pen.line([start, place], look.marked.has(node) ? colours.mark : colour, width, isWeak);
      }
    }
    if (!isTip && !isCollapsed) {
      const [first, last] = [layout.y[children[0]], layout.y[children.at(-1)]];
      if (look.isCircular) {
        pen.arc(frame.x, frame.y, radius(layout.x[node]), angle(first), angle(last), colours.line, 1.3 * thin);
      } else {
        const from = at(layout.x[node], first), to = at(layout.x[node], last);
        if (seen === null || (from[1] <= seen[3] && to[1] >= seen[1])) pen.line([from, to], colours.line, 1.3 * thin, false);
      }
    }
    if (isCollapsed) {
      pen.polygon([place, at(layout.reach[node], y - 0.7), at(layout.reach[node], y + 0.7)], colours.collapsed);
    }
    if (node === look.selected && seen !== null) {
      pen.arc(place[0], place[1], 6, 0, 2 * Math.PI, colours.mark, 2.5);
    }
    if (!Number.isNaN(value) && !isTip && parent >= 0 && (look.isCircular ? row >= 9 : row >= 8)) {
      labels.push([branch.label.split("/")[look.kind], node, place]);
    }
    const isMarked = look.marked.has(node) && (isTip || isCollapsed);
    if ((isTip || isCollapsed) && (hasNames || isMarked || (isCollapsed && 2 * row >= LEAST_ROW_WITH_NAME))) {
      const name = isTip ? tree.names[node] : `${hung.size[node]} taxa: ${nameOfClade(tree, hung, node)}`;
      const style = { size: fontSize, colour: isMarked ? colours.mark : colours.text, italic: look.isItalic, bold: isMarked };
      // In a circle, names stand on its rim, where all have room; thin lines lead there.
      const isOnRim = look.isCircular && hasNames;
      const end = isOnRim ? layout.depth : isCollapsed ? layout.reach[node] : layout.x[node];
      if (isOnRim) pen.line([at(isCollapsed ? layout.reach[node] : layout.x[node], y), at(end, y)], colours.collapsed, 0.6, true);
      if (look.isCircular) {
        let turn = angle(y), anchor = "start";
        const [x0, y0] = [frame.x + (radius(end) + 5) * Math.cos(turn), frame.y + (radius(end) + 5) * Math.sin(turn)];
        if (turn > Math.PI / 2) [turn, anchor] = [turn + Math.PI, "end"];
        if (isSeen(x0, y0, 200)) pen.text(name, x0, y0, { ...style, angle: turn, anchor });
      } else {
        const [x0, y0] = at(end, y);
        if (isSeen(seen ? seen[0] : 0, y0, fontSize)) pen.text(look.shorten?.(name, x0 + 5, style) ?? name, x0 + 5, y0, style);
      }
    }
  }
  // Over the branches and with an edge, so that none crosses a number.
  const labelSize = Math.max(6, fontSize * 0.75), style = { size: labelSize, colour: colours.label, edge: colours.ground };
  for (const [label, node, place] of labels) {
    if (!isSeen(place[0], place[1], 40)) continue;
    if (look.isCircular) {
      // Near the centre there is room only along the branch.
      if (radius(layout.x[node] - layout.x[hung.parent[node]]) < 0.6 * labelSize * label.length) continue;
      const turn = angle(layout.y[node]), isLeft = turn > Math.PI / 2;
      pen.text(label, place[0] - 3 * Math.cos(turn), place[1] - 3 * Math.sin(turn), {
        ...style, anchor: isLeft ? "start" : "end", angle: isLeft ? turn + Math.PI : turn,
      });
    } else {
      // Inside the picture, also where the branch is short.
      const end = Math.max(place[0] - 3, frame.x - 10 + 0.6 * labelSize * label.length);
      pen.text(label, end, place[1] - labelSize * 0.65, { ...style, anchor: "end" });
    }
  }
}

// The first and the last taxon of a clade.
function nameOfClade(tree, hung, node) {
  let [first, last] = [node, node];
  while (hung.children[first].length > 0) first = hung.children[first][0];
  while (hung.children[last].length > 0) last = hung.children[last].at(-1);
  return first === last ? tree.names[first] : `${tree.names[first]} … ${tree.names[last]}`;
}

// A round length that takes about a fifth of the width.
function scaleOf(depth) {
  const rough = depth / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].findLast((x) => x * power <= rough) ?? 1;
  return Number((step * power).toPrecision(3));
}

function drawScale(pen, layout, frame, x, y, colours, unit) {
  const length = scaleOf(layout.depth), width = (length / layout.depth) * frame.width;
  pen.line([[x, y - 3], [x, y + 3]], colours.line, 1.3, false);
  pen.line([[x, y], [x + width, y]], colours.line, 1.3, false);
  pen.line([[x + width, y - 3], [x + width, y + 3]], colours.line, 1.3, false);
  pen.text(`${length} ${unit}`, x + width + 6, y, { size: 11, colour: colours.text });
}
