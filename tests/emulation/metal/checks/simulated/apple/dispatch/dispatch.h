// What metal-cpp needs of Apple's header of this name, to be compiled on Linux.
#pragma once

using dispatch_queue_t = struct dispatch_queue_s*;
using dispatch_data_t = struct dispatch_data_s*;
