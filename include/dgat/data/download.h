#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace dgat::data {

struct DownloadOptions {
  std::string sha256;                          ///< expected; empty: not checked
  int retries = 3;                             ///< further attempts after a failure that may pass
  std::chrono::milliseconds first_wait{1000};  ///< before the first retry; doubles each time
  std::chrono::milliseconds connect_timeout{20000};
  std::chrono::seconds stall_timeout{30};  ///< without a byte
  bool insecure = false;                   ///< also http, and redirects to it
  int64_t max_bytes = kMaxDownload;        ///< a larger file is refused
  static constexpr int64_t kMaxDownload = int64_t{1} << 30;
};

/// Downloads a URL (https, file; http where allowed) to a file that appears only when it is
/// complete.
///
/// Bytes go to `path`.part. A Range request continues the part of an earlier attempt when a
/// checksum is known or when the server sent a version tag (ETag or Last-Modified, kept in
/// `path`.part.from and sent as If-Range). If the server ignores Range or its file changed, writing
/// starts again. Redirects are followed; proxies come from curl's environment variables
/// (https_proxy, no_proxy, ...). Shows a progress bar.
///
/// Retried: timeouts, broken connections, HTTP 408, 429 and 5xx.
/// Throws: ComputeError saying what failed: name resolution, connection, HTTP status or checksum
///         (the bad file is deleted). Interrupted on Ctrl-C; the part stays. InputError when the
///         place is not writable, when another process downloads to it, and for an http address
///         that is not allowed.
void download(const std::string& url, const std::filesystem::path& path,
              const DownloadOptions& options = {});

}  // namespace dgat::data
