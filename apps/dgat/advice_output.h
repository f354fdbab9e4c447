#pragma once

#include <optional>
#include <string>

#include "data_options.h"
#include "dgat/study/race.h"

/// What `dgat advise` and `dgat tune --dry` share.
namespace dgat::app {

/// "best" and "clear" are those of the race, if there was one.
Json advice_json(const study::Advice& advice, const std::optional<study::Race>& race = {});
/// Tables, the paragraphs, and the command that follows them: `train_command` ("dgat train DATA
/// --recipe classic") with the choice behind it.
std::string to_text(const study::Advice& advice, const std::string& train_command,
                    const std::optional<study::Race>& race = {});

}  // namespace dgat::app
