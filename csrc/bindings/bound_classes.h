// Common parts of the bindings by pybind11: the arguments of functions, and the classes.
#pragma once

#include "errors.h"

#include <concepts>
#include <utility>

namespace ferrule::python {

// pybind11 converts None to a null pointer, and converts numbers, unless it is told not to.
inline py::arg argument(const char* name) { return py::arg(name).none(false).noconvert(); }
inline py::arg argument_or_none(const char* name) { return py::arg(name); }

// The base of the C++ classes that are Python classes: their functions refuse objects whose __init__ did not run, as
// X.__new__(X) makes them. pybind11 would give them memory that no constructor has seen.
struct BoundClass {};

// A Python class for such a C++ class. pickle's older protocols would make an object of pybind11's base class, which
// terminates the process.
template <class Class, class... Options, class... Settings>
py::class_<Class, Options...> bound_class(py::module_& module, const char* name, const Settings&... settings) {
  py::class_<Class, Options...> made(module, name, settings...);
  made.def("__reduce_ex__", [](const py::object& self, const py::object&) -> py::object {
    throw py::type_error("cannot pickle '" + py::cast<std::string>(py::type::of(self).attr("__name__")) + "' object");
  });
  return made;
}

}  // namespace ferrule::python

template <std::derived_from<ferrule::python::BoundClass> Class>
class pybind11::detail::type_caster<Class> : public type_caster_base<Class> {
 public:
  bool load(handle source, bool convert) { return this->template load_impl<type_caster>(source, convert); }
  void load_value(value_and_holder&& held) {
    if (!held.holder_constructed()) throw type_error("its __init__ was not called");
    type_caster_generic::load_value(std::move(held));  // NOLINT(performance-move-const-arg): it takes an rvalue
  }
};
