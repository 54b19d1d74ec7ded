// What holds in every test unless it says otherwise: each test is a process, which would have the modules it loads
// tried in a process of their own first.
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
