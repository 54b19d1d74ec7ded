// What metal-cpp needs of Apple's header of this name, to be compiled on Linux.
#pragma once

using kern_return_t = int;
using task_id_token_t = unsigned;
