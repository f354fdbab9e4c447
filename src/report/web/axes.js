// The frame of a chart: grid, ticks, axis titles, labelled vertical markers.

/** width, height: of the picture; x, y: scales; box: {left, right, top, bottom} in pixels. */
function axes({ box, x, y, xLabel, yLabel, xFormat, yFormat, xTicks }) {
  const group = svg("g", { class: "axes" });
  for (const tick of y.ticks(5)) {
    group.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: y(tick), y2: y(tick) }),
      svg("text", { x: box.left - 6, y: y(tick) + 4, "text-anchor": "end" }, formatTick(tick, yFormat)));
  }
  for (const tick of xTicks || x.ticks(Math.max(2, Math.floor((box.right - box.left) / 80)))) {
    group.append(svg("line", { class: "tick", x1: x(tick), x2: x(tick), y1: box.bottom, y2: box.bottom + 4 }),
      svg("text", { x: x(tick), y: box.bottom + 17, "text-anchor": "middle" }, formatTick(tick, xFormat)));
  }
  group.append(svg("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
  if (xLabel) group.append(axisTitle(xLabel, (box.left + box.right) / 2, box.bottom + 35));
  if (yLabel) {
    group.append(svg("text", { class: "title", "text-anchor": "start", x: 4, y: 12 }, yLabel));
  }
  return group;
}

function axisTitle(text, x, y) {
  return svg("text", { class: "title", "text-anchor": "middle", x, y }, text);
}

function markerLines(markers, x, box) {
  return svg("g", { class: "markers" }, (markers || []).filter((marker) => marker.at !== null).map((marker) => {
    const at = x(marker.at);
    if (!(at >= box.left - 1 && at <= box.right + 1)) return null;
    const right = at > (box.left + box.right) / 2;
    return svg("g", {}, svg("line", { x1: at, x2: at, y1: box.top, y2: box.bottom }),
      svg("text", { x: at + (right ? -5 : 5), y: box.top - 6, "text-anchor": right ? "end" : "start" }, marker.label));
  }));
}

/** An empty picture of the given size. */
function picture(width, height, label) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, tabindex: 0 });
}

/** Names of series with their colours; a click hides and shows one. */
function legend(names, hidden, redraw) {
  if (names.length < 2) return null;
  return el("div", { class: "legend" }, names.map((name, index) => {
    const entry = button(name, "Hide or show", () => {
      if (hidden.has(index)) hidden.delete(index);
      else if (hidden.size < names.length - 1) hidden.add(index);
      entry.setAttribute("aria-pressed", !hidden.has(index));
      redraw();
    });
    entry.setAttribute("aria-pressed", "true");
    entry.prepend(el("i", { style: `background:${seriesColour(index)}` }));
    return entry;
  }));
}
