// Defaults of every test. Probing is off: each test is a separate process and would otherwise probe each module in a
// child process first.
#include <gtest/gtest.h>

#include <cstdlib>

namespace {

class WithoutProbe : public testing::Environment {
 public:
  void SetUp() override {
#if defined(_WIN32)
    _putenv_s("FERRULE_PROBE", "never");
#else
    setenv("FERRULE_PROBE", "never", 1);
#endif
  }
};

const testing::Environment* const environment = testing::AddGlobalTestEnvironment(new WithoutProbe);

}  // namespace
