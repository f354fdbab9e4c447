// dgat partition: a data set as a folder of raw arrays, cut into parts.
#include <fmt/format.h>

#include <memory>

#include "../data_options.h"
#include "../verbs.h"
#include "dgat/data/parts.h"
#include "dgat/partition/metis.h"

namespace dgat::app {
namespace {

struct PartitionOptions {
  CommonOptions common;
  DataOptions data;
  int64_t parts = 0;
  std::string out;
};

void partition_data(const PartitionOptions& options) {
  const train::Config config = config_of(options.data, options.common);
  const data::Dataset set =
      data::load_dataset(config.data, train::load_options(config, /*needs_splits=*/false));
  const graph::Cells cells = partition::metis_cells(set.graph, options.parts);
  data::write_parts(set, cells, options.out);
  const graph::Cut cut = graph::cut_of(set.graph, cells);
  if (options.common.json) {
    print_json({{"name", set.name},
                {"nodes", set.graph.nodes()},
                {"arcs", set.graph.arcs()},
                {"parts", cells.count()},
                {"cut", cut.edges},
                {"halo", cut.halo},
                {"largest_part", cut.largest_cell},
                {"path", options.out}});
    return;
  }
  const auto share = [](int64_t part, int64_t whole) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<int64_t>(1, whole));
  };
  fmt::print(
      "{}: {} nodes, {} edges in {} parts of at most {} nodes; {} edges ({:.1f} %) between parts, "
      "which read {} nodes of others ({:.2f} per node); written to {}\n",
      set.name, set.graph.nodes(), set.graph.edges(), cells.count(), cut.largest_cell, cut.edges,
      share(cut.edges, set.graph.edges()), cut.halo, share(cut.halo, set.graph.nodes()) / 100,
      options.out);
}

}  // namespace

void add_partition(CLI::App& app) {
  CLI::App* verb =
      app.add_subcommand("partition", "Cut a data set into parts, as a folder of arrays");
  auto options = std::make_shared<PartitionOptions>();
  add_data_options(*verb, options->data);
  verb->add_option("--parts", options->parts, "number of parts")->required()->type_name("N");
  verb->add_option("--out", options->out, "folder to write; it must not exist")
      ->required()
      ->type_name("DIR");
  add_common_options(*verb, options->common);
  verb->footer(
      "METIS makes parts of about equal size with few edges between them. DIR has meta.json and\n"
      "raw little-endian arrays with checksums, in which every part is a range. Every verb reads\n"
      "DIR as the data set it was made from; sizes and checksums are verified.\n"
      "  dgat partition graph.npz --parts 64 --out graph.parts\n"
      "  dgat train graph.parts --cells 64 --per-step 8");
  verb->callback([options] { partition_data(*options); });
}

}  // namespace dgat::app
