// Line charts: bands, markers, hover and arrow-key values, a switch to a logarithmic axis.

const DASHES = [null, "6 3", "2 3", "8 3 2 3"];

function linesBlock(block) {
  const holder = el("div", { class: "chart" });
  const hidden = new Set();
  const state = { logY: block.logY, width: 0, picture: null };
  const draw = () => {
    if (state.width === 0) return;
    state.picture = linesPicture(block, state, hidden);
    holder.replaceChildren(state.picture);
  };
  onWidth(holder, (width) => { state.width = width; draw(); });
  const positive = block.lines.every((line) => [...line.y, ...(line.low || [])].every((value) => value === null || value > 0));
  const controls = positive ? [checkbox("log", block.logY, (on) => { state.logY = on; draw(); })] : [];
  const content = el("div", {}, legend(block.lines.map((line) => line.name), hidden, draw), holder);
  return figure(block, { content, controls, picture: () => state.picture, numbers: () => lineNumbers(block) });
}

function lineNumbers(block) {
  const banded = block.lines.some((line) => line.low);
  const named = (name) => ({ name, format: block.format });
  const columns = [{ name: "series", format: "text" }, { name: block.xLabel || "x", format: "number" }, named(block.yLabel || "y"),
    ...(banded ? [named("low"), named("high")] : [])];
  const rows = block.lines.flatMap((line) => line.x.map((x, k) => [line.name, x, line.y[k],
    ...(banded ? [line.low ? line.low[k] : null, line.high ? line.high[k] : null] : [])]));
  return { columns, rows };
}

function linesPicture(block, state, hidden) {
  const { width } = state;
  const height = Math.round(Math.max(220, Math.min(320, width * 0.5)));
  const box = { left: 58, right: width - 14, top: 24, bottom: height - 44 };
  const shown = block.lines.map((line, index) => ({ ...line, index })).filter((line) => !hidden.has(line.index));
  const makeX = block.logX ? logScale : linearScale, makeY = state.logY ? logScale : linearScale;
  const x = makeX(...extent([...shown.map((line) => line.x), block.logX ? [] : (block.markers || []).map((m) => m.at)], block.logX), box.left, box.right);
  let [low, high] = extent(shown.flatMap((line) => [line.y, line.low, line.high]), state.logY);
  if (!state.logY) [low, high] = [low - (high - low) * 0.04, high + (high - low) * 0.04];
  const y = makeY(low, high, box.bottom, box.top);

  const chart = picture(width, height, `${block.title}: ${block.yLabel} over ${block.xLabel}. Arrow keys read values.`);
  chart.append(axes({ box, x, y, xLabel: block.xLabel, yLabel: block.yLabel, yFormat: block.format, xTicks: countTicks(shown) }), markerLines(block.markers, x, box));
  for (const line of shown) {
    const colour = seriesColour(line.index);
    if (line.low) chart.append(svg("path", { d: bandPath(line, x, y), fill: colour, "fill-opacity": 0.18, stroke: "none" }));
    if (line.joined !== false) chart.append(svg("path", { class: "line", d: linePath(line, x, y, state.logY), stroke: colour,
      "stroke-dasharray": DASHES[Math.floor(line.index / PALETTE_SIZE) % DASHES.length] }));
    if (block.points || line.joined === false || line.x.length === 1) {
      line.x.forEach((value, k) => drawn(line.y[k], state.logY) && chart.append(svg("circle", { cx: x(value), cy: y(line.y[k]), r: 3.2, fill: colour,
        "fill-opacity": line.joined === false ? 0.7 : 1 })));
    }
  }
  readValues(chart, block, shown, x, y, box);
  return chart;
}

/** Every whole number between the ends, where all places are whole numbers and few; depths have no halves. */
function countTicks(lines) {
  const places = lines.flatMap((line) => line.x), [low, high] = extent([places], false);
  if (places.length === 0 || high - low > 10 || high === low || !places.every(Number.isInteger)) return undefined;
  return Array.from({ length: high - low + 1 }, (_, k) => low + k);
}

/** Whether a value has a place on the axis. */
function drawn(value, log) {
  return value !== null && (!log || value > 0);
}

function linePath(line, x, y, log) {
  let path = "", pen = "M";
  line.x.forEach((value, k) => {
    if (!drawn(line.y[k], log)) { pen = "M"; return; }
    path += `${pen}${x(value).toFixed(1)} ${y(line.y[k]).toFixed(1)}`;
    pen = "L";
  });
  return path;
}

function bandPath(line, x, y) {
  const known = line.x.map((_, k) => k).filter((k) => line.low[k] !== null && line.high[k] !== null);
  if (known.length === 0) return "";
  const point = (k, values) => `${x(line.x[k]).toFixed(1)} ${y(values[k]).toFixed(1)}`;
  return "M" + known.map((k) => point(k, line.high)).join("L") + "L" + known.reverse().map((k) => point(k, line.low)).join("L") + "Z";
}

/** Hover and arrow keys: a cursor on the nearest x of any line, values of all lines beside it. */
function readValues(chart, block, shown, x, y, box) {
  const places = [...new Set(shown.flatMap((line) => line.x.filter((_, k) => line.y[k] !== null)))].sort((a, b) => a - b);
  if (places.length === 0) return;
  const cursor = svg("g", { "data-transient": true, opacity: 0 }, svg("line", { class: "cursor", y1: box.top, y2: box.bottom }));
  chart.append(cursor);
  let current = -1;
  const show = (index) => {
    current = Math.max(0, Math.min(places.length - 1, index));
    const at = places[current], frame = chart.getBoundingClientRect(), ratio = frame.width / chart.viewBox.baseVal.width;
    cursor.firstChild.setAttribute("x1", x(at));
    cursor.firstChild.setAttribute("x2", x(at));
    cursor.setAttribute("opacity", 1);
    while (cursor.children.length > 1) cursor.lastChild.remove();
    const rows = [];
    for (const line of shown) {
      line.x.forEach((value, k) => {
        if (value !== at || line.y[k] === null) return;
        cursor.append(svg("circle", { cx: x(at), cy: y(line.y[k]), r: 3.5, fill: seriesColour(line.index) }));
        rows.push({ colour: seriesColour(line.index), label: line.name, value: formatNumber(line.y[k], block.format) });
      });
    }
    const heading = `${block.xLabel} ${plain(at, 4)}`;
    showTooltip(frame.left + x(at) * ratio, frame.top + frame.height / 2, heading, rows.slice(0, 16));
  };
  const hide = () => { cursor.setAttribute("opacity", 0); hideTooltip(); };
  chart.addEventListener("pointermove", (event) => {
    const frame = chart.getBoundingClientRect();
    const at = x.invert((event.clientX - frame.left) * chart.viewBox.baseVal.width / frame.width);
    let nearest = 0;
    places.forEach((place, k) => { if (Math.abs(place - at) < Math.abs(places[nearest] - at)) nearest = k; });
    show(nearest);
  });
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -places.length, End: places.length }[event.key];
    if (event.key === "Escape") hide();
    if (step === undefined) return;
    event.preventDefault();
    show(current + step);
  });
}
