#pragma once

#include <string_view>

namespace dgat::report {

/// The front end, put here at build time from src/report/web (cmake/EmbedWeb.cmake).
extern const std::string_view kPageTemplate;  ///< with @TITLE@, @STYLE@, @DATA@ and @SCRIPT@
extern const std::string_view kStyle;
extern const std::string_view kScript;

}  // namespace dgat::report
