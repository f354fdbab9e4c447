// What node colours mean: each mode gives a group number per node and a legend for the groups.

const PHI_STEPS = 15;

function colourModes(model) {
  const byClass = (values) => ({
    groups: Int32Array.from(values, (value) => value < 0 ? model.classNames.length : value),
    legend: [...model.classNames.map((name, index) => ({ name, colour: seriesColour(index) })),
      ...(values.some((value) => value < 0) ? [{ name: "unlabelled", colour: "#888888" }] : [])],
  });
  const modes = [{ name: "class", make: () => byClass(model.label) }];
  if (model.prediction.length > 0) {
    modes.push({ name: "prediction", make: () => byClass(model.prediction) });
    modes.push({ name: "error", make: () => ({
      groups: Int32Array.from(model.label, (label, node) => label < 0 ? 2 : label === model.prediction[node] ? 0 : 1),
      legend: [{ name: "right", colour: "#56B4E9" }, { name: "wrong", colour: "#D55E00" }, { name: "unlabelled", colour: "#888888" }],
    }) });
  }
  if (model.phi.length > 0) modes.push({ name: "φ", make: () => phiColours(model.phi) });
  if (model.part.length > 0) {
    modes.push({ name: "split", make: () => ({
      groups: Int32Array.from(model.part),
      legend: PART_NAMES.map((name, index) => ({ name, colour: ["#888888", "#0072B2", "#E69F00", "#009E73"][index] })),
    }) });
  }
  return modes;
}

/** Steps of equal numbers of nodes from blue (smallest) over grey to orange (largest). */
function phiColours(phi) {
  const order = Int32Array.from(phi, (_, node) => node).sort((a, b) => phi[a] - phi[b]);
  const groups = new Int32Array(phi.length);
  order.forEach((node, rank) => { groups[node] = Math.floor(rank * PHI_STEPS / phi.length); });
  const mix = (a, b, share) => a.map((channel, k) => Math.round(channel + share * (b[k] - channel)));
  const blue = rgb("#0072B2"), middle = rgb("#C8C8C8"), orange = rgb("#E66000");
  const legend = Array.from({ length: PHI_STEPS }, (_, step) => {
    const share = step / (PHI_STEPS - 1) * 2;
    const colour = share <= 1 ? mix(blue, middle, share) : mix(middle, orange, share - 1);
    const edge = order[Math.min(phi.length - 1, Math.floor((step + 0.5) * phi.length / PHI_STEPS))];
    return { name: phi.length > 0 ? plain(phi[edge], 2) : "", colour: `rgb(${colour.join(",")})` };
  });
  return { groups, legend, ramp: true };
}
