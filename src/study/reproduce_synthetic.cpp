#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/suggest.h"
#include "dgat/nn/registry.h"
#include "dgat/study/rows.h"
#include "dgat/study/statistics.h"
#include "dgat/synth/mixhop.h"
#include "percent.h"
#include "reproduce_parts.h"

namespace dgat::study {
namespace {

constexpr const char* kGammas[] = {"0.1", "0.2", "0.3", "0.4", "0.5",
                                   "0.6", "0.7", "0.8", "0.9", "1"};
constexpr int64_t kGraphs = 5;

/// One homophily coefficient: its graphs are the folds of a study.
struct Level {
  const PublishedSynthetic* paper;
  std::string name;
};

std::vector<Level> levels_of(const ReproduceOptions& options) {
  std::vector<Level> all;
  std::vector<std::string> names;
  for (const PublishedSynthetic& line : published_synthetic()) {
    all.push_back({&line, fmt::format("mixhop-{:.1f}", line.mu)});
    names.push_back(all.back().name);
  }
  if (options.datasets.empty()) return all;
  std::vector<Level> chosen;
  for (const std::string& name : options.datasets) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      throw_input("reproduce: there is no synthetic data set {}{}", name,
                  did_you_mean(name, names));
    }
    chosen.push_back(all[static_cast<size_t>(at - names.begin())]);
  }
  return chosen;
}

/// Graph g is measured on its split g: other initial weights for every graph.
std::vector<Fold> folds_of(const Level& level, const ReproduceOptions& options) {
  train::Settings asked = options.settings;
  std::erase_if(asked, [](const auto& s) { return s.first != "splits" && s.first != "seed"; });
  const train::Config config = train::resolve(asked);
  const int64_t graphs = config.splits > 0 ? config.splits : kGraphs;
  std::vector<Fold> folds;
  for (int64_t g = 0; g < graphs; ++g) {
    synth::MixhopOptions mixhop;
    mixhop.mu = level.paper->mu;
    mixhop.nodes = static_cast<graph::NodeId>(options.nodes);
    mixhop.splits = static_cast<int>(graphs);
    mixhop.seed = config.seed + static_cast<uint64_t>(g);
    data::Dataset dataset = synth::mixhop(mixhop);
    dataset.name = level.name;
    folds.push_back({trial_data(std::move(dataset)), g});
  }
  return folds;
}

/// A model over gamma: an option of training, or of the model alone (pgcn).
void add_gamma_rows(const std::string& model, const train::Settings& settings,
                    const std::string& dataset, std::vector<Row>& rows) {
  const auto& extras = nn::find_model(model).extras;
  const bool own = std::any_of(extras.begin(), extras.end(),
                               [](const nn::ExtraOption& extra) { return extra.name == "gamma"; });
  for (const char* gamma : kGammas) {
    train::Settings with = settings;
    with[own ? "extra.gamma" : "gamma"] = gamma;
    Row row = row_of(model, with_paper_defaults(std::move(with), model), dataset);
    row.name = fmt::format("{} gamma={}", model, gamma);
    rows.push_back(std::move(row));
  }
}

std::vector<Row> rows_of_level(const ReproduceOptions& options, const std::string& dataset) {
  std::vector<Row> rows;
  train::Settings settings = options.settings;
  if (options.table == "gamma-gcn") {
    add_gamma_rows("pgcn", settings, dataset, rows);
    return rows;
  }
  settings.emplace("recipe", "classic");
  rows.push_back(row_of("gat", with_paper_defaults(settings, "gat"), dataset));
  rows.push_back(row_of("gatv2", with_paper_defaults(settings, "gatv2"), dataset));
  add_gamma_rows("dgat", settings, dataset, rows);
  return rows;
}

/// The rows over gamma of one level, and which of them stand out; -1 when one is not finished.
struct GammaCurve {
  std::span<const RowResult> rows;
  int best = -1, worst = -1, chosen = -1;  ///< by test (as the paper does), and by validation

