// A drawing's arrays, and the questions the view and the panel ask of them.

const KEPT = 0, DROPPED = 1, ADDED = 2;
const STATE_NAMES = ["kept", "dropped", "added"];
const PART_NAMES = ["no part", "training", "validation", "test"];

class GraphModel {
  constructor(block) {
    for (const key of ["id", "label", "prediction", "part", "phi", "degree", "from", "to", "state", "offsets", "senders"]) {
      this[key] = decodeArray(block[key]);
    }
    this.names = block.names;
    this.classNames = block.classNames;
    this.layouts = block.layouts.map((layout) => ({ name: layout.name, x: decodeArray(layout.x), y: decodeArray(layout.y) }));
    this.layers = block.layers.map((layer) => ({ name: layer.name, heads: layer.heads, codes: decodeArray(layer.weights) }));
    this.nodes = this.id.length;
    this.edges = this.from.length;
    this.added = this.state.reduce((count, each) => count + (each === ADDED), 0);
    this.edgeOf = this.matchArcs();
  }

  /** The edge under every arc (-1 on self loops). */
  matchArcs() {
    const key = (a, b) => Math.min(a, b) * this.nodes + Math.max(a, b);
    const edges = new Map();
    for (let e = 0; e < this.edges; ++e) {
      if (this.state[e] !== DROPPED) edges.set(key(this.from[e], this.to[e]), e);
    }
    const edgeOf = new Int32Array(this.senders.length).fill(-1);
    for (let node = 0; node + 1 < this.offsets.length; ++node) {
      for (let arc = this.offsets[node]; arc < this.offsets[node + 1]; ++arc) {
        edgeOf[arc] = edges.get(key(node, this.senders[arc])) ?? -1;
      }
    }
    return edgeOf;
  }

  /** Attention of one arc in one layer; head -1 is the mean over the heads. */
  weight(layer, head, arc) {
    const { heads, codes } = this.layers[layer];
    const one = (h) => (codes[arc * heads + h] / 65535) ** 2;
    if (head >= 0) return one(head);
    let sum = 0;
    for (let h = 0; h < heads; ++h) sum += one(h);
    return sum / heads;
  }

  /** The larger of an edge's two weights, per edge. */
  edgeWeights(layer, head) {
    const weights = new Float32Array(this.edges);
    for (let arc = 0; arc < this.edgeOf.length; ++arc) {
      const edge = this.edgeOf[arc];
      if (edge >= 0) weights[edge] = Math.max(weights[edge], this.weight(layer, head, arc));
    }
    return weights;
  }

  /** What a node attends to, strongest first. */
  attentionRow(node, layer, head) {
    const row = [];
    for (let arc = this.offsets[node]; arc < this.offsets[node + 1]; ++arc) {
      const sender = this.senders[arc], edge = this.edgeOf[arc];
      row.push({ sender, weight: this.weight(layer, head, arc), edge: sender === node ? "self loop" : STATE_NAMES[this.state[edge]] });
    }
    return row.sort((a, b) => b.weight - a.weight || a.sender - b.sender);
  }

  /** Drawn edges of a node: [{edge, other}]. */
  incident(node) {
    const found = [];
    for (let e = 0; e < this.edges; ++e) {
      if (this.from[e] === node) found.push({ edge: e, other: this.to[e] });
      else if (this.to[e] === node) found.push({ edge: e, other: this.from[e] });
    }
    return found;
  }

  name(node) {
    return this.names.length > 0 ? this.names[node] : String(this.id[node]);
  }

  className(index) {
    return index < 0 ? "unlabelled" : this.classNames[index] ?? String(index);
  }

  /** The node with a name, or -1. */
  find(text) {
    for (let node = 0; node < this.nodes; ++node) if (this.name(node) === text) return node;
    return -1;
  }
}
