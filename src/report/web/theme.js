// Light and dark, and the colours that charts use.

// Okabe and Ito's colour-blind-safe palette first, then others of middling lightness.
const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#B8A800", "#7A7A7A",
  "#6699CC", "#88CCEE", "#44AA99", "#EE3377", "#999933", "#CC6677", "#117733", "#AA4499"];

const PALETTE_SIZE = PALETTE.length;

const themeListeners = [];

/** act runs whenever the colours of the page change. */
function onTheme(act) {
  themeListeners.push(act);
}

function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function rgb(hex) {
  return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
}

function seriesColour(index) {
  return PALETTE[index % PALETTE_SIZE];
}

function themeButton() {
  const modes = ["auto", "light", "dark"];
  const stored = () => { try { return localStorage.getItem("dgat-theme"); } catch { return null; } };
  let mode = modes.includes(stored()) ? stored() : "auto";
  const apply = () => {
    if (mode === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = mode;
    toggle.textContent = `Theme: ${mode}`;
    themeListeners.forEach((act) => act());
  };
  const toggle = button("", "Switch between automatic, light and dark", () => {
    mode = modes[(modes.indexOf(mode) + 1) % modes.length];
    try { localStorage.setItem("dgat-theme", mode); } catch { /* a page from disk may have no storage */ }
    apply();
  });
  toggle.id = "theme";
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
  apply();
  return toggle;
}
