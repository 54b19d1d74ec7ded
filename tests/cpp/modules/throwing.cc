// A module that lets a C++ exception out of its init, as none may. Of its own type, whose code is unmapped with it.
// Not *.cpp, all of which the test program itself is made of.
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
