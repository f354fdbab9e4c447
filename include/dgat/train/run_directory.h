#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>

#include "dgat/train/config.h"
#include "dgat/train/tensorboard.h"
#include "dgat/train/trainer.h"

namespace dgat::train {

/// What to do with a folder that already holds a run.
enum class Existing {
  kRefuse,     ///< throw
  kResume,     ///< continue; nothing to continue is fine too
  kOverwrite,  ///< remove dgat's files in it and start again
  kFollow      ///< another rank writes; this object only knows the names
};

/// A folder with everything about one run:
///   config.yaml, log.jsonl, summary.json, split-K.safetensors, report.html,
///   tensorboard/ (where asked for)
/// and, while it runs, checkpoints/layers-L-split-K.safetensors.
class RunDirectory {
 public:
  /// With `tensorboard`, RunLog writes event files, too; a resumed run that has them continues
  /// them. Creates the folder when needed and locks it until the object is gone; what is in it is
  /// left alone until begin(). Throws: InputError when it holds a run and `existing` refuses, when
  /// it holds the ledger of a
  ///         study, or when another process trains there.
  RunDirectory(std::filesystem::path path, Existing existing, bool tensorboard = false);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  /// The run is about to write: removes one that is to be replaced.
  void begin() const;

  /// The run has failed: removes what it wrote and the folders that were made for it. Does nothing
  /// to a run that was there before and is not replaced yet, and to a finished one.
  void discard() const;
  /// Whether there is a state to continue from.
  bool has_checkpoints() const;

  /// runs/<dataset>-<model>-<date-time>, made unique by a number.
  static std::filesystem::path default_path(const std::string& dataset, const std::string& model);
  /// Whether a folder holds a run of `dgat train`, finished or not.
  static bool is_run(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.yaml"; }
  std::filesystem::path log() const { return path_ / "log.jsonl"; }
  std::filesystem::path tensorboard() const { return path_ / "tensorboard"; }
  bool has_tensorboard() const { return tensorboard_; }
  std::filesystem::path summary() const { return path_ / "summary.json"; }
  std::filesystem::path weights(int64_t split) const;
  std::filesystem::path checkpoint(int64_t layers, int64_t split) const;
  void remove_checkpoints() const;

 private:
  std::filesystem::path path_;
  Existing existing_;
  bool tensorboard_ = false;
  bool held_run_ = false;       // before this one
  std::filesystem::path made_;  // the outermost folder that was made
  mutable bool begun_ = false;
  int lock_ = -1;  // descriptor of the folder
};

/// log.jsonl: one JSON object per evaluation, {"layers","split","step","loss","train","val",
/// "test"}; null where a metric has no value. Event files of TensorBoard have the same, where the
/// directory asks for them. Safe from several threads.
class RunLog {
 public:
  /// Opens for appending, after cutting off what goes beyond the checkpoints of the directory: a
  /// resumed run logs those steps again.
  explicit RunLog(const RunDirectory& directory);
  void write(int64_t layers, int64_t split, const StepRecord& record);
  void flush();

 private:
  std::filesystem::path path_;
  std::mutex mutex_;
  std::ofstream out_;
  std::optional<TensorboardLog> events_;
};

}  // namespace dgat::train
