// The tree on the page: its state, what buttons, mouse and keys do to it, and what is kept of it.
"use strict";

const PAPER = {
  ground: "#ffffff", line: "#222222", text: "#000000", label: "#333333", mark: "#b3003c", collapsed: "#c8c8c8",
  low: [213, 94, 0], middle: [140, 140, 140], high: [0, 90, 170],
};
const DARK = {
  ground: "#17181b", line: "#d0d0d0", text: "#f0f0f0", label: "#dddddd", mark: "#ff7aa8", collapsed: "#5a5a5a",
  low: [255, 150, 80], middle: [160, 160, 160], high: [110, 185, 255],
};

// Most that a tree is high on the page, so that its names can be read without zooming.
const MOST_HEIGHT = 2600;

class TreeView {
  // `trees` are { title, newick, kinds: [{ name, full }] }; `element(name)` gives the element of a control.
  constructor(trees, element) {
    this.trees = trees;
    this.element = element;
    this.canvas = element("canvas");
    this.unit = this.canvas.dataset.unit;
    this.isDark = window.matchMedia("(prefers-color-scheme: dark)");
    this.isDark.addEventListener("change", () => this.draw());
    this.choose(0);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas.parentElement);
  }

  // Shows another tree.
  choose(number) {
    const shown = this.trees[number];
    this.title = shown.title;
    this.tree = readTree(shown.newick);
    this.root = this.tree.root;
    this.kinds = shown.kinds;
    this.fills(this.element("kind"), [["-1", "none"], ...shown.kinds.map((kind, i) => [String(i), kind.name])]);
    this.element("kind").value = shown.kinds.length > 0 ? String(shown.kinds.length - 1) : "-1";
    this.element("shape").querySelector("[value=phylogram]").disabled = !this.tree.hasLengths;
    if (!this.tree.hasLengths && this.element("shape").value === "phylogram") this.element("shape").value = "cladogram";
    this.element("root").value = "given";
    this.longest = this.tree.names.reduce((a, b) => (b.length > a.length ? b : a), "");
    this.chooseKind();
    this.arrange();
  }

  fills(select, options) {
    select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
  }

  chooseKind() {
    const kind = this.kinds[Number(this.element("kind").value)];
    this.element("threshold").value = kind ? 0.7 * kind.full : "";
    this.element("threshold").disabled = !kind;
    this.element("threshold").step = kind && kind.full === 1 ? 0.05 : 5;
  }

  // The tree hangs from its root anew: nothing is collapsed or selected.
  arrange() {
    this.hung = hang(this.tree, this.root, this.element("ladder").checked);
    this.collapsed = new Set();
    this.selected = -1;
    this.found = [];
    this.marked = new Set();
    this.fit();
    this.search();
    this.say("");
  }

  shape() {
    return this.element("shape").value;
  }

  layOut() {
    const isCircular = this.shape() === "circular";
    return layOut(this.hung, this.shape() === "cladogram" || (isCircular && !this.tree.hasLengths), this.collapsed);
  }

  // The whole tree is seen.
  fit() {
    this.zoom = [1, 1];
    this.pan = [0, 0];
    this.layout = this.layOut();
    this.draw();
  }

  look() {
    const kind = Number(this.element("kind").value), threshold = Number(this.element("threshold").value);
    return {
      isCircular: this.shape() === "circular",
      collapsed: this.collapsed,
      marked: this.marked,
      selected: this.selected,
      kind,
      full: this.kinds[kind]?.full ?? 1,
      threshold,
      isColoured: this.element("colour").checked,
      isItalic: this.element("italic").checked,
      showsNames: true,
      colours: this.isDark.matches ? DARK : PAPER,
      fontSize: 12,
    };
  }

  widthOfNames(context, size, isItalic) {
    context.font = `${isItalic ? "italic " : ""}${size}px ${TEXT_FONT}`;
    return Math.max(context.measureText(this.longest).width, this.collapsed.size > 0 ? 180 : 0) + 12;
  }

  // Where the tree is, for a view of this size. Names take the right margin, but never more than half.
  frameOf(width, height, context, look, zoom, pan) {
    const isCircular = look.isCircular;
    const rows = this.layout.rows;
    const row = isCircular ? (2 * Math.PI * 0.97 * zoom[1] * Math.min(width, height)) / 3 / rows : ((height - 40) * zoom[1]) / rows;
    look.fontSize = Math.min(13, Math.max(LEAST_ROW_WITH_NAME, row * 0.95));
    const hasRoom = row >= LEAST_ROW_WITH_NAME;
    const names = hasRoom ? Math.min(this.widthOfNames(context, look.fontSize, look.isItalic), width / 2) : 20;
    if (isCircular) {
      const radius = Math.max(Math.min(width, height) / 2 - (hasRoom ? Math.min(names, Math.min(width, height) / 4) : 8), 20) * zoom[1];
      return { x: width / 2 + pan[0], y: height / 2 - 8 + pan[1], width: radius, height: radius };
    }
    return { x: 12 + pan[0], y: 8 + pan[1], width: Math.max((width - names - 16) * zoom[0], 20), height: (height - 40) * zoom[1] };
  }

  // Draws at the next moment at which the screen is drawn, once for many changes.
  draw() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.drawNow();
    });
  }

  // Names that are too long for the view end in an ellipsis.
  shortener(context, width) {
    return (name, x, { size, italic, bold }) => {
      context.font = `${italic ? "italic " : ""}${bold ? "bold " : ""}${size}px ${TEXT_FONT}`;
      const room = width - 4 - x, whole = context.measureText(name).width;
      // What is to be moved into view is as it is.
      if (whole <= room || this.zoom[0] > 1 || room < 20) return name;
      let shown = name.slice(0, Math.floor((name.length * room) / whole));
      while (shown !== "" && context.measureText(`${shown}…`).width > room) shown = shown.slice(0, -1);
      return `${shown}…`;
    };
  }

  drawNow() {
    const { canvas } = this;
    const width = canvas.parentElement.clientWidth;
    const isCircular = this.shape() === "circular";
    const wanted = isCircular ? Math.min(width, 900) : this.tree.numTips * 16 + 40;
    // Higher than the window if all names can be read then.
    const legible = isCircular ? 0 : this.tree.numTips * LEAST_ROW_WITH_NAME * 1.4 + 40;
    const most = Math.max(Math.min(0.9 * Math.max(window.innerHeight, 700), 1000), legible <= MOST_HEIGHT ? legible : 0);
    const height = Math.max(Math.min(wanted, most), 220);
    const sharpness = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * sharpness);
    canvas.height = Math.round(height * sharpness);
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.setTransform(sharpness, 0, 0, sharpness, 0, 0);
    context.clearRect(0, 0, width, height);
    const look = { ...this.look(), shorten: this.shortener(context, width) }, pen = new CanvasPen(context);
    this.frame = this.frameOf(width, height, context, look, this.zoom, this.pan);
    drawTree(pen, this.tree, this.hung, this.layout, this.frame, look, [0, 0, width, height]);
    const row = placesOf(this.layout, look.isCircular, this.frame).row;
    this.element("hint").hidden = row >= LEAST_ROW_WITH_NAME;
    if (this.tree.hasLengths && this.shape() !== "cladogram") {
      context.clearRect(0, height - 22, Math.min(width, 340), 22);
      drawScale(pen, this.layout, this.frame, 12, height - 11, look.colours, this.unit);
    }
  }

  // The tree as shown, whole and with all names, on paper.
  toSvg(wantedWidth) {
    const look = { ...this.look(), colours: PAPER, fontSize: 11 };
    const context = document.createElement("canvas").getContext("2d");
    const names = this.widthOfNames(context, 11, look.isItalic) + 8, rows = this.layout.rows;
    let width = wantedWidth, height = rows * 14 + 40, frame;
    if (look.isCircular) {
      const radius = Math.max((rows * 13) / (2 * Math.PI), width / 2 - names);
      width = 2 * (radius + names);
      height = width + 24;
      frame = { x: width / 2, y: width / 2, width: radius, height: radius };
    } else {
      width = Math.max(width, names + 300);
      frame = { x: 12, y: 8, width: width - names - 16, height: rows * 14 };
    }
    const pen = new SvgPen(width, height, "#ffffff");
    drawTree(pen, this.tree, this.hung, this.layout, frame, look, null);
    if (this.tree.hasLengths && this.shape() !== "cladogram") drawScale(pen, this.layout, frame, 12, height - 12, PAPER, this.unit);
    return { svg: pen.svg(), width, height };
  }

  keep(name, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  keepSvg() {
    this.keep("tree.svg", new Blob([this.toSvg(900).svg], { type: "image/svg+xml" }));
  }

  keepPng() {
    const { svg, width, height } = this.toSvg(900);
    const image = new Image();
    image.onload = () => {
      // Browsers refuse larger canvases.
      const scale = Math.min(3, 16000 / Math.max(width, height));
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [Math.floor(width * scale), Math.floor(height * scale)];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => (blob ? this.keep("tree.png", blob) : this.say("This browser cannot make so large a picture: take SVG.")));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  }

  keepNewick() {
    this.keep("tree.nwk", new Blob([`${writeTree(this.tree, this.hung)}\n`], { type: "text/plain" }));
  }

  // Nodes whose taxa have the text in their names.
  search() {
    const text = this.element("find").value.trim().toLowerCase();
    this.found = [];
    if (text !== "") {
      this.found = this.hung.order.filter((node) => this.hung.children[node].length === 0 && this.tree.names[node]?.toLowerCase().includes(text));
    }
    this.marked = new Set(this.found);
    this.at = -1;
    const count = this.found.length;
    this.element("count").textContent = text === "" ? "" : count === 1 ? "1 taxon" : `${count} taxa`;
    this.draw();
  }

  // Goes to the next taxon that was found.
  next(step) {
    if (this.found.length === 0) return;
    this.at = (this.at + step + this.found.length) % this.found.length;
    const node = this.found[this.at];
    for (let above = this.hung.parent[node]; above >= 0; above = this.hung.parent[above]) this.collapsed.delete(above);
    this.layout = this.layOut();
    this.select(node, true);
  }

  // Makes a node the selected one, tells which it is and, if wanted, moves it into view.
  select(node, moves) {
    this.selected = node;
    const size = this.hung.size[node], branch = this.tree.branches[this.hung.branch[node]];
    let text = this.hung.children[node].length === 0 ? `taxon ${this.tree.names[node]}` : `clade of ${size} taxa, ${nameOfClade(this.tree, this.hung, node)}`;
    if (node === this.hung.top) text = `root, ${size} taxa`;
    if (this.collapsed.has(node)) text += ", collapsed";
    if (branch && branch.length !== null) text += `; length ${Number(this.hung.length[node].toPrecision(6))}`;
    if (branch?.label && this.hung.children[node].length > 0) {
      const parts = branch.label.split("/");
      text += "; " + (this.kinds.length === parts.length ? this.kinds.map((kind, i) => `${kind.name} ${parts[i] || "none"}`).join(", ") : branch.label);
    }
    this.say(text);
    if (moves) this.reveal(node);
    this.draw();
  }

  // Zooms until names are legible, and moves the node to the middle.
  reveal(node) {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    const row = () => placesOf(this.layout, this.shape() === "circular", this.frame).row;
    const context = this.canvas.getContext("2d");
    const frame = () => (this.frame = this.frameOf(width, height, context, this.look(), this.zoom, this.pan));
    frame();
    if (row() < 12) {
      this.zoom[1] *= 14 / row();
      frame();
    }
    const [x, y] = placesOf(this.layout, this.shape() === "circular", this.frame).at(this.layout.x[node], this.layout.y[node]);
    if (y < 10 || y > height - 30) this.pan[1] += height / 2 - y;
    if (x < 5 || x > width - 20) this.pan[0] += width / 2 - x;
    this.holdInView();
  }

  say(text) {
    this.element("selected").textContent = text;
  }

  // The node nearest to a place on the canvas, if one is near.
  nodeAt(x, y) {
    const places = placesOf(this.layout, this.shape() === "circular", this.frame);
    let best = -1, least = 15 * 15;
    for (const node of this.hung.order) {
      if (this.layout.y[node] < 0) continue;
      const [a, b] = places.at(this.layout.x[node], this.layout.y[node]);
      const distance = (a - x) ** 2 + (b - y) ** 2;
      if (distance < least) [best, least] = [node, distance];
      // A branch can be clicked anywhere, a tip also on its name.
      if (!places.radius && Math.abs(b - y) < Math.min(places.row / 2, 5)) {
        const start = places.at(this.layout.x[Math.max(this.hung.parent[node], 0)], 0)[0];
        const isTip = this.hung.children[node].length === 0;
        if (x > start && (x < a || isTip) && 25 < least) [best, least] = [node, 25];
      }
    }
    return best;
  }

  collapse(node) {
    if (node < 0 || this.hung.children[node].length === 0 || node === this.hung.top) {
      this.say("Select an inner branch first: click on it, or go there with the arrow keys.");
      return;
    }
    if (!this.collapsed.delete(node)) this.collapsed.add(node);
    this.layout = this.layOut();
    this.select(node, false);
  }

  expand() {
    this.collapsed.clear();
    this.layout = this.layOut();
    this.draw();
  }

  rootAt(node) {
    if (node < 0 || node === this.hung.top) {
      this.say("Select a branch first: click on it, or go there with the arrow keys.");
      return;
    }
    const branch = this.hung.branch[node];
    this.root = { branch, share: 0.5 };
    this.element("root").value = "selected";
    this.arrange();
  }

  chooseRoot() {
    const wanted = this.element("root").value;
    if (wanted === "selected") {
      this.rootAt(this.selected);
      return;
    }
    this.root = wanted === "midpoint" ? midpoint(this.tree) : this.tree.root;
    this.arrange();
  }

  zoomBy(factor, isWide, x, y) {
    const isCircular = this.shape() === "circular";
    const axis = isWide && !isCircular ? 0 : 1;
    const old = this.zoom[axis];
    this.zoom[axis] = Math.min(Math.max(old * factor, 1), isCircular ? 60 : Math.max(4, this.tree.numTips));
    const change = this.zoom[axis] / old;
    const { width, height } = this.canvas.getBoundingClientRect();
    const centre = isCircular ? [width / 2, height / 2 - 8] : [12, 8];
    const about = [x ?? width / 2, y ?? height / 2];
    for (const i of isCircular ? [0, 1] : [axis]) this.pan[i] = about[i] - centre[i] - (about[i] - centre[i] - this.pan[i]) * change;
    this.holdInView();
    this.draw();
  }

  // The tree cannot be moved out of sight.
  holdInView() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (this.shape() === "circular") {
      const reach = (Math.min(width, height) / 2) * this.zoom[1];
      this.pan = this.pan.map((x) => Math.min(Math.max(x, -reach), reach));
    } else {
      const least = [-(width - 40) * (this.zoom[0] - 1) - 1, -(height - 40) * (this.zoom[1] - 1) - 1];
      this.pan = this.pan.map((x, i) => Math.min(Math.max(x, least[i]), 0));
    }
  }

  step(key) {
    const { hung, layout, selected } = this;
    if (selected < 0) return hung.top;
    const isOpen = hung.children[selected].length > 0 && !this.collapsed.has(selected);
    if (key === "ArrowLeft") return hung.parent[selected] >= 0 ? hung.parent[selected] : selected;
    if (key === "ArrowRight") return isOpen ? hung.children[selected][0] : selected;
    // Up and down: among siblings, or among tips.
    const parent = hung.parent[selected];
    const isTip = !isOpen;
    const among = isTip
      ? hung.order.filter((node) => layout.y[node] >= 0 && (hung.children[node].length === 0 || this.collapsed.has(node)))
      : parent >= 0 ? hung.children[parent] : [selected];
    const at = among.indexOf(selected) + (key === "ArrowDown" ? 1 : -1);
    return among[Math.min(Math.max(at, 0), among.length - 1)];
  }

  listen() {
    const { canvas } = this;
    const on = (name, event, action) => this.element(name).addEventListener(event, action);
    on("tree", "change", () => this.choose(Number(this.element("tree").value)));
    on("shape", "change", () => this.fit());
    on("root", "change", () => this.chooseRoot());
    on("ladder", "change", () => this.arrange());
    on("kind", "change", () => { this.chooseKind(); this.draw(); });
    for (const name of ["threshold", "colour", "italic"]) on(name, "input", () => this.draw());
    on("find", "input", () => this.search());
    on("find", "keydown", (event) => { if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1); });
    on("next", "click", () => this.next(1));
    on("in", "click", () => this.zoomBy(1.5, false));
    on("out", "click", () => this.zoomBy(1 / 1.5, false));
    on("fit", "click", () => this.fit());
    on("collapse", "click", () => this.collapse(this.selected));
    on("expand", "click", () => this.expand());
    on("reroot", "click", () => this.rootAt(this.selected));
    on("svg", "click", () => this.keepSvg());
    on("png", "click", () => this.keepPng());
    on("newick", "click", () => this.keepNewick());
    let pressed = null;
    // Two fingers zoom about the point between them.
    const fingers = new Map();
    const spread = () => {
      const [a, b] = [...fingers.values()];
      return { width: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch") fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      pressed = { x: event.offsetX, y: event.offsetY, pan: [...this.pan], hasMoved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (fingers.size === 2 && fingers.has(event.pointerId)) {
        const before = spread().width;
        fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
        const { width, x, y } = spread();
        if (before > 0 && width > 0) this.zoomBy(width / before, false, x, y);
        // What follows is neither a click nor a move from where a finger was.
        pressed = null;
        return;
      }
      if (fingers.has(event.pointerId)) fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      if (pressed === null) return;
      const moved = [event.offsetX - pressed.x, event.offsetY - pressed.y];
      if (Math.abs(moved[0]) + Math.abs(moved[1]) > 4) pressed.hasMoved = true;
      if (!pressed.hasMoved) return;
      this.pan = pressed.pan.map((x, i) => x + moved[i]);
      this.holdInView();
      this.draw();
    });
    const release = (event) => {
      fingers.delete(event.pointerId);
      if (pressed !== null && !pressed.hasMoved && event.type === "pointerup") {
        const node = this.nodeAt(event.offsetX, event.offsetY);
        if (node >= 0) this.select(node, false);
      }
      pressed = null;
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("dblclick", (event) => {
      const node = this.nodeAt(event.offsetX, event.offsetY);
      if (node >= 0) this.collapse(node);
    });
    canvas.addEventListener("wheel", (event) => {
      // The page scrolls unless the tree was clicked or Ctrl is held.
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      this.zoomBy(Math.exp(-(event.deltaY || event.deltaX) / 300), event.shiftKey, event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key.startsWith("Arrow")) this.select(this.step(event.key), true);
      else if (event.key === "+" || event.key === "=") this.zoomBy(1.5, false);
      else if (event.key === "-") this.zoomBy(1 / 1.5, false);
      else if (event.key === "0") this.fit();
      else if (event.key === "Enter" || event.key === " ") this.collapse(this.selected);
      else if (event.key === "r") this.rootAt(this.selected);
      else return;
      event.preventDefault();
    });
    // On paper, the tree is drawn as lines, not as dots of the screen.
    window.addEventListener("beforeprint", () => { this.element("paper").innerHTML = this.toSvg(900).svg; });
    window.addEventListener("afterprint", () => { this.element("paper").replaceChildren(); });
  }
}
