// The moving drawing. Edges are counted per pixel and the counts turned into colour, so that a frame costs as much as its pixels,
// thousands of edges do not become one blot, and nodes stay in front. Nodes glide to their new places.

const KEPT_EDGES = 0, DROPPED_EDGES = 1, ADDED_EDGES = 2;
const EDGE_COLOURS = ["--edge", "--dropped", "--added"];
const EDGE_STRENGTH = [0.75, 0.85, 0.45];  // largest opacity
const DRAWN_NODES = 12000, DRAWN_EDGES = 60000;
const COUNT_LEVELS = 2048;
const SMOOTH_UNIT = 256, SMOOTH_SHIFT = 4;  // a line adds 256 where it is divided between two pixels, and 1 where it is not
const COARSE_ABOVE = 8000;  // while something moves, so many edges are drawn at half the resolution
const FRAME_BUDGET = 26;  // milliseconds; a slower frame draws fewer edges while something moves
const CALM = 160;         // milliseconds after the last change until all edges are drawn, smoothly
const PHASES = 4;         // discs are prepared for so many places inside a pixel, in both directions

class ExplorerCanvas {
  constructor(data, onHover) {
    this.data = data;
    this.onHover = onHover;
    this.canvas = el("canvas", { role: "img", "aria-label": "The graph in spectral coordinates, with kept, dropped and added edges." });
    this.visible = [true, true, true];
    this.chooseDrawn();
    const n = data.nodes;
    this.x = new Float32Array(n);
    this.y = new Float32Array(n);
    this.targetX = new Float32Array(n);
    this.targetY = new Float32Array(n);
    this.colour = new Uint8Array(n);
    this.colours = [[0, 0, 0]];
    this.lists = [[], [], []].map(() => ({ from: new Int32Array(0), to: new Int32Array(0), size: 0 }));
    this.hovered = -1;
    this.share = 1;
    this.frameTimes = [];
    this.placed = false;
    this.changedAt = -Infinity;
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", (event) => { this.setHovered(-1, event); });
  }

  /** Nodes and edges that are drawn: all, or random ones of a large graph. Edges may end at nodes that have no dot. */
  chooseDrawn() {
    const { nodes, edges } = this.data;
    this.drawn = pick(nodes, DRAWN_NODES);
    this.drawnEdges = pick(edges, DRAWN_EDGES);
    this.isDrawn = new Uint8Array(nodes);
    for (const node of this.drawn) this.isDrawn[node] = 1;
    this.whole = this.drawn.length === nodes && this.drawnEdges.length === edges;
  }

  /** Places of all nodes in [0, 1]; the drawing glides to them, or jumps. */
  moveTo(x, y, jump) {
    this.targetX.set(x);
    this.targetY.set(y);
    if (jump || !this.placed) { this.x.set(this.targetX); this.y.set(this.targetY); }
    this.placed = true;
    this.start();
  }

  setEdges(result) {
    const { from, to } = this.data, { drawnEdges, isDrawn } = this;
    const ends = () => ({ from: new Int32Array(drawnEdges.length), to: new Int32Array(drawnEdges.length), size: 0 });
    const lists = [ends(), ends()], added = result.addedFrom.length;
    for (let k = 0; k < drawnEdges.length; ++k) {
      const e = drawnEdges[k], list = lists[result.dropped[e]];
      list.from[list.size] = from[e];
      list.to[list.size++] = to[e];
    }
    lists.push({ from: new Int32Array(added), to: new Int32Array(added), size: 0 });
    for (let k = 0; k < added; ++k) {
      if (!isDrawn[result.addedFrom[k]]) continue;
      lists[ADDED_EDGES].from[lists[ADDED_EDGES].size] = result.addedFrom[k];
      lists[ADDED_EDGES].to[lists[ADDED_EDGES].size++] = result.addedTo[k];
    }
    this.lists = lists;
    this.changedAt = performance.now();
    this.start();
  }

