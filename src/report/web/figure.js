// The frame around every block: heading, buttons, the content, its numbers as a table, a note.

const usedNames = new Set();

/** A name for files and links that no other block has. */
function uniqueName(title) {
  let name = slug(title);
  for (let k = 2; usedNames.has(name); ++k) name = slug(title) + "-" + k;
  usedNames.add(name);
  return name;
}

/**
 * parts: content (element), numbers() -> {columns: [{name, format}], rows}, picture() -> svg element,
 * controls: elements beside the buttons, wide: takes the whole row.
 */
function figure(block, parts) {
  const name = uniqueName(block.title);
  const tools = el("div", { class: "tools" }, parts.controls || []);
  if (parts.picture) {
    tools.append(
      button("SVG", "Save the chart as SVG", () => exportSvg(name, parts.picture())),
      button("PNG", "Save the chart as PNG", () => exportPng(name, parts.picture())));
  }
  let numbers = null;
  if (parts.numbers) {
    const { columns, rows } = parts.numbers();
    tools.append(button("CSV", "Save the numbers as CSV",
      () => exportCsv(name, columns.map((column) => column.name), rows)));
    if (parts.picture) {
      numbers = el("details", { class: "numbers" }, el("summary", {}, "Numbers"));
      numbers.addEventListener("toggle", () => {
        if (numbers.open && numbers.children.length === 1) numbers.append(tableElement(columns, rows));
      });
    }
  }
  return el("figure", { id: name, "data-block": name, "data-type": block.type, class: parts.wide ? "wide" : null },
    el("div", { class: "head" }, el("h3", {}, block.title), tools),
    parts.content, numbers,
    block.note ? el("figcaption", {}, block.note) : null);
}
