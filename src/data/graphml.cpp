#include "dgat/data/graphml.h"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <unordered_map>

#include "attribute_graph.h"
#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/data/text_file.h"

namespace dgat::data {
namespace {

constexpr std::array<std::string_view, 5> kGraphMlLabels = {"class", "y", "target", "category",
                                                            "label"};
constexpr size_t kPiece = 1 << 20;  // bytes given to expat at a time

/// "http://ns name" or "name" -> "name".
std::string_view local_name(std::string_view name) {
  const size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

/// The handlers of expat. It is a C library: an error is kept and thrown when it has returned.
class Parser {
 public:
  Parser(const std::string& text, const std::string& name)
      : name_(name), graph_(name), parser_(XML_ParserCreate(nullptr), XML_ParserFree) {
    if (!parser_) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), on_start, on_end);
    XML_SetCharacterDataHandler(parser_.get(), on_text);
    XML_SetEntityDeclHandler(parser_.get(), on_entity);
    for (size_t at = 0; at < text.size() || at == 0; at += kPiece) {
      throw_if_interrupted("read graphml");
      const size_t length = std::min(kPiece, text.size() - at);
      const bool last = at + length >= text.size();
      const auto status =
          XML_Parse(parser_.get(), text.data() + at, static_cast<int>(length), last ? 1 : 0);
      if (!error_.empty()) throw InputError(error_);
      if (status != XML_STATUS_OK) {
        throw_input("{}:{}: not valid XML: {}", name_, line(),
                    XML_ErrorString(XML_GetErrorCode(parser_.get())));
      }
      if (last) break;
    }
    if (!seen_graph_) throw_input("{}: has no element <graph>; GraphML was expected", name_);
  }

  Dataset build(const LoadOptions& options) && {
    return std::move(graph_).build(kGraphMlLabels, options);
  }

 private:
  struct Key {
    bool node = false, edge = false, weight = false, numeric = false;
    int32_t attribute = -1;
  };
  using Attributes = const XML_Char**;

  int64_t line() const { return static_cast<int64_t>(XML_GetCurrentLineNumber(parser_.get())); }

  template <class Work>
  void guarded(Work&& work) {
    if (!error_.empty()) return;
    try {
      work();
    } catch (const std::exception& error) {
      error_ = error.what();
      XML_StopParser(parser_.get(), XML_FALSE);
    }
  }
  static Parser& of(void* self) { return *static_cast<Parser*>(self); }
  static void on_start(void* self, const XML_Char* name, Attributes attributes) {
    of(self).guarded([&] { of(self).start(local_name(name), attributes); });
  }
  static void on_end(void* self, const XML_Char* name) {
    of(self).guarded([&] { of(self).end(local_name(name)); });
  }
  static void on_text(void* self, const XML_Char* text, int length) {
    Parser& parser = of(self);
    if (parser.collects_) {
      parser.guarded([&] { parser.text_.append(text, static_cast<size_t>(length)); });
    }
  }
  static void on_entity(void* self, const XML_Char*, int, const XML_Char*, int, const XML_Char*,
                        const XML_Char*, const XML_Char*, const XML_Char*) {
    of(self).guarded([&] {
      of(self).fail("the document declares an entity, which is not read; write it without");
    });
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw_input("{}:{}: {}", name_, line(), what);
  }

  std::string find(Attributes attributes, std::string_view name) const {
    for (; *attributes != nullptr; attributes += 2) {
      if (local_name(attributes[0]) == name) return attributes[1];
    }
    return {};
  }
  std::string required(Attributes attributes, std::string_view element,
                       std::string_view name) const {
    std::string value = find(attributes, name);
    if (value.empty()) fail(fmt::format("<{}> has no {}", element, name));
    return value;
  }

  void start(std::string_view name, Attributes attributes) {
    if (name == "key") {
      add_key(attributes);
    } else if (name == "default") {
      collect();
    } else if (name == "graph") {
      if (seen_graph_) fail("a second or nested <graph>; one graph per file is read");
      seen_graph_ = true;
    } else if (name == "hyperedge") {
      fail("hyperedges are not read; write an edge for every pair");
    } else if (name == "node") {
      graph_.add_node(required(attributes, "node", "id"), line());
      in_node_ = true;
    } else if (name == "edge") {
      from_ = required(attributes, "edge", "source");
      to_ = required(attributes, "edge", "target");
      weight_.clear();
      in_edge_ = true;
    } else if (name == "data") {
      data_key_ = required(attributes, "data", "key");
      collect();
    }
  }

  void add_key(Attributes attributes) {
    const std::string id = required(attributes, "key", "id");
    std::string name = find(attributes, "attr.name"), type = find(attributes, "attr.type");
    const std::string target = find(attributes, "for");
    if (name.empty()) name = id;
    const bool all = target.empty() || target == "all";
    Key key{.node = all || target == "node",
            .edge = all || target == "edge",
            .weight = name == "weight",
            .numeric = type == "int" || type == "long" || type == "float" || type == "double" ||
                       type == "boolean"};
    if (key.node && target == "node") key.attribute = graph_.attribute(name, key.numeric);
    key_names_[id] = name;
    keys_[id] = key;
    last_key_ = id;
  }

  void end(std::string_view name) {
    if (name == "default") {
      Key& key = keys_[last_key_];
      if (key.attribute >= 0) graph_.set_default(key.attribute, trimmed());
      if (key.edge && key.weight) default_weight_ = trimmed();
    } else if (name == "data") {
      end_data();
    } else if (name == "node") {
      in_node_ = false;
    } else if (name == "edge") {
      graph_.add_edge(from_, to_, weight_.empty() ? default_weight_ : weight_, line());
      in_edge_ = false;
    }
    if (name == "default" || name == "data") collects_ = false;
  }

  void end_data() {
    if (!in_node_ && !in_edge_) return;
    const auto place = keys_.find(data_key_);
    if (place == keys_.end()) {
      fail(fmt::format("<data> names the key {}, which no <key> declares", shown(data_key_)));
    }
    Key& key = place->second;
    if (in_edge_) {
      if (key.weight) weight_ = trimmed();
      return;
    }
    if (key.attribute < 0) key.attribute = graph_.attribute(key_names_[data_key_], key.numeric);
    graph_.set(key.attribute, trimmed(), line());
  }

  void collect() {
    text_.clear();
    collects_ = true;
  }
  std::string trimmed() const {
    const size_t first = text_.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return {};
    return text_.substr(first, text_.find_last_not_of(" \t\r\n") - first + 1);
  }

  std::string name_, error_;
  AttributeGraph graph_;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
  std::unordered_map<std::string, Key> keys_;
  std::unordered_map<std::string, std::string> key_names_;
  std::string last_key_, data_key_, text_, from_, to_, weight_, default_weight_;
  bool seen_graph_ = false, in_node_ = false, in_edge_ = false, collects_ = false;
};

}  // namespace

Dataset read_graphml(const std::filesystem::path& path, const LoadOptions& options) {
  Dataset dataset = Parser(read_text(path), path.string()).build(options);
  const std::filesystem::path plain = path.extension() == ".gz" ? path.stem() : path.filename();
  dataset.name = plain.stem().string();
  return dataset;
}

}  // namespace dgat::data
