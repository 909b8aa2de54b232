// What the page does beyond its tree: sorting of tables, maps, copying.
"use strict";

const pageData = JSON.parse(document.getElementById("for-script").textContent);

let treeView = null;
if (pageData.trees.length > 0) {
  treeView = new TreeView(pageData.trees, (name) => document.getElementById(`tree-${name}`));
}

// A click on a heading sorts its table: numbers by value, words by letters; empty cells are last.
for (const table of document.querySelectorAll("table.sortable")) {
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const isUp = head.getAttribute("aria-sort") !== "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
      const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
      const order = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === "" || y === "") return (x === "") - (y === "");
        const numbers = Number(x) - Number(y);
        const result = Number.isNaN(numbers) ? x.localeCompare(y) : numbers;
        return isUp ? result : -result;
      };
      table.tBodies[0].append(...[...table.tBodies[0].rows].toSorted(order));
    });
  }
}

// Maps: a row of digits in a line, 0 (nothing) to 9 (all), from white to dark; of distances, from near to far.
function drawMap(canvas) {
  const map = pageData.maps[canvas.dataset.map];
  const columns = Math.max(...map.map((row) => row.length), 1);
  const isSquare = canvas.dataset.map === "distances";
  const across = Math.max(1, Math.floor(1000 / columns));
  const down = isSquare ? across : Math.max(1, Math.min(16, Math.floor(600 / map.length)));
  if (isSquare) canvas.style.maxWidth = "640px";
  canvas.width = columns * across;
  canvas.height = map.length * down;
  const context = canvas.getContext("2d");
  for (const [y, row] of map.entries()) {
    for (let x = 0; x < row.length; x++) {
      const share = Number(row[x]) / 9;
      context.fillStyle = between([250, 246, 235], [0, 72, 128], share);
      context.fillRect(x * across, y * down, across, down);
    }
  }
}
for (const canvas of document.querySelectorAll("canvas.map")) drawMap(canvas);

for (const button of document.querySelectorAll("button.copy")) {
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.from);
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      // Without leave to copy, the text is selected instead.
      window.getSelection().selectAllChildren(text);
    }
  });
}
