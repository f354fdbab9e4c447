#pragma once

#include <string>

#include "dgat/study/table.h"

/// Private to study: what the formats of a table share.
namespace dgat::study {

/// Words to the left, numbers to the right. Text counts as words in the first column, and where it
/// has two letters in a row (unlike 1e-8 and 2h30m).
bool is_words(const Table& table, size_t column);

}  // namespace dgat::study