  /** group: per node of the data; colours: [r, g, b] per group. */
  setColours(group, colours) {
    this.colour.set(group);
    this.colours = colours;
    // Group 0 stands for nothing known and lies below the others.
    this.order = [...this.drawn.filter((k) => this.colour[k] === 0), ...this.drawn.filter((k) => this.colour[k] > 0)];
    this.start();
  }

  resize(width, height) {
    this.ratio = this.drawnEdges.length > 20000 ? 1 : Math.min(2, devicePixelRatio || 1);
    this.width = 2 * Math.round(width * this.ratio / 2);
    this.height = 2 * Math.round(height * this.ratio / 2);
    this.canvas.width = this.width;
    this.canvas.height = this.height;
    this.canvas.style.height = height + "px";
    const size = this.width * (this.height + 1) + 1;  // a divided line reaches one row further
    this.quickCounts = [0, 1, 2].map(() => new Uint16Array(size));
    this.smoothCounts = [0, 1, 2].map(() => new Uint32Array(size));
    this.image = new ImageData(this.width, this.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.discs = null;
    this.start();
  }

  start() {
    if (this.running || !this.width) return;
    this.running = true;
    requestAnimationFrame(() => this.frame());
  }

  frame() {
    const begin = performance.now(), gliding = this.glide(), quick = gliding || begin - this.changedAt < CALM;
    this.draw(quick);
    const spent = performance.now() - begin;
    this.frameTimes.push(spent);
    if (this.frameTimes.length > 300) this.frameTimes.shift();
    if (quick) this.share = Math.max(0.1, Math.min(1, this.share * Math.max(0.5, Math.min(1.25, FRAME_BUDGET / spent))));
    this.running = false;
    this.canvas.dataset.painted = quick ? "moving" : "still";
    clearTimeout(this.timer);
    if (gliding) this.start();
    else if (quick) this.timer = setTimeout(() => this.start(), CALM);
  }

  /** One step towards the targets; false when everything is there. */
  glide() {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) { this.x.set(this.targetX); this.y.set(this.targetY); return false; }
    const near = 0.4 / this.width;
    let moving = false;
    for (let k = 0; k < this.x.length; ++k) {
      const dx = this.targetX[k] - this.x[k], dy = this.targetY[k] - this.y[k];
      if (Math.abs(dx) < near && Math.abs(dy) < near) { this.x[k] = this.targetX[k]; this.y[k] = this.targetY[k]; continue; }
      this.x[k] += 0.3 * dx;
      this.y[k] += 0.3 * dy;
      moving = true;
    }
    return moving;
  }

  pixelX(k) { return (0.03 + 0.94 * this.x[k]) * (this.width - 1); }
  pixelY(k) { return (0.97 - 0.94 * this.y[k]) * (this.height - 1); }

  draw(quick) {
    const { width, height } = this, n = this.x.length;
    const px = this.px = new Float32Array(n), py = this.py = new Float32Array(n);
    for (let k = 0; k < n; ++k) { px[k] = this.pixelX(k); py[k] = this.pixelY(k); }
    const coarse = quick && this.drawnEdges.length > COARSE_ABOVE ? 2 : 1, smooth = coarse === 1;
    const step = quick ? Math.max(1, Math.round(1 / this.share)) : 1, columns = width / coarse;
    const counts = smooth ? this.smoothCounts : this.quickCounts;
    const tables = this.lists.map(({ from, to, size }, state) => {
      counts[state].fill(0);
      let length = 0;
      for (let e = 0; this.visible[state] && e < size; e += step) {
        length += addLine(counts[state], columns, px[from[e]] / coarse, py[from[e]] / coarse, px[to[e]] / coarse, py[to[e]] / coarse, smooth);
      }
      return opacities(Math.max(length, 1) / (columns * height / coarse), EDGE_STRENGTH[state], smooth ? SMOOTH_UNIT : 1);
    });
    this.compose(counts, tables, smooth ? SMOOTH_SHIFT : 0, coarse);
    this.drawNodes(px, py);
    const context = this.canvas.getContext("2d");
    context.putImageData(this.image, 0, 0);
    if (this.hovered >= 0) this.drawHovered(context);
  }

