// Charts of the explorer: distances with ε, φ by class; the curves over γ are line charts of the page.

const DISTANCE_BINS = 48, CLASS_BINS = 64, SHOWN_CLASSES = 12;

/** Spectral distances over the edges on a log axis, kept and dropped ones on top of each other; choose(distance) on a click. */
function distancePicture(distances, result, pruning, width, choose) {
  const height = 230, box = { left: 58, right: width - 14, top: 24, bottom: 186 };
  const chart = picture(width, height, "Histogram of the spectral distances of the edges, with the threshold.");
  const [low, high] = extent([distances], true);
  const reach = result.threshold > 0 && pruning ? [Math.min(low, result.threshold), Math.max(high, result.threshold)] : [low, high];
  const x = logScale(Math.max(reach[0], reach[1] * 1e-12), reach[1], box.left, box.right);
  const kept = new Float64Array(DISTANCE_BINS), dropped = new Float64Array(DISTANCE_BINS);
  let zeros = 0;
  for (let e = 0; e < distances.length; ++e) {
    if (!(distances[e] > 0)) { ++zeros; continue; }
    const bin = Math.floor((x(distances[e]) - box.left) / (box.right - box.left) * DISTANCE_BINS);
    ++(result.dropped[e] ? dropped : kept)[Math.max(0, Math.min(DISTANCE_BINS - 1, bin))];
  }
  const tallest = kept.reduce((most, count, k) => Math.max(most, count + dropped[k]), 1);
  const y = linearScale(0, tallest * 1.05, box.bottom, box.top), step = (box.right - box.left) / DISTANCE_BINS;
  chart.append(axes({ box, x, y, xLabel: "|φᵢ − φⱼ|", yLabel: "edges" }));
  for (let k = 0; k < DISTANCE_BINS; ++k) {
    const left = box.left + k * step, all = kept[k] + dropped[k];
    if (all === 0) continue;
    const bar = svg("g", {}, svg("rect", { x: left, width: step - 0.5, y: y(all), height: box.bottom - y(all), style: "fill:var(--dropped)" }),
      svg("rect", { x: left, width: step - 0.5, y: y(kept[k]), height: box.bottom - y(kept[k]), style: "fill:var(--edge)" }));
    chart.append(hoverable(bar, `${plain(x.invert(left), 3)} to ${plain(x.invert(left + step), 3)}`,
      () => [{ colour: cssColour("--edge"), label: "kept", value: formatNumber(kept[k], "integer") },
        { colour: cssColour("--dropped"), label: "dropped", value: formatNumber(dropped[k], "integer") }]));
  }
  if (pruning) chart.append(markerLines([{ at: result.threshold > 0 ? result.threshold : null, label: `ε = ${plain(result.threshold, 3)}` }], x, box));
  if (pruning) {
    chart.classList.add("choosable");
    chart.addEventListener("click", (event) => {
      const frame = chart.getBoundingClientRect();
      const at = (event.clientX - frame.left) * width / frame.width;
      choose(x.invert(Math.max(box.left, Math.min(box.right, at))));
    });
  }
  return { chart, zeros };
}

/** A row of bars per class: how its training nodes lie along φ, or along their places in the order of φ. */
function classPicture(data, position, label, width) {
  const names = data.block.classNames, sizes = names.map(() => 0), bins = names.map(() => new Float64Array(CLASS_BINS));
  data.label.forEach((c, i) => {
    if (c < 0) return;
    ++sizes[c];
    ++bins[c][Math.min(CLASS_BINS - 1, Math.floor(position[i] * CLASS_BINS))];
  });
  const shown = names.map((_, c) => c).filter((c) => sizes[c] > 0).sort((a, b) => sizes[b] - sizes[a]).slice(0, SHOWN_CLASSES).sort((a, b) => a - b);
  const row = Math.max(18, Math.min(46, 170 / Math.max(1, shown.length)));
  const longest = Math.max(4, ...shown.map((c) => Math.min(14, names[c].length)));
  const left = 14 + longest * 7.2, right = width - 62, bottom = 22 + shown.length * row, height = bottom + 44;
  const chart = picture(width, height, "How the training nodes of every class lie along φ.");
  const step = (right - left) / CLASS_BINS;
  chart.append(svg("text", { class: "title", x: width - 8, y: 12, "text-anchor": "end" }, "nodes"));
  shown.forEach((c, r) => {
    const base = 22 + (r + 1) * row, tallest = Math.max(...bins[c]);
    chart.append(svg("line", { class: "grid", x1: left, x2: right, y1: base, y2: base }),
      svg("text", { class: "row", x: left - 6, y: base - row / 2 + 5, "text-anchor": "end" }, names[c].length > 14 ? names[c].slice(0, 13) + "…" : names[c]),
      svg("text", { class: "row", x: width - 8, y: base - row / 2 + 5, "text-anchor": "end" }, sizes[c].toLocaleString("en-US")));
    const path = Array.from(bins[c], (count, k) => count === 0 ? "" : `M${(left + k * step).toFixed(1)} ${base}h${(step - 0.4).toFixed(2)}v${(-count / tallest * (row - 4)).toFixed(1)}h${(0.4 - step).toFixed(2)}z`).join("");
    chart.append(svg("path", { d: path, fill: seriesColour(c) }));
  });
  chart.append(svg("text", { x: left, y: bottom + 16 }, "smallest"), svg("text", { x: right, y: bottom + 16, "text-anchor": "end" }, "largest"),
    axisTitle(label, (left + right) / 2, bottom + 34));
  return { chart, hidden: names.filter((_, c) => sizes[c] > 0).length - shown.length };
}

/** λ and its gap over γ; γ = 0 is another operator and has no place on the curve. */
function spectrumBlock(data, gamma) {
  const solved = data.block.gammas.filter((one) => one.gamma > 0), x = solved.map((one) => one.gamma);
  const positive = (values) => values.map((value) => value > 0 ? value : null);
  return { title: "λ and gap over γ", xLabel: "γ", yLabel: "eigenvalue", format: "number", logX: true, points: true, lines: [
    { name: "λ, smallest positive", x, y: positive(solved.map((one) => one.eigenvalue)) },
    { name: "gap to the next", x, y: positive(solved.map((one) => one.gap)) }],
  markers: gamma > 0 ? [{ at: gamma, label: `γ = ${gamma}` }] : [] };
}

/** The best score of any candidate per γ, and the best of the rewiring that is shown. */
function adviceBlock(data, gamma, mode) {
  const best = (candidates) => {
    const found = new Map();
    for (const one of candidates) if (one.gamma > 0 && !(found.get(one.gamma) >= one.score)) found.set(one.gamma, one.score);
    const x = [...found.keys()].sort((a, b) => a - b);
    return { x, y: x.map((at) => found.get(at)) };
  };
  const same = best(data.block.advice.filter((one) => one.rewire === mode));
  return { title: "Advice over γ", xLabel: "γ", yLabel: "score", format: "number", logX: true, points: true, lines: [
    { name: "best of all rewirings", ...best(data.block.advice) }, ...(same.x.length > 0 ? [{ name: `best ${mode}`, ...same }] : [])],
  markers: gamma > 0 ? [{ at: gamma, label: `γ = ${gamma}` }] : [] };
}