  explicit GammaCurve(const StudyResult& study)
      : rows(std::span(study.rows).last(std::size(kGammas))) {
    if (!std::all_of(rows.begin(), rows.end(), [](const RowResult& r) { return r.finished(); })) {
      return;
    }
    const auto index = [this](auto at) { return static_cast<int>(at - rows.begin()); };
    const auto by_test = [](const RowResult& a, const RowResult& b) {
      return a.test.mean < b.test.mean;
    };
    best = index(std::max_element(rows.begin(), rows.end(), by_test));
    worst = index(std::min_element(rows.begin(), rows.end(), by_test));
    chosen = index(std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.val.mean < b.val.mean;
    }));
  }
  Cell mean(int which) const {
    if (which < 0) return "not run";
    const RowResult& row = rows[static_cast<size_t>(which)];
    return percent_cell(row, row.test);
  }
  static Cell gamma(int which) { return which < 0 ? Cell() : Cell::number((which + 1) / 10.0, 1); }
};

Cell mean_cell(const RowResult& row) {
  if (row.finished()) return percent_cell(row, row.test);
  return row.failure.empty() ? "not run" : "failed";
}

Table paper_table(const std::vector<Level>& levels, const std::vector<StudyResult>& results) {
  Table table;
  table.title = "Synthetic graphs: test accuracy in percent, ours beside the paper's";
  table.columns = {{"mu", "μ"},
                   {"gat", "GAT"},
                   {"gat_paper", "paper"},
                   {"gatv2", "GATv2"},
                   {"gatv2_paper", "paper"},
                   {"dgat_best", "DGAT best"},
                   {"gamma_best", "γ"},
                   {"dgat_best_paper", "paper"},
                   {"gamma_best_paper", "γ"},
                   {"dgat_worst", "DGAT worst"},
                   {"gamma_worst", "γ"},
                   {"dgat_worst_paper", "paper"},
                   {"gamma_worst_paper", "γ"},
                   {"dgat_chosen", "by validation"},
                   {"gamma_chosen", "γ"}};
  for (size_t s = 0; s < results.size(); ++s) {
    const PublishedSynthetic& paper = *levels[s].paper;
    const GammaCurve curve(results[s]);
    table.rows.push_back(
        {Cell::number(paper.mu, 1), mean_cell(results[s].rows[0]), Cell::number(paper.gat),
         mean_cell(results[s].rows[1]), Cell::number(paper.gatv2), curve.mean(curve.best),
         GammaCurve::gamma(curve.best), Cell::number(paper.dgat_best),
         Cell::number(paper.gamma_best, 1), curve.mean(curve.worst), GammaCurve::gamma(curve.worst),
         Cell::number(paper.dgat_worst), Cell::number(paper.gamma_worst, 1),
         curve.mean(curve.chosen), GammaCurve::gamma(curve.chosen)});
  }
  return table;
}

