#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dgat/nn/graph_input.h"
#include "dgat/tensor/ops.h"

/// The nodes that every layer of a network computes when a loss reads some nodes only
/// (Model::forward_rows): the last layer computes the wanted nodes, the layer before it those that
/// send messages to them, and so on.
namespace dgat::nn {

/// The part of the graph that one layer works on.
template <class T>
struct LayerRows {
  const Messages<T>* messages;  ///< senders are the rows of the layer's input
  /// The rows of the layer's output, as rows of its input; none: all, in order.
  std::optional<std::span<const int32_t>> receivers = {};

  tensor::Var<T> at_receivers(tensor::Tape<T>& tape, const tensor::Var<T>& x) const {
    return receivers ? tensor::gather_rows(tape, x, *receivers) : x;
  }
};

/// The given nodes and those that send to them, in order.
inline std::vector<int32_t> nodes_read_by(const tensor::MessageGraph& graph,
                                          std::span<const int32_t> given) {
  std::vector<char> is_read(static_cast<size_t>(graph.nodes()));
  for (const int32_t i : given) {
    const auto at = static_cast<size_t>(i);
    is_read[at] = 1;
    for (int64_t e = graph.offsets()[at]; e < graph.offsets()[at + 1]; ++e) {
      is_read[static_cast<size_t>(graph.senders()[static_cast<size_t>(e)])] = 1;
    }
  }
  std::vector<int32_t> nodes;
  for (int32_t i = 0; i < graph.nodes(); ++i) {
    if (is_read[static_cast<size_t>(i)] != 0) nodes.push_back(i);
  }
  return nodes;
}

/// Where nodes stand in a list that increases and has them all.
inline std::vector<int32_t> places_in(std::span<const int32_t> list,
                                      std::span<const int32_t> nodes) {
  std::vector<int32_t> places;
  places.reserve(nodes.size());
  for (const int32_t node : nodes) {
    places.push_back(static_cast<int32_t>(std::ranges::lower_bound(list, node) - list.begin()));
  }
  return places;
}

/// Made again only when other nodes or another graph are asked for. The first layer reads all
/// nodes.
template <class T>
class ReceptiveField {
 public:
  /// `by_messages_only`: a node reads others only along `all`, so that layers before the last can
  /// leave out nodes too.
  const std::vector<LayerRows<T>>& operator()(const std::shared_ptr<const Messages<T>>& all,
                                              std::span<const int32_t> wanted, int64_t layers,
                                              bool by_messages_only) {
    if (all_ != all || !std::ranges::equal(wanted, wanted_)) {
      all_ = all;
      wanted_.assign(wanted.begin(), wanted.end());
      make(layers, by_messages_only);
    }
    return layers_;
  }

 private:
  void make(int64_t layers, bool by_messages_only) {
    parts_.clear();
    rows_.clear();
    layers_.assign(static_cast<size_t>(layers), LayerRows<T>{all_.get()});
    std::vector<int32_t> given = wanted_;  // nodes that the present layer gives
    for (size_t l = layers_.size(); l-- > 0;) {
      std::vector<int32_t> read;
      if (l > 0 && by_messages_only) read = few_read_by(given);
      if (read.empty()) {
        parts_.push_back(all_->into(given));
        layers_[l] = {&parts_.back(), keep(given)};
        return;
      }
      parts_.push_back(all_->into(given, read));
      layers_[l] = {&parts_.back(), keep(places_in(read, given))};
      given = std::move(read);
    }
  }

  /// None when that is nearly all nodes, where picking rows would cost what it saves.
  std::vector<int32_t> few_read_by(const std::vector<int32_t>& given) const {
    const tensor::MessageGraph& graph = all_->whole_graph();
    std::vector<int32_t> nodes = nodes_read_by(graph, given);
    if (16 * std::ssize(nodes) > 15 * graph.nodes()) nodes.clear();
    return nodes;
  }

  std::span<const int32_t> keep(std::vector<int32_t> rows) {
    return rows_.emplace_back(std::move(rows));
  }

  std::shared_ptr<const Messages<T>> all_;
  std::vector<int32_t> wanted_;
  std::deque<Messages<T>> parts_;
  std::deque<std::vector<int32_t>> rows_;
  std::vector<LayerRows<T>> layers_;
};

}  // namespace dgat::nn
