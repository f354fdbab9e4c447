#pragma once

#include <span>
#include <vector>

#include "dgat/data/npz.h"

namespace dgat::test {

/// Values given in C order (whole numbers for integer types), as the bytes that an array of this
/// type, layout and byte order has in a file.
std::vector<std::byte> stored_bytes(const data::ArrayInfo& info, std::span<const double> values);

}  // namespace dgat::test
