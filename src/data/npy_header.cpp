#include "npy_header.h"

#include <bit>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>

#include "dgat/core/error.h"
#include "printable.h"

namespace dgat::data {
namespace {

struct TypeName {
  DType dtype;
  std::string_view code;  ///< without the byte order
  const char* name;
};

constexpr TypeName kTypes[] = {
    {DType::kBool, "b1", "bool"},       {DType::kInt8, "i1", "int8"},
    {DType::kInt16, "i2", "int16"},     {DType::kInt32, "i4", "int32"},
    {DType::kInt64, "i8", "int64"},     {DType::kUInt8, "u1", "uint8"},
    {DType::kUInt16, "u2", "uint16"},   {DType::kUInt32, "u4", "uint32"},
    {DType::kUInt64, "u8", "uint64"},   {DType::kFloat16, "f2", "float16"},
    {DType::kFloat32, "f4", "float32"}, {DType::kFloat64, "f8", "float64"},
};

const TypeName& type_of(DType dtype) {
  return kTypes[static_cast<size_t>(dtype)];
}

/// Reads the few Python literals that a header is made of.
class Parser {
 public:
  Parser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  ArrayInfo parse() {
    std::optional<bool> fortran_order;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr") {
        descr();
      } else if (key == "fortran_order") {
        info_.fortran_order = boolean();
        fortran_order = info_.fortran_order;
      } else if (key == "shape") {
        shape();
      } else {
        fail("an unknown entry");
      }
      if (!accept(',') && peek() != '}') fail("no comma between entries");
    }
    if (!has_descr_ || !fortran_order || !has_shape_) fail("descr, fortran_order or shape missing");
    return std::move(info_);
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw_input("{} has a broken .npy header ({}): {}", where_, what, printable(text_));
  }
  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail("not a dictionary");
  }
  std::string_view string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("no quoted name");
    const size_t begin = at_ + 1, end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail("an open quote");
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }
  bool boolean() {
    peek();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += std::string_view(word).size();
        return value;
      }
    }
    fail("fortran_order is neither True nor False");
  }
  int64_t whole_number() {
    peek();
    int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [rest, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) fail("a length that is not a whole number");
    at_ += static_cast<size_t>(rest - begin);
    accept('L');  // Python 2 wrote long integers so
    return value;
  }
  void shape() {
    has_shape_ = true;
    expect('(');
    info_.shape.clear();
    while (!accept(')')) {
      info_.shape.push_back(whole_number());
      if (!accept(',') && peek() != ')') fail("no comma between lengths");
    }
    if (info_.shape.size() > 32) fail("more than 32 dimensions");
  }
  void descr() {
    has_descr_ = true;
    if (peek() == '[') {
      throw_input("{} is a structured array; save its columns as separate arrays", where_);
    }
    const std::string_view text = string();
    const bool has_order = !text.empty() && std::string_view("<>|=").find(text[0]) < 4;
    const std::string_view code = has_order ? text.substr(1) : text;
    if (code.starts_with("O")) {
      throw_input(
          "{} is an array of Python objects (a pickle), which is not read because that "
          "runs code; save it as numbers",
          where_);
    }
    for (const TypeName& type : kTypes) {
      if (type.code != code) continue;
      info_.dtype = type.dtype;
      info_.big_endian = text[0] == '>';
      return;
    }
    throw_input("{} has dtype {}; only bool, integers and float16 to float64 are read", where_,
                printable(text));
  }

  std::string_view text_;
  const std::string& where_;
  size_t at_ = 0;
  bool has_descr_ = false, has_shape_ = false;
  ArrayInfo info_;
};

}  // namespace

int64_t item_size(DType dtype) {
  return type_of(dtype).code[1] - '0';
}

const char* name_of(DType dtype) {
  return type_of(dtype).name;
}

int64_t ArrayInfo::size() const {
  int64_t count = 1;
  for (const int64_t length : shape) count *= length;
  return count;
}

std::string ArrayInfo::shape_text() const {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) text += (d > 0 ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

ArrayInfo parse_npy_header(std::string_view text, const std::string& where) {
  ArrayInfo info = Parser(text, where).parse();
  int64_t bytes = item_size(info.dtype);
  for (const int64_t length : info.shape) {
    if (__builtin_mul_overflow(bytes, length, &bytes)) {
      // A zero length would make the product small again, but no reader could walk such a shape.
      throw_input("{} has the impossible shape {}", where, info.shape_text());
    }
  }
  return info;
}

std::string npy_preamble(const ArrayInfo& info) {
  static_assert(std::endian::native == std::endian::little, "arrays are written as they lie");
  std::string shape;
  for (const int64_t length : info.shape) shape += std::to_string(length) + ", ";
  if (info.shape.size() > 1) shape.resize(shape.size() - 2);
  if (info.shape.size() == 1) shape.pop_back();
  const char order = item_size(info.dtype) == 1 ? '|' : info.big_endian ? '>' : '<';
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}), }}", order,
                  type_of(info.dtype).code, info.fortran_order ? "True" : "False", shape);
  constexpr size_t kAlignment = 64, kBefore = 10;  // magic, version, two bytes of length
  text.append(kAlignment - 1 - (kBefore + text.size()) % kAlignment, ' ');
  text += '\n';
  std::string preamble(kNpyMagic);
  preamble +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return preamble + text;
}

}  // namespace dgat::data
