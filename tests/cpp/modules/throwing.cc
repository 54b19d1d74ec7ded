// A module that illegally throws a C++ exception from init. The exception's type is its own, so its code is unmapped
// with the module. The suffix is not .cpp because all *.cpp files belong to the test program.
#include <ferrule/backend.h>

#include <stdexcept>

namespace {
struct Surprise : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace

extern "C" {
FE_MODULE_EXPORT extern const fe_abi ferrule_backend_abi;
const fe_abi ferrule_backend_abi = FE_ABI_INITIALIZER;
FE_MODULE_EXPORT fe_error* ferrule_backend_init(const fe_host*, fe_backend*);
fe_error* ferrule_backend_init(const fe_host*, fe_backend*) { throw Surprise("thrown for the test"); }
}
