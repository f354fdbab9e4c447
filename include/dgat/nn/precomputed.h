#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <typeindex>

namespace dgat::nn {

/// The size of a part, known before it is computed.
struct PartSize {
  int64_t bytes = 0;
  std::string detail;  ///< where the bytes come from: "45003472 pairs at distance two"
};

/// Half of the memory of this machine.
int64_t default_memory_budget();

/// What models derive from graph and features alone: powers of A times X, the two-hop graph, a
/// polynomial basis. Made once per data set and shared by all splits and depths.
///
///   two_hop_ = input.precomputed->get<tensor::SparseMatrix<T>>(
///       "h2gcn: two-hop graph", [&] { return PartSize{bytes}; }, [&] { return make(graph); });
///
/// Calls from several threads are safe: one makes the part, the others wait for it.
class PrecomputedParts {
 public:
  explicit PrecomputedParts(int64_t budget = default_memory_budget()) : budget_(budget) {}
  PrecomputedParts(const PrecomputedParts&) = delete;
  PrecomputedParts& operator=(const PrecomputedParts&) = delete;

  /// The part of that name. The first call asks `size` and, when all parts together stay within
  /// the budget, runs `make`; `make` may get other parts.
  /// Throws: InputError "name: ... needs ... bytes" beyond the budget, before anything is made.
  template <class Part>
  std::shared_ptr<const Part> get(const std::string& name, const std::function<PartSize()>& size,
                                  const std::function<Part()>& make) {
    return std::static_pointer_cast<const Part>(find_or_make(
        name, typeid(Part), size, [&make] { return std::make_shared<const Part>(make()); }));
  }

  int64_t bytes_left() const;  ///< of the budget

 private:
  struct Entry {
    std::type_index type;
    std::shared_ptr<const void> part;
  };
  std::shared_ptr<const void> find_or_make(
      const std::string& name, std::type_index type, const std::function<PartSize()>& size,
      const std::function<std::shared_ptr<const void>()>& make);

  int64_t budget_, bytes_ = 0;
  mutable std::recursive_mutex mutex_;
  std::map<std::string, Entry> entries_;
};

}  // namespace dgat::nn
