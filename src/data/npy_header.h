#pragma once

#include <string>
#include <string_view>

#include "dgat/data/npz.h"

namespace dgat::data {

/// Parses the dictionary of a .npy header: {'descr': '<f4', 'fortran_order': False, 'shape': (3,)}.
/// Throws: InputError beginning with `where`.
ArrayInfo parse_npy_header(std::string_view text, const std::string& where);

/// Magic, version, length and dictionary, padded to 64 bytes: what stands before the data.
std::string npy_preamble(const ArrayInfo& info);

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

}  // namespace dgat::data
