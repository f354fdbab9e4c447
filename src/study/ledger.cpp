#include "dgat/study/ledger.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>

#include "dgat/core/error.h"
#include "dgat/core/open_file.h"
#include "dgat/core/progress.h"
#include "study_json.h"

namespace dgat::study {
namespace fs = std::filesystem;

namespace {
double number_in(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}
Json text(const std::string& value) {
  return value.empty() ? Json(nullptr) : Json(value);
}
/// Lines of older programs lack what they did not know, or have null there.
template <class T>
T known(const Json& json, const char* key, T unknown) {
  const auto at = json.find(key);
  return at == json.end() || at->is_null() ? unknown : at->get<T>();
}

/// Locks are single bytes far behind the end of the file: one for the right to append, one for each
/// trial. (flock() would lock all of them at once where the file lies on a server.)
constexpr int64_t kAppend = std::numeric_limits<int64_t>::max();

/// Whether the present program would give the same result.
bool is_present(const TrialResult& result) {
  const int64_t version = result.origin.results_version;
  return version <= train::kResultsVersion && version >= train::first_equal_version(result.options);
}

/// The keys are hexadecimal; 60 bits of one will do.
int64_t byte_of(const std::string& key) {
  int64_t byte = 0;
  constexpr size_t kDigits = 15;
  std::from_chars(key.data(), key.data() + std::min(key.size(), kDigits), byte, 16);
  return byte;
}

/// Belongs to the open file, not to the process: another open() of the same process is kept out,
/// too. False when somebody else has it.
bool lock_byte(int file, int64_t byte, bool wait) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  while (fcntl(file, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) != 0) {
    if (errno == EAGAIN || errno == EACCES) return false;
    if (errno != EINTR) break;  // a file system without locks
  }
  return true;
}

/// An open file with the right to append; both end with the object.
class LockedFile {
 public:
  explicit LockedFile(const fs::path& path)
      : path_(path), fd_(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail("cannot be opened for writing");
    lock_byte(fd_, kAppend, true);
  }
  ~LockedFile() { close(fd_); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  /// Appends by one call and waits for the disk. After a line that was cut short comes a new one.
  void append(std::string line) {
    struct stat info {};
    char last = '\n';
    if (fstat(fd_, &info) == 0 && info.st_size > 0 && pread(fd_, &last, 1, info.st_size - 1) == 1 &&
        last != '\n') {
      line.insert(line.begin(), '\n');
    }
    const ssize_t written = write(fd_, line.data(), line.size());
    if (written < 0) fail("cannot be written");
    if (static_cast<size_t>(written) != line.size()) {
      throw_compute("{}: only part of a line was written; is the disk full?", path_.string());
    }
    if (fsync(fd_) != 0 && errno != EINVAL) fail("cannot be flushed to disk");
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw_compute("{}: {}: {}", path_.string(), what, std::strerror(errno));
  }
  fs::path path_;
  int fd_;
};

}  // namespace

Claim::~Claim() {
  if (file_ >= 0) close(file_);
}

std::string to_line(const TrialResult& r) {
  Json json = {{"key", r.key},
               {"dataset", r.dataset},
               {"model", r.model},
               {"layers", r.layers},
               {"split", r.split},
               {"metric", r.metric},
               {"best_step", r.best_step},
               {"train", number(r.train)},
               {"val", number(r.val)},
               {"test", number(r.test)},
               {"steps", r.steps},
               {"seconds", r.seconds},
               {"parameters", r.parameters},
               {"peak_rss_bytes", r.peak_rss_bytes},
               {"jobs", r.jobs},
               {"options", r.options}};
  if (r.rewiring) {
    json["rewiring"] = {{"mode", r.rewiring->mode},
                        {"edges_before", r.rewiring->edges_before},
                        {"edges_after", r.rewiring->edges_after},
                        {"homophily_before", number(r.rewiring->homophily_before)},
                        {"homophily_after", number(r.rewiring->homophily_after)}};
    if (r.rewiring->advised) json["rewiring"]["advised"] = graph_json(*r.rewiring->advised);
  }
  json["results_version"] = r.origin.results_version;
  json["commit"] = text(r.origin.commit);
  json["date"] = text(r.origin.date);
  json["processor"] = text(r.origin.processor);
  json["instruction_set"] = text(r.origin.instruction_set);
  json["threads"] = r.threads;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<TrialResult> parse_line(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    TrialResult r;
    r.key = json.at("key").get<std::string>();
    r.dataset = json.at("dataset").get<std::string>();
    r.model = json.at("model").get<std::string>();
    r.metric = json.at("metric").get<std::string>();
    r.layers = json.at("layers").get<int64_t>();
    r.split = json.at("split").get<int64_t>();
    r.best_step = json.at("best_step").get<int64_t>();
    r.train = number_in(json, "train");
    r.val = number_in(json, "val");
    r.test = number_in(json, "test");
    r.steps = json.at("steps").get<int64_t>();
    r.seconds = json.at("seconds").get<double>();
    r.parameters = json.at("parameters").get<int64_t>();
    r.peak_rss_bytes = json.at("peak_rss_bytes").get<int64_t>();
    r.threads = known(json, "threads", int64_t{0});
    r.origin = {known(json, "results_version", int64_t{1}), known(json, "commit", std::string()),
                known(json, "date", std::string()), known(json, "processor", std::string()),
                known(json, "instruction_set", std::string())};
    r.jobs = json.at("jobs").get<int64_t>();
    r.options = json.at("options").get<std::map<std::string, std::string>>();
    if (json.contains("rewiring")) {
      const Json& rewiring = json.at("rewiring");
      r.rewiring = {
          rewiring.at("mode").get<std::string>(), rewiring.at("edges_before").get<int64_t>(),
          rewiring.at("edges_after").get<int64_t>(), number_in(rewiring, "homophily_before"),
          number_in(rewiring, "homophily_after")};
      if (rewiring.contains("advised")) r.rewiring->advised = graph_in(rewiring.at("advised"));
    }
    return r;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

Ledger::Ledger(fs::path path) : path_(std::move(path)) {
  std::error_code error;
  if (path_.has_parent_path()) fs::create_directories(path_.parent_path(), error);
  if (error) {
    throw_input("{}: the folder cannot be made: {}", path_.parent_path().string(), error.message());
  }
  if (!path_.empty()) {
    const LockedFile writable(path_);  // or fail now, not after the first trial
  }
  read_new_lines(true);
}

std::optional<TrialResult> Ledger::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto at = results_.find(key);
  if (at == results_.end()) return std::nullopt;
  return at->second;
}

std::string Ledger::key_of(const Trial& trial) const {
  const int64_t first = train::first_equal_version(differing_options(*trial.config));
  const std::lock_guard lock(mutex_);
  for (int64_t version = train::kResultsVersion; version >= first; --version) {
    std::string key = trial_key(trial, version);
    if (results_.contains(key)) return key;
  }
  return trial_key(trial);
}

void Ledger::add(const TrialResult& result) {
  const std::lock_guard lock(mutex_);
  if (!path_.empty()) LockedFile(path_).append(to_line(result) + "\n");
  results_[result.key] = result;
}

void Ledger::refresh() {
  const std::lock_guard lock(mutex_);
  read_new_lines(false);
}

std::optional<Claim> Ledger::claim(const std::string& key) const {
  if (path_.empty()) return Claim();
  const int file = open(path_.c_str(), O_RDWR | O_CLOEXEC);  // if not, add() will say why
  Claim claim(file);
  if (file >= 0 && !lock_byte(file, byte_of(key), false)) return std::nullopt;
  return claim;
}

size_t Ledger::size() const {
  const std::lock_guard lock(mutex_);
  return results_.size();
}

size_t Ledger::old_lines() const {
  const std::lock_guard lock(mutex_);
  return old_lines_;
}

std::vector<TrialResult> Ledger::results() const {
  const std::lock_guard lock(mutex_);
  std::vector<TrialResult> all;
  all.reserve(results_.size());
  for (const auto& [key, result] : results_) all.push_back(result);
  return all;
}

void Ledger::read_new_lines(bool at_start) {
  std::error_code error;
  if (path_.empty() || !fs::exists(path_, error)) return;
  std::ifstream in = open_file(path_);
  in.seekg(static_cast<std::streamoff>(read_));
  std::string line;
  while (std::getline(in, line)) {
    const bool cut_short = in.eof();
    if (cut_short && !at_start) break;  // another process may still be at it
    std::optional<TrialResult> result = parse_line(line);
    if (result && !is_present(*result)) {
      ++old_lines_;
    } else if (result) {
      results_[result->key] = std::move(*result);
    } else if (!line.empty()) {
      notice(fmt::format("{}: skipped a damaged line of {} bytes; its trial will run again",
                         path_.string(), line.size()));
    }
    read_ += line.size() + (cut_short ? 0 : 1);
  }
  if (at_start && old_lines_ > 0) {
    notice(fmt::format(
        "{}: {} of {} lines are of programs with other results than this one, which has results "
        "version {}; they are ignored and their trials run again",
        path_.string(), old_lines_, old_lines_ + results_.size(), train::kResultsVersion));
  }
}

}  // namespace dgat::study
