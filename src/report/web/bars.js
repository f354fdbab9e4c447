// Bars over named groups, and histograms over bins.

function barsBlock(block) {
  return barFigure(block, barsPicture, () => {
    const columns = [{ name: block.xLabel || "group", format: "text" }], measure = (name) => ({ name, format: block.format });
    for (const series of block.series) {
      columns.push(measure(series.name || block.yLabel));
      if (series.low) columns.push(measure("low"), measure("high"));
    }
    if (block.sizes) columns.push({ name: "count", format: "integer" });
    const rows = block.groups.map((group, g) => [group, ...block.series.flatMap((series) => series.low
      ? [series.values[g], series.low[g], series.high[g]] : [series.values[g]]), ...(block.sizes ? [block.sizes[g]] : [])]);
    return { columns, rows };
  });
}

function histogramBlock(block) {
  return barFigure(block, histogramPicture, () => ({
    columns: [{ name: "from", format: "number" }, { name: "to", format: "number" },
      ...block.series.map((series) => ({ name: series.name || block.yLabel, format: "integer" }))],
    rows: block.edges.slice(0, -1).map((edge, k) => [edge, block.edges[k + 1], ...block.series.map((series) => series.values[k])]),
  }));
}

function barFigure(block, paint, numbers) {
  const holder = el("div", { class: "chart" });
  const hidden = new Set(), state = { width: 0, picture: null };
  const draw = () => {
    if (state.width === 0) return;
    state.picture = paint(block, state.width, hidden);
    holder.replaceChildren(state.picture);
  };
  onWidth(holder, (width) => { state.width = width; draw(); });
  const content = el("div", {}, legend(block.series.map((series) => series.name), hidden, draw), holder);
  return figure(block, { content, picture: () => state.picture, numbers });
}

function barsPicture(block, width, hidden) {
  const shown = block.series.map((series, index) => ({ ...series, index })).filter((series) => !hidden.has(series.index));
  const slanted = block.groups.some((group) => group.length * 7 > (width - 72) / block.groups.length);
  const height = slanted ? 300 : 260;
  const box = { left: 58, right: width - 14, top: 24, bottom: height - (slanted ? 84 : 46) };
  const [low, high] = extent(shown.flatMap((series) => [series.values, series.low, series.high]), false);
  const y = linearScale(Math.min(0, low), block.format === "percent" && high <= 1 && high > 0.5 ? 1 : high * 1.04 || 1, box.bottom, box.top);
  const step = (box.right - box.left) / block.groups.length;
  const x = (group) => box.left + (group + 0.5) * step;
  const chart = picture(width, height, `${block.title}. The numbers are in the table below the chart.`);
  chart.append(axes({ box, x, y, xTicks: [], xLabel: null, yLabel: block.yLabel, yFormat: block.format }));
  chart.append(axisTitle(block.xLabel || "", (box.left + box.right) / 2, height - 6));
  const bar = Math.min(46, step * 0.78) / shown.length;
  block.groups.forEach((group, g) => {
    shown.forEach((series, k) => {
      if (series.values[g] === null) return;
      const left = x(g) - bar * shown.length / 2 + k * bar, colour = seriesColour(series.index);
      const top = Math.min(y(series.values[g]), y(0));
      chart.append(hoverable(svg("rect", { x: left, width: Math.max(1, bar - 1), y: top, height: Math.abs(y(series.values[g]) - y(0)), fill: colour }),
        group, () => [{ colour, label: series.name || block.yLabel, value: formatNumber(series.values[g], block.format) },
          ...(block.sizes ? [{ label: "count", value: formatNumber(block.sizes[g], "integer") }] : [])]));
      if (series.low && series.low[g] !== null) {
        chart.append(svg("line", { class: "whisker", x1: left + bar / 2, x2: left + bar / 2, y1: y(series.low[g]), y2: y(series.high[g]) }));
      }
    });
    const every = Math.ceil(block.groups.length / (slanted ? width / 18 : 60));
    if (g % every === 0) chart.append(groupLabel(group, x(g), box.bottom + (slanted ? 11 : 15), slanted));
  });
  return chart;
}

/** The name of a group, upright or slanted; slanted ones end (below a chart) or start (above) at the point. */
function groupLabel(text, x, y, slanted, anchor = "end") {
  const short = slanted && text.length > 16 ? text.slice(0, 15) + "…" : text;
  return svg("text", slanted ? { x, y, "text-anchor": anchor, transform: `rotate(-40 ${x} ${y})` } : { x, y, "text-anchor": "middle" }, short);
}

function histogramPicture(block, width, hidden) {
  const height = 260;
  const box = { left: 58, right: width - 14, top: 24, bottom: height - 44 };
  const make = block.logX ? logScale : linearScale;
  const x = make(block.edges[0], block.edges[block.edges.length - 1], box.left, box.right);
  const shown = block.series.map((series, index) => ({ ...series, index })).filter((series) => !hidden.has(series.index));
  const y = linearScale(0, extent(shown.map((series) => series.values), false)[1] * 1.04 || 1, box.bottom, box.top);
  const chart = picture(width, height, `${block.title}. The numbers are in the table below the chart.`);
  chart.append(axes({ box, x, y, xLabel: block.xLabel, yLabel: block.yLabel }));
  const bins = block.edges.length - 1;
  for (let k = 0; k < bins; ++k) {
    const left = x(block.edges[k]), step = Math.max(0.5, (x(block.edges[k + 1]) - left - 0.5) / shown.length);
    shown.forEach((series, s) => chart.append(hoverable(
      svg("rect", { x: left + s * step, width: step, y: y(series.values[k]), height: box.bottom - y(series.values[k]), fill: seriesColour(series.index) }),
      `${plain(block.edges[k], 4)} to ${plain(block.edges[k + 1], 4)}`,
      () => shown.map((each) => ({ colour: seriesColour(each.index), label: each.name || block.yLabel, value: formatNumber(each.values[k], "integer") })))));
  }
  chart.append(markerLines(block.markers, x, box));
  return chart;
}

function hoverable(shape, heading, rows) {
  shape.addEventListener("pointermove", (event) => showTooltip(event.clientX, event.clientY, heading, rows()));
  shape.addEventListener("pointerleave", hideTooltip);
  return shape;
}
