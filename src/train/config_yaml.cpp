#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/train/grid.h"
#include "dgat/train/option_table.h"

namespace dgat::train {
namespace {

/// Quotes what YAML would read as something else: a version-safe superset of what is needed.
std::string quoted(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '/' ||
           c == '+' || (c == '-');
  });
  if (plain && text.front() != '-') return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// The values of one option, checked. One that is not in a list is a list of one.
std::vector<std::string> values_of(const std::string& key, const YAML::Node& node) {
  std::vector<std::string> values;
  if (node.IsSequence()) {
    for (const auto& value : node) {
      if (!value.IsScalar()) throw_input("{}: a list of plain values was expected", key);
      values.push_back(value.Scalar());
    }
    if (values.empty()) throw_input("{}: the list is empty", key);
  } else {
    values.push_back(node.Scalar());
  }
  for (const std::string& value : values) {
    Config probe;
    find_option(key).set(probe, value);
  }
  return values;
}

/// With a grid, values may be lists.
Settings parse(const std::string& yaml, const std::string& source, Grid* grid) {
  YAML::Node root;
  try {
    root = YAML::Load(yaml);
  } catch (const YAML::Exception& error) {
    throw_input("{}:{}: not YAML: {}", source, error.mark.line + 1, error.msg);
  }
  if (root.IsNull()) return {};
  if (!root.IsMap()) throw_input("{}: a mapping `option: value` was expected", source);
  Settings settings;
  for (const auto& item : root) {
    const int line = item.first.Mark().line + 1;
    if (!item.first.IsScalar() || item.second.IsMap()) {
      throw_input("{}:{}: `option: value` was expected, without nesting", source, line);
    }
    std::string key = item.first.Scalar();
    std::replace(key.begin(), key.end(), '-', '_');
    if (item.second.IsSequence() && grid == nullptr) {
      throw_input("{}:{}: {} has a list of values; only `compare` and `tune` try several", source,
                  line, key);
    }
    std::vector<std::string> values;
    try {
      values = values_of(key, item.second);
    } catch (const InputError& error) {
      throw_input("{}:{}: {}", source, line, error.what());
    }
    const bool is_new = values.size() > 1
                            ? !settings.contains(key) && grid->emplace(key, values).second
                            : (grid == nullptr || !grid->contains(key)) &&
                                  settings.emplace(key, values.front()).second;
    if (!is_new) throw_input("{}:{}: {} is given twice", source, line, key);
  }
  return settings;
}

}  // namespace

Settings parse_settings(const std::string& yaml, const std::string& source) {
  return parse(yaml, source, nullptr);
}

Settings parse_settings(const std::string& yaml, const std::string& source, Grid& grid) {
  return parse(yaml, source, &grid);
}

Settings read_settings(const std::filesystem::path& path) {
  return parse_settings(read_whole_file(path), path.string());
}

Settings read_settings(const std::filesystem::path& path, Grid& grid) {
  return parse_settings(read_whole_file(path), path.string(), grid);
}

std::string to_yaml(const Config& config) {
  std::string out;
  std::string group;
  for (const OptionInfo& option : config_options()) {
    if (option.group != group) {
      out += fmt::format("{}# {}\n", out.empty() ? "" : "\n", option.group);
      group = option.group;
    }
    out += fmt::format("{}: {}  # {}\n", option.key, quoted(option.get(config)), option.meaning);
  }
  return out;
}

}  // namespace dgat::train
