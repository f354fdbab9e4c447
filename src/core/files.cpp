#include "dgat/core/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "dgat/core/error.h"

namespace dgat {
namespace fs = std::filesystem;

namespace {

std::string reason() {
  return std::strerror(errno);
}

fs::path temporary_name(const fs::path& path) {
  static std::atomic<unsigned> counter{0};
  fs::path name = path;
  name += fmt::format(".{}.{}.tmp", getpid(), counter++);
  return name;
}

/// A link stays; what it points to is replaced.
fs::path behind_links(fs::path path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

void flush_to_disk(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const bool failed = fsync(fd) != 0 && errno != EINVAL;
  const std::string why = reason();
  close(fd);
  if (failed) throw_compute("{}: cannot be flushed to disk: {}", path.string(), why);
}

}  // namespace

AtomicFile::AtomicFile(fs::path path)
    : path_(behind_links(std::move(path))), temporary_(temporary_name(path_)) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path_, ignored);
  if (fs::is_directory(status)) {
    throw_input("{}: is a folder; give the name of a file", path_.string());
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw_input("{}: is a device or a pipe; give the name of a file", path_.string());
  }
  errno = 0;
  stream_.open(temporary_, std::ios::binary | std::ios::trunc);
  if (!stream_) {
    throw_input("{}: cannot be written: {}; choose another place", path_.string(), reason());
  }
}

AtomicFile::~AtomicFile() {
  if (committed_) return;
  stream_.close();
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void AtomicFile::commit() {
  errno = 0;
  stream_.flush();
  const bool written = stream_.good();
  stream_.close();
  if (!written || stream_.fail()) {
    throw_compute("{}: writing failed: {}; nothing was saved there", path_.string(),
                  errno != 0 ? reason() : "is the disk full?");
  }
  flush_to_disk(temporary_);
  std::error_code error;
  fs::rename(temporary_, path_, error);
  if (error) throw_compute("{}: cannot be put in place: {}", path_.string(), error.message());
  committed_ = true;
}

void write_atomically(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  AtomicFile file(path);
  write(file.stream());
  file.commit();
}

std::string read_whole_file(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) throw_input("{}: no such file", path.string());
  if (fs::is_directory(status)) throw_input("{}: is a folder, a file was expected", path.string());
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_input("{}: cannot be opened: {}", path.string(), reason());
  std::string bytes;
  if (fs::is_regular_file(status)) {
    const auto size = fs::file_size(path, error);
    if (!error) bytes.reserve(size);
  }
  char buffer[1 << 16];
  while (in.read(buffer, sizeof buffer) || in.gcount() > 0) {
    bytes.append(buffer, static_cast<size_t>(in.gcount()));
  }
  if (in.bad()) throw_input("{}: reading failed: {}", path.string(), reason());
  return bytes;
}

}  // namespace dgat
