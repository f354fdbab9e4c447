#pragma once

#include <string>

#include "data_options.h"
#include "dgat/study/advise.h"

/// What `dgat advise` and `dgat tune --dry` share.
namespace dgat::app {

Json to_json(const study::Advice& advice);
/// Tables, the paragraph, and the command that follows it: `train_command` ("dgat train DATA
/// --recipe classic") with the choice behind it.
std::string to_text(const study::Advice& advice, const std::string& train_command);

}  // namespace dgat::app
