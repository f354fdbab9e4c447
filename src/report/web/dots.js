// Dot-and-interval charts: one row per thing measured, the published value as a hollow diamond.

function dotsBlock(block) {
  const holder = el("div", { class: "chart" });
  const state = { picture: null };
  onWidth(holder, (width) => {
    state.picture = dotsPicture(block, width);
    holder.replaceChildren(state.picture);
  });
  const measure = (name) => ({ name, format: block.format });
  const referenced = block.dots.some((dot) => "reference" in dot);
  const numbers = () => ({
    columns: [{ name: "what", format: "text" }, measure(block.xLabel || "value"), measure("low"), measure("high"),
      ...(referenced ? [measure(block.referenceName || "reference")] : [])],
    rows: block.dots.map((dot) => [dot.label, dot.value, dot.low, dot.high, ...(referenced ? [dot.reference ?? null] : [])]),
  });
  return figure(block, { content: holder, picture: () => state.picture, numbers });
}

function dotsPicture(block, width) {
  const longest = Math.max(...block.dots.map((dot) => dot.label.length), 4);
  const row = 26, left = Math.min(width * 0.4, 16 + longest * 7.2);
  const referenced = block.dots.some((dot) => "reference" in dot);
  const height = block.dots.length * row + 64;
  const box = { left, right: width - 20, top: referenced ? 30 : 12, bottom: height - 44 };
  const [low, high] = extent([block.dots.flatMap((dot) => [dot.value, dot.low, dot.high, dot.reference ?? null])], false);
  const pad = (high - low) * 0.05;
  const x = linearScale(low - pad, high + pad, box.left + 8, box.right);
  const chart = picture(width, height, `${block.title}. The numbers are in the table below the chart.`);
  const axis = svg("g", { class: "axes" });
  for (const tick of x.ticks(Math.max(2, Math.floor((box.right - box.left) / 80)))) {
    axis.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: box.top, y2: box.bottom }),
      svg("text", { x: x(tick), y: box.bottom + 16, "text-anchor": "middle" }, formatTick(tick, block.format)));
  }
  axis.append(axisTitle(block.xLabel, (box.left + box.right) / 2, height - 8));
  chart.append(axis);
  const colour = seriesColour(0), other = seriesColour(1);
  if (referenced) {
    chart.append(svg("g", { class: "axes" }, svg("circle", { cx: box.left + 12, cy: 13, r: 4.5, fill: colour }), svg("text", { x: box.left + 22, y: 17 }, "ours"),
      diamond(box.left + 72, 13, other), svg("text", { x: box.left + 82, y: 17 }, block.referenceName || "reference")));
  }
  block.dots.forEach((dot, k) => {
    const y = box.top + (k + 0.5) * (box.bottom - box.top) / block.dots.length;
    const limit = Math.floor(left / 6.8);
    const label = dot.label.length > limit ? dot.label.slice(0, limit - 1) + "…" : dot.label;
    const line = svg("g", {}, svg("rect", { x: 0, y: y - row / 2, width, height: row, fill: "transparent" }),
      svg("text", { class: "row", x: box.left - 4, y: y + 4, "text-anchor": "end" }, label));
    if (dot.low !== null && dot.high !== null) line.append(svg("line", { class: "interval", x1: x(dot.low), x2: x(dot.high), y1: y, y2: y, stroke: colour }));
    if ("reference" in dot && dot.reference !== null) line.append(diamond(x(dot.reference), y, other));
    if (dot.value !== null) line.append(svg("circle", { cx: x(dot.value), cy: y, r: 4.5, fill: colour }));
    chart.append(hoverable(line, dot.label, () => [
      { colour, label: block.xLabel, value: formatNumber(dot.value, block.format) },
      { label: "interval", value: `${formatNumber(dot.low, block.format)} to ${formatNumber(dot.high, block.format)}` },
      ...("reference" in dot ? [{ colour: other, label: block.referenceName, value: formatNumber(dot.reference, block.format) }] : [])]));
  });
  return chart;
}

function diamond(x, y, colour) {
  return svg("path", { d: `M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z`, fill: cssColour("--surface"), stroke: colour, "stroke-width": 2 });
}