Table curve_table(const std::vector<Level>& levels, const std::vector<StudyResult>& results,
                  const std::string& model) {
  Table table;
  table.title = fmt::format("{}: test accuracy in percent over γ", model);
  table.columns = {{"mu", "μ"}};
  for (const char* gamma : kGammas) {
    table.columns.push_back({fmt::format("gamma_{}", gamma), fmt::format("γ={}", gamma)});
  }
  for (size_t s = 0; s < results.size(); ++s) {
    const GammaCurve curve(results[s]);
    std::vector<Cell> cells = {Cell::number(levels[s].paper->mu, 1)};
    for (const RowResult& row : curve.rows) cells.push_back(mean_cell(row));
    if (curve.best >= 0) cells[static_cast<size_t>(curve.best) + 1].strong = true;
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// The two claims of the paper, as sentences with a yes or no that the numbers give.
std::vector<std::string> claims(const std::vector<Level>& levels,
                                const std::vector<StudyResult>& results, bool with_rivals) {
  std::vector<double> mu, best, chosen;
  std::string below;
  size_t compared = 0;
  for (size_t s = 0; s < results.size(); ++s) {
    const GammaCurve curve(results[s]);
    if (curve.best < 0) continue;
    mu.push_back(levels[s].paper->mu);
    best.push_back(curve.best);
    chosen.push_back(curve.chosen);
    if (!with_rivals) continue;
    const RowResult& ours = curve.rows[static_cast<size_t>(curve.chosen)];
    const RowResult &gat = results[s].rows[0], &gatv2 = results[s].rows[1];
    if (gat.folds != ours.folds || gatv2.folds != ours.folds) continue;
    ++compared;
    const bool beaten = gat.test.mean > ours.test.mean || gatv2.test.mean > ours.test.mean;
    if (beaten) below += fmt::format("{}{:.1f}", below.empty() ? "" : ", ", mu.back());
  }
  if (mu.size() < 3) return {};
  std::vector<std::string> notes;
  notes.push_back(fmt::format(
      "Does the best γ fall as the graph becomes more heterophilic? Rank correlation of μ and γ "
      "over {} values of μ: {:.2f} (γ by test), {:.2f} (γ by validation); the claim needs a "
      "clearly "
      "positive one.",
      mu.size(), rank_correlation(mu, best), rank_correlation(mu, chosen)));
  if (compared > 0) {
    notes.push_back(fmt::format(
        "Is DGAT (γ by validation) at or above GAT and GATv2 at {} μ? {}",
        compared == results.size() ? "every" : fmt::format("the {} finished values of", compared),
        below.empty() ? std::string("Yes.") : fmt::format("Not at μ = {}.", below)));
  }
  return notes;
}

}  // namespace

Reproduction reproduce_synthetic(const ReproduceOptions& options, Ledger& ledger,
                                 spectral::SpectralCache& cache) {
  if (!options.models.empty()) {
    throw_input("reproduce: the rows of {} are fixed; leave out --models", options.table);
  }
  const bool benchmark = options.table == "synthetic";
  const std::vector<Level> levels = levels_of(options);
  std::vector<Study> studies;
  studies.reserve(levels.size());
  for (const Level& level : levels) {
    studies.push_back({level.name, folds_of(level, options), rows_of_level(options, level.name)});
  }
  InputStore inputs(cache);
  const std::vector<StudyResult> results = run_studies(studies, ledger, inputs, options.study);

  Reproduction result;
  for (const StudyResult& study : results) result.trials_left += study.trials_left();
  if (benchmark) result.tables.push_back(paper_table(levels, results));
  result.tables.push_back(curve_table(levels, results, benchmark ? "dgat" : "pgcn"));
  std::vector<std::string>& notes = result.tables.front().notes;
  const size_t graphs = results.empty() ? 0 : results.front().folds;
  notes.push_back(fmt::format(
      "{} of {} nodes, one split each.{}",
      graphs == 1 ? "One graph"
                  : fmt::format("Mean ± sample standard deviation over {} graphs", graphs),
      options.nodes,
      benchmark ? " Best and worst are picked by test accuracy, as in the paper; the last columns "
                  "pick γ by validation."
                : " The paper shows these as curves without numbers."));
  for (std::string& claim : claims(levels, results, benchmark)) notes.push_back(std::move(claim));
  notes.push_back(time_note(results));
  if (result.trials_left > 0) {
    notes.push_back(
        fmt::format("{} trials are not run yet; the same command continues.", result.trials_left));
  }
  Json json = {{"study", "reproduce"},
               {"table", options.table},
               {"studies", Json::array()},
               {"skipped", Json::array()},
               {"trials_left", result.trials_left},
               {"machine", machine_description()},
               {"tables", Json::array()}};
  for (size_t s = 0; s < results.size(); ++s) {
    Json study = frame_json(results[s]);
    study["mu"] = levels[s].paper->mu;
    study["rows"] = Json::array();
    for (const RowResult& row : results[s].rows) study["rows"].push_back(to_json(row));
    json["studies"].push_back(std::move(study));
  }
  for (const Table& table : result.tables) json["tables"].push_back(Json::parse(table.json()));
  result.json = dump(json);
  return result;
}

}  // namespace dgat::study
