#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
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

}  // namespace

Settings parse_settings(const std::string& yaml, const std::string& source) {
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
    if (!item.first.IsScalar() || !(item.second.IsScalar() || item.second.IsNull())) {
      throw_input("{}:{}: `option: value` was expected, without lists or nesting", source, line);
    }
    std::string key = item.first.Scalar();
    std::replace(key.begin(), key.end(), '-', '_');
    try {
      Config probe;
      find_option(key).set(probe, item.second.Scalar());
    } catch (const InputError& error) {
      throw_input("{}:{}: {}", source, line, error.what());
    }
    if (!settings.emplace(key, item.second.Scalar()).second) {
      throw_input("{}:{}: {} is given twice", source, line, key);
    }
  }
  return settings;
}

Settings read_settings(const std::filesystem::path& path) {
  return parse_settings(read_whole_file(path), path.string());
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
