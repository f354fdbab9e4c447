// The canvas. A frame never waits for all edges: the picture is painted into a bitmap in slices,
// and moving the view moves the last bitmap until the next one is complete.

const SLICE = 5000;
const WIDTHS = [0.5, 1, 1.8, 3, 5];
const ADDED_WIDTH = 0.6;

class GraphView {
  constructor(model, onSelect, onHover) {
    this.model = model;
    this.onSelect = onSelect;
    this.onHover = onHover;
    this.canvas = el("canvas", { tabindex: 0, role: "img",
      "aria-label": "Drawing of the graph. Arrow keys move, plus and minus zoom, 0 fits; use the node field to choose a node." });
    this.layout = 0;
    this.visible = [true, true, true];
    this.hiddenGroups = new Set();
    this.edgeWeights = null;
    this.selected = -1;
    this.view = { scale: 1, x: 0, y: 0 };
    this.bitmap = null;
    this.job = 0;
    this.frames = 0;
    this.listen();
  }

  resize(width, height) {
    const ratio = Math.min(2, devicePixelRatio || 1);
    Object.assign(this, { width, height, ratio });
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.canvas.style.height = height + "px";
    this.fit();
  }

  setColours({ groups, legend }) {
    this.groups = groups;
    this.legend = legend;
    this.refresh();
  }

  fit() {
    const { x, y } = this.model.layouts[this.layout];
    const [left, right] = extent([x], false), [low, high] = extent([y], false);
    const scale = 0.92 * Math.min(this.width / (right - left || 1), this.height / (high - low || 1));
    this.view = { scale, x: this.width / 2 - scale * (left + right) / 2, y: this.height / 2 + scale * (low + high) / 2 };
    this.refresh();
  }

  px(node) { return this.model.layouts[this.layout].x[node] * this.view.scale + this.view.x; }
  py(node) { return this.view.y - this.model.layouts[this.layout].y[node] * this.view.scale; }
  radius() {
    const fitted = Math.sqrt(this.width * this.height / Math.max(1, this.model.nodes)) / 9;
    return Math.max(1.4, Math.min(6, fitted));
  }

  moveBy(dx, dy) {
    this.view = { ...this.view, x: this.view.x + dx, y: this.view.y + dy };
    this.changed();
  }

  zoomAt(factor, px, py) {
    const { scale, x, y } = this.view;
    this.view = { scale: scale * factor, x: px - (px - x) * factor, y: py - (py - y) * factor };
    this.changed();
  }

