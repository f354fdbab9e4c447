#include "verb.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"
#include "dgat/data/limits.h"

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
  verb.add_option("--memory-per-byte", options.memory_per_byte,
                  "memory that reading a data set may take per byte of its file")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->group("General")
      ->each([](const std::string& text) { data::set_memory_per_byte(std::stoll(text)); });
  if (prints_result) {
    verb.add_flag("--json", options.json, "print one JSON object and nothing else")
        ->group("General");
  }
}

std::string npz_name(const std::string& path) {
  return path.ends_with(".npz") ? "" : "should end in .npz, got " + path;
}

void add_overwrite(CLI::App& verb, bool& overwrite) {
  verb.add_flag("--overwrite", overwrite, "OUT may be the file that is read");
}

void check_output(const std::string& out, const std::string& input, bool overwrite) {
  std::error_code ignored;
  if (overwrite || out.empty() || !std::filesystem::equivalent(out, input, ignored)) return;
  throw_input("{}: is also the input; --overwrite replaces it", out);
}

void refuse_input(const std::string& out, const std::string& input) {
  std::error_code ignored;
  if (out.empty() || !std::filesystem::equivalent(out, input, ignored)) return;
  throw_input("{}: is also the input; choose another --out", out);
}

void print_json(const Json& object) {
  // Names from a file need not be UTF-8; a replaced letter is better than no answer.
  fmt::print("{}\n", object.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace dgat::app
