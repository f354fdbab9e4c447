// One floating box for hover values, shared by all charts.

const tooltip = el("div", { class: "tooltip", role: "status", hidden: true });

/** rows: [{colour, label, value}] under a heading, beside a point of the window. */
function showTooltip(clientX, clientY, heading, rows) {
  tooltip.replaceChildren(el("strong", {}, heading), ...rows.map((row) => el("div", {},
    row.colour ? el("i", { style: `background:${row.colour}` }) : null, el("span", {}, row.label), el("b", {}, row.value))));
  tooltip.hidden = false;
  const { width, height } = tooltip.getBoundingClientRect();
  const left = clientX + 14 + width > innerWidth ? clientX - width - 14 : clientX + 14;
  tooltip.style.left = Math.max(4, left) + "px";
  tooltip.style.top = Math.max(4, Math.min(clientY - height / 2, innerHeight - height - 4)) + "px";
}

function hideTooltip() {
  tooltip.hidden = true;
}
