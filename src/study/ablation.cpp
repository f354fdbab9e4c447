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
  result.lead = {{"row", "row"},
                 {"laplacian", "L(α,γ)"},
                 {"directional", "attention"},
                 {"rewire", "rewiring"}};
  for (size_t row = 0; row < switches.size(); ++row) {
    result.lead_cells[row] = {
        Cell(result.study.rows[row].name), Cell::check(switches[row].laplacian),
        Cell::check(switches[row].directional), Cell::check(switches[row].rewire)};
  }
  return result;
}

}  // namespace dgat::study
