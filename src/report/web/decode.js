// Arrays inside a page: "f64:", "f32:", "i32:", "i16:", "u16:" or "u8:" and base64 of little-endian numbers.

const ARRAY_TYPES = { f64: Float64Array, f32: Float32Array, i32: Int32Array, i16: Int16Array, u16: Uint16Array, u8: Uint8Array };

function decodeArray(text) {
  const colon = text.indexOf(":");
  const binary = atob(text.slice(colon + 1));
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return new ARRAY_TYPES[text.slice(0, colon)](bytes.buffer);
}

const bitsOf = new Float64Array(1), wordsOf = new Uint32Array(bitsOf.buffer);

/** The number nearest to a value whose last 8 bits are given; exact where the value is within 127 units in the last place. */
function withLastByte(value, byte) {
  bitsOf[0] = value;
  const low = wordsOf[0], sum = low + ((byte - low + 128) & 255) - 128;
  wordsOf[0] = sum;
  if (sum < 0) --wordsOf[1];
  else if (sum > 0xFFFFFFFF) ++wordsOf[1];
  return bitsOf[0];
}