  /** Move the last bitmap now, paint a new one when the hand rests. */
  changed() {
    this.paint();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), 90);
  }

  /** Edges in groups of equal state and width. */
  buckets() {
    const { state, edges } = this.model;
    const buckets = new Map();
    for (let e = 0; e < edges; ++e) {
      if (!this.visible[state[e]]) continue;
      const width = this.edgeWeights && state[e] === KEPT ? Math.min(4, Math.floor(5 * Math.sqrt(this.edgeWeights[e]))) : 0;
      const key = state[e] * 8 + width;
      if (!buckets.has(key)) buckets.set(key, { state: state[e], width: state[e] === ADDED ? ADDED_WIDTH : WIDTHS[width] * (this.edgeWeights ? 1 : 1.4), edges: [] });
      buckets.get(key).edges.push(e);
    }
    // Added edges below all others: they fan out from few nodes and would hide the graph.
    const layer = ([key, { state: of }]) => (of === ADDED ? 0 : 1 + key % 8) * 8 + of;
    return [...buckets.entries()].sort((a, b) => layer(a) - layer(b)).map(([, bucket]) => bucket);
  }

  edgeColour(state) {
    return cssColour(["--edge", "--dropped", "--added"][state]);
  }

  edgeOpacity(state) {
    if (state === ADDED) return Math.max(0.08, Math.min(0.45, 120 / Math.max(1, this.model.added)));
    return Math.max(0.1, Math.min(0.75, 2500 / Math.max(1, this.model.edges)));
  }

  refresh() {
    if (!this.width || !this.groups) return;
    const job = ++this.job, view = { ...this.view };
    const bitmap = el("canvas", { width: this.canvas.width, height: this.canvas.height });
    const context = bitmap.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const buckets = this.buckets();
    let bucket = 0, position = 0;
    const slice = () => {
      if (job !== this.job) return;
      let budget = SLICE;
      while (bucket < buckets.length && budget > 0) {
        const end = Math.min(buckets[bucket].edges.length, position + budget);
        this.drawEdges(context, buckets[bucket], position, end);
        budget -= end - position;
        position = end;
        if (position === buckets[bucket].edges.length) { ++bucket; position = 0; }
      }
      if (bucket < buckets.length) { requestAnimationFrame(slice); return; }
      this.drawNodes(context);
      this.bitmap = { canvas: bitmap, view };
      this.paint();
      this.canvas.dataset.painted = String(job);
    };
    if (!this.bitmap) slice();
    else requestAnimationFrame(slice);
  }

  drawEdges(context, { state, width, edges }, begin, end) {
    const { from, to } = this.model;
    context.strokeStyle = this.edgeColour(state);
    context.globalAlpha = Math.min(1, this.edgeOpacity(state) * (state === DROPPED ? 1.6 : 1) * (width > 1.5 ? 1.5 : 1));
    context.lineWidth = width;
    context.beginPath();
    for (let k = begin; k < end; ++k) {
      const a = from[edges[k]], b = to[edges[k]];
      if (this.isHidden(a) || this.isHidden(b)) continue;
      const ax = this.px(a), ay = this.py(a), bx = this.px(b), by = this.py(b);
      if ((ax < 0 && bx < 0) || (ay < 0 && by < 0) || (ax > this.width && bx > this.width) || (ay > this.height && by > this.height)) continue;
      context.moveTo(ax, ay);
      context.lineTo(bx, by);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  isHidden(node) { return this.hiddenGroups.has(this.groups[node]); }

  drawNodes(context) {
    const radius = this.radius();
    const byGroup = this.legend.map(() => []);
    for (let node = 0; node < this.model.nodes; ++node) byGroup[this.groups[node]].push(node);
    byGroup.forEach((nodes, group) => {
      if (this.hiddenGroups.has(group)) return;
      context.beginPath();
      for (const node of nodes) {
        const x = this.px(node), y = this.py(node);
        if (x < -9 || y < -9 || x > this.width + 9 || y > this.height + 9) continue;
        context.moveTo(x + radius, y);
        context.arc(x, y, radius, 0, 2 * Math.PI);
      }
      context.fillStyle = this.legend[group].colour;
      context.fill();
      if (radius > 2.5) {
        context.strokeStyle = cssColour("--surface");
        context.lineWidth = 0.7;
        context.stroke();
      }
    });
  }

  paint() {
    const context = this.canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (this.bitmap) {
      const old = this.bitmap.view, zoom = this.view.scale / old.scale;
      context.setTransform(zoom, 0, 0, zoom, this.ratio * (this.view.x - zoom * old.x), this.ratio * (this.view.y - zoom * old.y));
      context.drawImage(this.bitmap.canvas, 0, 0);
    }
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    if (this.selected >= 0) this.drawSelection(context);
    ++this.frames;
  }

  drawSelection(context) {
    const radius = this.radius() + 1.5, node = this.selected;
    context.fillStyle = cssColour("--veil");
    context.fillRect(0, 0, this.width, this.height);
    const incident = this.model.incident(node).filter(({ edge }) => this.visible[this.model.state[edge]]);
    for (const { edge, other } of incident) {
      context.strokeStyle = this.edgeColour(this.model.state[edge]);
      context.lineWidth = this.edgeWeights ? 0.8 + 6 * Math.sqrt(this.edgeWeights[edge]) : 1.5;
      context.beginPath();
      context.moveTo(this.px(node), this.py(node));
      context.lineTo(this.px(other), this.py(other));
      context.stroke();
    }
    for (const each of [...incident.map(({ other }) => other), node]) {
      context.beginPath();
      context.arc(this.px(each), this.py(each), each === node ? radius + 2.5 : radius, 0, 2 * Math.PI);
      context.fillStyle = this.legend[this.groups[each]].colour;
      context.fill();
      context.lineWidth = each === node ? 2.5 : 1;
      context.strokeStyle = cssColour("--ink");
      context.stroke();
    }
  }

  select(node) {
    this.selected = node;
    this.paint();
    this.onSelect(node);
  }

  /** The node nearest to a point of the canvas, within so many pixels; -1 when there is none. */
  nodeAt(x, y, within = 12) {
    let best = -1, distance = within * within;
    for (let node = 0; node < this.model.nodes; ++node) {
      if (this.isHidden(node)) continue;
      const d = (this.px(node) - x) ** 2 + (this.py(node) - y) ** 2;
      if (d < distance) [best, distance] = [node, d];
    }
    return best;
  }

  listen() {
    const { canvas } = this, pointers = new Map();
    let travelled = 0;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.focus({ preventScroll: true });
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      travelled = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      const last = pointers.get(event.pointerId);
      if (!last) { this.onHover(this.nodeAt(event.offsetX, event.offsetY, 9), event); return; }
      const now = { x: event.offsetX, y: event.offsetY };
      travelled += Math.abs(now.x - last.x) + Math.abs(now.y - last.y);
      if (pointers.size === 2) {
        const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
        const before = Math.hypot(last.x - other.x, last.y - other.y), after = Math.hypot(now.x - other.x, now.y - other.y);
        if (before > 0) this.zoomAt(after / before, (now.x + other.x) / 2, (now.y + other.y) / 2);
      } else if (travelled > 4) {
        this.moveBy(now.x - last.x, now.y - last.y);
      }
      pointers.set(event.pointerId, now);
    });
    const release = (event) => {
      if (event.type === "pointerup" && pointers.size === 1 && travelled <= 4) this.select(this.nodeAt(event.offsetX, event.offsetY));
      pointers.delete(event.pointerId);
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => this.onHover(-1));
    canvas.addEventListener("wheel", (event) => {
      // A page must scroll past the drawing: the wheel zooms once the drawing was clicked, or with Ctrl.
      if (document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      this.zoomAt(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
      if (moves[event.key]) this.moveBy(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoomAt(1.25, this.width / 2, this.height / 2);
      else if (event.key === "-") this.zoomAt(0.8, this.width / 2, this.height / 2);
      else if (event.key === "0") this.fit();
      else if (event.key === "Escape") this.select(-1);
      else return;
      event.preventDefault();
    });
  }
}
