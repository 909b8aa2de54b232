// Trees: from Newick text, with any root, laid out, and as Newick text again. Nothing here draws.
//
// A tree is kept without a root: nodes with links, and branches with their lengths and labels. A label belongs to its branch, so
// that it stays there wherever the root is.
"use strict";

// The words of a Newick text: punctuation, and names without their quotes.
function* newickWords(text) {
  const pattern = /\[[^\]]*\]|'((?:[^']|'')*)'|[(),:;]|[^\s()[\]',:;]+/g;
  for (const found of text.matchAll(pattern)) {
    if (found[0][0] === "[") continue;
    const quoted = found[1] !== undefined;
    const isMark = !quoted && found[0].length === 1 && "(),:;".includes(found[0]);
    yield { mark: isMark ? found[0] : "", text: quoted ? found[1].replaceAll("''", "'") : found[0] };
  }
}

// { names, links, branches, root }: names[node] of tips, links[node] its branches, branches { ends, length, label }. The root is a
// node or, if two branches meet there, a place in the branch that they make: { branch, share } of its length from its first end.
function readTree(text) {
  const parents = [-1], texts = [""], lengths = [null], numbersOfChildren = [0];
  let node = 0, isLength = false;
  const child = (parent) => {
    parents.push(parent);
    texts.push("");
    lengths.push(null);
    numbersOfChildren.push(0);
    numbersOfChildren[parent] += 1;
    return parents.length - 1;
  };
  for (const word of newickWords(text)) {
    if (word.mark === "(") node = child(node);
    else if (word.mark === ",") node = child(parents[node]);
    else if (word.mark === ")") node = parents[node];
    else if (word.mark === ":") isLength = true;
    else if (word.mark === ";") break;
    else if (isLength) lengths[node] = Number(word.text);
    else texts[node] = word.text;
    if (word.mark !== ":") isLength = false;
  }
  const tree = { names: [], links: [], branches: [], root: { node: 0 }, hasLengths: false, numTips: 0 };
  for (let i = 0; i < parents.length; i++) {
    const isTip = numbersOfChildren[i] === 0;
    tree.names.push(isTip ? texts[i] : "");
    tree.links.push([]);
    tree.numTips += isTip ? 1 : 0;
    if (i === 0) continue;
    if (lengths[i] !== null) tree.hasLengths = true;
    addBranch(tree, parents[i], i, lengths[i], isTip ? "" : texts[i]);
  }
  if (tree.links[0].length === 2) {
    const [first, second] = tree.links[0].map((branch) => tree.branches[branch]);
    const [a, b] = [first.ends[1], second.ends[1]];
    const total = (first.length ?? 0) + (second.length ?? 0);
    const length = first.length === null && second.length === null ? null : total;
    const share = total > 0 ? (first.length ?? 0) / total : 0.5;
    // The merged branch takes the place of both in the lists of their ends, so that the order of the text remains.
    const merged = tree.branches.length;
    tree.branches.push({ ends: [a, b], length, label: first.label || second.label });
    for (const [end, old] of [[a, tree.links[0][0]], [b, tree.links[0][1]]]) {
      tree.links[end] = tree.links[end].map((branch) => (branch === old ? merged : branch));
    }
    tree.links[0] = [];
    tree.root = { branch: merged, share };
  }
  return tree;
}

function addBranch(tree, parent, node, length, label) {
  const branch = tree.branches.length;
  tree.branches.push({ ends: [parent, node], length, label });
  tree.links[parent].push(branch);
  tree.links[node].push(branch);
}

function otherEnd(tree, branch, node) {
  const [a, b] = tree.branches[branch].ends;
  return a === node ? b : a;
}

// The length of a branch for layouts: trees without lengths have 1 everywhere.
function lengthOf(tree, branch) {
  return tree.hasLengths ? Math.max(tree.branches[branch].length ?? 0, 0) : 1;
}

// The middle of the longest path between two tips.
function midpoint(tree) {
  const farthest = (start) => {
    const distance = new Map([[start, 0]]), from = new Map();
    let best = start;
    const stack = [start];
    while (stack.length > 0) {
      const node = stack.pop();
      if (distance.get(node) > distance.get(best)) best = node;
      for (const branch of tree.links[node]) {
        const next = otherEnd(tree, branch, node);
        if (distance.has(next)) continue;
        distance.set(next, distance.get(node) + lengthOf(tree, branch));
        from.set(next, branch);
        stack.push(next);
      }
    }
    return { best, distance, from };
  };
  const tip = tree.names.findIndex((name, node) => name !== "" && tree.links[node].length === 1);
  if (tip < 0) return tree.root;
  const { best, distance, from } = farthest(farthest(tip).best);
  let node = best;
  while (from.has(node)) {
    const branch = from.get(node), next = otherEnd(tree, branch, node);
    const half = distance.get(best) / 2;
    if (distance.get(next) <= half) {
      const length = lengthOf(tree, branch);
      const above = length > 0 ? (half - distance.get(next)) / length : 0.5;
      return { branch, share: tree.branches[branch].ends[0] === next ? above : 1 - above };
    }
    node = next;
  }
  return tree.root;
}

