// Making elements. Text is always set as text: nothing on this page is parsed as HTML.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

function button(label, title, onclick) {
  return el("button", { type: "button", title, onclick }, label);
}

/** A row of radio-like choices; calls choose(index). */
function select(label, options, chosen, choose) {
  const list = el("select", { onchange: () => choose(list.selectedIndex) },
    options.map((text, index) => el("option", { selected: index === chosen }, text)));
  return el("label", { class: "control" }, el("span", {}, label), list);
}

function checkbox(label, checked, change) {
  const box = el("input", { type: "checkbox", checked, onchange: () => change(box.checked) });
  return el("label", { class: "control check" }, box, el("span", {}, label));
}

function slug(text) {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "block";
}

/** Calls act now and whenever the element gets another width. */
function onWidth(element, act) {
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.round(element.clientWidth);
    if (width > 0 && width !== last) {
      last = width;
      act(width);
    }
  }).observe(element);
}
