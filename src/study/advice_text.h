#pragma once

#include <string>

#include "dgat/study/advise.h"

namespace dgat::study {

/// One paragraph: what the labels say about the edges, what was chosen, what it does to the graph,
/// how sure that is.
std::string explain(const Advice& advice, const AdviceOptions& options);

}  // namespace dgat::study
