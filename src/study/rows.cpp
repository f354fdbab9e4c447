#include "dgat/study/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dgat/core/error.h"
#include "dgat/nn/registry.h"

namespace dgat::study {
namespace {

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Leaves out the extra options ("extra: a=1,b=2", "extra.a: 1") that a model does not know.
train::Settings without_foreign_extras(const train::Settings& settings, const nn::ModelInfo& info) {
  const auto known = [&info](const std::string& name) {
    return std::any_of(info.extras.begin(), info.extras.end(),
                       [&name](const nn::ExtraOption& extra) { return extra.name == name; });
  };
  train::Settings kept = train::with_single_extras(settings);
  std::erase_if(kept, [&known](const auto& entry) {
    return entry.first.starts_with(train::kOneExtra) &&
           !known(entry.first.substr(train::kOneExtra.size()));
  });
  return kept;
}

/// Resolves every combination; equal ones are kept once. One on which an option among `own` has no
/// effect fails: it would be another one under a name of its own. A failure is that of the first.
Row resolved(std::string name, const std::vector<train::Settings>& combinations,
             const train::DataFacts& dataset, const std::set<std::string>& own = {}) {
  Row row{std::move(name), {}, ""};
  std::set<std::string> seen;
  for (const train::Settings& settings : combinations) {
    try {
      auto config = std::make_shared<const train::Config>(train::resolve(settings, dataset));
      for (const std::string& key : own) {
        const std::string& value = settings.at(key);
        const std::string why = train::reason_ignored(key, value, *config);
        if (!why.empty()) throw_input("{}; leave out {}={}", why, key, value);
      }
      if (seen.insert(train::to_yaml(*config)).second) row.candidates.push_back(config);
    } catch (const InputError& error) {
      if (row.failure.empty()) row.failure = error.what();
    }
  }
  if (!row.candidates.empty()) row.failure.clear();
  return row;
}

bool may_differ_between_candidates(const std::string& key) {
  return key == "layers" || belongs_to_trial(train::find_option(key));
}

bool is_ignored(const std::string& key, const std::string& value, const train::Settings& settings,
                const train::DataFacts& dataset) {
  try {
    return !train::reason_ignored(key, value, train::resolve(settings, dataset)).empty();
  } catch (const InputError&) {
    return false;  // resolved() keeps the reason
  }
}

/// Every combination with every value of the grid, without the options that the row sets itself
/// (own) and those that its model ignores.
std::vector<train::Settings> with_grid(std::vector<train::Settings> combinations,
                                       const train::Grid& grid, const std::set<std::string>& own,
                                       const train::DataFacts& dataset) {
  for (const auto& [key, values] : grid) {
    if (key == "model" || !may_differ_between_candidates(key)) {
      throw_input("{}: is the same for all rows; give one value instead of a list", key);
    }
    if (own.contains(key)) continue;
    std::vector<train::Settings> next;
    for (const train::Settings& settings : combinations) {
      for (const std::string& value : values) {
        train::Settings with = settings;
        with[key] = value;
        if (is_ignored(key, value, with, dataset)) with = settings;
        next.push_back(std::move(with));
      }
    }
    combinations = std::move(next);  // equal ones are dropped later
  }
  return combinations;
}

}  // namespace

std::vector<train::Settings> parse_grid(const std::string& text) {
  std::vector<train::Settings> combinations = {{}};
  if (text.empty()) return combinations;
  for (const std::string& part : split_at(text, ':')) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos) {
      throw_input("'{}': write key=value or key=value/value, with colons between", part);
    }
    std::string key = part.substr(0, equals);
    std::replace(key.begin(), key.end(), '-', '_');
    const bool one_extra = key.starts_with(train::kOneExtra);  // only its model can check it
    if (!one_extra && !may_differ_between_candidates(key)) {
      throw_input("'{}': {} is the same for all rows; give it as a flag", part, key);
    }
    if (key == "model") throw_input("'{}': a row has one model; write it first", part);
    std::vector<train::Settings> next;
    for (const std::string& value : split_at(part.substr(equals + 1), '/')) {
      train::Config probe;
      if (!one_extra) train::find_option(key).set(probe, value);
      for (train::Settings settings : combinations) {
        settings[key] = value;
        next.push_back(std::move(settings));
      }
    }
    combinations = std::move(next);
  }
  return combinations;
}

