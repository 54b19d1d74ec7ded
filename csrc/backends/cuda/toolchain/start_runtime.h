// The CUDA runtime inside the module: its static initialisers do not run when the module is opened.
#pragma once

namespace ferrule::cuda {

// Must be called before the first function of the CUDA runtime. Later calls do nothing.
void start_runtime();

}  // namespace ferrule::cuda
