#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "dgat/train/trainer.h"

namespace dgat::train {

/// CRC-32C (Castagnoli): reflected polynomial 0x82F63B78, as in RFC 3720.
uint32_t crc32c(std::string_view bytes);

/// One record of a TFRecord file: length (u64), masked CRC of the length, data, masked CRC of the
/// data, little-endian. Masked: crc rotated right by 15 bits plus 0xA282EAD8.
std::string tfrecord(std::string_view data);

/// The metrics of a run as event files that TensorBoard reads (`tensorboard --logdir DIR`). Each
/// trial has a file FOLDER/layers-L-split-K/events.out.tfevents.dgat with the scalars loss, train,
/// val and test at every evaluated step. Values that are not finite are left out. Not safe from
/// several threads.
class TensorboardLog {
 public:
  /// Existing event files below the folder are replaced when their trial writes.
  explicit TensorboardLog(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void write(int64_t layers, int64_t split, const StepRecord& record);
  /// Throws: ComputeError when the disk is full.
  void flush();
  /// Removes the event files below a folder, and the folders that are empty then.
  static void remove(const std::filesystem::path& folder);

 private:
  std::filesystem::path folder_;
  std::map<std::pair<int64_t, int64_t>, std::ofstream> files_;
};

}  // namespace dgat::train
