// The state of a ferrule.Array, and views: arrays that show a part of another one, their base, whatever it refers to.
// All functions need the GIL.
#pragma once

#include <pybind11/pybind11.h>

namespace ferrule::python {

namespace py = pybind11;

struct Operators;

// The base of a view, which is no view itself, and the steps that cut the view from it, which are Python objects.
struct ViewOf {
  PyObject* base;
  PyObject* steps;  // a tuple
  bool is_read_only;
  Operators* next;  // in the list of the base
  Operators** place;
};

// The base class of ferrule.Array.
struct Operators {
  PyObject_HEAD
      // An Array or, while tracing, a symbol. An assignment to the base sets the handles of its views to null until
      // they are read, so that no view keeps the old elements.
      PyObject* handle;
  ViewOf* view;  // null: not a view
  // The first of its own views with a handle, and of those without: an assignment visits the former only.
  Operators *views, *stale_views;
};

// The handle, a borrowed reference; null for an array that was never given one. Makes that of a view, by Python code.
// An array whose base nobody else refers to ends to be a view, unless it is read-only: nobody can assign to the base
// any more.
PyObject* handle_of(Operators& array);
// Gives the array another handle; its views forget theirs.
void set_handle_of(Operators& array, py::object handle);
// Makes the views of an array forget their handles, which read its elements, until they are read.
void set_views_stale(Operators& array);
// Makes a new array a view of a base. `seen` is the handle of the base that the array was cut from: where another
// thread has assigned to the base since, the view is cut anew.
void make_view(Operators& array, Operators& base, py::tuple steps, py::handle seen);
// Makes a view an array of its own, with its present value.
void end_view(Operators& array);
// The views of an array.
py::list views_of(const Operators& array);
// For the garbage collector. `forget` does not run Python code of views.
int visit_view(const Operators& array, visitproc visit, void* arg);
void forget_view(Operators& array);
// The Python function that takes a base and steps, and returns the array that they make.
void set_view_maker(const py::function& function);
// The Python class of the steps that make a view read-only.
void set_read_only_step(const py::type& step);

}  // namespace ferrule::python