Row row_of(const std::string& text, const train::Settings& common, const train::DataFacts& dataset,
           const train::Grid& grid_of_all) {
  const size_t colon = std::min(text.find(':'), text.size());
  const nn::ModelInfo& info = nn::find_model(text.substr(0, colon));
  train::Settings base = without_foreign_extras(common, info);
  base["model"] = info.name;
  std::vector<train::Settings> combinations;
  std::set<std::string> own;
  for (const train::Settings& grid :
       parse_grid(colon < text.size() ? text.substr(colon + 1) : "")) {
    train::Settings settings = base;
    for (const auto& [key, value] : grid) {
      settings[key] = value;
      own.insert(key);
    }
    combinations.push_back(std::move(settings));
  }
  combinations = with_grid(std::move(combinations), grid_of_all, own, dataset);
  return resolved(text, combinations, dataset, own);
}

std::vector<Row> rows_of(const std::string& models, const train::Settings& common,
                         const train::DataFacts& dataset, const train::Grid& grid) {
  std::vector<std::string> names;
  if (models == "all") {
    for (const nn::ModelInfo& info : nn::all_models()) names.push_back(info.name);
  } else {
    names = split_at(models, ',');
  }
  std::vector<Row> rows;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) throw_input("models: write a,b,c or all; got '{}'", models);
    if (!seen.insert(name).second) throw_input("models: {} is listed twice", name);
    rows.push_back(row_of(name, common, dataset, grid));
  }
  return rows;
}

std::string plain_form(const std::string& model) {
  const auto known = nn::all_models();
  const std::string name = model.substr(1);
  const bool exists = model.starts_with("d") &&
                      std::any_of(known.begin(), known.end(),
                                  [&name](const nn::ModelInfo& info) { return info.name == name; });
  return exists ? name : "";
}

train::Settings with_paper_defaults(train::Settings settings, const std::string& model) {
  settings.try_emplace("preset", "paper");
  const nn::ModelInfo& info = nn::find_model(model);
  if (info.directional && !info.defaults.contains("rewire")) settings.try_emplace("rewire", "auto");
  return settings;
}

std::vector<Row> rows_of_ablation(const train::Settings& given, const std::string& grid,
                                  const train::DataFacts& dataset) {
  train::Settings settings = given;
  settings.try_emplace("rewire", "auto");  // the switch of the paper
  const train::Config full = train::resolve(settings, dataset);
  if (plain_form(full.model).empty()) {
    throw_input("ablate: {} has no plain form; use --model dgat, dgatv2, dgt or a -sep form",
                full.model);
  }
  const std::vector<train::Settings> candidates = parse_grid(grid);
  for (const train::Settings& own : candidates) {
    const train::Config config = train::resolve(train::flags_over_file(settings, own), dataset);
    if (config.laplacian != train::LaplacianKind::kTuned || !config.directional ||
        config.rewire == rewire::Mode{}) {
      throw_input(
          "ablate: it switches laplacian, directional and rewire itself; leave out "
          "laplacian, directional off and rewire none");
    }
  }
  std::vector<Row> rows;
  for (const AblationSwitches& on : ablation_rows()) {
    std::vector<train::Settings> combinations;
    for (const train::Settings& own : candidates) {
      train::Settings row = settings;
      for (const auto& [key, value] : own) row[key] = value;
      // What a switch leaves without effect is set to one value, so that candidates coincide.
      if (!on.laplacian) {
        row["laplacian"] = "default";
        row["alpha"] = std::string("1");
        row["gamma"] = std::string("1");
      }
      if (!on.directional) row["directional"] = "off";
      if (!on.rewire) {
        row["rewire"] = "none";
        row["epsilon"] = "auto";
      }
      if (!on.laplacian && !on.directional && !on.rewire) {
        // The plain model under its own name: a ledger that has it need not train it again.
        row["model"] = plain_form(full.model);
        for (const train::OptionInfo& option : train::config_options()) {
          if (train::is_about_directions(option)) row.erase(option.key);
        }
      }
      combinations.push_back(std::move(row));
    }
    std::string name;
    for (const auto& [used, word] : {std::pair{on.laplacian, "laplacian"},
                                     {on.directional, "attention"},
                                     {on.rewire, "rewiring"}}) {
      if (!used) continue;
      if (!name.empty()) name += " + ";
      name += word;
    }
    if (!on.laplacian && !on.directional && !on.rewire) name = plain_form(full.model);
    if (on.laplacian && on.directional && on.rewire) name = full.model;
    rows.push_back(resolved(std::move(name), combinations, dataset));
  }
  return rows;
}

}  // namespace dgat::study
