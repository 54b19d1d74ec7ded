// The cache as modules see it.
#pragma once

#include <ferrule/cache.h>

namespace ferrule {

const fe_cache* module_cache() noexcept;

}  // namespace ferrule
