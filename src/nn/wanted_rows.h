#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dgat/nn/graph_input.h"
#include "dgat/tensor/ops.h"

/// What Model::forward_rows() needs to leave out work: only the last layer can, because every node
/// may matter to its neighbours before that.
namespace dgat::nn {

/// The nodes whose output a layer gives: all of them, or a list.
struct Readers {
  std::optional<std::span<const int32_t>> rows;
  template <class T>
  tensor::Var<T> operator()(tensor::Tape<T>& tape, const tensor::Var<T>& x) const {
    return rows ? tensor::gather_rows(tape, x, *rows) : x;
  }
};

/// The arcs into a list of nodes, made anew only when another list or another graph is asked for.
template <class T>
class MessagesInto {
 public:
  const Messages<T>& operator()(const std::shared_ptr<const Messages<T>>& all,
                                std::span<const int32_t> rows) {
    if (all_ != all || !std::ranges::equal(rows, rows_)) {
      into_ = all->into(rows);
      all_ = all;
      rows_.assign(rows.begin(), rows.end());
    }
    return *into_;
  }

 private:
  std::shared_ptr<const Messages<T>> all_;
  std::vector<int32_t> rows_;
  std::optional<Messages<T>> into_;
};

}  // namespace dgat::nn
