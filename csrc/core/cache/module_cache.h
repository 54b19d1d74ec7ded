// The interface of the disk cache for modules.
#pragma once

#include <ferrule/cache.h>

namespace ferrule {

const fe_cache* module_cache() noexcept;

}  // namespace ferrule
