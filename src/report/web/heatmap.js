// Matrices: colour for the eye, the number in the cell where it fits.

function heatmapBlock(block) {
  const holder = el("div", { class: "chart" });
  const state = { picture: null, width: 0 };
  const draw = () => {
    if (state.width === 0) return;
    state.picture = heatmapPicture(block, state.width);
    holder.replaceChildren(state.picture);
  };
  onWidth(holder, (width) => { state.width = width; draw(); });
  onTheme(draw);
  const numbers = () => ({
    columns: [{ name: block.rowLabel || "row", format: "text" }, ...block.columns.map((name) => ({ name, format: block.format }))],
    rows: block.rows.map((name, r) => [name, ...block.columns.map((_, c) => block.values[r * block.columns.length + c])]),
  });
  return figure(block, { content: holder, picture: () => state.picture, numbers });
}

function heatmapPicture(block, width) {
  const nameWidth = Math.min(width * 0.3, 14 + 7 * Math.max(...block.rows.map((name) => name.length), 1));
  const columns = block.columns.length, rows = block.rows.length;
  const room = width - nameWidth - 30, widest = Math.max(...block.columns.map((name) => Math.min(16, name.length)), 1) * 7;
  const slanted = widest > Math.min(64, room / columns);
  const cell = Math.min(64, (room - (slanted ? 0.7 * widest : 0)) / columns);  // the last slanted name reaches to the right
  const tall = Math.max(14, Math.min(34, cell));
  const top = slanted ? 104 : 44, left = nameWidth + 22;
  const height = top + rows * tall + 10;
  const chart = picture(width, height, `${block.title}. The numbers are in the table below the chart.`);
  const [low, high] = extent([block.values], false);
  const from = block.diverging ? 0 : Math.min(0, low), reach = block.diverging ? Math.max(-low, high, 0) : high - from;
  chart.append(svg("g", { class: "axes" }, axisTitle(block.columnLabel, left + columns * cell / 2, 14),
    svg("text", { class: "title", transform: `translate(12 ${top + rows * tall / 2}) rotate(-90)`, "text-anchor": "middle" }, block.rowLabel),
    block.columns.map((name, c) => groupLabel(name, left + (c + 0.5) * cell, top - 5, slanted, "start")),
    block.rows.map((name, r) => svg("text", { x: left - 6, y: top + (r + 0.5) * tall + 4, "text-anchor": "end" },
      name.length > 16 ? name.slice(0, 15) + "…" : name))));
  const paper = rgb(cssColour("--surface")), above = rgb(cssColour("--heat")), below = rgb(cssColour("--cold"));
  block.rows.forEach((rowName, r) => block.columns.forEach((columnName, c) => {
    const value = block.values[r * columns + c];
    const share = value === null || reach === 0 ? 0 : Math.abs(value - from) / reach, ink = value < from ? below : above;
    const colour = paper.map((channel, k) => Math.round(channel + share * (ink[k] - channel)));
    const shape = svg("g", {}, svg("rect", { x: left + c * cell, y: top + r * tall, width: cell - 1, height: tall - 1, fill: `rgb(${colour.join(",")})` }));
    const text = block.format === "percent" ? (value === null ? "" : (100 * value).toFixed(0)) : value === null ? "" : plain(value, 3);
    if (text.length * 7 < cell && tall >= 16) {
      const light = colour[0] * 0.3 + colour[1] * 0.59 + colour[2] * 0.11 > 140;
      shape.append(svg("text", { class: "cell", x: left + (c + 0.5) * cell, y: top + (r + 0.5) * tall + 4, "text-anchor": "middle", style: `fill:${light ? "#111" : "#fff"}` }, text));
    }
    chart.append(hoverable(shape, `${block.rowLabel} ${rowName}, ${block.columnLabel} ${columnName}`, () => [{ label: "value", value: formatNumber(value, block.format) }]));
  }));
  return chart;
}
