// The drawing block: canvas, controls, legend, panel, exports.

function drawingBlock(block) {
  const model = new GraphModel(block);
  const modes = colourModes(model);
  const state = { mode: 0, layer: 0, head: -1, width: model.layers.length > 0 };
  const legendElement = el("div", { class: "legend" });
  const show = () => panel.show(view.selected, state.layer, state.head);
  const view = new GraphView(model, show, (node, event) => hoverNode(model, node, event));
  const panel = new GraphPanel(model, (node) => view.select(node));

  const recolour = () => {
    view.hiddenGroups.clear();
    const colours = modes[state.mode].make();
    view.setColours(colours);
    legendElement.replaceChildren(...colourLegend(view, colours));
  };
  const reweigh = () => {
    view.edgeWeights = state.width ? model.edgeWeights(state.layer, state.head) : null;
    view.refresh();
    if (view.selected >= 0) show();
  };

  const heads = el("span");
  const chooseLayer = (layer) => {
    Object.assign(state, { layer, head: -1 });
    heads.replaceChildren(select("head", ["mean", ...Array.from({ length: model.layers[layer].heads }, (_, h) => String(h + 1))], 0,
      (index) => { state.head = index - 1; reweigh(); }));
    reweigh();
  };
  const finder = el("input", { type: "text", size: 8, placeholder: "id", "aria-label": "Choose a node by its id",
    onchange: () => { const node = model.find(finder.value.trim()); if (node >= 0) view.select(node); finder.setAttribute("aria-invalid", node < 0); } });

  const controls = el("div", { class: "controls" },
    select("colour", modes.map((mode) => mode.name), 0, (index) => { state.mode = index; recolour(); }),
    model.layouts.length > 1 ? select("layout", model.layouts.map((layout) => layout.name), 0, (index) => { view.layout = index; view.bitmap = null; view.fit(); }) : null,
    STATE_NAMES.map((name, index) => countStates(model, index) > 0 ? checkbox(`${name} (${countStates(model, index).toLocaleString("en-US")})`, true,
      (on) => { view.visible[index] = on; view.refresh(); }) : null),
    model.layers.length > 0 ? [
      checkbox("attention as width", true, (on) => { state.width = on; reweigh(); }),
      select("layer", model.layers.map((layer) => layer.name), 0, chooseLayer), heads] : null,
    el("label", { class: "control" }, el("span", {}, "node"), finder),
    el("span", { class: "control" }, button("+", "Zoom in", () => view.zoomAt(1.4, view.width / 2, view.height / 2)),
      button("−", "Zoom out", () => view.zoomAt(1 / 1.4, view.width / 2, view.height / 2)), button("Fit", "Show everything", () => view.fit())));

  const holder = el("div", { class: "canvas" }, view.canvas);
  onWidth(holder, (width) => view.resize(width, Math.round(Math.max(320, Math.min(620, width * 0.75)))));
  onTheme(() => view.refresh());
  if (model.layers.length > 0) chooseLayer(0);
  recolour();
  const name = slug(block.title);
  const exports = [
    button("SVG", "Save the drawing as SVG", () => download(name + ".svg", new Blob([graphSvg(view)], { type: "image/svg+xml" }))),
    button("PNG", "Save the drawing as PNG", () => graphPng(view, (blob) => download(name + ".png", blob)))];
  const element = figure(block, {
    content: el("div", {}, controls, legendElement, el("div", { class: "drawing" }, holder, panel.element)),
    controls: exports, wide: true, numbers: () => ({
      columns: ["node", "class", "prediction", "degree", "phi"].map((column) => ({ name: column })),
      rows: Array.from({ length: model.nodes }, (_, node) => [model.name(node), model.className(model.label[node]),
        model.prediction.length > 0 ? model.className(model.prediction[node]) : null, model.degree[node], model.phi.length > 0 ? model.phi[node] : null]),
    }) });
  element.graph = { model, view };  // for a reader's console, and for the tests
  return element;
}

function countStates(model, state) {
  let count = 0;
  for (const each of model.state) count += each === state;
  return count;
}

function colourLegend(view, { legend, ramp }) {
  const edges = STATE_NAMES.map((name, state) => countStates(view.model, state) > 0
    ? el("span", { class: "key" }, el("i", { class: "stroke", style: `background:${view.edgeColour(state)}` }), name) : null).filter(Boolean);
  if (ramp) {
    return [el("span", { class: "key" }, "φ: ", legend[0].name, ...legend.map((step) => el("i", { style: `background:${step.colour}` })),
      legend[legend.length - 1].name, " (steps of equal numbers of nodes)"), ...edges];
  }
  const entries = legend.map((entry, group) => {
    const item = button(entry.name, "Hide or show", () => {
      if (!view.hiddenGroups.delete(group)) view.hiddenGroups.add(group);
      item.setAttribute("aria-pressed", !view.hiddenGroups.has(group));
      view.refresh();
    });
    item.setAttribute("aria-pressed", "true");
    item.prepend(el("i", { style: `background:${entry.colour}` }));
    return item;
  });
  return [...entries, ...edges];
}

function hoverNode(model, node, event) {
  if (node < 0) { hideTooltip(); return; }
  const rows = [{ label: "class", value: model.className(model.label[node]) }];
  if (model.prediction.length > 0) rows.push({ label: "prediction", value: model.className(model.prediction[node]) });
  showTooltip(event.clientX, event.clientY, `Node ${model.name(node)}`, rows);
}

function graphPng(view, done) {
  const canvas = el("canvas", { width: view.canvas.width, height: view.canvas.height });
  const context = canvas.getContext("2d");
  context.fillStyle = cssColour("--surface");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(view.canvas, 0, 0);
  canvas.toBlob(done);
}

/** The drawing as it is on the screen, as SVG text made of numbers and colours only. */
function graphSvg(view) {
  const { model, width, height } = view, at = (node) => `${view.px(node).toFixed(1)} ${view.py(node).toFixed(1)}`;
  const parts = [`<svg xmlns="${SVG_NAMESPACE}" viewBox="0 0 ${width} ${height}"><rect width="${width}" height="${height}" fill="${cssColour("--surface")}"/>`];
  for (const bucket of view.buckets()) {
    const path = bucket.edges.filter((e) => !view.isHidden(model.from[e]) && !view.isHidden(model.to[e]))
      .map((e) => `M${at(model.from[e])}L${at(model.to[e])}`).join("");
    parts.push(`<path d="${path}" fill="none" stroke="${view.edgeColour(bucket.state)}" stroke-opacity="${view.edgeOpacity(bucket.state).toFixed(2)}" stroke-width="${bucket.width}"/>`);
  }
  const radius = view.radius().toFixed(1);
  for (let node = 0; node < model.nodes; ++node) {
    if (view.isHidden(node)) continue;
    parts.push(`<circle cx="${view.px(node).toFixed(1)}" cy="${view.py(node).toFixed(1)}" r="${radius}" fill="${view.legend[view.groups[node]].colour}"/>`);
  }
  return parts.join("") + "</svg>";
}
