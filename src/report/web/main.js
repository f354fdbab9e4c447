// The page: sections of blocks, from the data in the file.

const BLOCKS = { facts: factsBlock, code: codeBlock, table: tableBlock, lines: linesBlock, bars: barsBlock,
  histogram: histogramBlock, dots: dotsBlock, heatmap: heatmapBlock, drawing: drawingBlock, explorer: explorerBlock };

function main() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const sections = data.sections.map((section) => ({ ...section, name: uniqueName("section " + section.title) }));
  const root = document.getElementById("page");
  root.append(
    el("header", {}, el("div", {}, el("h1", {}, data.title), el("p", {}, data.subtitle)), themeButton()),
    sections.length < 2 ? "" : el("nav", { "aria-label": "Sections" }, sections.map((section) => el("a", { href: "#" + section.name }, section.title))),
    el("main", {}, sections.map((section) => el("section", { id: section.name },
      el("h2", {}, section.title), section.text ? el("p", {}, section.text) : null,
      el("div", { class: "blocks" }, fullRows(section.blocks.map((block) => BLOCKS[block.type](block))))))),
    tooltip);
  document.documentElement.dataset.ready = "true";
}

/** Of an odd number of half-wide figures, the last takes a whole row, so that no row is half empty. */
function fullRows(figures) {
  const narrow = figures.filter((element) => !element.classList.contains("wide"));
  if (narrow.length % 2 === 1) narrow[narrow.length - 1].classList.add("wide");
  return figures;
}

main();
