#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "dgat/report/page.h"

namespace dgat::report {

using Json = nlohmann::ordered_json;

/// The JSON object of one block; `type` names it.
Json to_json(const Block& block);
Json to_json(const Drawing& drawing);
Json to_json(const Explorer& explorer);

Json number(double value);  ///< null for what JSON cannot hold
Json numbers(const std::vector<double>& values);
const char* to_string(Format format);

/// Standard base64 with padding.
std::string base64(std::span<const uint8_t> bytes);

}  // namespace dgat::report
