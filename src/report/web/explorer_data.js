// What the explorer computes from, and φ. The sums run in the order of EigenResult::phi (src/spectral/eigensolver.cpp), so φ has
// its bits. Powers are the exception: Math.pow may differ from the C library in the last place, so the page brings their last bytes.

const SIGN_TIE = 1e-6;

class ExplorerData {
  constructor(block) {
    this.block = block;
    this.label = decodeArray(block.label);
    this.nodes = this.label.length;
    this.to = decodeArray(block.to);
    this.edges = this.to.length;
    this.from = new Int32Array(this.edges);
    let edge = 0;
    decodeArray(block.rows).forEach((count, node) => { this.from.fill(node, edge, edge += count); });
    this.strengthOf = decodeArray(block.strengthOf);
    this.ids = block.id ? decodeArray(block.id) : null;
    this.gammas = block.gammas.map((solved) => solved.gamma);
    this.alphas = block.alphas;
    this.degree = new Int32Array(this.nodes);
    for (let e = 0; e < this.edges; ++e) { ++this.degree[this.from[e]]; ++this.degree[this.to[e]]; }
    const sets = new NodeSets(this.nodes);
    for (let e = 0; e < this.edges; ++e) sets.join(this.from[e], this.to[e]);
    this.componentOf = sets.numbers();
    this.components = sets.count;
    this.componentSize = new Float64Array(this.components);
    for (const component of this.componentOf) ++this.componentSize[component];
    this.trainingNodes = this.label.reduce((count, label) => count + (label >= 0), 0);
    this.decoded = new Map();
  }

  name(node) {
    return this.block.names.length > 0 ? this.block.names[node] : String(this.ids ? this.ids[node] : node);
  }

  /** Made once per key; the oldest are forgotten. */
  kept(key, make) {
    if (!this.decoded.has(key)) {
      if (this.decoded.size > 200) this.decoded.delete(this.decoded.keys().next().value);
      this.decoded.set(key, make());
    }
    return this.decoded.get(key);
  }

  /** The vectors at α = 1/2, one array each. */
  vectors(g, policy) {
    return this.kept(`${policy} ${g}`, () => {
      const solved = this.block.gammas[g], n = this.nodes;
      if (policy === "each" || !solved[policy]) {
        const all = this.kept(`all ${g}`, () => decodeArray(solved.each));
        return Array.from({ length: this.block.vectors }, (_, c) => all.subarray(c * n, (c + 1) * n));
      }
      return solved[policy].map((column, c) => {
        if (typeof column === "string") return decodeArray(column);
        const each = this.vectors(g, "each")[c], support = decodeArray(column.support), bytes = decodeArray(column.bytes);
        const result = new Float64Array(n);
        let at = 0;
        for (let i = 0; i < n; ++i) if (support[i]) result[i] = withLastByte(each[i] * column.scale, bytes[at++]);
        return result;
      });
    });
  }

  /** m^(1/2 - α) per place in the list of row sums. */
  powers(g, a) {
    return this.kept(`powers ${g} ${a}`, () => {
      const mass = decodeArray(this.block.gammas[g].mass), bytes = decodeArray(this.block.gammas[g].powers);
      return mass.map((m, k) => withLastByte(Math.pow(m, 0.5 - this.alphas[a]), bytes[a * mass.length + k]));
    });
  }

  /** φ of L(α, γ): one array per vector. */
  phi(g, a, policy) {
    const power = this.powers(g, a);
    return this.vectors(g, policy).map((u) => this.normalised(u, power));
  }

  normalised(u, power) {
    const n = this.nodes, { componentOf, strengthOf, components } = this;
    const x = new Float64Array(n), sum = new Float64Array(components), largest = new Float64Array(components), factor = new Float64Array(components);
    for (let i = 0; i < n; ++i) {
      const entry = u[i] * power[strengthOf[i]], c = componentOf[i], size = Math.abs(entry);
      x[i] = entry;
      sum[c] += entry * entry;
      if (size > largest[c]) largest[c] = size;
    }
    let used = 0;
    for (let i = 0; i < n; ++i) {
      const c = componentOf[i];
      if (sum[c] === 0) continue;
      if (factor[c] === 0 && Math.abs(x[i]) >= (1 - SIGN_TIE) * largest[c]) {
        const size = Math.sqrt(this.componentSize[c] / sum[c]);
        factor[c] = x[i] < 0 ? -size : size;
        used += this.componentSize[c];
      }
    }
    if (used === 0) return x;
    const norm = Math.sqrt(used);
    for (let i = 0; i < n; ++i) if (sum[componentOf[i]] !== 0) x[i] = x[i] * factor[componentOf[i]] / norm;
    return x;
  }

  /** Heights of the nodes: the second vector at α, or at the nearest γ that has one; for drawing only. */
  heights(g, a) {
    const solved = this.block.gammas, known = solved.map((one, k) => k).filter((k) => solved[k].second !== null);
    const power = this.powers(g, a);
    if (known.length === 0) return Float32Array.from(this.label, (_, i) => (i * 0.6180339887) % 1);
    const nearest = known.reduce((best, k) => Math.abs(k - g) < Math.abs(best - g) ? k : best);
    const codes = this.kept(`second ${nearest}`, () => decodeArray(solved[nearest].second));
    return Float32Array.from(codes, (code, i) => code * power[this.strengthOf[i]]);
  }
}

/** Disjoint sets of nodes. */
class NodeSets {
  constructor(nodes) {
    this.parent = new Int32Array(nodes);
    for (let i = 0; i < nodes; ++i) this.parent[i] = i;
    this.count = nodes;
  }

  root(node) {
    const { parent } = this;
    while (parent[node] !== node) node = parent[node] = parent[parent[node]];
    return node;
  }

  join(a, b) {
    a = this.root(a);
    b = this.root(b);
    if (a === b) return;
    this.parent[Math.max(a, b)] = Math.min(a, b);
    --this.count;
  }

  /** The set of every node, numbered by their smallest nodes. */
  numbers() {
    const number = new Int32Array(this.parent.length);
    let next = 0;
    for (let i = 0; i < number.length; ++i) number[i] = this.parent[i] === i ? next++ : number[this.root(i)];
    return number;
  }
}
