#pragma once

#include <string>
#include <vector>

#include "data_options.h"
#include "dgat/study/advise.h"

/// What `dgat advise` and `dgat tune --dry` share.
namespace dgat::app {

/// The question as the flags put it; empty lists mean the defaults. Throws: InputError.
study::AdviceOptions advice_options(const std::string& model, const std::string& recipe,
                                    const std::string& components,
                                    const std::vector<double>& gammas,
                                    const std::vector<double>& alphas,
                                    const std::vector<std::string>& rewirings, uint64_t seed);

Json to_json(const study::Advice& advice);
/// Tables, the paragraph, and the command that follows it: `train_command` ("dgat train DATA
/// --recipe classic") with the choice behind it.
std::string to_text(const study::Advice& advice, const std::string& train_command);

}  // namespace dgat::app
