// dgat inspect: what is in a data set, and how alike neighbours are.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>

#include "../data_options.h"
#include "../table_output.h"
#include "../verbs.h"
#include "dgat/core/progress.h"
#include "dgat/data/catalogue.h"
#include "dgat/graph/components.h"
#include "dgat/graph/degrees.h"
#include "dgat/graph/homophily.h"
#include "dgat/study/table.h"

namespace dgat::app {
namespace {

using graph::Homophily;

constexpr size_t kMostRows = 20;  // classes shown in the readable tables; --json has them all

struct Inspect {
  CommonOptions common;
  DataOptions data;
  bool skip_isolated = false;
};

/// Everything that is printed, in either form.
struct Card {
  data::Dataset set;
  graph::Components components;
  graph::DegreeSummary degree;
  Homophily homophily;
  int64_t largest = 0;
  const data::CatalogueEntry* published = nullptr;  ///< when this is a data set of the paper
};

struct Measure {
  const char* key;
  double Homophily::*value;
  double data::PublishedHomophily::*published;  ///< null where the paper has no such column
  const char* meaning;
};
using Published = data::PublishedHomophily;
constexpr std::array kMeasures{
    Measure{"node", &Homophily::node, &Published::node,
            "mean share of neighbours of the own class"},
    Measure{"edge", &Homophily::edge, &Published::edge, "share of edges inside classes"},
    Measure{"class", &Homophily::class_, &Published::class_,
            "excess over class size, averaged over classes"},
    Measure{"adjusted_edge", &Homophily::adjusted_edge, &Published::adjusted_edge,
            "edge, corrected for class degrees"},
    Measure{"label_informativeness", &Homophily::label_informativeness,
            &Published::label_informativeness, "information of one end of an edge about the other"},
    Measure{"aggregation", &Homophily::aggregation, &Published::aggregation,
            "classes stay apart after averaging"},
    Measure{"aggregation_raw", &Homophily::aggregation_raw, nullptr,
            "the same before max(0, 2x - 1)"},
    Measure{"node_label_informativeness", &Homophily::node_label_informativeness, nullptr,
            "information of a random neighbour about a node"},
};

/// The paper's entry for this graph, recognised by its size and by the name that the user gave or
/// the stem of the file (with or without features). A file beats a name: two editions of cornell
/// exist, of equal size.
const data::CatalogueEntry* find_published(const data::Dataset& set, const std::string& given) {
  constexpr std::string_view kWithout = "_nofeatures";
  std::string_view stem = set.name;
  if (stem.ends_with(kWithout)) stem.remove_suffix(kWithout.size());
  const auto* by_name = std::filesystem::exists(given) ? nullptr : data::find_in_catalogue(given);
  for (const data::CatalogueEntry& entry : data::catalogue()) {
    const bool named = by_name != nullptr ? by_name == &entry : stem == entry.stem;
    if (named && set.graph.nodes() == entry.nodes && set.graph.edges() == entry.edges) {
      return &entry;
    }
  }
  return nullptr;
}

Card make_card(const Inspect& options) {
  Card card;
  card.set = load(config_of(options.data, options.common));
  data::Dataset& set = card.set;
  card.published = find_published(set, options.data.data);
  card.components = graph::connected_components(set.graph);
  const graph::NodeId largest = card.components.largest();
  card.largest = largest < 0 ? 0 : card.components.sizes[static_cast<size_t>(largest)];
  card.degree = graph::degree_summary(set.graph);
  set.labels.resize(static_cast<size_t>(set.graph.nodes()), -1);  // a file without labels
  if (set.classes > graph::kMaxHomophilyClasses) {
    notice(fmt::format("inspect: {} classes are too many for homophily measures (at most {})",
                       set.classes, graph::kMaxHomophilyClasses));
    const std::vector<int32_t> none(set.labels.size(), -1);
    card.homophily = graph::measure_homophily(set.graph, none, 0);
  } else {
    card.homophily = graph::measure_homophily(set.graph, set.labels, set.classes,
                                              {.skip_isolated = options.skip_isolated});
  }
  return card;
}

double fill(const data::Features& features) {
  const double cells = static_cast<double>(features.rows()) * static_cast<double>(features.cols());
  return cells == 0 ? 0 : static_cast<double>(features.nonzeros()) / cells;
}

int64_t labelled(const data::Dataset& set) {
  return std::count_if(set.labels.begin(), set.labels.end(), [](int32_t z) { return z >= 0; });
}

Json to_json(const Card& card) {
  const data::Dataset& set = card.set;
  Json homophily;
  for (const Measure& m : kMeasures) homophily[m.key] = card.homophily.*m.value;
  Json split_sizes = Json::array();
  for (const data::Split& s : set.splits) {
    split_sizes.push_back(
        {{"train", s.train.size()}, {"val", s.val.size()}, {"test", s.test.size()}});
  }
  const auto classes = card.homophily.class_counts.size();
  Json compatibility = Json::array();
  for (size_t a = 0; a < classes; ++a) {
    const auto row =
        card.homophily.compatibility.begin() + static_cast<std::ptrdiff_t>(a * classes);
    compatibility.push_back(std::vector<double>(row, row + static_cast<std::ptrdiff_t>(classes)));
  }
  return {
      {"name", set.name},
      {"nodes", set.graph.nodes()},
      {"edges", set.graph.edges()},
      {"directed", set.graph.directed()},
      {"features", set.features.cols()},
      {"classes", set.classes_present()},
      {"components", card.components.count()},
      {"isolated", card.components.isolated()},
      {"largest_component", card.largest},
      {"splits", set.splits.size()},
      {"dropped", {{"self_loops", set.dropped_self_loops}, {"duplicates", set.dropped_duplicates}}},
      {"homophily", homophily},
      {"degree",
       {{"min", card.degree.min},
        {"median", card.degree.median},
        {"mean", card.degree.mean},
        {"max", card.degree.max}}},
      {"labelled", labelled(set)},
      {"feature_fill", fill(set.features)},
      {"sparse_features", set.features.is_sparse()},
      {"class_counts", card.homophily.class_counts},
      {"class_names", set.class_names},
      {"compatibility", compatibility},
      {"split_sizes", split_sizes}};
}

std::string class_name(const data::Dataset& set, size_t c) {
  return c < set.class_names.size() ? set.class_names[c] : std::to_string(c);
}

/// "5000", or "409 to 423" where splits differ.
std::string size_range(const std::vector<data::Split>& splits,
                       std::vector<graph::NodeId> data::Split::*part) {
  const auto [least, most] = std::minmax_element(
      splits.begin(), splits.end(),
      [part](const auto& a, const auto& b) { return (a.*part).size() < (b.*part).size(); });
  const size_t low = (*least.*part).size(), high = (*most.*part).size();
  return low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
}

void print_facts(const Card& card) {
  const data::Dataset& set = card.set;
  const auto fact = [](const char* name, const std::string& text) {
    fmt::print("{:<12}{}\n", name, text);
  };
  fmt::print("{}\n\n", set.name);
  fact("nodes", std::to_string(set.graph.nodes()));
  fact(set.graph.directed() ? "arcs" : "edges",
       fmt::format("{} (dropped: {} self loops, {} duplicates)", set.graph.edges(),
                   set.dropped_self_loops, set.dropped_duplicates));
  fact(set.graph.directed() ? "in-degree" : "degree",
       fmt::format("mean {:.2f}, median {:g}, from {} to {}", card.degree.mean, card.degree.median,
                   card.degree.min, card.degree.max));
  fact("components",
       fmt::format("{}, the largest of {} nodes; {} isolated nodes", card.components.count(),
                   card.largest, card.components.isolated()));
  fact("features",
       set.features.empty()
           ? std::string("none")
           : fmt::format("{} columns, {:.1f}% filled, kept {}", set.features.cols(),
                         100 * fill(set.features), set.features.is_sparse() ? "sparse" : "dense"));
  const int64_t unlabelled = set.graph.nodes() - labelled(set);
  fact("classes", fmt::format("{}{}", set.classes_present(),
                              unlabelled > 0 ? fmt::format(" ({} nodes unlabelled)", unlabelled)
                                             : std::string()));
  fact("splits", set.splits.empty()
                     ? std::string("none")
                     : fmt::format("{} of {} / {} / {} train / validation / test nodes",
                                   set.splits.size(), size_range(set.splits, &data::Split::train),
                                   size_range(set.splits, &data::Split::val),
                                   size_range(set.splits, &data::Split::test)));
}

void print_measures(const Card& card) {
  const auto* paper = card.published;
  fmt::print("\n{}\n", paper != nullptr ? fmt::format("{:<39}  paper", "homophily") : "homophily");
  for (const Measure& m : kMeasures) {
    const double value = card.homophily.*m.value;
    std::string column;
    if (paper != nullptr) {
      column = m.published == nullptr ? fmt::format("{:7}", "")
                                      : fmt::format("{:7.2f}", paper->homophily.*m.published);
    }
    fmt::print("  {:<28}{:>9}{}  {}\n", m.key,
               std::isnan(value) ? "undefined" : fmt::format("{:.4f}", value), column, m.meaning);
  }
}

/// Sizes of the classes and, in row c, where the edges of class c lead.
void print_classes(const Card& card) {
  const auto& counts = card.homophily.class_counts;
  const size_t classes = counts.size(), shown = std::min(classes, kMostRows);
  std::vector<std::string> header{"class", "nodes", "share"};
  for (size_t c = 0; c < shown; ++c) header.push_back("-> " + class_name(card.set, c));
  study::Table table = study::Table::of(header);
  for (size_t a = 0; a < shown; ++a) {
    const double share =
        static_cast<double>(counts[a]) / static_cast<double>(card.homophily.labelled_nodes);
    std::vector<std::string> row{class_name(card.set, a), std::to_string(counts[a]),
                                 fmt::format("{:.1f}%", 100 * share)};
    for (size_t b = 0; b < shown; ++b) {
      row.push_back(fmt::format("{:.3f}", card.homophily.compatibility[a * classes + b]));
    }
    table.row({row.begin(), row.end()});
  }
  fmt::print("\n{}", on_screen(table));
  fmt::print("Row: share of the edge ends of a class that lead to each class.\n");
  if (shown < classes) fmt::print("{} more classes: --json has them all.\n", classes - shown);
}

void run(const Inspect& options) {
  const Card card = make_card(options);
  if (options.common.json) {
    print_json(to_json(card));
    return;
  }
  print_facts(card);
  if (card.homophily.labelled_nodes == 0) return;
  print_measures(card);
  print_classes(card);
}

}  // namespace

void add_inspect(CLI::App& app) {
  auto options = std::make_shared<Inspect>();
  CLI::App* verb = app.add_subcommand("inspect", "Statistics and homophily of a data set");
  add_data_options(*verb, options->data);
  verb->add_flag("--skip-isolated", options->skip_isolated,
                 "leave nodes without neighbours out of node homophily (they count as 0)");
  add_common_options(*verb, options->common);
  verb->footer(
      "If most neighbours have equal classes, the graph is homophilic (edge near 1). If\n"
      "adjusted_edge is near or below 0 and label_informativeness is above 0, neighbours differ,\n"
      "but in a way that a model can use.\n"
      "  dgat inspect squirrel.npz\n"
      "  dgat inspect squirrel.npz --json | jq .homophily.adjusted_edge");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
