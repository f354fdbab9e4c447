#pragma once

#include <optional>

#include "dgat/data/catalogue.h"
#include "dgat/study/reproduce.h"
#include "study_json.h"

/// The tables of reproduce(), one function for each kind.
namespace dgat::study {

struct Skipped {
  std::string dataset, reason;
};

/// One data set of a table that is on this machine.
struct Found {
  const data::CatalogueEntry* entry;
  std::filesystem::path path;
};

/// The data sets of a table that were asked for and are here; the others go to `skipped`.
/// `graph_only`: an edition without features will do.
/// Throws: InputError when a name that was asked for is not in the table.
std::vector<Found> find_datasets(const ReproduceOptions& options,
                                 std::span<const char* const> names, bool graph_only,
                                 std::vector<Skipped>& skipped);

/// Loads a data set under the paper's name for it.
data::Dataset load_found(const Found& found, const train::Settings& settings);

Json to_json(const std::vector<Skipped>& skipped);
void add_notes(Table& table, const std::vector<Skipped>& skipped);

/// "3h 20m of training on <machine>."
std::string time_note(const std::vector<StudyResult>& results);

/// The table `tuned`: its data sets, its rows on one of them (published options, then what was
/// searched), and the published number beside a row.
std::span<const char* const> tuned_datasets();
std::vector<Row> tuned_rows(const ReproduceOptions& options, const std::string& dataset);
std::optional<Published> tuned_published(const std::string& dataset, const std::string& row);
/// Models that have a row in the table `tuned`.
std::span<const char* const> tuned_models();

/// Options of a training from a file, without those of the data set and of the process.
train::Settings settings_from(const std::filesystem::path& file);

Reproduction reproduce_measures(const ReproduceOptions& options);
Reproduction reproduce_benchmark(const ReproduceOptions& options, Ledger& ledger,
                                 spectral::SpectralCache& cache);
Reproduction reproduce_synthetic(const ReproduceOptions& options, Ledger& ledger,
                                 spectral::SpectralCache& cache);

}  // namespace dgat::study
