// Dot-and-interval charts: one row per thing measured, small dots for what it is the mean of, the published value as a
// hollow diamond, and circles for the parts that a row switches on.

const DOT_ROW = 26, MARK_WIDTH = 24;

function dotsBlock(block) {
  const holder = el("div", { class: "chart" });
  const state = { picture: null, width: 0 };
  const draw = () => {
    if (state.width === 0) return;
    state.picture = dotsPicture(block, state.width);
    holder.replaceChildren(state.picture);
  };
  onWidth(holder, (width) => { state.width = width; draw(); });
  onTheme(draw);  // the inside of a diamond has the colour of the page
  return figure(block, { content: holder, picture: () => state.picture, numbers: () => dotNumbers(block), wide: block.dots.some((dot) => dot.samples) });
}

function dotNumbers(block) {
  const measure = (name) => ({ name, format: block.format });
  const referenced = block.dots.some((dot) => "reference" in dot), marks = block.markNames || [];
  const samples = Math.max(0, ...block.dots.map((dot) => (dot.samples || []).length));
  const columns = [{ name: "what", format: "text" }, ...marks.map((name) => ({ name, format: "text" })),
    measure(block.xLabel || "value"), measure("low"), measure("high"), ...(referenced ? [measure(block.referenceName || "reference")] : []),
    ...Array.from({ length: samples }, (_, k) => measure(`${block.sampleName || "sample"} ${k}`))];
  const rows = block.dots.map((dot) => [dot.label, ...marks.map((_, m) => dot.marks && dot.marks[m] ? "✓" : ""), dot.value, dot.low, dot.high,
    ...(referenced ? [dot.reference ?? null] : []), ...Array.from({ length: samples }, (_, k) => (dot.samples || [])[k] ?? null)]);
  return { columns, rows };
}

function dotsPicture(block, width) {
  const marks = block.markNames || [], markers = (block.markers || []).filter((marker) => marker.at !== null);
  const referenced = block.dots.some((dot) => "reference" in dot), sampled = block.dots.some((dot) => dot.samples);
  const longest = Math.max(...block.dots.map((dot) => dot.label.length), 4);
  const left = Math.min(width * 0.36, 16 + longest * 7.5), start = left + marks.length * MARK_WIDTH;
  const keyed = referenced || sampled, top = (keyed ? 30 : 12) + (markers.length ? 14 : 0) + (marks.length ? 66 : 0);
  const height = block.dots.length * DOT_ROW + top + 52;
  const box = { left: start, right: width - 20, top, bottom: height - 44 };
  const reach = (dot) => [dot.value, dot.low, dot.high, ...(dot.samples || []), ...("reference" in dot && dot.reference !== null
    ? [dot.reference - (dot.referenceSpread || 0), dot.reference + (dot.referenceSpread || 0)] : [])];
  const [low, high] = extent([block.dots.flatMap(reach), markers.map((marker) => marker.at)], false);
  const pad = (high - low) * 0.05;
  const x = linearScale(low - pad, high + pad, box.left + 8, box.right);
  const chart = picture(width, height, `${block.title}. The numbers are in the table below the chart.`);
  const axis = svg("g", { class: "axes" });
  for (const tick of x.ticks(Math.max(2, Math.floor((box.right - box.left) / 80)))) {
    axis.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: box.top, y2: box.bottom }),
      svg("text", { x: x(tick), y: box.bottom + 16, "text-anchor": "middle" }, formatTick(tick, block.format)));
  }
  axis.append(axisTitle(block.xLabel, (box.left + box.right) / 2, height - 8));
  marks.forEach((name, m) => axis.append(groupLabel(name, left + (m + 0.6) * MARK_WIDTH, top - 6, true, "start")));
  chart.append(axis, markerLines(markers, x, box));
  if (keyed) chart.append(dotKey(block, width, referenced, sampled));
  block.dots.forEach((dot, k) => chart.append(dotRow(block, dot, { x, left, width, y: box.top + (k + 0.5) * DOT_ROW })));
  return chart;
}

/** What the signs mean, above the chart. */
function dotKey(block, width, referenced, sampled) {
  const colour = seriesColour(0), group = svg("g", { class: "axes" });
  let at = 14;
  const add = (shape, text) => {
    group.append(shape, svg("text", { x: at + 10, y: 17 }, text));
    at += 34 + text.length * 7;
  };
  add(svg("circle", { cx: at, cy: 13, r: 4.5, fill: colour }), sampled ? "mean" : "ours");
  if (sampled) add(svg("circle", { cx: at, cy: 13, r: 2.4, fill: colour, "fill-opacity": 0.6 }), block.sampleName || "sample");
  if (referenced) add(diamond(at, 13, seriesColour(1)), block.referenceName || "reference");
  return group;
}

function dotRow(block, dot, { x, y, left, width }) {
  const colour = seriesColour(0), other = seriesColour(1), limit = Math.floor((left - 8) / 7.4);
  const label = dot.label.length > limit ? dot.label.slice(0, limit - 1) + "…" : dot.label;
  const line = svg("g", {}, svg("rect", { x: 0, y: y - DOT_ROW / 2, width, height: DOT_ROW, fill: "transparent" }),
    svg("text", { class: "row", x: left - 4, y: y + 4, "text-anchor": "end" }, label));
  (dot.marks || []).forEach((on, m) => line.append(svg("circle", { class: on ? "mark on" : "mark", cx: left + (m + 0.5) * MARK_WIDTH, cy: y, r: 5.5 })));
  const known = "reference" in dot && dot.reference !== null;
  if (known && dot.referenceSpread) {
    line.append(svg("line", { class: "interval", x1: x(dot.reference - dot.referenceSpread), x2: x(dot.reference + dot.referenceSpread), y1: y + 6, y2: y + 6,
      stroke: other, "stroke-opacity": 0.7, style: "stroke-width:1.5" }));
  }
  if (dot.low !== null && dot.high !== null) line.append(svg("line", { class: "interval", x1: x(dot.low), x2: x(dot.high), y1: y, y2: y, stroke: colour }));
  for (const sample of dot.samples || []) {
    if (sample !== null) line.append(svg("circle", { class: "sample", cx: x(sample), cy: y - 6, r: 2.4, fill: colour, "fill-opacity": 0.6 }));
  }
  if (known) line.append(diamond(x(dot.reference), dot.referenceSpread ? y + 6 : y, other, dot.referenceSpread ? 5 : 8));  // seen around a dot on it
  if (dot.value !== null) line.append(svg("circle", { cx: x(dot.value), cy: y, r: 4.5, fill: colour }));
  return hoverable(line, dot.label, () => [
    { colour, label: block.xLabel, value: formatNumber(dot.value, block.format) },
    { label: "interval", value: `${formatNumber(dot.low, block.format)} to ${formatNumber(dot.high, block.format)}` },
    ...(known ? [{ colour: other, label: block.referenceName, value: formatNumber(dot.reference, block.format)
      + (dot.referenceSpread ? " ± " + formatNumber(dot.referenceSpread, block.format) : "") }] : [])]);
}

function diamond(x, y, colour, size = 5) {
  return svg("path", { d: `M${x} ${y - size}L${x + size} ${y}L${x} ${y + size}L${x - size} ${y}Z`, fill: cssColour("--surface"), stroke: colour, "stroke-width": 2 });
}
