#include <algorithm>

#include "dgat/data/catalogue.h"
#include "dgat/nn/registry.h"
#include "dgat/study/comparison.h"

namespace dgat::study {
namespace {

/// The paper trains the small data sets with recipe classic only.
bool is_other_recipe(const Comparison& comparison, const std::string& dataset) {
  const auto names = small_datasets();
  const data::CatalogueEntry* entry = data::find_in_catalogue(dataset);
  if (entry == nullptr ||
      std::find(names.begin(), names.end(), std::string(entry->name)) == names.end()) {
    return false;
  }
  for (size_t r = 0; r < comparison.rows.size(); ++r) {
    const RowResult& row = comparison.study.rows[r];
    if (comparison.rows[r].paper && row.finished() && row.config->recipe == nn::Recipe::kResidual) {
      return true;
    }
  }
  return false;
}

/// A dgat without directions or with the random-walk Laplacian is a row of the paper's ablation,
/// not its DGAT; one that leaves the graph alone is DGAT on the graph that was chosen.
std::optional<Published> published_row(const std::string& dataset, const Row& row) {
  if (row.candidates.empty()) return std::nullopt;
  const train::Config& config = *row.candidates.front();
  const bool whole = config.directional && config.laplacian == train::LaplacianKind::kTuned;
  if (whole || !nn::find_model(config.model).directional) {
    return published_result(dataset, config.model);
  }
  if (config.model != "dgat" || config.laplacian == train::LaplacianKind::kAuthors) {
    return std::nullopt;
  }
  return published_ablation(dataset, {config.laplacian == train::LaplacianKind::kTuned,
                                      config.directional, config.rewire != rewire::Mode{}});
}

}  // namespace

Comparison compare_models(const Study& plan, StudyResult result, const data::Dataset& dataset) {
  const std::string& name = dataset.name;
  Comparison comparison = compare_rows(std::move(result), "compare", std::nullopt, [&](size_t row) {
    return published_row(name, plan.rows[row]);
  });
  comparison.notes = edition_notes(dataset);
  if (is_other_recipe(comparison, name)) {
    comparison.notes.emplace_back(
        "The paper's numbers on this data set are of --recipe classic with its own options.");
  }
  return comparison;
}

}  // namespace dgat::study
