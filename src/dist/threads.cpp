#include "dgat/dist/threads.h"

#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "dgat/core/error.h"

namespace dgat::dist {
namespace {

/// Where the ranks of one run_ranks() meet.
class Meeting {
 public:
  explicit Meeting(int count) : offers_(static_cast<size_t>(count)) {}

  struct Offer {
    const std::byte* data = nullptr;
    std::span<const int64_t> bytes;
  };

  int count() const { return static_cast<int>(offers_.size()); }
  void offer(int rank, const Offer& offer) {
    offers_[static_cast<size_t>(rank)] = offer;
    wait();
  }
  const Offer& of(int rank) const { return offers_[static_cast<size_t>(rank)]; }

  /// Until every rank is here. Throws when one has failed.
  void wait() {
    std::unique_lock lock(mutex_);
    const int64_t round = round_;
    if (++here_ == count()) {
      here_ = 0;
      ++round_;
      all_here_.notify_all();
    }
    all_here_.wait(lock, [&] { return round_ != round || failed_; });
    if (round_ == round) throw_compute("another rank failed");
  }
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!failed_) error_ = std::move(error);
    failed_ = true;
    all_here_.notify_all();
  }
  const std::exception_ptr& error() const { return error_; }

 private:
  std::vector<Offer> offers_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  int here_ = 0;
  int64_t round_ = 0;
  bool failed_ = false;
  std::exception_ptr error_;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return meeting_.count(); }
  int on_this_machine() const override { return meeting_.count(); }

  void all_to_all(const std::byte* send, std::span<const int64_t> send_bytes, std::byte* receive,
                  std::span<const int64_t> receive_bytes) override {
    meeting_.offer(rank_, {send, send_bytes});
    for (int r = 0; r < size(); ++r) {
      const Meeting::Offer& offer = meeting_.of(r);
      const std::byte* from = offer.data;
      for (int before = 0; before < rank_; ++before) {
        from += offer.bytes[static_cast<size_t>(before)];
      }
      const int64_t bytes = offer.bytes[static_cast<size_t>(rank_)];
      expects(bytes == receive_bytes[static_cast<size_t>(r)],
              "all_to_all: sender and receiver agree on the size");
      if (bytes > 0) std::memcpy(receive, from, static_cast<size_t>(bytes));
      receive += bytes;
    }
    meeting_.wait();  // the offers stay valid until all have read them
  }

 private:
  Meeting& meeting_;
  int rank_;
};

}  // namespace

void run_ranks(int count, const std::function<void(Communicator&)>& body) {
  Meeting meeting(count);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int r = 0; r < count; ++r) {
    threads.emplace_back([&meeting, &body, r] {
      ThreadCommunicator ranks(meeting, r);
      const RankScope scope(ranks);
      try {
        body(ranks);
      } catch (...) {
        meeting.fail(std::current_exception());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (meeting.error()) std::rethrow_exception(meeting.error());
}

}  // namespace dgat::dist
