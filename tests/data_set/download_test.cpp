#include "dgat/data/download.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/progress.h"
#include "dgat/data/sha256.h"
#include "support/http_server.h"
#include "support/temp_dir.h"

namespace dgat::data {
namespace {

namespace fs = std::filesystem;
using test::file_reply;
using test::HttpReply;
using test::HttpRequest;
using test::HttpServer;
using testing::HasSubstr;

class Download : public testing::Test {
 protected:
  Download() : path_(dir_ / "cache" / "a.npz") {
    set_quiet(true);
    for (int i = 0; i < 200000; ++i) body_ += static_cast<char>(i * 7 + i / 251);
    options_.first_wait = std::chrono::milliseconds(1);
    options_.insecure = true;  // the server of the test speaks http
    // The proxy of the machine has no business with 127.0.0.1.
    setenv("no_proxy", "127.0.0.1", 1);
  }
  ~Download() override { set_quiet(false); }

  std::string checksum() const {
    Sha256 hash;
    hash.update(body_);
    return hash.finish();
  }
  std::string error(const std::string& url) {
    try {
      download(url, path_, options_);
    } catch (const ComputeError& e) {
      return e.what();
    }
    return "no error";
  }
  /// A handler that sends the first half and hangs up, then behaves.
  HttpServer::Handler broken_once(std::string etag) {
    return [this, etag = std::move(etag), first = true](const HttpRequest& request) mutable {
      HttpReply reply = file_reply(request, body_, etag);
      if (first) reply.cut_after = static_cast<int64_t>(body_.size() / 2);
      first = false;
      return reply;
    };
  }
  void expect_complete() {
    EXPECT_TRUE(read_whole_file(path_) == body_);
    EXPECT_FALSE(fs::exists(path_.string() + ".part"));
    EXPECT_FALSE(fs::exists(path_.string() + ".part.from"));
  }

