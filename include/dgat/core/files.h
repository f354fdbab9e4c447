#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <iosfwd>
#include <string>

namespace dgat {

/// A file that appears whole or not at all: written beside its final place under a temporary name,
/// flushed to disk and renamed by commit(). Without commit() nothing is left behind. A symbolic
/// link stays one: the file it points to is replaced.
///
/// Throws: InputError when the folder does not exist or is not writable, or when there is something
/// else than a file at that place (a device must not be replaced); ComputeError when the
/// disk is full; both name the file.
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
  std::ofstream stream_;
  bool committed_ = false;
};

/// write_atomically("a.csv", [&](std::ostream& out) { out << ...; });
void write_atomically(const std::filesystem::path& path,
                      const std::function<void(std::ostream&)>& write);

/// The whole file as bytes. Throws InputError that names the file and the reason.
std::string read_whole_file(const std::filesystem::path& path);

}  // namespace dgat
