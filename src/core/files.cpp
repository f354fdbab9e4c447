#include "dgat/core/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ext/stdio_filebuf.h>
#include <fstream>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/open_file.h"

namespace dgat {
namespace fs = std::filesystem;

namespace {

std::string reason() {
  return std::strerror(errno);
}

/// What follows the name of the file that is being written.
constexpr std::string_view kTemporaryEnd = ".tmp";

fs::path temporary_name(const fs::path& path) {
  uint64_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {  // interrupted by a signal
  }
  fs::path name = path;
  name += fmt::format(".{:016x}{}", number, kTemporaryEnd);
  return name;
}

bool is_temporary_name(std::string_view name) {
  constexpr size_t kDigits = 16;
  if (name.size() <= kDigits + 1 + kTemporaryEnd.size() || !name.ends_with(kTemporaryEnd)) {
    return false;
  }
  const std::string_view number =
      name.substr(name.size() - kTemporaryEnd.size() - kDigits, kDigits);
  return name[name.size() - kTemporaryEnd.size() - kDigits - 1] == '.' &&
         number.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Removes the temporary files of processes that have ended: no process holds their lock.
void remove_abandoned_files(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> done;
  std::error_code ignored;
  const std::lock_guard lock(mutex);
  if (!done.insert(fs::weakly_canonical(folder, ignored)).second) return;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    if (!is_temporary_name(entry->path().filename().native())) continue;
    const int fd = open(entry->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) continue;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(entry->path().c_str());
    close(fd);
  }
}

/// A new file with a lock on it, or -1 and errno.
int create_temporary(const fs::path& path, fs::path& temporary) {
  constexpr int kTries = 16;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    temporary = temporary_name(path);
    const int fd =
        open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return -1;
    (void)flock(fd,
                LOCK_EX);  // some file systems have no locks; then no process removes it, either
    struct stat status {};
    if (fstat(fd, &status) == 0 && status.st_nlink > 0) return fd;
    close(fd);  // another process took it for an abandoned one before it was locked
  }
  errno = EEXIST;
  return -1;
}

/// A link stays; what it points to is replaced.
fs::path behind_links(fs::path path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

/// A name is on disk once its folder is. Folders that cannot be opened or flushed are left alone:
/// the file itself is complete.
void flush_folder(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);
  close(fd);
}

/// Writes to a file descriptor, which it owns.
using FileBuffer = __gnu_cxx::stdio_filebuf<char>;

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(behind_links(std::move(path))) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path_, ignored);
  if (fs::is_directory(status)) {
    throw_input("{}: is a folder; give the name of a file", path_.string());
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw_input("{}: is a device or a pipe; give the name of a file", path_.string());
  }
  remove_abandoned_files(path_.has_parent_path() ? path_.parent_path() : fs::path("."));
  errno = 0;
  const int fd = create_temporary(path_, temporary_);
  if (fd < 0) {
    throw_input("{}: cannot be written: {}; choose another place", path_.string(), reason());
  }
  try {
    buffer_ = std::make_unique<FileBuffer>(fd, std::ios::out | std::ios::binary);
  } catch (...) {  // no memory: the destructor does not run
    unlink(temporary_.c_str());
    throw;
  }
  stream_.rdbuf(buffer_.get());
}

AtomicFile::~AtomicFile() {
  if (committed_) return;
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void AtomicFile::commit() {
  errno = 0;
  stream_.flush();
  auto& buffer = static_cast<FileBuffer&>(*buffer_);
  if (!stream_.good()) {
    throw_compute("{}: writing failed: {}; nothing was saved there", path_.string(),
                  errno != 0 ? reason() : "is the disk full?");
  }
  errno = 0;
  if (fsync(buffer.fd()) != 0 && errno != EINVAL) {
    throw_compute("{}: cannot be flushed to disk: {}", path_.string(), reason());
  }
  std::error_code error;
  fs::rename(temporary_, path_, error);
  if (error) throw_compute("{}: cannot be put in place: {}", path_.string(), error.message());
  committed_ = true;
  flush_folder(path_);
  buffer.close();
}

void write_atomically(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  AtomicFile file(path);
  write(file.stream());
  file.commit();
}

namespace {

/// What is there, which is no folder. Throws: InputError.
fs::file_status file_to_read(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) throw_input("{}: no such file", path.string());
  if (fs::is_directory(status)) throw_input("{}: is a folder, a file was expected", path.string());
  return status;
}

/// The bytes of a pipe or device, up to kLongestPipe. Waits for the first writer; Ctrl-C ends the
/// waiting.
std::string read_pipe(const fs::path& path) {
  constexpr size_t kLongestPipe = size_t{1} << 30;
  constexpr int kMilliseconds = 100;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw_input("{}: cannot be opened: {}", path.string(), reason());
  struct Close {
    int fd;
    ~Close() { close(fd); }
  } const guard{fd};
  std::string bytes;
  char buffer[1 << 16];
  while (true) {
    throw_if_interrupted("reading");
    pollfd waiting{fd, POLLIN, 0};
    if (poll(&waiting, 1, kMilliseconds) == 0) continue;
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count == 0) return bytes;
    if (count > 0) bytes.append(buffer, static_cast<size_t>(count));
    if (count < 0 && errno != EAGAIN && errno != EINTR) {
      throw_input("{}: reading failed: {}", path.string(), reason());
    }
    if (bytes.size() > kLongestPipe) {
      throw_input("{}: gives more than {} bytes; copy the data to a file and name that",
                  path.string(), kLongestPipe);
    }
  }
}

}  // namespace

std::ifstream open_file(const fs::path& path) {
  if (!fs::is_regular_file(file_to_read(path))) {
    throw_input("{}: is a pipe or a device; copy the data to a file and name that", path.string());
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_input("{}: cannot be opened: {}", path.string(), reason());
  return in;
}

std::string read_whole_file(const fs::path& path) {
  if (!fs::is_regular_file(file_to_read(path))) return read_pipe(path);
  std::ifstream in = open_file(path);
  std::error_code error;
  std::string bytes;
  const auto size = fs::file_size(path, error);
  if (!error) bytes.reserve(size);
  char buffer[1 << 16];
  while (in.read(buffer, sizeof buffer) || in.gcount() > 0) {
    bytes.append(buffer, static_cast<size_t>(in.gcount()));
  }
  if (in.bad()) throw_input("{}: reading failed: {}", path.string(), reason());
  return bytes;
}

}  // namespace dgat
