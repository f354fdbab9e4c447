#include "dgat/data/download.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/progress.h"
#include "part_file.h"

namespace dgat::data {
namespace fs = std::filesystem;

namespace {

using Handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// What the server said about its file; forgotten at every redirect.
struct Response {
  std::string etag, last_modified;
  int64_t range_begin = -1;  ///< of Content-Range
  int64_t range_total = -1;  ///< also of "bytes */N" with status 416
  std::string version() const {
    // A weak ETag does not promise equal bytes.
    if (!etag.empty() && !etag.starts_with("W/")) return etag;
    return last_modified;
  }
};

/// One attempt: the state that curl's callbacks share.
struct Attempt {
  PartFile& part;
  CURL* curl;
  Progress& progress;
  int64_t offset;  ///< where the bytes of the answer go; 0 once the server sends the whole file
  bool started = false;
  bool disk_failed = false;
  int64_t max_bytes = 0;
  bool too_large = false;
  Response response;

  long status() const {
    long code = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }
  bool has_body() const {
    const long code = status();
    return code == 200 || code == 206 || code == 0;  // 0: file://
  }
};

size_t on_header(char* data, size_t, size_t size, void* context) {
  Response& response = static_cast<Attempt*>(context)->response;
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) response = {};
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  const std::string key = lower(line.substr(0, colon));
  std::string_view value = line.substr(colon + 1);
  while (value.starts_with(' ')) value.remove_prefix(1);
  if (key == "etag") response.etag = value;
  if (key == "last-modified") response.last_modified = value;
  if (key == "content-range") {
    const size_t slash = value.find('/');
    if (value.starts_with("bytes ") && std::isdigit(static_cast<unsigned char>(value[6])) != 0) {
      response.range_begin = std::strtoll(std::string(value.substr(6)).c_str(), nullptr, 10);
    }
    if (slash + 1 < value.size() && std::isdigit(static_cast<unsigned char>(value[slash + 1]))) {
      response.range_total =
          std::strtoll(std::string(value.substr(slash + 1)).c_str(), nullptr, 10);
    }
  }
  return size;
}

size_t on_body(char* data, size_t, size_t size, void* context) {
  Attempt& attempt = *static_cast<Attempt*>(context);
  if (!attempt.has_body()) return size;  // an error page: not kept
  if (!attempt.started) {
    attempt.started = true;
    const bool same_version =
        attempt.part.version().empty() || attempt.part.version() == attempt.response.version();
    const bool continues =
        attempt.status() == 206 && attempt.response.range_begin == attempt.offset && same_version;
    if (attempt.status() == 206 && !continues) return 0;  // not the rest of what we have
    if (!continues) attempt.offset = 0;
    if (!attempt.part.restart_at(attempt.offset, attempt.response.version())) {
      attempt.disk_failed = true;
      return 0;
    }
  }
  if (attempt.part.size() + static_cast<int64_t>(size) > attempt.max_bytes) {
    attempt.too_large = true;
    return 0;
  }
  if (!attempt.part.append({data, size})) {
    attempt.disk_failed = true;
    return 0;
  }
  return size;
}

int on_progress(void* context, curl_off_t total, curl_off_t now, curl_off_t, curl_off_t) {
  Attempt& attempt = *static_cast<Attempt*>(context);
  if (total > 0) attempt.progress.set_total(attempt.offset + total);
  if (attempt.started) attempt.progress.update(attempt.offset + now, "bytes");
  return interrupt_requested() ? 1 : 0;
}

bool may_pass(CURLcode code, long status) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    case CURLE_OK:
      return status == 408 || status == 429 || status >= 500;
    default:
      return false;
  }
}

std::string advice(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "check the address and the network, or take the file elsewhere with --url or --mirror";
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return "check the network and the proxy variables (https_proxy, no_proxy)";
    case CURLE_UNSUPPORTED_PROTOCOL:
      return "the address leads to plain http; --insecure allows that";
    case CURLE_PEER_FAILED_VERIFICATION:
      return "the certificate is not trusted here";
    default:
      return "try again later; what has arrived is kept and will be continued";
  }
}

std::string status_advice(long status) {
  if (status == 404 || status == 410) return "the file is not there; give another place with --url";
  if (status == 401 || status == 403) return "access is refused; give another place with --url";
  return "try again later, or give another place with --url";
}

