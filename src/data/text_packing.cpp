// The gzip side of text files: unpacking on reading, packing on writing.
#include <zlib.h>

#include <array>
#include <memory>

#include "dgat/core/files.h"
#include "dgat/data/limits.h"
#include "dgat/data/text_file.h"

namespace dgat::data {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib: largest window, gzip wrapper

std::string gunzip(std::string_view packed, const std::string& name) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> guard(&stream, &inflateEnd);
  std::string out;
  std::array<char, 1 << 16> chunk;
  size_t taken = 0;  // zlib counts in 32 bits: feed it in pieces
  bool ended = false;
  while (true) {
    if (stream.avail_in == 0) {
      const size_t piece = std::min<size_t>(packed.size() - taken, 1U << 30);
      // zlib does not write through next_in; its interface predates const.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
      stream.avail_in = static_cast<uInt>(piece);
      taken += piece;
    }
    if (ended) {  // gzip files may be concatenated
      if (stream.avail_in == 0) return out;
      if (inflateReset(&stream) != Z_OK) throw std::bad_alloc();
      ended = false;
    }
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    const size_t more = chunk.size() - stream.avail_out;
    const size_t copied = out.size() + more > out.capacity() ? out.size() : 0;  // while it grows
    check_memory(static_cast<int64_t>(out.size() + more + copied),
                 static_cast<int64_t>(packed.size()), name, "its gzip data");
    out.append(chunk.data(), more);
    if (status == Z_STREAM_END) {
      ended = true;
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status == Z_BUF_ERROR || (status == Z_OK && stream.avail_in == 0 &&
                                         taken == packed.size() && stream.avail_out != 0)) {
      throw_input("{}: the gzip data ends too early; the file is truncated, copy it again", name);
    } else if (status != Z_OK) {
      throw_input("{}: the gzip data is damaged ({}); copy the file again", name,
                  stream.msg != nullptr ? stream.msg : "unknown reason");
    }
  }
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  std::string bytes = read_whole_file(path);
  if (bytes.starts_with("\x1F\x8B")) return gunzip(bytes, path.string());
  return bytes;
}

struct TextWriter::Output {
  explicit Output(const std::filesystem::path& path)
      : file(path), packed(path.extension() == ".gz") {
    if (packed && deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8,
                               Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Output() {
    if (packed) deflateEnd(&stream);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void pack(std::string_view bytes, int flush) {
    std::array<char, 1 << 16> chunk;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
      stream.avail_out = static_cast<uInt>(chunk.size());
      expects(deflate(&stream, flush) != Z_STREAM_ERROR, "deflate state");
      file.stream().write(chunk.data(),
                          static_cast<std::streamsize>(chunk.size() - stream.avail_out));
    } while (stream.avail_out == 0);
  }

  AtomicFile file;
  bool packed;
  z_stream stream{};
};

TextWriter::TextWriter(const std::filesystem::path& path)
    : output_(std::make_unique<Output>(path)) {}
TextWriter::~TextWriter() = default;

void TextWriter::append(fmt::string_view text, fmt::format_args args) {
  buffer_ += fmt::vformat(text, args);
  if (buffer_.size() >= kFlushAt) flush();
}

void TextWriter::flush() {
  if (output_->packed) {
    output_->pack(buffer_, Z_NO_FLUSH);
  } else {
    output_->file.stream().write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  }
  buffer_.clear();
}

void TextWriter::commit() {
  flush();
  if (output_->packed) output_->pack({}, Z_FINISH);
  output_->file.commit();
}

void TextWriter::print_field(std::string_view text) {
  const bool plain = text.find_first_of(",;\t\"\r\n #%") == std::string_view::npos;
  if (plain) {
    buffer_.append(text);
    return;
  }
  buffer_ += '"';
  for (const char c : text) {
    if (c == '"') buffer_ += '"';
    buffer_ += c;
  }
  buffer_ += '"';
}

}  // namespace dgat::data
