// The report of a load for the host C API, with the lists of C strings that its rows need.
#pragma once

#include "core/loader/report/load_report.h"

#include <ferrule/ferrule.h>

#include <vector>

struct fe_load_report {
  explicit fe_load_report(ferrule::LoadReport made);

  const ferrule::LoadReport report;
  struct Lists {
    std::vector<const char*> devices, notes, files;
  };
  const std::vector<Lists> lists;  // per row
};
