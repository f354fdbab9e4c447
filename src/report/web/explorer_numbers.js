// The figures of a rewiring: those of `dgat rewire`, and the labels at the ends of kept, dropped and added edges. Only training
// labels are in the page.

function rewiringNumbers(data, result) {
  const { from, to, edges, nodes } = data, sets = new NodeSets(nodes), alone = new Uint8Array(nodes).fill(1);
  const join = (a, b) => { sets.join(a, b); alone[a] = alone[b] = 0; };
  for (let e = 0; e < edges; ++e) if (!result.dropped[e]) join(from[e], to[e]);
  result.addedFrom.forEach((a, k) => join(a, result.addedTo[k]));
  const isolated = alone.reduce((count, each) => count + each, 0);
  const before = new LabelPairs(data), kept = new LabelPairs(data), dropped = new LabelPairs(data), added = new LabelPairs(data), after = new LabelPairs(data);
  for (let e = 0; e < edges; ++e) (result.dropped[e] ? dropped : kept).add(from[e], to[e]);
  result.addedFrom.forEach((a, k) => added.add(a, result.addedTo[k]));
  before.merge(kept).merge(dropped);
  after.merge(kept).merge(added);
  return {
    edges_before: edges, dropped: result.droppedCount, added: result.addedFrom.length,
    edges_after: edges - result.droppedCount + result.addedFrom.length,
    isolated_before: data.degree.reduce((count, degree) => count + (degree === 0), 0), isolated_after: isolated,
    components_before: data.components, components_after: sets.count,
    homophily_before: before.agreement(), homophily_after: after.agreement(), epsilon: result.threshold,
    labels: { before, kept, dropped, added, after },
  };
}

/** Pairs of training labels over a set of edges. */
class LabelPairs {
  constructor(data) {
    this.label = data.label;
    this.classes = data.block.classNames.length;
    this.counts = new Float64Array(this.classes * this.classes);
    this.edges = 0;
    this.equal = 0;
  }

  add(a, b) {
    const first = this.label[a], second = this.label[b];
    if (first < 0 || second < 0) return;
    ++this.counts[first * this.classes + second];
    ++this.counts[second * this.classes + first];
    ++this.edges;
    if (first === second) ++this.equal;
  }

  merge(other) {
    other.counts.forEach((count, k) => { this.counts[k] += count; });
    this.edges += other.edges;
    this.equal += other.equal;
    return this;
  }

  /** Edge homophily; null without edges. */
  agreement() {
    return this.edges === 0 ? null : this.equal / this.edges;
  }

  /** Label informativeness, as in src/study/edge_labels.cpp; null without edges or with one class. */
  informativeness() {
    const total = 2 * this.edges, { classes, counts } = this;
    let joint = 0, single = 0;
    for (let a = 0; a < classes; ++a) {
      let row = 0;
      for (let b = 0; b < classes; ++b) {
        const share = counts[a * classes + b] / total;
        row += share;
        if (share > 0) joint += share * Math.log(share);
      }
      if (row > 0) single += row * Math.log(row);
    }
    return single < 0 ? 2 - joint / single : null;
  }
}

/** The share of the variance of φ that lies between the classes of the training nodes, less what chance gives. */
function classShare(data, x) {
  const classes = data.block.classNames.length, sum = new Float64Array(classes), size = new Float64Array(classes);
  let n = 0, total = 0;
  data.label.forEach((label, i) => {
    if (label < 0) return;
    sum[label] += x[i];
    ++size[label];
    total += x[i];
    ++n;
  });
  if (n < 2) return null;
  let within = 0, variance = 0;
  data.label.forEach((label, i) => {
    if (label < 0) return;
    within += (x[i] - sum[label] / size[label]) ** 2;
    variance += (x[i] - total / n) ** 2;
  });
  const chance = (size.filter((count) => count > 0).length - 1) / (n - 1);
  return variance > 0 && chance < 1 ? (1 - within / variance - chance) / (1 - chance) : null;
}

/** (Σφ²)² / (N Σφ⁴): the share of the nodes that carry φ. */
function participation(x) {
  let second = 0, fourth = 0;
  for (const entry of x) {
    second += entry * entry;
    fourth += entry * entry * entry * entry;
  }
  return fourth > 0 ? second * second / (x.length * fourth) : 0;
}