  /** Counts to colours over the background; a level is the count shifted to the right. Where `coarse` is 2, a count is that of 2 x 2 pixels. */
  compose([kept, dropped, added], [tableK, tableD, tableA], shift, coarse) {
    const { pixels, width } = this, columns = width / coarse, rows = this.height / coarse, last = COUNT_LEVELS - 1;
    const [red, green, blue] = rgb(cssColour("--surface")), [k, d, a] = EDGE_COLOURS.map((name) => rgb(cssColour(name)));
    const paper = (0xFF000000 | blue << 16 | green << 8 | red) >>> 0;
    for (let row = 0, p = 0; row < rows; ++row) {
      for (let column = 0, out = row * coarse * width; column < columns; ++column, ++p, out += coarse) {
        let colour = paper;
        if ((kept[p] | dropped[p] | added[p]) !== 0) {
          const x = 1 - tableK[Math.min(last, kept[p] >> shift)], y = 1 - tableD[Math.min(last, dropped[p] >> shift)], z = 1 - tableA[Math.min(last, added[p] >> shift)];
          const share = x * y * z, shareK = (1 - x) * y * z, shareD = (1 - y) * z, shareA = 1 - z;
          colour = 0xFF000000 | (share * blue + shareK * k[2] + shareD * d[2] + shareA * a[2]) << 16
            | (share * green + shareK * k[1] + shareD * d[1] + shareA * a[1]) << 8 | (share * red + shareK * k[0] + shareD * d[0] + shareA * a[0]);
        }
        pixels[out] = colour;
        if (coarse === 2) pixels[out + 1] = pixels[out + width] = pixels[out + width + 1] = colour;
      }
    }
  }

  radius() {
    const fitted = Math.sqrt(this.width * this.height / Math.max(1, this.drawn.length)) / 10;
    return Math.max(1.3 * this.ratio, Math.min(5 * this.ratio, fitted));
  }

  /** Discs with a ring in the colour of the background, where they are large enough for one. */
  drawNodes(px, py) {
    const { width, height, pixels } = this, radius = this.radius();
    this.discs ??= Array.from({ length: PHASES * PHASES }, (_, k) => disc(radius, k % PHASES / PHASES, Math.floor(k / PHASES) / PHASES));
    const [paperRed, paperGreen, paperBlue] = rgb(cssColour("--surface"));
    for (const k of this.order || []) {
      const left = Math.floor(px[k]), top = Math.floor(py[k]), [red, green, blue] = this.colours[this.colour[k]];
      const { x, y, outer, inner } = this.discs[Math.floor((px[k] - left) * PHASES) + PHASES * Math.floor((py[k] - top) * PHASES)];
      for (let s = 0; s < x.length; ++s) {
        const column = left + x[s], row = top + y[s];
        if (column < 0 || row < 0 || column >= width || row >= height) continue;
        const p = row * width + column, below = pixels[p], o = outer[s], i = inner[s];
        const paper = o * (1 - i), rest = 1 - o;
        pixels[p] = 0xFF000000 | (rest * (below >> 16 & 255) + paper * paperBlue + o * i * blue) << 16
          | (rest * (below >> 8 & 255) + paper * paperGreen + o * i * green) << 8 | (rest * (below & 255) + paper * paperRed + o * i * red);
      }
    }
  }

  drawHovered(context) {
    const k = this.hovered, radius = this.radius() + 2 * this.ratio;
    this.lists.forEach(({ from, to, size }, state) => {
      if (!this.visible[state]) return;
      context.strokeStyle = cssColour(EDGE_COLOURS[state]);
      context.lineWidth = 1.5 * this.ratio;
      context.beginPath();
      for (let e = 0; e < size; ++e) {
        if (from[e] !== k && to[e] !== k) continue;
        context.moveTo(this.px[from[e]], this.py[from[e]]);
        context.lineTo(this.px[to[e]], this.py[to[e]]);
      }
      context.stroke();
    });
    context.beginPath();
    context.arc(this.px[k], this.py[k], radius, 0, 2 * Math.PI);
    context.strokeStyle = cssColour("--ink");
    context.lineWidth = 2 * this.ratio;
    context.stroke();
  }

