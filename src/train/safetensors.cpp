#include "dgat/train/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <ostream>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/data/sha256.h"

namespace dgat::train {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

using Json = nlohmann::ordered_json;
constexpr uint64_t kLongestHeader = 100'000'000;  // what the reference implementation allows

float from_half(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1FU, fraction = bits & 0x3FFU;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1.0p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide = exponent == 31 ? 0xFFU : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

template <class Stored, class Convert>
void convert_values(std::string_view bytes, std::vector<float>& out, Convert convert) {
  out.resize(bytes.size() / sizeof(Stored));
  for (size_t i = 0; i < out.size(); ++i) {
    Stored value;
    std::memcpy(&value, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = convert(value);
  }
}

size_t bytes_per_value(const std::string& dtype) {
  if (dtype == "F64") return 8;
  if (dtype == "F32") return 4;
  if (dtype == "F16" || dtype == "BF16") return 2;
  return 0;
}

void decode(const std::string& dtype, std::string_view bytes, std::vector<float>& out) {
  if (dtype == "F32") {
    out.resize(bytes.size() / sizeof(float));
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  } else if (dtype == "F64") {
    convert_values<double>(bytes, out, [](double v) { return static_cast<float>(v); });
  } else if (dtype == "F16") {
    convert_values<uint16_t>(bytes, out, from_half);
  } else {  // BF16: the upper half of a float32
    convert_values<uint16_t>(bytes, out, [](uint16_t v) {
      return std::bit_cast<float>(static_cast<uint32_t>(v) << 16);
    });
  }
}

/// Names the checksum in `__metadata__`: SHA-256 of the header text, with zeros in place of the
/// checksum itself, and of the bytes of the tensors.
constexpr const char* kChecksum = "dgat.sha256";
const std::string kNoChecksum(64, '0');

void check_sum(const std::string& stated, std::string header, std::string_view tensors,
               const std::string& source) {
  const size_t at = header.find(stated);
  if (stated.size() == kNoChecksum.size() && at != std::string::npos) {
    header.replace(at, stated.size(), kNoChecksum);
  }
  data::Sha256 hash;
  hash.update(header);
  hash.update(tensors);
  if (hash.finish() != stated) {
    throw_input("{}: the checksum does not agree; the file is damaged", source);
  }
}

struct Entry {
  NamedTensor tensor;
  std::string dtype;
  uint64_t begin = 0, end = 0;
};

Entry parse_entry(const std::string& name, const Json& json, const std::string& source) {
  const auto is_count = [](const Json& j) { return j.is_number_unsigned(); };
  if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string() ||
      !json.contains("shape") || !json["shape"].is_array() || !json.contains("data_offsets") ||
      !json["data_offsets"].is_array() || json["data_offsets"].size() != 2 ||
      !std::all_of(json["shape"].begin(), json["shape"].end(), is_count) ||
      !std::all_of(json["data_offsets"].begin(), json["data_offsets"].end(), is_count)) {
    throw_input("{}: tensor {} needs dtype, shape and data_offsets; the header is damaged", source,
                name);
  }
  Entry entry;
  entry.tensor.name = name;
  entry.dtype = json["dtype"].get<std::string>();
  entry.begin = json["data_offsets"][0].get<uint64_t>();
  entry.end = json["data_offsets"][1].get<uint64_t>();
  const uint64_t width = bytes_per_value(entry.dtype);
  if (width == 0) {
    throw_input("{}: tensor {} has dtype {}; F32, F64, F16 and BF16 are read", source, name,
                entry.dtype);
  }
  uint64_t size = width;
  bool overflow = false;
  for (const Json& extent : json["shape"]) {
    const auto n = extent.get<uint64_t>();
    overflow = overflow || n > INT64_MAX || __builtin_mul_overflow(size, n, &size);
    entry.tensor.shape.push_back(static_cast<int64_t>(n));
  }
  if (overflow || entry.begin > entry.end || entry.end - entry.begin != size) {
    throw_input("{}: tensor {} of dtype {} and its shape do not fill bytes {} to {}", source, name,
                entry.dtype, entry.begin, entry.end);
  }
  return entry;
}

}  // namespace

const NamedTensor* SafeTensors::find(std::string_view name) const {
  const auto at = std::find_if(tensors.begin(), tensors.end(),
                               [&](const NamedTensor& t) { return t.name == name; });
  return at == tensors.end() ? nullptr : &*at;
}

SafeTensors parse_safetensors(std::string_view bytes, const std::string& source) {
  uint64_t header_size = 0;
  if (bytes.size() < sizeof header_size) {
    throw_input("{}: {} bytes are too few for a safetensors file", source, bytes.size());
  }
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  bytes.remove_prefix(sizeof header_size);
  if (header_size > bytes.size() || header_size > kLongestHeader) {
    throw_input(
        "{}: the header states {} bytes, the file has {}; not a safetensors file or cut short",
        source, header_size, bytes.size());
  }
  const std::string_view header_text = bytes.substr(0, header_size);
  const Json header = Json::parse(header_text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) throw_input("{}: the header is not a JSON object", source);
  bytes.remove_prefix(header_size);

  SafeTensors file;
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name != "__metadata__") {
      entries.push_back(parse_entry(name, json, source));
      continue;
    }
    if (!json.is_object()) throw_input("{}: __metadata__ is not a JSON object", source);
    for (const auto& [key, value] : json.items()) {
      if (!value.is_string()) throw_input("{}: __metadata__ {} is not text", source, key);
      file.metadata[key] = value.get<std::string>();
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t expected = 0;
  for (Entry& entry : entries) {
    if (entry.begin != expected || entry.end > bytes.size()) {
      throw_input("{}: tensor {} occupies bytes {} to {} of {}, expected to begin at {}", source,
                  entry.tensor.name, entry.begin, entry.end, bytes.size(), expected);
    }
    expected = entry.end;
    decode(entry.dtype, bytes.substr(entry.begin, entry.end - entry.begin), entry.tensor.values);
    file.tensors.push_back(std::move(entry.tensor));
  }
  if (expected != bytes.size()) {
    throw_input("{}: {} bytes follow the last tensor; the file is damaged", source,
                bytes.size() - expected);
  }
  if (const auto stated = file.metadata.find(kChecksum); stated != file.metadata.end()) {
    check_sum(stated->second, std::string(header_text), bytes, source);
  }
  return file;
}

SafeTensors read_safetensors(const std::filesystem::path& path) {
  return parse_safetensors(read_whole_file(path), path.string());
}

void write_safetensors(std::ostream& out, std::span<const TensorView> tensors,
                       const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  header["__metadata__"] = metadata;
  header["__metadata__"][kChecksum] = kNoChecksum;
  uint64_t offset = 0;
  for (const TensorView& tensor : tensors) {
    int64_t size = 1;
    for (const int64_t n : tensor.shape) size *= n;
    expects(size == static_cast<int64_t>(tensor.values.size()), "a tensor fills its shape");
    expects(!header.contains(tensor.name), "tensor names are unique");
    const uint64_t end = offset + tensor.values.size_bytes();
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors start on a multiple of 8 bytes
  data::Sha256 hash;
  hash.update(text);
  for (const TensorView& tensor : tensors) {
    hash.update({reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size_bytes()});
  }
  text.replace(text.find(kNoChecksum), kNoChecksum.size(), hash.finish());
  const uint64_t size = text.size();
  out.write(reinterpret_cast<const char*>(&size), sizeof size);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  for (const TensorView& tensor : tensors) {
    out.write(reinterpret_cast<const char*>(tensor.values.data()),
              static_cast<std::streamsize>(tensor.values.size_bytes()));
  }
}

}  // namespace dgat::train
