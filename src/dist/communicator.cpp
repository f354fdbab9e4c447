#include "dgat/dist/communicator.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace dgat::dist {
namespace {

SelfCommunicator self;
thread_local Communicator* present = &self;

std::byte* bytes_of(void* data) {
  return static_cast<std::byte*>(data);
}

}  // namespace

void Communicator::all_gather(const std::byte* mine, std::byte* all,
                              std::span<const int64_t> bytes) {
  const int64_t own = bytes[static_cast<size_t>(rank())];
  const std::vector<int64_t> each(static_cast<size_t>(size()), own);
  std::vector<std::byte> copies;
  copies.reserve(static_cast<size_t>(own * size()));
  for (int r = 0; r < size(); ++r) copies.insert(copies.end(), mine, mine + own);
  all_to_all(copies.data(), each, all, bytes);
}

std::vector<std::string> Communicator::all_texts(const std::string& mine) {
  const auto ranks = static_cast<size_t>(size());
  std::vector<int64_t> lengths(ranks);
  const auto length = static_cast<int64_t>(mine.size());
  const std::vector<int64_t> one(ranks, sizeof(int64_t));
  all_gather(reinterpret_cast<const std::byte*>(&length), bytes_of(lengths.data()), one);
  std::string joined(
      static_cast<size_t>(std::accumulate(lengths.begin(), lengths.end(), int64_t{0})), ' ');
  all_gather(reinterpret_cast<const std::byte*>(mine.data()), bytes_of(joined.data()), lengths);
  std::vector<std::string> texts;
  size_t at = 0;
  for (const int64_t n : lengths) {
    texts.push_back(joined.substr(at, static_cast<size_t>(n)));
    at += static_cast<size_t>(n);
  }
  return texts;
}

bool Communicator::any(bool mine) {
  if (size() == 1) return mine;
  const std::vector<int64_t> one(static_cast<size_t>(size()), 1);
  std::vector<std::byte> all(static_cast<size_t>(size()));
  const std::byte own{static_cast<unsigned char>(mine ? 1 : 0)};
  all_gather(&own, all.data(), one);
  return std::ranges::any_of(all, [](std::byte b) { return b != std::byte{0}; });
}

void SelfCommunicator::all_to_all(const std::byte* send, std::span<const int64_t> send_bytes,
                                  std::byte* receive, std::span<const int64_t>) {
  if (send_bytes[0] > 0) std::memcpy(receive, send, static_cast<size_t>(send_bytes[0]));
}

Communicator& alone() {
  return self;
}

Communicator& current() {
  return *present;
}

RankScope::RankScope(Communicator& ranks) : previous_(present) {
  present = &ranks;
}
RankScope::~RankScope() {
  present = previous_;
}

}  // namespace dgat::dist
