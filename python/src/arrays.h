#pragma once

#include <pybind11/numpy.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

/// NumPy arrays over memory of dgat, without a copy.
namespace dgat::python {

using Shape = std::vector<pybind11::ssize_t>;

/// A read-only array over memory that `owner` keeps alive.
template <class T>
pybind11::array view(std::span<const T> values, Shape shape, pybind11::handle owner) {
  pybind11::array_t<T> array(std::move(shape), values.data(), owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}

/// An array that owns the vector.
template <class T>
pybind11::array owned(std::vector<T>&& values, Shape shape, bool columns_first = false) {
  auto held = std::make_unique<std::vector<T>>(std::move(values));
  const T* const data = held->data();
  const pybind11::capsule owner(held.release(),
                                [](void* p) { delete static_cast<std::vector<T>*>(p); });
  if (!columns_first) return pybind11::array_t<T>(std::move(shape), data, owner);
  const auto size = static_cast<pybind11::ssize_t>(sizeof(T));
  return pybind11::array_t<T>(shape, {size, size * shape[0]}, data, owner);
}

template <class T>
pybind11::array owned(std::vector<T>&& values) {
  const auto size = static_cast<pybind11::ssize_t>(values.size());
  return owned(std::move(values), {size});
}

/// An argument that NumPy converts when its type or order differs.
template <class T>
using Input = pybind11::array_t<T, pybind11::array::c_style | pybind11::array::forcecast>;

template <class T>
std::span<const T> span_of(const Input<T>& array) {
  return {array.data(), static_cast<size_t>(array.size())};
}

template <class T>
std::vector<T> vector_of(const Input<T>& array) {
  return {array.data(), array.data() + array.size()};
}

}  // namespace dgat::python
