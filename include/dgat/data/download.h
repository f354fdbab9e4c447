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
};

/// Downloads a URL (http, https, file) to a file that appears only when it is complete.
///
/// Bytes go to `path`.part; what an earlier attempt left there is continued with a Range request
/// when the server told what names its version (ETag or Last-Modified, kept in `path`.part.from and
/// sent as If-Range) or when a checksum is known. A server that ignores Range, or whose file
/// changed, sends the whole file, and writing starts over. Redirects are followed; proxies come
/// from curl's environment variables (https_proxy, no_proxy, ...). Shows a progress bar.
///
/// Retried: timeouts, broken connections, HTTP 408, 429 and 5xx.
/// Throws: ComputeError saying what failed (name resolution, connection, HTTP status, checksum: the
///         bad file is deleted), Interrupted on Ctrl-C (the part stays for the next time),
///         InputError when the place is not writable or another process downloads to it.
void download(const std::string& url, const std::filesystem::path& path,
              const DownloadOptions& options = {});

}  // namespace dgat::data
