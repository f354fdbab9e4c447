#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dgat::test {

struct HttpRequest {
  std::string path;
  std::map<std::string, std::string> headers;  ///< keys in lower case
};

struct HttpReply {
  int status = 200;
  std::map<std::string, std::string> headers;
  std::string body;
  /// Bytes of the body after which the connection is closed; -1: all are sent.
  int64_t cut_after = -1;
};

/// A web server for one test: 127.0.0.1, a port of the system's choice, one request per connection,
/// its thread ends with the object.
class HttpServer {
 public:
  using Handler = std::function<HttpReply(const HttpRequest&)>;
  explicit HttpServer(Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string url(const std::string& path) const;
  std::vector<HttpRequest> requests() const;

 private:
  void serve();
  void answer(int connection);
  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::thread thread_;
};

/// What an ordinary server says about a file: 206 with the asked range when If-Range (if any) names
/// `etag`, 416 beyond the end, else 200.
HttpReply file_reply(const HttpRequest& request, const std::string& body, const std::string& etag);

}  // namespace dgat::test
