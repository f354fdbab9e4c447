#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "dgat/study/study.h"
#include "dgat/study/table.h"

/// The paper's tables, from data to finished table.
namespace dgat::study {

struct PaperTable {
  const char* name;  ///< heterophily, small, ablation, ...
  const char* what;  ///< one line
};
std::span<const PaperTable> paper_tables();

struct ReproduceOptions {
  std::string table;                  ///< a name of paper_tables()
  std::filesystem::path data_dir;     ///< searched before the usual places; may be empty
  std::vector<std::string> datasets;  ///< names; empty: all of the table
  std::vector<std::string> models;    ///< names; empty: all of the table
  std::string grid;                   ///< candidates of the directional rows, see parse_grid()
  /// Folder with NAME.yaml or NAME/config.yaml per data set: options of the directional rows.
  std::filesystem::path tuned;
  train::Settings settings;  ///< options that hold for all rows
  int64_t nodes = 5000;      ///< of a synthetic graph
  StudyOptions study;
};

/// A finished table (or as much of it as there was time for).
struct Reproduction {
  std::vector<Table> tables;
  std::string json;
  int64_t trials_left = 0;
};

/// Data sets that are not on this machine are skipped, and the result says how to fetch them.
/// Throws: InputError for an unknown table, data set or model; as run_trials().
Reproduction reproduce(const ReproduceOptions& options, Ledger& ledger,
                       spectral::SpectralCache& cache);

}  // namespace dgat::study
