// The report of a load for Python.
#pragma once

#include "handles.h"
#include "text.h"

#include <string>
#include <vector>

namespace ferrule::python {

class LoadReport : public BoundClass {
 public:
  explicit LoadReport(fe_load_report* handle) : handle_(handle) {}

  std::string format(const Text& name) const;
  // `versions`: of each candidate, used if its module reports none.
  std::string explain(const Text& name, const std::vector<std::string>& versions) const;
  // The report as a new dict, of the form of its JSON.
  py::dict data() const;

 private:
  LoadReportHandle handle_;
};

}  // namespace ferrule::python
