// The rewiring of src/rewire/rewire.cpp, edge for edge.

const PRUNES = ["none", "prune-near", "prune-far"], JOINS = ["none", "add", "hub"];

/** "prune-far+add" as its parts, and back. */
function modeParts(mode) {
  const names = mode.split("+");
  return { prune: PRUNES.find((prune) => prune !== "none" && names.includes(prune)) ?? "none",
    join: JOINS.find((join) => join !== "none" && names.includes(join)) ?? "none" };
}

function modeName({ prune, join }) {
  return [prune, join].filter((part) => part !== "none").join("+") || "none";
}

/** "q0.2" or "1e-5" as {quantile, value}; null for anything else. */
function parseEpsilon(text) {
  const match = /^(q?)(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)$/i.exec(text.trim());
  if (!match || match[1] === "Q") return null;
  const value = Number(match[2]), quantile = match[1] === "q";
  return Number.isFinite(value) && !(quantile && value > 1) ? { quantile, value } : null;
}

function edgeDistances(data, phi) {
  const { from, to, edges } = data, distances = new Float64Array(edges);
  if (phi.length === 1) {
    const x = phi[0];
    for (let e = 0; e < edges; ++e) distances[e] = Math.abs(x[from[e]] - x[to[e]]);
    return distances;
  }
  for (let e = 0; e < edges; ++e) {
    let sum = 0;
    for (const x of phi) {
      const difference = x[from[e]] - x[to[e]];
      sum += difference * difference;
    }
    distances[e] = Math.sqrt(sum);
  }
  return distances;
}

/** Moves the value that sorting would put at `rank` there, smaller ones before it and larger ones behind it. */
function selectRank(values, rank) {
  let left = 0, right = values.length - 1;
  while (left < right) {
    const pivot = values[(left + right) >> 1];
    let i = left, j = right;
    while (i <= j) {
      while (values[i] < pivot) ++i;
      while (values[j] > pivot) --j;
      if (i <= j) {
        const swapped = values[i];
        values[i++] = values[j];
        values[j--] = swapped;
      }
    }
    if (rank <= j) right = j;
    else if (rank >= i) left = i;
    else return;
  }
}

/** Linear between the ordered values; 0 for none. */
function quantileOf(values, q) {
  if (values.length === 0) return 0;
  const position = q * (values.length - 1), rank = Math.trunc(position), fraction = position - rank;
  const copy = values.slice();
  selectRank(copy, rank);
  if (fraction === 0) return copy[rank];
  let above = Infinity;
  for (let k = rank + 1; k < copy.length; ++k) if (copy[k] < above) above = copy[k];
  return copy[rank] + fraction * (above - copy[rank]);
}

/** Whom every node is joined to, -1 for none. */
function joinTargets(data, x, join, perComponent) {
  const n = data.nodes, groups = perComponent ? data.components : 1;
  const low = new Int32Array(groups).fill(-1), high = new Int32Array(groups).fill(-1), targets = new Int32Array(n).fill(-1);
  const groupOf = (i) => perComponent ? data.componentOf[i] : 0;
  for (let i = 0; i < n; ++i) {
    const c = groupOf(i);
    if (low[c] < 0 || x[i] < x[low[c]]) low[c] = i;
    if (high[c] < 0 || x[i] > x[high[c]]) high[c] = i;
  }
  for (let i = 0; i < n; ++i) {
    const c = groupOf(i);
    if (join === "hub") { targets[i] = high[c]; continue; }
    const middle = (x[low[c]] + x[high[c]]) / 2;
    if (x[i] < middle) targets[i] = high[c];
    if (x[i] > middle) targets[i] = low[c];
  }
  return targets;
}

/** What a rewiring did: `dropped` has 1 for every edge that pruning dropped; added edges are pairs. */
function rewire(data, phi, distances, { mode, epsilon, policy }) {
  const { prune, join } = modeParts(mode), { from, to, edges, nodes } = data;
  const dropped = new Uint8Array(edges);
  let threshold = 0, droppedCount = 0;
  if (prune !== "none") {
    threshold = epsilon.quantile ? quantileOf(distances, epsilon.value) : epsilon.value;
    for (let e = 0; e < edges; ++e) {
      if (prune === "prune-near" ? distances[e] < threshold : distances[e] > threshold) { dropped[e] = 1; ++droppedCount; }
    }
  }
  const addedFrom = [], addedTo = [];
  if (join !== "none" && nodes > 0) {
    const targets = joinTargets(data, phi[0], join, policy === "each"), there = new Uint8Array(nodes);
    for (let e = 0; e < edges; ++e) {
      if (dropped[e]) continue;
      if (targets[from[e]] === to[e]) there[from[e]] = 1;
      if (targets[to[e]] === from[e]) there[to[e]] = 1;
    }
    for (let i = 0; i < nodes; ++i) {
      const target = targets[i];
      if (target < 0 || target === i || there[i] || (targets[target] === i && target < i)) continue;
      addedFrom.push(i);
      addedTo.push(target);
    }
  }
  return { dropped, droppedCount, addedFrom, addedTo, threshold };
}
