// How numbers are printed. Exports never pass through here: they keep full precision.

function formatNumber(value, format) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return value;
  if (format === "percent") return (100 * value).toFixed(2) + "%";
  if (format === "fixed") return value.toFixed(2);
  if (format === "integer") return Math.round(value).toLocaleString("en-US");
  return plain(value, 4);
}

/** A number with so many significant digits; very large and very small ones with an exponent. */
function plain(value, digits) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return String(Number(value.toPrecision(Math.min(digits, 3))).toExponential()).replace("e+", "e");
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  return String(Number(value.toPrecision(digits)));
}

/** Tick labels: as short as possible. */
function formatTick(value, format) {
  if (format === "percent") return plain(Number((100 * value).toPrecision(6)), 4) + "%";
  return plain(Number(value.toPrecision(6)), 4);
}
