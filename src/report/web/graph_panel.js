// Beside the drawing: what the chosen node is and what it attends to.

class GraphPanel {
  constructor(model, choose) {
    this.model = model;
    this.choose = choose;
    this.element = el("div", { class: "panel", "aria-live": "polite" });
    this.show(-1, 0, -1);
  }

  show(node, layer, head) {
    if (node < 0) {
      this.element.replaceChildren(el("p", { class: "hint" }, this.model.layers.length > 0
        ? "Click a node to see its attention." : "Click a node to see its neighbours."));
      return;
    }
    const { model } = this;
    const facts = [["class", model.className(model.label[node])]];
    if (model.prediction.length > 0) facts.push(["prediction", model.className(model.prediction[node])]);
    if (model.part.length > 0) facts.push(["split", PART_NAMES[model.part[node]]]);
    facts.push(["degree", model.degree[node]]);
    if (model.phi.length > 0) facts.push(["φ", plain(model.phi[node], 4)]);
    this.element.replaceChildren(el("h4", {}, `Node ${model.name(node)}`),
      el("dl", {}, facts.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", {}, value)))),
      ...(model.layers.length > 0 ? this.attention(node, layer, head) : this.neighbours(node)));
  }

  attention(node, layer, head) {
    const { model } = this;
    const row = model.attentionRow(node, layer, head);
    const total = row.reduce((sum, entry) => sum + entry.weight, 0);
    const what = `${model.layers[layer].name}, ${head < 0 ? "mean over heads" : "head " + (head + 1)}`;
    const missing = total < 0.9995 ? `; the drawn senders carry ${formatNumber(total, "percent")} of it` : "";
    return [el("p", { class: "hint" }, `Attention over ${row.length} senders (${what})${missing}.`),
      this.table(node, row.map((entry) => ({ ...entry, other: entry.sender })), "attention-row"),
      button("CSV", "Save this row as CSV", () => exportCsv("attention-" + slug(model.name(node)), ["sender", "class", "edge", "distance", "weight"],
        row.map((entry) => [model.name(entry.sender), model.className(model.label[entry.sender]), entry.edge, this.distance(node, entry.sender), entry.weight])))];
  }

  neighbours(node) {
    const found = this.model.incident(node).map(({ edge, other }) => ({ other, edge: STATE_NAMES[this.model.state[edge]], weight: null }));
    return [el("p", { class: "hint" }, `${found.length} drawn edges.`), this.table(node, found, "neighbour-row")];
  }

  distance(a, b) {
    return this.model.phi.length > 0 ? Math.abs(this.model.phi[a] - this.model.phi[b]) : null;
  }

  table(node, entries, id) {
    const { model } = this, largest = Math.max(...entries.map((entry) => entry.weight ?? 0), 1e-12);
    const shown = entries.slice(0, PREVIEW_ROWS);
    const weighted = entries.some((entry) => entry.weight !== null);
    return el("div", { class: "scroll", tabindex: 0 }, el("table", { id }, el("thead", {}, el("tr", {},
      ["node", "class", "edge", "|Δφ|", ...(weighted ? ["weight"] : [])].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, shown.map((entry) => el("tr", {},
      el("th", { scope: "row" }, button(model.name(entry.other), "Go to this node", () => this.choose(entry.other))),
      el("td", { class: model.label[entry.other] === model.label[node] ? "same" : null }, model.className(model.label[entry.other])),
      el("td", {}, entry.edge), el("td", { class: "number" }, formatNumber(this.distance(node, entry.other), "number")),
      weighted ? el("td", { class: "number bar", "data-value": entry.weight, style: `--share:${(100 * entry.weight / largest).toFixed(1)}%` },
        formatNumber(entry.weight, "percent")) : null)))));
  }
}
