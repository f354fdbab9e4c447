// Files for the reader: a chart as SVG or PNG, a table as CSV.

function download(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function csvText(columns, rows) {
  const quote = (cell) => {
    const text = cell === null || cell === undefined ? "" : String(cell);
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  return [columns, ...rows].map((row) => row.map(quote).join(",")).join("\r\n") + "\r\n";
}

function exportCsv(name, columns, rows) {
  download(name + ".csv", new Blob([csvText(columns, rows)], { type: "text/csv;charset=utf-8" }));
}

const EXPORTED_STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "opacity", "fill-opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline"];

/** The picture with everything the style sheet says written into it. */
function standaloneSvg(picture) {
  const copy = picture.cloneNode(true);
  const originals = [picture, ...picture.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, index) => {
    const computed = getComputedStyle(originals[index]);
    for (const name of EXPORTED_STYLES) element.setAttribute(name, computed.getPropertyValue(name));
    element.removeAttribute("class");
  });
  copy.querySelectorAll("[opacity='0'], [data-transient]").forEach((element) => element.remove());
  const [, , width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("xmlns", SVG_NAMESPACE);
  copy.prepend(svg("rect", { width, height, fill: cssColour("--surface") }));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function exportSvg(name, picture) {
  download(name + ".svg", new Blob([standaloneSvg(picture).text], { type: "image/svg+xml" }));
}

function exportPng(name, picture) {
  const { text, width, height } = standaloneSvg(picture);
  const image = new Image();
  image.onload = () => {
    const canvas = el("canvas", { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
    canvas.toBlob((blob) => download(name + ".png", blob));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}
