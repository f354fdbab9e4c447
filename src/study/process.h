#pragma once

#include <cstdint>

namespace dgat::study {

/// Starts a new measurement of the largest resident memory of this process (Linux; without
/// permission the old one goes on).
void reset_peak_rss();
/// The largest resident memory since then.
int64_t peak_rss_bytes();

}  // namespace dgat::study
