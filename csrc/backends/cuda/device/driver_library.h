// The driver's library, which the CUDA runtime opens by itself.
#pragma once

#include <ferrule/backend.hpp>

#include <string>

namespace ferrule::cuda {

// The newest version of CUDA of a driver: "13.0" for 13000.
std::string version_text(int version);
std::string complaint_about_old_driver(int version);

// Returns why the CUDA runtime finds no driver, or only a stub of it. The runtime's own error does not say why, so this
// opens the library and calls cuInit. FE_NOT_FOUND if there is no such library, else FE_UNSUPPORTED.
sdk::Error reason_for_no_driver();

}  // namespace ferrule::cuda
