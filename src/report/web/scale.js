// From data to pixels, and where ticks go.

function linearScale(from, to, start, end) {
  if (from === to) {
    const pad = Math.abs(from) * 0.05 || 0.5;
    [from, to] = [from - pad, to + pad];
  }
  const scale = (value) => start + (value - from) / (to - from) * (end - start);
  scale.invert = (pixel) => from + (pixel - start) / (end - start) * (to - from);
  scale.ticks = (count) => linearTicks(from, to, count);
  scale.domain = [from, to];
  return scale;
}

function linearTicks(from, to, count) {
  const raw = (to - from) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const ticks = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; ++k) ticks.push(k * step);
  return ticks;
}

function logScale(from, to, start, end) {
  if (from === to) [from, to] = [from / 2, to * 2];
  const inner = linearScale(Math.log10(from), Math.log10(to), start, end);
  const scale = (value) => inner(Math.log10(value));
  scale.invert = (pixel) => 10 ** inner.invert(pixel);
  scale.ticks = (count) => {
    const decades = Math.log10(to / from);
    if (decades < 1.2) return linearTicks(from, to, count).filter((tick) => tick > 0);
    const every = Math.max(1, Math.ceil(decades / count));
    const ticks = [];
    for (let k = Math.ceil(Math.log10(from) - 1e-9); k <= Math.log10(to) + 1e-9; k += every) ticks.push(10 ** k);
    return ticks;
  };
  scale.domain = [from, to];
  return scale;
}

/** Smallest and largest finite value of several lists; positive ones only for a log axis. */
function extent(lists, positive) {
  let low = Infinity, high = -Infinity;
  for (const list of lists) {
    for (const value of list || []) {
      if (value === null || (positive && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? [low, high] : positive ? [1, 10] : [0, 1];
}
