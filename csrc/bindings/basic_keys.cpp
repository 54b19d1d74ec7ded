#include "basic_keys.h"

#include "array_objects.h"
#include "array_views.h"
#include "values.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace ferrule::python {
namespace {

PyObject *make_key = nullptr, *join_steps = nullptr;  // Python functions

// A key with one item for each axis of the array, and None for each new axis, as the class Key in Python has it.
class BasicKey {
 public:
  // False for a key that is left to Python.
  bool read(PyObject* key, const fe_array_info& info) {
    rank_ = info.rank;
    PyObject* const one[] = {key};
    const bool is_tuple = PyTuple_CheckExact(key) != 0;
    PyObject* const* const items = is_tuple ? &PyTuple_GET_ITEM(key, 0) : one;
    const Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
    const Py_ssize_t new_axes = std::count(items, items + count, Py_None);
    const Py_ssize_t ellipses = std::count(items, items + count, Py_Ellipsis);
    const Py_ssize_t missing = rank_ - (count - new_axes - ellipses);
    if (ellipses > 1 || missing < 0 || count > 2 * FE_MAX_RANK) return false;
    int32_t axis = 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (items[i] == Py_Ellipsis) {
        for (Py_ssize_t k = 0; k < missing; ++k, ++axis) add({0, info.shape[axis], 1, Kind::range});
      } else if (items[i] == Py_None) {
        add({0, 1, 1, Kind::new_axis});
      } else if (!read_item(items[i], info.shape[axis++])) {
        return false;
      }
    }
    for (; axis < rank_; ++axis) add({0, info.shape[axis], 1, Kind::range});
    return is_part_ && has_axes_ && result_rank_ <= FE_MAX_RANK;
  }

  ArrayHandle part_of(fe_array* x) const {
    std::array<int64_t, FE_MAX_RANK> starts{}, sizes{}, steps{}, shape{};
    std::size_t axis = 0, place = 0;
    bool is_cut = false, is_reshaped = false;
    for (std::size_t i = 0; i < count_; ++i) {
      const Item& item = items_[i];
      if (item.kind != Kind::new_axis) {
        starts[axis] = item.length == 0 ? 0 : item.start;
        sizes[axis] = item.length;
        steps[axis++] = item.step;
        is_cut |= item.is_cut;
      }
      is_reshaped |= item.kind != Kind::range;
      if (item.kind != Kind::index) shape[place++] = item.length;
    }
    ArrayHandle part;
    if (is_cut)
      part =
          recorded("slice", x,
                   {integers("starts", starts, axis), integers("sizes", sizes, axis), integers("steps", steps, axis)});
    if (is_cut && !part) return part;
    return is_reshaped ? recorded("reshape", is_cut ? part.get() : x, {integers("shape", shape, place)})
                       : std::move(part);
  }

  // The step of a view.
  py::object step() const {
    py::tuple items(count_), shape(static_cast<std::size_t>(result_rank_));
    std::size_t place = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const Item& item = items_[i];
      items[i] = item.kind == Kind::new_axis ? py::object(py::none())
                 : item.kind == Kind::index  ? py::object(py::int_(item.start))
                                             : range_of(item);
      if (item.kind != Kind::index) shape[place++] = py::int_(item.length);
    }
    return call_python(make_key, items, shape);
  }

 private:
  enum class Kind : uint8_t { index, range, new_axis };
  struct Item {
    int64_t start, length, step;
    Kind kind;
    bool is_cut = false;  // it chooses less than the whole axis, or in another order
  };

  void add(const Item& item) {
    items_[count_++] = item;
    if (item.kind != Kind::index) ++result_rank_;
    has_axes_ |= item.kind != Kind::index;
    is_part_ |= item.kind != Kind::range || item.is_cut;
  }

  bool read_item(PyObject* item, int64_t size) {
    if (PyLong_CheckExact(item)) {
      int overflow = 0;
      int64_t index = PyLong_AsLongLongAndOverflow(item, &overflow);
      if (index < 0) index += size;
      if (overflow != 0 || index < 0 || index >= size) return false;
      add({index, 1, 1, Kind::index, size != 1});
      return true;
    }
    if (PySlice_Check(item) == 0) return false;
    const auto& slice = *reinterpret_cast<PySliceObject*>(item);
    for (PyObject* const end : {slice.start, slice.stop, slice.step})
      if (end != Py_None && !PyLong_CheckExact(end)) return false;
    Py_ssize_t start = 0, stop = 0, step = 0;
    if (PySlice_Unpack(item, &start, &stop, &step) != 0) {
      PyErr_Clear();
      return false;
    }
    const Py_ssize_t length = PySlice_AdjustIndices(static_cast<Py_ssize_t>(size), &start, &stop, step);
    if (length <= 1) step = 1;
    add({start, length, step, Kind::range, length != size || step != 1});
    return true;
  }

  static py::object range_of(const Item& item) {
    // The end of a range that goes down to element 0 is -1.
    const int64_t last = item.start + (item.length - 1) * item.step;
    const int64_t stop = item.length == 0 ? item.start : last + (item.step > 0 ? 1 : -1);
    return call_python(reinterpret_cast<PyObject*>(&PyRange_Type), py::int_(item.start), py::int_(stop),
                       py::int_(item.step));
  }

  static fe_attribute integers(const char* name, const std::array<int64_t, FE_MAX_RANK>& numbers, std::size_t count) {
    fe_attribute attribute{};
    attribute.struct_size = sizeof attribute;
    attribute.name = name;
    attribute.kind = FE_ATTRIBUTE_INT64_LIST;
    attribute.integers = {numbers.data(), count};
    return attribute;
  }

  // Null after an error, which Python code then raises in its words.
  template <std::size_t count>
  static ArrayHandle recorded(const char* op, fe_array* x, const fe_attribute (&attributes)[count]) {
    fe_array* out = nullptr;
    fe_error* const error = without_gil([&] { return fe_array_apply(op, &x, nullptr, 1, attributes, count, &out, 1); });
    fe_error_release(error);
    return ArrayHandle(error == nullptr ? out : nullptr);
  }

  std::array<Item, 3 * FE_MAX_RANK> items_;
  std::size_t count_ = 0;
  int32_t rank_ = 0, result_rank_ = 0;
  bool is_part_ = false;   // it is not all of the array, in its shape
  bool has_axes_ = false;  // it is not one element
};

Operators& operators_in(PyObject* object) { return *reinterpret_cast<Operators*>(object); }

}  // namespace

py::object basic_part(PyObject* array, PyObject* key) {
  const ArrayPointer x = handle_in(array);
  BasicKey basic;
  if (!x || !basic.read(key, x->info())) return {};
  // `x` was made of the present handle of the base, because no Python code ran since.
  const ViewOf* const view = operators_in(array).view;
  const auto base = py::reinterpret_borrow<py::object>(view == nullptr ? array : view->base);
  const auto steps = py::reinterpret_borrow<py::object>(view == nullptr ? nullptr : view->steps);
  const auto seen = py::reinterpret_borrow<py::object>(operators_in(base.ptr()).handle);
  ArrayHandle part = basic.part_of(x->get());
  if (!part) return {};
  const py::object step = basic.step();
  const py::tuple joined = steps ? py::tuple(call_python(join_steps, steps, step)) : py::make_tuple(step);
  py::object made = wrap(std::move(part));
  make_view(operators_in(made.ptr()), operators_in(base.ptr()), joined, seen);
  return made;
}

void set_key_functions(const py::function& make, const py::function& join) {
  make_key = make.inc_ref().ptr();
  join_steps = join.inc_ref().ptr();
}

}  // namespace ferrule::python