// The tree as it hangs from a root: { top, order (parents first), parent, children, length, branch, size (tips below) } by node. The
// top of a root in a branch is one node more.
function hang(tree, root, isLadder) {
  const count = tree.names.length + 1;
  const hung = {
    top: root.node ?? count - 1,
    order: [],
    parent: new Int32Array(count).fill(-1),
    children: Array.from({ length: count }, () => []),
    length: new Float64Array(count),
    branch: new Int32Array(count).fill(-1),
    size: new Int32Array(count),
  };
  const attach = (node, parent, branch, share) => {
    hung.parent[node] = parent;
    hung.branch[node] = branch;
    hung.length[node] = lengthOf(tree, branch) * share;
    hung.children[parent].push(node);
  };
  if (root.branch !== undefined) {
    const [a, b] = tree.branches[root.branch].ends;
    attach(a, hung.top, root.branch, root.share);
    attach(b, hung.top, root.branch, 1 - root.share);
  }
  const stack = [hung.top];
  while (stack.length > 0) {
    const node = stack.pop();
    hung.order.push(node);
    if (node < tree.names.length) {
      for (const branch of tree.links[node]) {
        if (branch !== hung.branch[node]) attach(otherEnd(tree, branch, node), node, branch, 1);
      }
    }
    stack.push(...hung.children[node].toReversed());
  }
  for (const node of hung.order.toReversed()) {
    if (hung.children[node].length === 0) hung.size[node] = 1;
    if (hung.parent[node] >= 0) hung.size[hung.parent[node]] += hung.size[node];
    if (isLadder) hung.children[node].sort((a, b) => hung.size[a] - hung.size[b]);
  }
  if (isLadder) {
    hung.order = [];
    const again = [hung.top];
    while (again.length > 0) {
      const node = again.pop();
      hung.order.push(node);
      again.push(...hung.children[node].toReversed());
    }
  }
  return hung;
}

// Places of all nodes that are shown: { x, y, rows, depth }. x is the distance from the root (in a cladogram, all tips are at the
// same x); y counts rows of tips; a collapsed clade has two rows. Nodes below collapsed ones have y -1.
function layOut(hung, isCladogram, collapsed) {
  const count = hung.parent.length;
  const x = new Float64Array(count), y = new Float64Array(count).fill(-1), height = new Int32Array(count);
  const isHidden = new Uint8Array(count);
  let rows = 0, depth = 0;
  for (const node of hung.order) {
    const parent = hung.parent[node];
    if (parent >= 0) {
      isHidden[node] = isHidden[parent] || collapsed.has(parent) ? 1 : 0;
      x[node] = x[parent] + hung.length[node];
    }
    if (isHidden[node]) continue;
    depth = Math.max(depth, x[node]);
    if (collapsed.has(node)) {
      y[node] = rows + 0.5;
      rows += 2;
    } else if (hung.children[node].length === 0) {
      y[node] = rows;
      rows += 1;
    }
  }
  const reach = x.slice();
  for (const node of hung.order.toReversed()) {
    const parent = hung.parent[node], children = hung.children[node];
    if (parent >= 0) {
      height[parent] = Math.max(height[parent], height[node] + 1);
      reach[parent] = Math.max(reach[parent], reach[node]);
    }
    if (y[node] < 0 && !isHidden[node]) y[node] = (y[children[0]] + y[children.at(-1)]) / 2;
  }
  if (isCladogram) {
    depth = Math.max(height[hung.top], 1);
    for (const node of hung.order) x[node] = depth - height[node];
    reach.fill(depth);
  } else {
    // What is collapsed shows how far it goes.
    for (const node of collapsed) if (y[node] >= 0) depth = Math.max(depth, reach[node]);
  }
  return { x, y, reach, rows, depth: depth || 1 };
}

function quoted(name) {
  return /[\s()[\]',:;]/.test(name) || name === "" ? `'${name.replaceAll("'", "''")}'` : name;
}

// Newick text with the root and the order as shown.
function writeTree(tree, hung) {
  const parts = [];
  const stack = [{ node: hung.top, next: 0 }];
  while (stack.length > 0) {
    const at = stack.at(-1), children = hung.children[at.node];
    if (at.next < children.length) {
      parts.push(at.next === 0 ? "(" : ",");
      stack.push({ node: children[at.next], next: 0 });
      at.next += 1;
      continue;
    }
    stack.pop();
    const branch = tree.branches[hung.branch[at.node]];
    if (children.length > 0) {
      parts.push(")");
      if (branch?.label) parts.push(quoted(branch.label));
    } else {
      parts.push(quoted(tree.names[at.node]));
    }
    // Twelve digits are more than a length has, and hide the last bits of halves.
    if (branch && branch.length !== null) parts.push(":" + Number(hung.length[at.node].toPrecision(12)));
  }
  return parts.join("") + ";";
}
