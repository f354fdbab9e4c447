// Arrays inside a drawing: "f32:", "i32:", "u16:" or "u8:" and base64 of little-endian numbers.

const ARRAY_TYPES = { f32: Float32Array, i32: Int32Array, u16: Uint16Array, u8: Uint8Array };

function decodeArray(text) {
  const colon = text.indexOf(":");
  const binary = atob(text.slice(colon + 1));
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return new ARRAY_TYPES[text.slice(0, colon)](bytes.buffer);
}