  test::TempDir dir_;
  fs::path path_;
  std::string body_;
  DownloadOptions options_;
};

TEST_F(Download, BringsTheWholeFileAndFollowsRedirects) {
  const HttpServer server([this](const HttpRequest& request) {
    if (request.path == "/old") return HttpReply{302, {{"Location", "/new"}}, "moved", -1};
    return file_reply(request, body_, "\"v1\"");
  });
  options_.sha256 = checksum();
  download(server.url("/old"), path_, options_);
  expect_complete();
}

TEST_F(Download, ContinuesAfterABrokenConnection) {
  const HttpServer server(broken_once("\"v1\""));
  download(server.url("/a"), path_, options_);
  expect_complete();
  ASSERT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(server.requests()[1].headers.at("range"), "bytes=100000-");
  EXPECT_EQ(server.requests()[1].headers.at("if-range"), "\"v1\"");
}

TEST_F(Download, ContinuesInALaterRun) {
  options_.retries = 0;
  const HttpServer server(broken_once("\"v1\""));
  EXPECT_THAT(error(server.url("/a")), HasSubstr("what has arrived is kept"));
  EXPECT_EQ(fs::file_size(path_.string() + ".part"), 100000U);
  EXPECT_FALSE(fs::exists(path_));
  download(server.url("/a"), path_, options_);
  expect_complete();
  EXPECT_EQ(server.requests()[1].headers.at("range"), "bytes=100000-");
}

TEST_F(Download, StartsOverWhenTheFileChanged) {
  options_.retries = 0;
  std::string etag = "\"v1\"";
  bool cut = true;
  const HttpServer server([&](const HttpRequest& request) {
    HttpReply reply = file_reply(request, body_, etag);
    if (cut) reply.cut_after = 1000;
    return reply;
  });
  EXPECT_NE(error(server.url("/a")), "no error");
  body_ = "another and much shorter file";
  etag = "\"v2\"";
  cut = false;
  download(server.url("/a"), path_, options_);
  expect_complete();
}

TEST_F(Download, RefusesTheRestOfAnotherVersion) {
  // A server that serves ranges but does not look at If-Range.
  bool first = true;
  const HttpServer server([&](const HttpRequest& request) {
    HttpRequest careless = request;
    careless.headers.erase("if-range");
    HttpReply reply = file_reply(careless, body_, first ? "\"v1\"" : "\"v2\"");
    if (first) reply.cut_after = 1000;
    first = false;
    return reply;
  });
  download(server.url("/a"), path_, options_);
  expect_complete();
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST_F(Download, TakesTheWholeFileFromAServerThatIgnoresRange) {
  bool first = true;
  const HttpServer server([&](const HttpRequest&) {
    HttpReply reply{200, {{"ETag", "\"v1\""}}, body_, first ? 5000 : -1};
    first = false;
    return reply;
  });
  download(server.url("/a"), path_, options_);
  expect_complete();
}

TEST_F(Download, DoesNotGlueHalvesThatNobodyCanTellApart) {
  const HttpServer server(broken_once(""));  // no ETag, no Last-Modified, no checksum
  download(server.url("/a"), path_, options_);
  expect_complete();
  EXPECT_FALSE(server.requests()[1].headers.contains("range"));
}

TEST_F(Download, AChecksumAllowsToContinueAndExposesAWrongHalf) {
  options_.sha256 = checksum();
  fs::create_directories(path_.parent_path());
  const HttpServer server([this](const HttpRequest& r) { return file_reply(r, body_, ""); });
  std::ofstream(path_.string() + ".part.from") << server.url("/a") << "\n\n";
  std::ofstream(path_.string() + ".part") << std::string(1234, 'x');
  download(server.url("/a"), path_, options_);
  expect_complete();
  ASSERT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(server.requests()[0].headers.at("range"), "bytes=1234-");
  EXPECT_FALSE(server.requests()[1].headers.contains("range"));
}

TEST_F(Download, ACompletePartIsOnlyChecked) {
  options_.sha256 = checksum();
  fs::create_directories(path_.parent_path());
  const HttpServer server([this](const HttpRequest& r) { return file_reply(r, body_, ""); });
  std::ofstream(path_.string() + ".part.from") << server.url("/a") << "\n\n";
  std::ofstream(path_.string() + ".part", std::ios::binary) << body_;
  download(server.url("/a"), path_, options_);  // 416: nothing beyond
  expect_complete();
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Download, APartOfAnotherAddressIsNotContinued) {
  fs::create_directories(path_.parent_path());
  std::ofstream(path_.string() + ".part.from") << "http://elsewhere/a\n\"v1\"\n";
  std::ofstream(path_.string() + ".part") << "other";
  const HttpServer server([this](const HttpRequest& r) { return file_reply(r, body_, "\"v1\""); });
  download(server.url("/a"), path_, options_);
  expect_complete();
  EXPECT_FALSE(server.requests()[0].headers.contains("range"));
}

TEST_F(Download, AWrongChecksumDeletesTheFile) {
  options_.sha256 = std::string(64, '0');
  const HttpServer server([this](const HttpRequest& r) { return file_reply(r, body_, "\"v1\""); });
  EXPECT_THAT(error(server.url("/a")),
              testing::AllOf(HasSubstr("checksum is wrong"), HasSubstr(checksum())));
  EXPECT_TRUE(fs::is_empty(path_.parent_path()));
}

TEST_F(Download, ReportsHttpErrorsAndLeavesNothing) {
  const HttpServer server([](const HttpRequest&) {
    return HttpReply{404, {}, "<html>no</html>", -1};
  });
  EXPECT_THAT(error(server.url("/a")), HasSubstr("HTTP status 404; the file is not there"));
  EXPECT_EQ(server.requests().size(), 1U);  // not worth another attempt
  EXPECT_TRUE(fs::is_empty(path_.parent_path()));
}

TEST_F(Download, TriesAgainWhenTheServerIsBusy) {
  int calls = 0;
  const HttpServer server([&](const HttpRequest& request) {
    return ++calls < 3 ? HttpReply{503, {}, "busy", -1} : file_reply(request, body_, "");
  });
  download(server.url("/a"), path_, options_);
  expect_complete();
  calls = -100;
  EXPECT_THAT(error(server.url("/a")), HasSubstr("HTTP status 503"));
  EXPECT_EQ(server.requests().size(), 3U + 4U);
}

TEST_F(Download, GivesUpOnASilentServer) {
  options_.retries = 0;
  options_.stall_timeout = std::chrono::seconds(1);
  std::atomic<bool> done{false};
  const HttpServer server([&](const HttpRequest&) {
    for (int i = 0; i < 400 && !done; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return HttpReply{};
  });
  EXPECT_THAT(error(server.url("/a")), HasSubstr("Timeout was reached"));
  done = true;
}

TEST_F(Download, SaysWhenThereIsNobody) {
  options_.retries = 0;
  std::string url;
  {
    const HttpServer server([](const HttpRequest&) { return HttpReply{}; });
    url = server.url("/a");
  }
  EXPECT_THAT(error(url), HasSubstr("cannot be fetched: Couldn't connect to server"));
  EXPECT_THAT(error("gopher://127.0.0.1/a"), HasSubstr("cannot be fetched: Unsupported protocol"));
}

TEST_F(Download, CopiesFileUrls) {
  std::ofstream(dir_ / "source", std::ios::binary) << body_;
  download("file://" + (dir_ / "source").string(), path_, options_);
  expect_complete();
  EXPECT_NE(error("file://" + (dir_ / "none").string()), "no error");
}

TEST_F(Download, AnInterruptKeepsThePart) {
  const HttpServer server([this](const HttpRequest& request) {
    HttpReply reply = file_reply(request, body_, "\"v1\"");
    reply.cut_after = 5000;
    request_interrupt();
    return reply;
  });
  EXPECT_THROW(download(server.url("/a"), path_, options_), Interrupted);
  request_interrupt(false);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(Download, PlainHttpNeedsToBeAllowed) {
  const HttpServer server(
      [this](const HttpRequest& request) { return file_reply(request, body_, ""); });
  options_.insecure = false;
  EXPECT_THROW(download(server.url("/a"), path_, options_), InputError);
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(Download, AFileBeyondTheLimitIsDeleted) {
  const HttpServer server(
      [this](const HttpRequest& request) { return file_reply(request, body_, "\"v1\""); });
  options_.max_bytes = 1000;
  EXPECT_THAT(error(server.url("/a")), HasSubstr("larger than the 1000 bytes allowed"));
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_FALSE(fs::exists(path_.string() + ".part"));
}

}  // namespace
}  // namespace dgat::data
