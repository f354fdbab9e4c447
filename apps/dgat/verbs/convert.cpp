// dgat convert: a data set from one format to another, with other splits where asked for.
#include <fmt/format.h>

#include <memory>

#include "../data_options.h"
#include "../verbs.h"
#include "dgat/data/renumber.h"
#include "dgat/partition/metis.h"

namespace dgat::app {
namespace {

struct ConvertOptions {
  CommonOptions common;
  DataOptions data;
  std::string out, from, to, write_splits;
  bool unweighted = false, overwrite = false;
  int64_t renumber = 0;
};

void convert(const ConvertOptions& options) {
  const train::Config config = config_of(options.data, options.common);
  check_output(options.out, config.data, options.overwrite);
  check_output(options.write_splits, config.data, options.overwrite);
  data::LoadOptions request = train::load_options(config, /*needs_splits=*/false);
  request.format = options.from;
  request.unweighted = options.unweighted;
  data::Dataset set = data::load_dataset(config.data, request);
  if (options.renumber > 0) {
    set = data::renumbered(set, partition::metis_cells(set.graph, options.renumber).nodes);
  }
  data::save_dataset(set, options.out, options.to);
  if (!options.write_splits.empty()) data::write_split_csv(set, options.write_splits);
  if (options.common.json) {
    print_json({{"name", set.name},
                {"nodes", set.graph.nodes()},
                {"edges", set.graph.edges()},
                {"features", set.features.cols()},
                {"classes", set.classes_present()},
                {"splits", set.splits.size()},
                {"dropped",
                 {{"self_loops", set.dropped_self_loops}, {"duplicates", set.dropped_duplicates}}},
                {"path", options.out}});
    return;
  }
  fmt::print("{}: {} nodes, {} edges, {} features, {} classes, {} splits; written to {}\n",
             set.name, set.graph.nodes(), set.graph.edges(), set.features.cols(),
             set.classes_present(), set.splits.size(), options.out);
}

}  // namespace

void add_convert(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("convert", "Write a data set in another format");
  auto options = std::make_shared<ConvertOptions>();
  add_data_options(*verb, options->data);
  verb->add_option("OUT", options->out, "file or folder to write; the format follows from its name")
      ->required();
  verb->add_option("--from", options->from, "format of DATA, if its name does not show it");
  verb->add_option("--to", options->to, "format of OUT, if its name does not show it");
  verb->add_option("--write-splits", options->write_splits, "also write the splits to a CSV file");
  verb->add_flag("--unweighted", options->unweighted,
                 "leave out edge weights: every edge counts 1");
  verb->add_option("--renumber", options->renumber,
                   "give the nodes of each of N parts (METIS) adjacent numbers, so that ranks of "
                   "dgat-mpi read fewer rows of each other; 64 serve up to 16 ranks")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  add_overwrite(*verb, options->overwrite);
  add_common_options(*verb, options->common);
  verb->footer("Formats: " + data::known_formats() +
               ".\n"
               "A file is written whole or not at all. Examples:\n"
               "  dgat convert graph.npz graph-split.npz --split 60/20/20 --splits 5 --seed 1\n"
               "  dgat convert graph.npz other.npz --split-file splits.csv");
  verb->callback([options] { convert(*options); });
}

}  // namespace dgat::app