  hover(event) {
    if (!this.px) return;
    const x = event.offsetX * this.ratio, y = event.offsetY * this.ratio;
    let best = -1, distance = (10 * this.ratio) ** 2;
    for (const k of this.drawn) {
      const d = (this.px[k] - x) ** 2 + (this.py[k] - y) ** 2;
      if (d < distance) [best, distance] = [k, d];
    }
    this.setHovered(best, event);
  }

  setHovered(k, event) {
    this.onHover(k, event);
    if (k === this.hovered) return;
    this.hovered = k;
    this.start();
  }
}

/** So many of the numbers below `count`, increasing, and always the same ones. */
function pick(count, most) {
  const all = Array.from({ length: count }, (_, k) => k);
  if (count <= most) return all;
  let seed = 1;
  for (let k = 0; k < most; ++k) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const other = k + Math.floor(seed / 4294967296 * (count - k));
    [all[k], all[other]] = [all[other], all[k]];
  }
  return all.slice(0, most).sort((a, b) => a - b);
}

/** Adds one line to the counts of the pixels it meets, divided between two where `smooth`; returns its length in pixels. */
function addLine(counts, width, x0, y0, x1, y1, smooth) {
  const dx = x1 - x0, dy = y1 - y0, flat = Math.abs(dx) >= Math.abs(dy);
  const steps = Math.max(1, Math.round(flat ? Math.abs(dx) : Math.abs(dy)));
  // 16 bits behind the point; the coordinate along the line moves a pixel per step.
  const along = Math.round(flat ? x0 : y0), slope = (flat ? dy : dx) / steps * 65536 | 0, forward = (flat ? dx : dy) < 0 ? -1 : 1;
  const stride = flat ? forward : forward * width, acrossStride = flat ? width : 1;
  let across = ((flat ? y0 : x0) * 65536 | 0) + (smooth ? 0 : 32768), base = flat ? along : along * width;
  if (!smooth) {
    for (let k = 0; k <= steps; ++k, base += stride, across += slope) ++counts[base + Math.imul(across >> 16, acrossStride)];
    return steps;
  }
  for (let k = 0; k <= steps; ++k, base += stride, across += slope) {
    const p = base + Math.imul(across >> 16, acrossStride), share = across >> 8 & 255;
    counts[p] += SMOOTH_UNIT - share;
    counts[p + acrossStride] += share;
  }
  return steps;
}

/** Opacity by level: lines are strong where there are few and add up where there are many. `density` is lines per pixel, `unit` what a line counts. */
function opacities(density, strongest, unit) {
  const gain = Math.max(0.05, Math.min(1.6, 0.22 / density)), lines = unit === 1 ? 1 : (1 << SMOOTH_SHIFT) / unit;
  return Float32Array.from({ length: COUNT_LEVELS }, (_, level) => strongest * (1 - Math.exp(-gain * level * lines)));
}

/** The pixels of a disc around (x, y) inside a pixel: how much disc and ring cover, and the disc's part of it. */
function disc(radius, x, y) {
  const ring = radius > 2, reach = Math.ceil(radius + 2), cells = [];
  for (let row = -reach; row <= reach; ++row) {
    for (let column = -reach; column <= reach; ++column) {
      const distance = Math.hypot(column - x, row - y);
      const outer = Math.min(1, radius + (ring ? 1 : 0.5) - distance), inner = Math.max(0, Math.min(1, radius + (ring ? 0 : 0.5) - distance));
      if (outer > 0.02) cells.push([column, row, outer, Math.min(1, inner / outer)]);
    }
  }
  const part = (k) => Float32Array.from(cells, (cell) => cell[k]);
  return { x: Int32Array.from(part(0)), y: Int32Array.from(part(1)), outer: part(2), inner: part(3) };
}
