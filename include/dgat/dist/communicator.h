#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Messages between ranks, which are processes under MPI, threads in tests, or one rank alone.
///
/// Every call is collective: all ranks make the same calls in the same order, from one thread each.
/// No call does arithmetic, so that the order of a sum never depends on them.
namespace dgat::dist {

class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual int rank() const = 0;  ///< from 0 to size() - 1
  virtual int size() const = 0;
  virtual int on_this_machine() const = 0;  ///< ranks that share its memory, this one included
  /// Sends the first send_bytes[0] bytes to rank 0, the next send_bytes[1] to rank 1, and so on.
  /// Received bytes are in the order of the ranks, receive_bytes[r] from rank r. Sender and
  /// receiver agree on the sizes.
  virtual void all_to_all(const std::byte* send, std::span<const int64_t> send_bytes,
                          std::byte* receive, std::span<const int64_t> receive_bytes) = 0;

  /// Every rank gets the bytes of all ranks, in the order of the ranks; bytes[r] from rank r.
  void all_gather(const std::byte* mine, std::byte* all, std::span<const int64_t> bytes);
  /// The text of every rank.
  std::vector<std::string> all_texts(const std::string& mine);
  /// Whether it is true on any rank.
  bool any(bool mine);
};

/// One rank alone.
class SelfCommunicator final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int on_this_machine() const override { return 1; }
  void all_to_all(const std::byte* send, std::span<const int64_t> send_bytes, std::byte* receive,
                  std::span<const int64_t> receive_bytes) override;
};

/// The communicator of one rank alone.
Communicator& alone();

/// The ranks that share the work of the calling thread; one rank alone unless a RankScope says
/// otherwise.
Communicator& current();

/// Makes `ranks` the communicator of the calling thread while it lives.
class RankScope {
 public:
  explicit RankScope(Communicator& ranks);
  ~RankScope();
  RankScope(const RankScope&) = delete;
  RankScope& operator=(const RankScope&) = delete;

 private:
  Communicator* previous_;
};

/// Whether the calling thread is rank 0, which alone writes files and prints.
inline bool leads() {
  return current().rank() == 0;
}

}  // namespace dgat::dist
