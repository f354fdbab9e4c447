#pragma once

#include <filesystem>
#include <string_view>

#include "json.h"

// Reading what runs and studies wrote. A page shows what is there: a field that is missing or of
// another kind is a value that does not exist, not an error.
namespace dgat::report {

/// Values nested deeper than 64 are left out; a discarded value where the text is not JSON.
Json parse_json(std::string_view text);

/// Throws: InputError when the file cannot be read or holds no JSON object.
Json read_object(const std::filesystem::path& path);

double number_at(const Json& object, const char* key);    ///< not-a-number for none
int64_t integer_at(const Json& object, const char* key);  ///< 0 for none
std::string text_at(const Json& object,
                    const char* key);  ///< a number as it is written; empty for none
const Json& list_at(const Json& object, const char* key);    ///< an empty list for none
const Json& object_at(const Json& object, const char* key);  ///< an empty object for none

/// "gamma 0.1, rewire add" of an object with such fields.
std::string options_text(const Json& options);

/// A table as study::Table::json() writes it; a mean with its deviation becomes two columns.
Table study_table(const Json& table);

}  // namespace dgat::report
