#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

namespace dgat {

/// A file that appears whole or not at all. It is written beside its final place under a temporary
/// name. commit() flushes it to disk, renames it and flushes the folder. Without commit() nothing
/// is left. A symbolic link stays one: the file it points to is replaced.
///
/// The temporary file has a random name and is always a new file: a link that somebody planted
/// there is not followed. It is locked while it is written. The temporary files of processes that
/// were killed have no lock; the first AtomicFile of a process in a folder removes them.
///
/// Throws: InputError when the folder does not exist or is not writable, or when something other
///         than a file is at that place (a device must not be replaced). ComputeError when the disk
///         is full. Both name the file.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  std::ostream& stream() { return stream_; }
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  std::unique_ptr<std::streambuf> buffer_;
  std::ostream stream_{nullptr};
  bool committed_ = false;
};

/// write_atomically("a.csv", [&](std::ostream& out) { out << ...; });
void write_atomically(const std::filesystem::path& path,
                      const std::function<void(std::ostream&)>& write);

/// The whole file as bytes; a pipe is read to its end. Throws InputError that names the file and
/// the reason; Interrupted while it waits for a pipe.
std::string read_whole_file(const std::filesystem::path& path);

}  // namespace dgat
