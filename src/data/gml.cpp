#include "dgat/data/gml.h"

#include <array>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "attribute_graph.h"
#include "dgat/core/error.h"
#include "dgat/data/text_file.h"

namespace dgat::data {
namespace {

constexpr std::array<std::string_view, 5> kGmlLabels = {"class", "y", "target", "category",
                                                        "value"};

enum class Kind { kEnd, kWord, kNumber, kText, kOpen, kClose };

struct Token {
  Kind kind = Kind::kEnd;
  std::string_view text;
  int64_t line = 0;
};

class Tokens {
 public:
  Tokens(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Token next() {
    skip_blanks();
    if (at_ >= text_.size()) return {Kind::kEnd, {}, line_};
    const size_t begin = at_;
    const int64_t line = line_;
    const char c = text_[at_++];
    if (c == '[') return {Kind::kOpen, "[", line};
    if (c == ']') return {Kind::kClose, "]", line};
    if (c == '"') return quoted(line);
    while (at_ < text_.size() && text_[at_] != '[' && text_[at_] != ']' && !blank(text_[at_])) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    double value = 0;
    return {parse_real(word, value) ? Kind::kNumber : Kind::kWord, word, line};
  }

  [[noreturn]] void fail(int64_t line, const std::string& what) const {
    throw_input("{}:{}: {}", name_, line, what);
  }

 private:
  static bool blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (!blank(text_[at_])) {
        return;
      } else if (text_[at_++] == '\n') {
        ++line_;
      }
    }
  }
  Token quoted(int64_t line) {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_++] == '\n') ++line_;
    }
    if (at_ >= text_.size()) fail(line, "the quote that opens here is never closed");
    return {Kind::kText, text_.substr(begin, at_++ - begin), line};
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

struct Pair {
  std::string_view key;
  Token value;
};

class GmlReader {
 public:
  GmlReader(std::string_view text, const std::string& name) : tokens_(text, name), graph_(name) {
    bool found = false;
    for (Token key = tokens_.next(); key.kind != Kind::kEnd; key = tokens_.next()) {
      const Token value = value_of(key);
      if (key.text == "graph" && value.kind == Kind::kOpen) {
        if (found) tokens_.fail(key.line, "a second graph; one per file is read");
        found = true;
        read_graph();
      } else if (value.kind == Kind::kOpen) {
        skip_list(value.line);
      }
    }
    if (!found) throw_input("{}: has no `graph [ ... ]`; GML was expected", name);
  }
  AttributeGraph take() && { return std::move(graph_); }

 private:
  Token value_of(const Token& key) {
    if (key.kind != Kind::kWord) {
      tokens_.fail(key.line, "a key was expected, got " + shown(key.text));
    }
    const Token value = tokens_.next();
    if (value.kind == Kind::kEnd || value.kind == Kind::kClose) {
      tokens_.fail(key.line, "the key " + shown(key.text) + " has no value");
    }
    return value;
  }

  void skip_list(int64_t line) {
    for (int64_t depth = 1; depth > 0;) {
      const Token token = tokens_.next();
      if (token.kind == Kind::kEnd) tokens_.fail(line, "the list that opens here is never closed");
      depth += token.kind == Kind::kOpen ? 1 : token.kind == Kind::kClose ? -1 : 0;
    }
  }

  /// The plain pairs up to the closing bracket.
  std::vector<Pair> read_pairs(int64_t line) {
    std::vector<Pair> pairs;
    while (true) {
      const Token key = tokens_.next();
      if (key.kind == Kind::kClose) return pairs;
      if (key.kind == Kind::kEnd) tokens_.fail(line, "the list that opens here is never closed");
      const Token value = value_of(key);
      if (value.kind == Kind::kOpen) {
        skip_list(value.line);
        continue;
      }
      for (const Pair& pair : pairs) {
        if (pair.key == key.text) {
          tokens_.fail(key.line, "the key " + shown(key.text) + " is given twice");
        }
      }
      pairs.push_back({key.text, value});
    }
  }

  void read_graph() {
    while (true) {
      const Token key = tokens_.next();
      if (key.kind == Kind::kClose) return;
      if (key.kind == Kind::kEnd) tokens_.fail(key.line, "the graph is never closed by ]");
      const Token value = value_of(key);
      if (value.kind != Kind::kOpen) continue;
      if (key.text == "node") {
        add_node(read_pairs(value.line), key.line);
      } else if (key.text == "edge") {
        add_edge(read_pairs(value.line), key.line);
      } else {
        skip_list(value.line);
      }
    }
  }

  std::string_view required(const std::vector<Pair>& pairs, std::string_view key, int64_t line,
                            const char* element) const {
    for (const Pair& pair : pairs) {
      if (pair.key == key) return pair.value.text;
    }
    tokens_.fail(line, std::string(element) + " without " + std::string(key));
  }

  void add_node(const std::vector<Pair>& pairs, int64_t line) {
    graph_.add_node(required(pairs, "id", line, "a node"), line);
    for (const Pair& pair : pairs) {
      if (pair.key == "id") continue;
      const bool numeric = pair.value.kind == Kind::kNumber;
      graph_.set(graph_.attribute(std::string(pair.key), numeric), std::string(pair.value.text),
                 pair.value.line);
    }
  }

  void add_edge(const std::vector<Pair>& pairs, int64_t line) {
    std::string_view weight, value;
    for (const Pair& pair : pairs) {
      if (pair.key == "weight") weight = pair.value.text;
      if (pair.key == "value") value = pair.value.text;
    }
    graph_.add_edge(required(pairs, "source", line, "an edge"),
                    required(pairs, "target", line, "an edge"), weight.empty() ? value : weight,
                    line);
  }

  Tokens tokens_;
  AttributeGraph graph_;
};

}  // namespace

Dataset read_gml(const std::filesystem::path& path, const LoadOptions& options) {
  const std::string text = read_text(path), name = path.string();
  AttributeGraph graph = GmlReader(text, name).take();
  graph.name_nodes_by("label");
  Dataset dataset = std::move(graph).build(kGmlLabels, options);
  const std::filesystem::path plain = path.extension() == ".gz" ? path.stem() : path.filename();
  dataset.name = plain.stem().string();
  return dataset;
}

}  // namespace dgat::data
