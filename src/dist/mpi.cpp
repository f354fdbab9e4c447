#include "dgat/dist/mpi.h"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>

namespace dgat::dist {
namespace {

/// MPI counts in int: longer messages go in pieces.
constexpr int64_t kLongest = int64_t{1} << 30;

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &here_);
    MPI_Comm_free(&machine);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int on_this_machine() const override { return here_; }

  void all_to_all(const std::byte* send, std::span<const int64_t> send_bytes, std::byte* receive,
                  std::span<const int64_t> receive_bytes) override {
    std::vector<MPI_Request> requests;
    const std::byte* own = nullptr;
    std::byte* own_place = nullptr;
    for (int r = 0; r < size_; ++r) {
      const int64_t bytes = receive_bytes[static_cast<size_t>(r)];
      if (r == rank_) own_place = receive;
      for (int64_t at = 0; r != rank_ && at < bytes; at += kLongest) {
        MPI_Irecv(receive + at, static_cast<int>(std::min(kLongest, bytes - at)), MPI_BYTE, r, 0,
                  MPI_COMM_WORLD, &requests.emplace_back());
      }
      receive += bytes;
    }
    for (int r = 0; r < size_; ++r) {
      const int64_t bytes = send_bytes[static_cast<size_t>(r)];
      if (r == rank_) own = send;
      for (int64_t at = 0; r != rank_ && at < bytes; at += kLongest) {
        MPI_Isend(send + at, static_cast<int>(std::min(kLongest, bytes - at)), MPI_BYTE, r, 0,
                  MPI_COMM_WORLD, &requests.emplace_back());
      }
      send += bytes;
    }
    std::copy_n(own, send_bytes[static_cast<size_t>(rank_)], own_place);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

 private:
  int rank_ = 0, size_ = 1, here_ = 1;
};

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  ranks_ = std::make_unique<MpiCommunicator>();
}

MpiSession::~MpiSession() {
  MPI_Finalize();
}

void MpiSession::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::exit(code);
}

}  // namespace dgat::dist
