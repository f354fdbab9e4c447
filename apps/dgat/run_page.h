#pragma once

#include "dgat/report/page.h"
#include "dgat/train/run.h"

namespace dgat::app {

/// DIR/report.html of a run: result, splits, learning curves, options.
report::Page run_page(const train::RunSummary& summary, const train::RunDirectory& directory);

}  // namespace dgat::app
