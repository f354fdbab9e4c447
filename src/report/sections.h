#pragma once

#include <span>

#include "dgat/report/page.h"
#include "run_analysis.h"

// The sections of a run's page, in the order of the page. Each file makes one or two of them.
namespace dgat::report {

Section results_section(const RunRecord& run);
Section learning_section(const RunRecord& run);
/// Empty blocks when no split has labelled test nodes.
Section prediction_section(const data::Dataset& dataset, std::span<const SplitOutput> outputs);
Section graph_section(const data::Dataset& dataset);
Section spectrum_section(const GraphAnalysis& analysis);
Section drawing_section(const GraphAnalysis& analysis, const ModelAnalysis* model);
Section attention_section(const GraphAnalysis& analysis, const ModelAnalysis& model);
Section options_section(const RunRecord& run);
Section comparison_section(std::span<const RunRecord> runs);

// Words and small sums that several sections share.

std::string grouped(int64_t value);                     ///< "519,000"
std::string short_number(double value);                 ///< four significant digits, "–" for none
std::string duration(double seconds);                   ///< "3m 05s", "–" for none
std::string with_spread(double mean, double std);       ///< "78.91% ± 1.20%"
std::string class_name(const data::Dataset&, int32_t);  ///< original label or number
std::vector<std::string> class_names(const data::Dataset&);
std::string metric_name(const std::string& metric);  ///< "ROC AUC"
Format metric_format();                              ///< of metrics in [0, 1]

struct Spread {
  double mean = 0, low = 0, high = 0;
};
/// Mean and one sample standard deviation to both sides; not-a-number values are left out.
Spread spread_of(std::span<const double> values);

}  // namespace dgat::report