void configure(CURL* curl, const std::string& url, const DownloadOptions& options,
               Attempt& attempt) {
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR,
                   options.insecure ? "http,https,file" : "https,file");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, options.insecure ? "http,https" : "https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "dgat");
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(options.connect_timeout.count()));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.stall_timeout.count()));
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &attempt);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &attempt);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &attempt);
}

/// One request. True when the part is complete; otherwise `why` says what happened and `again`
/// whether another attempt may help.
bool request(const std::string& url, PartFile& part, const DownloadOptions& options,
             Progress& progress, std::string& why, bool& again) {
  const Handle curl(curl_easy_init(), curl_easy_cleanup);
  if (!curl) throw std::bad_alloc();
  Attempt attempt{.part = part,
                  .curl = curl.get(),
                  .progress = progress,
                  .offset = part.size(),
                  .max_bytes = options.max_bytes,
                  .response = {}};
  configure(curl.get(), url, options, attempt);
  // Range goes out as a header of our own: curl's option would fail on servers that ignore it.
  curl_slist* headers = nullptr;
  if (attempt.offset > 0 && !url.starts_with("file:")) {
    headers = curl_slist_append(headers, fmt::format("Range: bytes={}-", attempt.offset).c_str());
    if (!part.version().empty()) {
      headers = curl_slist_append(headers, ("If-Range: " + part.version()).c_str());
    }
    curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers);
  }
  const CURLcode code = curl_easy_perform(curl.get());
  curl_slist_free_all(headers);
  const long status = attempt.status();
  throw_if_interrupted("download");
  if (attempt.disk_failed) {
    throw_compute("{}: writing failed: {}", part.path().string(), std::strerror(part.error()));
  }
  if (attempt.too_large) {
    part.discard();
    throw_compute("{}: is larger than the {} bytes allowed, so it was deleted; raise --max-bytes",
                  url, options.max_bytes);
  }
  again = may_pass(code, status);
  if (code == CURLE_OK && (status == 200 || status == 206 || status == 0)) {
    // An answer without a body never reached on_body.
    if (!attempt.started && status != 206) part.restart_at(0, attempt.response.version());
    return true;
  }
  if (code == CURLE_OK && status == 416 && part.size() > 0) {
    // Nothing beyond what we have: complete, or the file became shorter.
    if (attempt.response.range_total == part.size()) return true;
    part.restart_at(0, "");
    why = "the file on the server changed";
    again = true;
    return false;
  }
  if (attempt.status() == 206 && code == CURLE_WRITE_ERROR) {
    part.restart_at(0, "");
    why = "the server did not send the rest of the file";
    again = true;
    return false;
  }
  why = code == CURLE_OK ? fmt::format("HTTP status {}; {}", status, status_advice(status))
                         : fmt::format("{}; {}", curl_easy_strerror(code), advice(code));
  return false;
}

void wait(std::chrono::milliseconds time) {
  constexpr std::chrono::milliseconds kStep{50};
  for (; time.count() > 0; time -= kStep) {
    throw_if_interrupted("download");
    std::this_thread::sleep_for(std::min(time, kStep));
  }
}

}  // namespace

void download(const std::string& url, const fs::path& path, const DownloadOptions& options) {
  if (lower(url).starts_with("http:") && !options.insecure) {
    throw_input("{}: plain http is not safe; use https, or allow it with --insecure", url);
  }
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  PartFile part(path, url);
  Progress progress("fetching " + path.filename().string(), 0);
  std::chrono::milliseconds pause = options.first_wait;
  int left = options.retries;
  while (true) {
    // Without a version or a checksum halves of different files cannot be recognised.
    if (part.version().empty() && options.sha256.empty()) part.restart_at(0, "");
    const bool resumed = part.size() > 0;
    std::string why;
    bool again = false;
    if (!request(url, part, options, progress, why, again)) {
      if (!again || left-- <= 0) throw_compute("{}: cannot be fetched: {}", url, why);
      notice(fmt::format("{}: {}; trying again in {:.1f} s", url, why,
                         std::chrono::duration<double>(pause).count()));
      wait(pause);
      pause *= 2;
      continue;
    }
    const std::string found = options.sha256.empty() ? "" : part.sha256();
    if (found == options.sha256) break;
    part.restart_at(0, "");
    if (!resumed) {
      part.discard();
      throw_compute(
          "{}: the checksum is wrong, so the file was deleted: SHA-256 {} was expected, got {}",
          url, options.sha256, found);
    }
    // The old half may be to blame: once more from the beginning.
  }
  progress.finish();
  part.keep();
}

}  // namespace dgat::data
