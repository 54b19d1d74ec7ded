#include "array_views.h"

#include "errors.h"
#include "python_references.h"

#include <memory>
#include <utility>
#include <vector>

namespace ferrule::python {
namespace {

PyObject* view_maker = nullptr;  // a Python function
PyTypeObject* read_only_step = nullptr;

bool has_read_only_step(const py::tuple& steps) {
  for (const py::handle step : steps)
    if (Py_TYPE(step.ptr()) == read_only_step) return true;
  return false;
}

Operators& base_of(const Operators& view) { return *reinterpret_cast<Operators*>(view.view->base); }

void link(Operators& view, Operators*& first) {
  view.view->next = first;
  view.view->place = &first;
  if (first != nullptr) first->view->place = &view.view->next;
  first = &view;
}

void unlink(Operators& view) {
  *view.view->place = view.view->next;
  if (view.view->next != nullptr) view.view->next->view->place = view.view->place;
}

// Assigns the handle that the base has now. Python code runs: another thread may assign to the base meanwhile.
void make_handle(Operators& array) {
  while (array.handle == nullptr && array.view != nullptr) {
    const auto base = py::reinterpret_borrow<py::object>(array.view->base);
    const auto steps = py::reinterpret_borrow<py::object>(array.view->steps);
    PyObject* const* const current = &base_of(array).handle;
    const auto before = py::reinterpret_borrow<py::object>(*current);
    const py::object made = call_python(view_maker, base, steps);
    PyObject* const handle = handle_of(*reinterpret_cast<Operators*>(made.ptr()));
    if (array.handle != nullptr || array.view == nullptr || *current != before.ptr()) continue;
    array.handle = Py_XNewRef(handle);
    unlink(array);
    link(array, base_of(array).views);
  }
}

}  // namespace

PyObject* handle_of(Operators& array) {
  if (array.view == nullptr) return array.handle;
  if (array.handle == nullptr) make_handle(array);
  if (array.view != nullptr && !array.view->is_read_only && Py_REFCNT(array.view->base) == 1) forget_view(array);
  return array.handle;
}

void set_views_stale(Operators& array) {
  std::vector<py::object> old;  // released last: that may run code
  while (array.views != nullptr) {
    Operators& view = *array.views;
    if (view.handle != nullptr) old.push_back(py::reinterpret_steal<py::object>(std::exchange(view.handle, nullptr)));
    unlink(view);
    link(view, array.stale_views);
  }
}

void set_handle_of(Operators& array, py::object handle) {
  const auto old = py::reinterpret_steal<py::object>(std::exchange(array.handle, handle.release().ptr()));
  set_views_stale(array);
}

void make_view(Operators& array, Operators& base, py::tuple steps, py::handle seen) {
  if (array.view != nullptr || array.views != nullptr || array.stale_views != nullptr || &array == &base)
    raise_type_error("make_view: takes an array that is no view and has none");
  if (base.view != nullptr) raise_type_error("make_view: the base is a view");
  py::object old;  // released last: that may run code
  if (base.handle != seen.ptr()) old = py::reinterpret_steal<py::object>(std::exchange(array.handle, nullptr));
  const bool is_read_only = has_read_only_step(steps);
  array.view =
      new ViewOf{Py_NewRef(reinterpret_cast<PyObject*>(&base)), steps.release().ptr(), is_read_only, nullptr, nullptr};
  link(array, array.handle == nullptr ? base.stale_views : base.views);
}

void end_view(Operators& array) {
  if (handle_of(array) != nullptr) forget_view(array);
}

py::list views_of(const Operators& array) {
  py::list views;
  for (Operators* const first : {array.views, array.stale_views})
    for (Operators* view = first; view != nullptr; view = view->view->next)
      views.append(py::handle(reinterpret_cast<PyObject*>(view)));
  return views;
}

int visit_view(const Operators& array, visitproc visit, void* arg) {
  if (array.view == nullptr) return 0;
  Py_VISIT(array.view->base);
  Py_VISIT(array.view->steps);
  return 0;
}

void forget_view(Operators& array) {
  if (array.view == nullptr) return;
  unlink(array);
  const std::unique_ptr<ViewOf> view(std::exchange(array.view, nullptr));
  Py_DECREF(view->steps);
  Py_DECREF(view->base);
}

void set_view_maker(const py::function& function) { view_maker = function.inc_ref().ptr(); }

void set_read_only_step(const py::type& step) {
  read_only_step = reinterpret_cast<PyTypeObject*>(step.inc_ref().ptr());
}

}  // namespace ferrule::python
