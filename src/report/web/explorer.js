// The explorer block: settings, drawing, figures, charts and the command that trains what is shown.

const CHART_PAUSE = 200;  // milliseconds between redrawn charts while a slider moves

function explorerBlock(block) {
  const content = el("div", {}, el("p", { class: "hint" }, "Preparing the explorer …"));
  const element = figure(block, { content, wide: true });
  // A report has other sections before: arrays are decoded when the explorer comes near the window.
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    element.explorer = new Explorer(block, content, element.querySelector(".tools"));  // also for a reader's console, and for the tests
  }, { rootMargin: "300px" }).observe(element);
  return element;
}

class Explorer {
  constructor(block, content, tools) {
    const data = this.data = new ExplorerData(block), start = block.start;
    const begin = { g: data.gammas.indexOf(start.gamma), a: data.alphas.indexOf(start.alpha), mode: start.rewire, epsilon: start.epsilon, policy: start.components };
    this.state = { ...begin, start: begin, distances: null };
    this.view = { colour: "class", places: null };
    this.canvas = new ExplorerCanvas(data, (node, event) => this.hoverNode(node, event));
    this.compute();
    this.controls = explorerControls(data, this.state, (change) => this.set(change), [
      select("colour", ["class (training nodes)", "φ"], 0, (index) => { this.view.colour = ["class", "φ"][index]; this.colourNodes(); }),
      select("positions", ["automatic", "values of φ₁, φ₂", "ranks of φ₁, φ₂"], 0, (index) => { this.view.places = [null, "values", "ranks"][index]; this.place(); this.drawCharts(); })]);
    this.parts = { legend: el("div", { class: "legend" }), tiles: el("div", { class: "tiles" }), labels: el("div"), distances: el("div", { class: "chart" }),
      classes: el("div", { class: "chart" }), spectrum: el("div", { class: "chart" }), advice: el("div", { class: "chart" }), command: el("pre", { tabindex: 0 }),
      drawnNote: el("p", { class: "hint" }), distanceNote: el("p", { class: "hint" }), classNote: el("p", { class: "hint" }), sentence: el("p", { class: "sentence", "aria-live": "polite" }) };
    this.lay(content);
    tools.append(button("PNG", "Save the drawing as PNG", () => this.canvas.canvas.toBlob((blob) => download("explorer.png", blob))),
      button("CSV", "Save the figures as CSV", () => exportCsv("explorer", ...this.figures())));
    onTheme(() => { this.colourNodes(); this.drawCharts(); });
    this.refresh(true);
  }

  lay(content) {
    const { parts } = this, holder = el("div", { class: "canvas" }, this.canvas.canvas);
    const copy = button("Copy", "Copy the command", async () => {
      try {
        await navigator.clipboard.writeText(parts.command.textContent);
        copy.textContent = "Copied";
        setTimeout(() => { copy.textContent = "Copy"; }, 1500);
      } catch { getSelection().selectAllChildren(parts.command); }
    });
    const advised = this.data.block.advice.length > 0, card = (title, ...inside) => el("div", { class: "card" }, el("h4", {}, title), ...inside);
    content.replaceChildren(
      el("div", { class: "explorer" }, this.controls.element, el("div", {},
        el("div", { class: "controls" }, this.edgeBoxes = STATE_NAMES.map((name, state) => checkbox(name, true, (on) => { this.canvas.visible[state] = on; this.canvas.start(); })), parts.legend), holder, parts.drawnNote)),
      parts.sentence, parts.tiles,
      el("div", { class: "cards" },
        card("Spectral distance over the edges", parts.distances, parts.distanceNote),
        card("φ against class", parts.classes, parts.classNote),
        card("λ and gap over γ", parts.spectrum, el("p", { class: "hint" }, "A gap near 0 means that φ is one choice of several. γ = 0, the Laplacian D − A, has another scale and is left out.")),
        advised ? card("Advice over γ", parts.advice, el("p", { class: "hint" }, "Score of the best candidate: how well random networks on its graph predict held-out training nodes.")) : null,
        card("Labels at the ends of edges", parts.labels, el("p", { class: "hint" }, "Homophily and label informativeness (LI) count edges between two training nodes.")),
        el("div", { class: advised ? "card" : "card whole" }, el("h4", {}, "The advice in words"), el("p", { class: "advice" }, this.data.block.adviceText)),
        el("div", { class: "card whole" }, el("div", { class: "head" }, el("h4", {}, "Train what is shown"), copy), parts.command)));
    this.edgeBoxes.forEach((box, state) => box.prepend(el("i", { class: "stroke", style: `background:var(${EDGE_COLOURS[state]})` })));
    onWidth(holder, (width) => this.canvas.resize(width, Math.round(Math.max(300, Math.min(560, width * 0.66)))));
    onWidth(parts.distances, () => this.drawCharts());
  }

