#include "part_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/data/sha256.h"

namespace dgat::data {
namespace fs = std::filesystem;

namespace {
fs::path with_suffix(fs::path path, const char* suffix) {
  path += suffix;
  return path;
}
}  // namespace

PartFile::PartFile(const fs::path& path, const std::string& url)
    : final_(path),
      part_(with_suffix(path, ".part")),
      from_(with_suffix(part_, ".from")),
      url_(url) {
  file_ = open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw_input("{}: cannot be written: {}; choose another cache with DGAT_CACHE", part_.string(),
                std::strerror(errno));
  }
  // The name may have gone to a finished file between open and flock: then this is not ours.
  struct stat opened {
  }, named{};
  if (flock(file_, LOCK_EX | LOCK_NB) != 0 || fstat(file_, &opened) != 0 ||
      stat(part_.c_str(), &named) != 0 || opened.st_ino != named.st_ino) {
    close(file_);
    throw_input("{}: another process is downloading it; wait for that one", path.string());
  }
  std::error_code error;
  size_ = static_cast<int64_t>(fs::file_size(part_, error));
  std::string from_url;
  std::ifstream from(from_);
  std::getline(from, from_url);
  std::getline(from, version_);
  if (from_url != url_ || error) restart_at(0, "");
}

PartFile::~PartFile() {
  if (file_ < 0) return;
  if (size_ == 0) {
    discard();
  } else {
    close(file_);
  }
}

bool PartFile::restart_at(int64_t offset, const std::string& version) {
  if (ftruncate(file_, offset) != 0 || lseek(file_, offset, SEEK_SET) < 0) {
    error_ = errno;
    return false;
  }
  size_ = offset;
  version_ = version;
  try {  // called from inside libcurl, which no exception may cross
    write_atomically(from_, [&](std::ostream& out) { out << url_ << '\n' << version_ << '\n'; });
  } catch (const Error&) {
    error_ = errno != 0 ? errno : EIO;
    return false;
  }
  return true;
}

bool PartFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      error_ = errno;
      return false;
    }
    size_ += written;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::string PartFile::sha256() const {
  return sha256_of_file(part_);
}

void PartFile::discard() {
  std::error_code ignored;
  fs::remove(from_, ignored);
  fs::remove(part_, ignored);
  close(file_);
  file_ = -1;
}

void PartFile::keep() {
  if (fsync(file_) != 0 && errno != EINVAL) {
    throw_compute("{}: cannot be flushed to disk: {}", part_.string(), std::strerror(errno));
  }
  std::error_code error;
  fs::rename(part_, final_, error);
  if (error) throw_compute("{}: cannot be put in place: {}", final_.string(), error.message());
  fs::remove(from_, error);
  close(file_);
  file_ = -1;
}

}  // namespace dgat::data
