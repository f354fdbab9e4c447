// Controls of the explorer: sliders over a grid, choices as radio buttons, ε as a quantile or a value.

/** A slider over the places of a list; show(place) is the text beside it. */
function gridSlider(name, values, start, show, change) {
  const output = el("output", {}, show(start));
  const input = el("input", { type: "range", min: 0, max: values.length - 1, step: 1, value: start, "aria-label": name, "aria-valuetext": show(start),
    oninput: () => { set(Number(input.value)); change(Number(input.value)); } });
  const set = (place) => {
    input.value = place;
    output.textContent = show(place);
    input.setAttribute("aria-valuetext", show(place));
  };
  return { element: el("label", { class: "slider" }, el("span", {}, name), output, input), set, input };
}

/** One of a few, as radio buttons side by side. */
function choices(name, options, start, change) {
  const group = uniqueName("choice " + name);
  const inputs = options.map(({ value }) => el("input", { type: "radio", name: group, value, checked: value === start, onchange: () => change(value) }));
  const element = el("fieldset", { class: "choices" }, el("legend", {}, name), el("div", {}, options.map(({ label, title }, k) =>
    el("label", { title }, inputs[k], el("span", {}, label)))));
  return { element, set: (value) => { inputs.forEach((input) => { input.checked = input.value === value; }); },
    enable: (on) => { inputs.forEach((input) => { input.disabled = !on; }); } };
}

/** ε: a slider over the quantiles, a field for any text that `--epsilon` takes, and whether the slider writes quantiles or values. */
function epsilonControl(start, allowValues, valueAt, change) {
  let current = start;
  const input = el("input", { type: "range", min: 0, max: 100, step: 1, "aria-label": "ε",
    oninput: () => take(kind.value === "quantile" ? `q${Number(input.value) / 100}` : asText(valueAt(Number(input.value) / 100))) });
  const field = el("input", { type: "text", size: 9, "aria-label": "ε as text, such as q0.2 or 1e-5", onchange: () => take(field.value.trim()) });
  const kind = el("select", { "aria-label": "What the slider of ε sets", onchange: () => input.oninput?.() }, el("option", { value: "quantile" }, "quantile"),
    allowValues ? el("option", { value: "value" }, "value") : null);
  kind.addEventListener("change", () => input.dispatchEvent(new Event("input")));
  const take = (text) => {
    const epsilon = parseEpsilon(text), usable = epsilon !== null && (epsilon.quantile || allowValues);
    field.setAttribute("aria-invalid", !usable);
    if (!usable) return;
    show(text);
    change(text);
  };
  const show = (text) => {
    current = text;
    const epsilon = parseEpsilon(text);
    field.value = text;
    field.setAttribute("aria-invalid", "false");
    kind.value = epsilon.quantile ? "quantile" : "value";
    if (epsilon.quantile) input.value = Math.round(100 * epsilon.value);
    input.setAttribute("aria-valuetext", text);
  };
  show(current);
  const element = el("div", { class: "slider epsilon" }, el("span", {}, "ε"), el("span", { class: "pair" }, field, kind), input);
  return { element, set: show, take, enable: (on) => { for (const each of [input, field, kind]) each.disabled = !on; element.classList.toggle("off", !on); },
    get text() { return current; } };
}

/** Three significant digits, in a form that `--epsilon` reads. */
function asText(value) {
  return String(Number(value.toPrecision(3)));
}

function explorerControls(data, state, act, looks) {
  const { gammas, alphas, block } = data;
  const gamma = gridSlider("γ", gammas, state.g, (g) => `${gammas[g]}`, (g) => act({ g }));
  const alpha = gridSlider("α", alphas, state.a, (a) => `${alphas[a]}`, (a) => act({ a }));
  const parts = modeParts(state.mode);
  const remode = (change) => { Object.assign(parts, change); act({ mode: modeName(parts) }); };
  const prune = choices("Drop edges", [{ value: "none", label: "none" }, { value: "prune-near", label: "near", title: "prune-near: edges with a distance below ε" },
    { value: "prune-far", label: "far", title: "prune-far: edges with a distance above ε" }], parts.prune, (value) => remode({ prune: value }));
  const join = choices("Add edges", [{ value: "none", label: "none" }, { value: "add", label: "add", title: "add: every node to the far end of φ" },
    { value: "hub", label: "hub", title: "hub: every node to the largest entry of φ" }], parts.join, (value) => remode({ join: value }));
  const epsilon = epsilonControl(state.epsilon, !block.sampled, (q) => quantileOf(state.distances, q), (text) => act({ epsilon: text }));
  const policy = choices("Components", ["each", "first", "largest"].map((value) => ({ value, label: value })), state.policy, (value) => act({ policy: value }));
  const buttons = el("div", { class: "row" }, button("Back to the start", "The settings of the page's beginning", () => act({ ...state.start })),
    block.advice.length > 0 ? button("As advised", "The best candidate of the advice", () => act(advisedState(data, block.advice[0]))) : null);
  const show = (now) => {
    gamma.set(now.g);
    alpha.set(now.a);
    Object.assign(parts, modeParts(now.mode));
    prune.set(parts.prune);
    join.set(parts.join);
    if (epsilon.text !== now.epsilon) epsilon.set(now.epsilon);
    epsilon.enable(parts.prune !== "none");
    policy.set(now.policy);
    policy.enable(data.components > 1);
  };
  show(state);
  return { element: el("div", { class: "settings" }, gamma.element, alpha.element, prune.element, epsilon.element, join.element, policy.element, buttons, el("div", { class: "looks" }, looks)), show, epsilon };
}

/** A candidate of the advice as a change of the state; candidates whose γ or α the page lacks change what they can. */
function advisedState(data, { gamma, alpha, rewire: mode, epsilon }) {
  const g = data.gammas.indexOf(gamma), a = data.alphas.indexOf(alpha);
  return { ...(g >= 0 ? { g } : {}), ...(a >= 0 ? { a } : {}), mode, ...(epsilon ? { epsilon } : {}) };
}