  /** Changes settings: {g, a, mode, epsilon, policy}, places in the grids for γ and α. */
  set(change) {
    Object.assign(this.state, change);
    this.controls.show(this.state);
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.refresh(false); });
  }

  compute() {
    const { data, state } = this, key = `${state.g} ${state.a} ${state.policy}`;
    if (this.phiKey !== key) {
      this.phi = data.phi(state.g, state.a, state.policy);
      state.distances = edgeDistances(data, this.phi);
      this.phiKey = key;
    }
    this.result = rewire(data, this.phi, state.distances, { mode: state.mode, epsilon: parseEpsilon(state.epsilon), policy: state.policy });
    this.numbers = rewiringNumbers(data, this.result);
  }

  refresh(jump) {
    this.compute();
    if (this.placedKey !== this.phiKey) { this.place(jump); this.placedKey = this.phiKey; }
    if (this.view.colour === "φ" || jump) this.colourNodes();
    this.canvas.setEdges(this.result);
    this.drawFigures();
    const now = performance.now();
    clearTimeout(this.chartTimer);
    if (now - (this.chartTime || 0) > CHART_PAUSE && this.data.edges <= 60000) this.drawCharts();
    else this.chartTimer = setTimeout(() => this.drawCharts(), CHART_PAUSE);
  }

  /** Ranks where an eigenvector is concentrated on few nodes, which would put the others on one spot. */
  ranked() {
    return this.view.places ? this.view.places === "ranks" : this.concentration < 0.2 || participation(this.heights) < 0.2;
  }

  place(jump) {
    const { data, state, phi, canvas } = this;
    this.concentration = participation(phi[0]);
    this.heights = data.heights(state.g, state.a);
    this.positions = (this.ranked() ? rankShares : valueShares)(phi[0]);
    const y = (this.ranked() ? rankShares : valueShares)(this.heights), x = this.positions;
    canvas.moveTo(x, y, jump);
  }

  colourNodes() {
    const { data, canvas } = this, quiet = rgb(cssColour("--dim"));
    if (this.view.colour === "class") {
      canvas.setColours(Uint8Array.from(data.label, (label) => 1 + Math.min(label, 253)), [quiet, ...data.block.classNames.map((_, c) => rgb(seriesColour(c)))]);
      const many = data.block.classNames.length > PALETTE_SIZE;
      this.parts.legend.replaceChildren(...data.block.classNames.slice(0, PALETTE_SIZE).map((name, c) => el("span", { class: "key" }, el("i", { style: `background:${seriesColour(c)}` }), name)),
        many ? el("span", { class: "key" }, "…") : "", el("span", { class: "key" }, el("i", { style: "background:var(--dim)" }), "not a training node"));
      return;
    }
    const { groups, legend } = phiColours(this.phi[0]);
    canvas.setColours(groups.map((group) => group + 1), [quiet, ...legend.map((step) => step.colour.match(/\d+/g).map(Number))]);
    this.parts.legend.replaceChildren(el("span", { class: "key ramp" }, "φ: ", legend[0].name, " ", ...legend.map((step) => el("i", { style: `background:${step.colour}` })), " ", legend[legend.length - 1].name));
  }

  drawFigures() {
    const { numbers, parts, data, state, canvas } = this, count = (value) => value.toLocaleString("en-US");
    const share = (value) => value === null ? "–" : (100 * value).toFixed(1) + "%";
    const tile = (name, key, value, remark) => el("div", { class: "tile", "data-figure": key, "data-value": numbers[key] }, el("span", {}, name), el("b", {}, value), el("small", {}, remark));
    const of = (part) => `${share(part / Math.max(1, numbers.edges_before))} of ${count(numbers.edges_before)}`;
    parts.tiles.replaceChildren(
      tile("edges dropped", "dropped", count(numbers.dropped), of(numbers.dropped)),
      tile("edges added", "added", count(numbers.added), of(numbers.added)),
      tile("edges after", "edges_after", count(numbers.edges_after), `before: ${count(numbers.edges_before)}`),
      tile("edge homophily", "homophily_after", share(numbers.homophily_after), `before: ${share(numbers.homophily_before)}; ${count(numbers.labels.after.edges)} training edges`),
      tile("components", "components_after", count(numbers.components_after), `before: ${count(numbers.components_before)}`),
      tile("isolated nodes", "isolated_after", count(numbers.isolated_after), `before: ${count(numbers.isolated_before)}`));
    const solved = data.block.gammas[state.g], remarks = [`λ = ${plain(solved.eigenvalue, 4)}, gap ${plain(solved.gap, 3)}`];
    if (solved.multiplicity > 1) remarks.push(`${solved.multiplicity}-fold eigenvalue: φ is one choice of several, made by a fixed rule`);
    if (!solved.converged) remarks.push("not converged: φ is approximate");
    remarks.push(`φ is concentrated on about ${count(Math.max(1, Math.round(this.concentration * data.nodes)))} of ${count(data.nodes)} nodes`);
    const between = classShare(data, this.phi[0]);
    if (between !== null) remarks.push(`${(100 * Math.max(0, between)).toFixed(1)}% of its variance lies between classes`);
    parts.sentence.textContent = remarks.join("; ") + ".";
    parts.command.textContent = this.command();
    const directions = "Right: larger φ₁." + (data.block.gammas.some((one) => one.second !== null) ? " Up: larger φ₂." : "");
    parts.drawnNote.textContent = canvas.whole ? `${directions} Point at a node to see its edges.`
      : `Drawn: ${count(canvas.drawn.length)} of ${count(data.nodes)} nodes and ${count(canvas.drawnEdges.length)} of ${count(data.edges)} edges, chosen at random; figures and charts use all. ${directions}`;
    STATE_NAMES.forEach((name, k) => {
      this.edgeBoxes[k].querySelector("span").textContent = `${name} (${count([numbers.edges_before - numbers.dropped, numbers.dropped, numbers.added][k])})`;
    });
  }

  drawCharts() {
    this.chartTime = performance.now();
    const { data, state, parts, numbers } = this, width = parts.distances.clientWidth;
    if (width === 0) return;
    const pruning = modeParts(state.mode).prune, gamma = data.gammas[state.g];
    const { chart, zeros } = distancePicture(state.distances, this.result, pruning !== "none", width, (distance) => this.chooseDistance(distance));
    parts.distances.replaceChildren(chart);
    parts.distanceNote.textContent = (zeros > 0 ? `Not drawn: distance 0 (${zeros.toLocaleString("en-US")}). ` : "")
      + (pruning === "none" ? "Nothing is dropped; choose near or far." : `Edges ${pruning === "prune-near" ? "left" : "right"} of ε are dropped. Click to move ε.`);
    const classes = classPicture(data, this.positions, this.ranked() ? "place in the order of φ" : "φ", parts.classes.clientWidth);
    parts.classes.replaceChildren(data.trainingNodes > 0 ? classes.chart : el("p", { class: "hint" }, "No training labels."));
    parts.classNote.textContent = `Training nodes only; each row is scaled to its tallest bar.${classes.hidden > 0 ? ` ${classes.hidden} smaller classes are not drawn.` : ""}`;
    const row = (name, pairs, edges) => [name, edges, pairs.edges, pairs.agreement(), pairs.edges > 0 ? pairs.informativeness() : null];
    const { labels } = numbers;
    parts.labels.replaceChildren(tableElement([{ name: "edges", format: "text" }, { name: "all", format: "integer" }, { name: "training", format: "integer" },
      { name: "homophily", format: "percent" }, { name: "LI", format: "number" }],
    [row("before", labels.before, numbers.edges_before), row("kept", labels.kept, numbers.edges_before - numbers.dropped), row("dropped", labels.dropped, numbers.dropped),
      row("added", labels.added, numbers.added), row("after", labels.after, numbers.edges_after)]));
    this.drawCurve(parts.spectrum, spectrumBlock(data, gamma), true);
    if (data.block.advice.length > 0) this.drawCurve(parts.advice, adviceBlock(data, gamma, state.mode), false);
  }

  drawCurve(holder, block, logY) {
    if (!block.lines.some((line) => line.y.some((value) => value !== null))) { holder.replaceChildren(el("p", { class: "hint" }, "No value to draw.")); return; }
    holder.replaceChildren(legend(block.lines.map((line) => line.name), new Set(), () => {}) ?? "", linesPicture(block, { width: holder.clientWidth, logY }, new Set()));
    for (const entry of holder.querySelectorAll(".legend button")) entry.disabled = true;
  }

  chooseDistance(distance) {
    const quantile = this.state.distances.filter((each) => each < distance).length / Math.max(1, this.data.edges - 1);
    this.controls.epsilon.take(parseEpsilon(this.state.epsilon).quantile ? `q${Math.min(1, Math.round(quantile * 1000) / 1000)}` : asText(distance));
  }

  command() {
    const { state, data } = this, pruning = modeParts(state.mode).prune !== "none";
    return `${data.block.command} --alpha ${data.alphas[state.a]} --gamma ${data.gammas[state.g]} --rewire ${state.mode}`
      + (pruning ? ` --epsilon ${state.epsilon}` : "") + (state.policy === "each" ? "" : ` --components ${state.policy}`);
  }

  figures() {
    const { state, data, numbers } = this, { labels, ...plainNumbers } = numbers;
    const rows = [["gamma", data.gammas[state.g]], ["alpha", data.alphas[state.a]], ["rewire", state.mode], ["epsilon", state.epsilon], ["components", state.policy],
      ...Object.entries(plainNumbers), ...Object.entries(labels).flatMap(([name, pairs]) => [[`training_edges_${name}`, pairs.edges],
        [`homophily_${name}_edges`, pairs.agreement()], [`informativeness_${name}_edges`, pairs.edges > 0 ? pairs.informativeness() : null]])];
    return [["what", "value"], rows];
  }

  hoverNode(node, event) {
    if (node < 0) { hideTooltip(); return; }
    const { data } = this, label = data.label[node];
    showTooltip(event.clientX, event.clientY, `Node ${data.name(node)}`, [{ label: "class", value: label < 0 ? "not a training node" : data.block.classNames[label] },
      { label: "φ", value: plain(this.phi[0][node], 4) }, { label: "degree", value: data.degree[node] }]);
  }
}

/** Values moved to [0, 1]. */
function valueShares(values) {
  const [low, high] = extent([values], false), reach = high - low || 1;
  return Float32Array.from(values, (value) => (value - low) / reach);
}

/** Places in the order of the values, from 0 to 1. */
function rankShares(values) {
  const order = Uint32Array.from(values, (_, k) => k).sort((a, b) => values[a] - values[b] || a - b), shares = new Float32Array(values.length);
  order.forEach((k, rank) => { shares[k] = values.length > 1 ? rank / (values.length - 1) : 0.5; });
  return shares;
}
