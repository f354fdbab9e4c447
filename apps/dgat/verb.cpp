#include "verb.h"

#include <fmt/format.h>

#include <charconv>

#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"

namespace dgat::app {

void add_common_options(CLI::App& verb, CommonOptions& options, bool prints_result) {
  verb.add_option("--threads", options.threads, "threads to use; 0 means all cores")
      ->capture_default_str()
      ->check(CLI::Range(0, 4096))
      ->group("General")
      ->each([](const std::string& text) { set_thread_count(std::stoi(text)); });
  const auto whole = [](const std::string& text) -> std::string {  // CLI11 would wrap -1 around
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end) return "";
    return "a whole number from 0 to 2^64 - 1 was expected, got " + text;
  };
  verb.add_option("--seed", options.seed, "seed of every random choice")
      ->capture_default_str()
      ->check(whole)
      ->group("General");
  verb.add_flag("--quiet,-q", options.quiet, "no progress and no notices on standard error")
      ->group("General")
      ->each([](const std::string&) { set_quiet(true); });
  if (prints_result) {
    verb.add_flag("--json", options.json, "print one JSON object and nothing else")
        ->group("General");
  }
}

std::string npz_name(const std::string& path) {
  return path.ends_with(".npz") ? "" : "should end in .npz, got " + path;
}

void print_json(const Json& object) {
  // Names from a file need not be UTF-8; a replaced letter is better than no answer.
  fmt::print("{}\n", object.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace dgat::app
