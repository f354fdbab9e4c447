#pragma once

#include <filesystem>
#include <span>

#include "dgat/report/page.h"

namespace dgat::report {

/// Whether a path is a folder with the result of a study (compare.json, ablate.json, tune.json,
/// what `dgat reproduce` wrote, a saved `dgat advise --json`), or such a file.
bool holds_study(const std::filesystem::path& path);

/// One page about one or several studies, from their files alone: dot-and-interval charts beside
/// published values, ranks and tests, curves over gamma, the matrix of an ablation, the history of
/// a search, advice and how it held.
///
/// Throws: InputError when a path holds no study.
Page study_page(std::span<const std::filesystem::path> studies);

/// study_page() of one folder as FOLDER/report.html. A page that cannot be made is a notice, not an
/// error: the numbers of a study are worth more than their pictures.
void write_study_page(const std::filesystem::path& folder);

}  // namespace dgat::report
