#pragma once

#include <filesystem>
#include <span>

#include "dgat/report/page.h"

namespace dgat::report {

/// Whether a path is a file with the result of a study, or a folder with one: compare.json,
/// ablate.json, tune.json, a file of `dgat reproduce` or a saved `dgat advise --json`.
bool holds_study(const std::filesystem::path& path);

/// One page about one or several studies, from their files alone. It has dot-and-interval charts
/// beside published values, ranks and tests, curves over gamma, the matrix of an ablation, the
/// history of a search, and advice compared with training.
///
/// Throws: InputError when a path holds no study.
Page study_page(std::span<const std::filesystem::path> studies);

/// study_page() of one folder as FOLDER/report.html. A page that cannot be made causes a notice,
/// not an error, because the numbers of the study are already saved.
void write_study_page(const std::filesystem::path& folder);

}  // namespace dgat::report
