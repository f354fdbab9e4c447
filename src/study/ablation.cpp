#include "dgat/study/ablation.h"

#include "dgat/core/error.h"

namespace dgat::study {

Comparison compare_ablation(StudyResult study) {
  const std::span<const AblationSwitches> switches = ablation_rows();
  expects(study.rows.size() == switches.size(), "an ablation has seven rows");
  const std::string dataset = study.dataset;
  Comparison result = compare_rows(std::move(study), "ablate", 0, [&](size_t row) {
    return published_ablation(dataset, switches[row]);
  });
  result.lead = ablation_columns();
  for (size_t row = 0; row < switches.size(); ++row) {
    result.lead_cells[row] = ablation_cells(result.study.rows[row].name, switches[row]);
  }
  return result;
}

std::vector<Table::Column> ablation_columns() {
  return {{"row", "row"},
          {"laplacian", "L(α,γ)"},
          {"directional", "attention"},
          {"rewire", "rewiring"}};
}

std::vector<Cell> ablation_cells(const std::string& name, const AblationSwitches& on) {
  return {Cell(name), Cell::check(on.laplacian), Cell::check(on.directional),
          Cell::check(on.rewire)};
}

}  // namespace dgat::study
