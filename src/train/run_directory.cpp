#include "dgat/train/run_directory.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "checkpoint.h"
#include "dgat/core/error.h"
#include "dgat/core/files.h"

namespace dgat::train {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

bool is_weight_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("split-") && name.ends_with(".safetensors");
}

/// The folder goes with the last of them, and stays when it holds anything else.
void remove_checkpoints_in(const fs::path& run) {
  const fs::path folder = run / "checkpoints";
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("layers-") &&
        (name.ends_with(".safetensors") || name.ends_with(".safetensors.previous"))) {
      files.push_back(entry);
    }
  }
  for (const fs::path& file : files) fs::remove(file, error);
  fs::remove(folder, error);  // only when empty
}

/// Removes what a run writes and nothing else.
void remove_run(const fs::path& path) {
  remove_checkpoints_in(path);
  TensorboardLog::remove(path / "tensorboard");
  for (const char* name : {"config.yaml", "log.jsonl", "summary.json", "report.html"}) {
    fs::remove(path / name);
  }
  std::vector<fs::path> weights;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (is_weight_file(entry.path())) weights.push_back(entry.path());
  }
  for (const fs::path& file : weights) fs::remove(file);
}

/// The outermost folder of the path that does not exist; empty when all do.
fs::path first_missing(const fs::path& path) {
  fs::path missing;
  std::error_code ignored;
  for (fs::path at = fs::absolute(path).lexically_normal(); !fs::exists(at, ignored);) {
    missing = at;
    at = at.parent_path();
  }
  return missing;
}

}  // namespace

RunDirectory::RunDirectory(fs::path path, Existing existing, bool tensorboard)
    : path_(std::move(path)), existing_(existing), tensorboard_(tensorboard) {
  if (existing == Existing::kFollow) return;
  std::error_code error;
  if (fs::exists(path_, error) && !fs::is_directory(path_, error)) {
    throw_input("{}: is a file; --out needs a folder", path_.string());
  }
  held_run_ = is_run(path_);
  if (existing == Existing::kResume && fs::exists(path_ / "tensorboard", error)) {
    tensorboard_ = true;
  }
  made_ = first_missing(path_);
  fs::create_directories(path_, error);
  if (error) {
    throw_input("{}: the folder cannot be made: {}; choose another --out", path_.string(),
                error.message());
  }
  if (fs::exists(path_ / "ledger.jsonl", error)) {
    throw_input("{}: holds the ledger of a study; choose another --out", path_.string());
  }
  if (is_run(path_) && existing == Existing::kRefuse) {
    throw_input(
        "{}: already holds a run; continue it with --resume, replace it with --overwrite, "
        "or choose another --out",
        path_.string());
  }
  lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(lock_);
    throw_input("{}: another process trains there; wait for it or choose another --out",
                path_.string());
  }
}

RunDirectory::~RunDirectory() {
  if (lock_ >= 0) close(lock_);
}

void RunDirectory::begin() const {
  if (existing_ == Existing::kFollow) return;
  begun_ = true;
  if (existing_ == Existing::kOverwrite) remove_run(path_);
  fs::create_directories(path_ / "checkpoints");
}

void RunDirectory::discard() const {
  if (existing_ == Existing::kFollow) return;
  if (held_run_ && (!begun_ || existing_ == Existing::kResume)) return;
  if (fs::exists(summary())) return;
  if (begun_) remove_run(path_);
  if (made_.empty()) return;
  std::error_code ignored;
  fs::path at = fs::absolute(path_).lexically_normal();
  while (fs::remove(at, ignored) && at != made_) at = at.parent_path();  // only empty folders go
}

bool RunDirectory::has_checkpoints() const {
  std::error_code ignored;
  const fs::path folder = path_ / "checkpoints";
  return fs::is_directory(folder, ignored) && !fs::is_empty(folder, ignored);
}

fs::path RunDirectory::default_path(const std::string& dataset, const std::string& model) {
  const std::time_t now = std::time(nullptr);
  const std::string base =
      fmt::format("runs/{}-{}-{:%Y%m%d-%H%M%S}", dataset, model, fmt::localtime(now));
  fs::path path = base;
  for (int number = 2; fs::exists(path); ++number) path = fmt::format("{}-{}", base, number);
  return path;
}

bool RunDirectory::is_run(const fs::path& path) {
  const bool of_a_study = fs::exists(path / "ledger.jsonl");  // tune writes a config.yaml, too
  return (fs::exists(path / "config.yaml") && !of_a_study) || fs::exists(path / "summary.json") ||
         fs::exists(path / "log.jsonl");
}

fs::path RunDirectory::weights(int64_t split) const {
  return path_ / fmt::format("split-{}.safetensors", split);
}

fs::path RunDirectory::checkpoint(int64_t layers, int64_t split) const {
  return path_ / "checkpoints" / fmt::format("layers-{}-split-{}.safetensors", layers, split);
}

void RunDirectory::remove_checkpoints() const {
  remove_checkpoints_in(path_);
}

namespace {

/// The evaluations of log.jsonl once more, for a log that cannot be cut in the middle.
void repeat_lines(const std::string& text, TensorboardLog& events) {
  const auto number = [](const Json& value) {
    return value.is_number() ? value.get<double>() : NAN;
  };
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const Json json = Json::parse(text.substr(begin, end - begin));
    begin = end + 1;
    events.write(json["layers"], json["split"],
                 {.step = json["step"],
                  .loss = number(json["loss"]),
                  .train = number(json["train"]),
                  .val = number(json["val"]),
                  .test = number(json["test"])});
  }
}

/// The lines that a resumed run will not write again.
std::string lines_behind_checkpoints(const RunDirectory& directory) {
  if (!fs::exists(directory.log())) return {};
  std::map<std::pair<int64_t, int64_t>, int64_t> reached;
  std::string kept;
  const std::string text = read_whole_file(directory.log());
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const auto is_count = [&](const char* name) {
      return json.contains(name) && json[name].is_number_integer();
    };
    if (!json.is_object() || !is_count("layers") || !is_count("split") || !is_count("step")) {
      continue;  // the line that a kill cut in two
    }
    const std::pair key(json["layers"].get<int64_t>(), json["split"].get<int64_t>());
    if (!reached.contains(key)) {
      const fs::path file = directory.checkpoint(key.first, key.second);
      reached[key] = checkpoint_step(file);
    }
    if (json["step"].get<int64_t>() <= reached[key]) kept += line + "\n";
  }
  return kept;
}

}  // namespace

RunLog::RunLog(const RunDirectory& directory) : path_(directory.log()) {
  const std::string kept = lines_behind_checkpoints(directory);
  write_atomically(path_, [&](std::ostream& out) { out << kept; });
  out_.open(path_, std::ios::app);
  if (!out_) throw_input("{}: cannot be written", path_.string());
  if (!directory.has_tensorboard()) return;
  events_.emplace(directory.tensorboard());
  repeat_lines(kept, *events_);
}

void RunLog::write(int64_t layers, int64_t split, const StepRecord& record) {
  const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
  const Json line = {{"layers", layers},
                     {"split", split},
                     {"step", record.step},
                     {"loss", number(record.loss)},
                     {"train", number(record.train)},
                     {"val", number(record.val)},
                     {"test", number(record.test)}};
  const std::lock_guard lock(mutex_);
  out_ << line.dump() << '\n';
  if (events_) events_->write(layers, split, record);
}

void RunLog::flush() {
  const std::lock_guard lock(mutex_);
  out_.flush();
  if (events_) events_->flush();
  if (!out_) throw_compute("{}: writing failed; is the disk full?", path_.string());
}

}  // namespace dgat::train
