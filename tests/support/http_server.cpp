#include "support/http_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>

namespace dgat::test {
namespace {

constexpr int kPollMilliseconds = 20, kMostMilliseconds = 5000;

bool readable(int socket, int milliseconds) {
  pollfd waiting{socket, POLLIN, 0};
  return poll(&waiting, 1, milliseconds) > 0;
}

void send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

}  // namespace

HttpServer::HttpServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || bind(listener_, plain, size) != 0 || listen(listener_, 8) != 0 ||
      getsockname(listener_, plain, &size) != 0) {
    throw std::runtime_error("no local port for the test server");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
  stop_ = true;
  thread_.join();
  close(listener_);
}

std::string HttpServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::vector<HttpRequest> HttpServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void HttpServer::serve() {
  while (!stop_) {
    if (!readable(listener_, kPollMilliseconds)) continue;
    const int connection = accept(listener_, nullptr, nullptr);
    if (connection < 0) continue;
    answer(connection);
    close(connection);
  }
}

void HttpServer::answer(int connection) {
  std::string text;
  char buffer[4096];
  while (text.find("\r\n\r\n") == std::string::npos) {
    if (!readable(connection, kMostMilliseconds)) return;
    const ssize_t got = recv(connection, buffer, sizeof buffer, 0);
    if (got <= 0) return;
    text.append(buffer, static_cast<size_t>(got));
  }
  HttpRequest request;
  std::istringstream lines(text);
  std::string line, method;
  std::getline(lines, line);
  std::istringstream(line) >> method >> request.path;
  while (std::getline(lines, line) && line.size() > 1) {
    line.pop_back();  // '\r'
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string key = line.substr(0, colon);
    std::transform(key.begin(), key.end(), key.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.headers[key] =
        line.substr(std::min(line.find_first_not_of(' ', colon + 1), line.size()));
  }
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  HttpReply reply = handler_(request);
  std::ostringstream head;
  head << "HTTP/1.1 " << reply.status
       << " X\r\nConnection: close\r\nContent-Length: " << reply.body.size() << "\r\n";
  for (const auto& [key, value] : reply.headers) head << key << ": " << value << "\r\n";
  send_all(connection, head.str() + "\r\n");
  if (reply.cut_after >= 0) reply.body.resize(static_cast<size_t>(reply.cut_after));
  send_all(connection, reply.body);
}

HttpReply file_reply(const HttpRequest& request, const std::string& body, const std::string& etag) {
  HttpReply reply;
  if (!etag.empty()) reply.headers["ETag"] = etag;
  const auto range = request.headers.find("range");
  const auto if_range = request.headers.find("if-range");
  const bool partial = range != request.headers.end() &&
                       (if_range == request.headers.end() || if_range->second == etag);
  if (!partial) {
    reply.body = body;
    return reply;
  }
  const size_t begin = std::stoull(range->second.substr(std::string("bytes=").size()));
  if (begin >= body.size()) {
    reply.status = 416;
    reply.headers["Content-Range"] = "bytes */" + std::to_string(body.size());
    return reply;
  }
  reply.status = 206;
  reply.headers["Content-Range"] = "bytes " + std::to_string(begin) + "-" +
                                   std::to_string(body.size() - 1) + "/" +
                                   std::to_string(body.size());
  reply.body = body.substr(begin);
  return reply;
}

}  // namespace dgat::test
