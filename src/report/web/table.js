// Tables: sortable by a click or Enter on a heading.

const PREVIEW_ROWS = 500;

function tableElement(columns, rows) {
  const body = el("tbody");
  const shown = (order) => body.replaceChildren(...order.slice(0, PREVIEW_ROWS).map((row) => el("tr", {},
    row.map((cell, index) => {
      const numeric = typeof cell === "number";
      const long = typeof cell === "string" && cell.length > 40 ? "long" : null;
      return el(index === 0 ? "th" : "td", { class: numeric || columns[index].format !== "text" ? "number" : long,
        scope: index === 0 ? "row" : null, "data-value": numeric ? cell : null }, formatNumber(cell, columns[index].format));
    }))));
  shown(rows);

  let sorted = -1, descending = false;
  const headings = columns.map((column, index) => el("th", { scope: "col",
    class: column.format !== "text" ? "number" : null }, button(column.name, "Sort by this column", () => {
    descending = sorted === index && !descending;
    sorted = index;
    const order = [...rows].sort((a, b) => compareCells(a[index], b[index]));
    shown(descending ? order.reverse() : order);
    headings.forEach((heading, k) => heading.setAttribute("aria-sort",
      k !== index ? "none" : descending ? "descending" : "ascending"));
  })));
  const table = el("table", {}, el("thead", {}, el("tr", {}, headings)), body);
  return el("div", { class: "scroll", tabindex: 0 }, table, rows.length > PREVIEW_ROWS
    ? el("p", { class: "hint" }, `First ${PREVIEW_ROWS} of ${rows.length} rows; the CSV holds all.`) : null);
}

function compareCells(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

function tableBlock(block) {
  return figure(block, { content: tableElement(block.columns, block.rows), numbers: () => block, wide: block.columns.length > 5 });
}

function factsBlock(block) {
  return figure(block, {
    content: el("dl", {}, block.rows.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", {}, value)))),
    numbers: () => ({ columns: [{ name: "what" }, { name: "value" }], rows: block.rows }),
  });
}

function codeBlock(block) {
  const copy = button("Copy", "Copy to the clipboard", async () => {
    try {
      await navigator.clipboard.writeText(block.text);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);  // the reader can press Ctrl-C
    }
  });
  const code = el("pre", { tabindex: 0 }, block.text);
  return figure(block, { content: code, controls: [copy], wide: true });
}
