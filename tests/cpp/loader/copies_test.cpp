// Several copies of libferrule in one process, and modules that export the same names as others.
#include "loader_fixture.h"

#include <ferrule/ferrule.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

#include <array>
#include <cstring>
#include <thread>

#ifdef FERRULE_SHARED_LIBRARY

namespace ferrule::test {
namespace {

// The calls of the system. On Windows every library is local.
#if defined(_WIN32)
constexpr int RTLD_LOCAL = 0, RTLD_GLOBAL = 1;
void* open_library(const fs::path& path, int) { return LoadLibraryW(path.c_str()); }
void* symbol_of(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}
void close_library(void* library) { FreeLibrary(static_cast<HMODULE>(library)); }
fs::path file_of(void* library) {
  std::wstring name(32768, L'\0');
  name.resize(GetModuleFileNameW(static_cast<HMODULE>(library), name.data(), static_cast<DWORD>(name.size())));
  return name;
}
std::string reason_not_opened() { return "LoadLibraryW: " + std::to_string(GetLastError()); }
#else
void* open_library(const fs::path& path, int scope) { return dlopen(path.c_str(), RTLD_NOW | scope); }
void* symbol_of(void* library, const char* name) { return dlsym(library, name); }
void close_library(void* library) { dlclose(library); }
fs::path file_of(void* library) {
  Dl_info info{};
  dladdr(dlsym(library, "fe_load_all"), &info);
  return info.dli_fname;
}
std::string reason_not_opened() { return dlerror(); }
#endif

// A copy of libferrule with its own modules beside it, as a program would bundle it.
class Copy {
 public:
  Copy(const fs::path& folder, int scope) : backends_(folder / "backends") {
    fs::create_directories(backends_);
    const fs::path library = folder / fs::path(FERRULE_SHARED_LIBRARY).filename();
    fs::copy_file(FERRULE_SHARED_LIBRARY, library);
    for (const fs::path& root : dirs_of_build())
      for (const auto& file : fs::directory_iterator(root))
        if (file.path().filename().string().starts_with("libferrule-cpu-"))
          fs::copy_file(file, backends_ / file.path().filename());
    library_ = open_library(library, scope);
    if (library_ == nullptr) throw std::runtime_error(reason_not_opened());
  }
  template <class Function>
  Function* function(Function*, const char* name) const {
    return reinterpret_cast<Function*>(symbol_of(library_, name));
  }
#define COPY_FUNCTION(name) function(&(name), #name)

  void check(fe_error* error) const {
    if (error == nullptr) return;
    const std::string message = COPY_FUNCTION(fe_error_message)(error);
    COPY_FUNCTION(fe_error_release)(error);
    throw std::runtime_error(message);
  }
  void load_all() const {
    const char* const only[] = {"cpu"};
    fe_load_options options{};
    options.struct_size = sizeof options;
    options.only = only;
    options.only_count = 1;
    check(COPY_FUNCTION(fe_load_all)(&options, nullptr));
  }
  void load(const fs::path& module) const { check(COPY_FUNCTION(fe_load)(module.string().c_str(), nullptr, nullptr)); }
  void unload(const char* name) const { check(COPY_FUNCTION(fe_unload)(name)); }
  std::size_t backends() const {
    fe_backend_ref** list = nullptr;
    std::size_t count = 0;
    check(COPY_FUNCTION(fe_backends)(&list, &count));
    for (std::size_t i = 0; i < count; ++i) COPY_FUNCTION(fe_backend_release)(list[i]);
    COPY_FUNCTION(fe_list_free)(static_cast<void*>(list));
    return count;
  }
  // Computes 2 * x on the CPU.
  float doubled(float x) const {
    fe_device* device = nullptr;
    check(COPY_FUNCTION(fe_device_by_name)("cpu", nullptr, &device));
    const std::array<int64_t, 1> shape = {1};
    fe_host_memory memory{};
    memory.struct_size = sizeof memory;
    memory.pointer = &x;
    memory.dtype = COPY_FUNCTION(fe_dtype_by_name)("float32");
    memory.rank = 1;
    memory.shape = shape.data();
    memory.access = FE_ACCESS_READ;
    memory.copy = 1;
    fe_array* input = nullptr;
    check(COPY_FUNCTION(fe_array_from_host)(device, &memory, &input));
    const std::array<fe_array*, 2> inputs = {input, input};
    fe_array* sum = nullptr;
    check(COPY_FUNCTION(fe_array_apply)("add", inputs.data(), nullptr, 2, nullptr, 0, &sum, 1));
    check(COPY_FUNCTION(fe_eval)(&sum, 1, nullptr, nullptr));
    float result = 0;
    check(COPY_FUNCTION(fe_array_read)(sum, &result, sizeof result));
    for (fe_array* array : {input, sum}) COPY_FUNCTION(fe_array_release)(array);
    COPY_FUNCTION(fe_device_release)(device);
    return result;
  }
  // Reads and releases an error that the module makes.
  std::string message_of_a_module() const {
    fe_device* device = nullptr;
    check(COPY_FUNCTION(fe_device_by_name)("null", nullptr, &device));
    const fe_option option{sizeof option, "slow_ms", "no number"};
    fe_error* const error = COPY_FUNCTION(fe_device_open)(device, &option, 1);
    std::string message = COPY_FUNCTION(fe_error_message)(error);
    COPY_FUNCTION(fe_error_release)(error);
    COPY_FUNCTION(fe_device_release)(device);
    return message;
  }
  fs::path file() const { return file_of(library_); }
#undef COPY_FUNCTION

 private:
  fs::path backends_;
  void* library_ = nullptr;
};

class LoaderCopies : public LoaderTest, public testing::WithParamInterface<int> {};

TEST_P(LoaderCopies, TwoCopiesAreIndependent) {
  const auto before = Registry::instance().find_backend("cpu");
  const Copy a(root("a"), GetParam()), b(root("b"), GetParam());
  EXPECT_NE(a.file(), b.file());
  a.load_all();
  EXPECT_EQ(a.backends(), 1u);
  EXPECT_EQ(b.backends(), 0u) << "each has backends of its own";
  b.load_all();
  std::thread other([&] {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(b.doubled(4), 8);
  });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(a.doubled(3), 6);
  other.join();
  a.unload("cpu");
  EXPECT_EQ(a.backends(), 0u);
  EXPECT_EQ(b.doubled(5), 10);
  a.load_all();
  EXPECT_EQ(a.doubled(6), 12);
  // The core in this program is the third copy.
  EXPECT_EQ(Registry::instance().find_backend("cpu"), before);
}

#ifdef FERRULE_NULL_MODULE
TEST_P(LoaderCopies, TwoCopiesMayLoadTheSameModuleFile) {
  const Copy a(root("a"), GetParam()), b(root("b"), GetParam());
  const fs::path shared = root() / fs::path(FERRULE_NULL_MODULE).filename();
  fs::copy_file(FERRULE_NULL_MODULE, shared);
  for (const Copy* copy : {&a, &b}) copy->load(shared);
  EXPECT_CONTAINS(a.message_of_a_module(), "slow_ms");
  EXPECT_CONTAINS(b.message_of_a_module(), "slow_ms");
  b.unload("null");
  EXPECT_CONTAINS(a.message_of_a_module(), "slow_ms");
  a.unload("null");
}
#endif

TEST_P(LoaderCopies, ModuleThatExportsCoreSymbolsDoesNotReplaceThem) {
  const Copy copy(root("copy"), GetParam());
  copy.load(put(root(), "t_impostor"));
  copy.load_all();
  EXPECT_EQ(copy.backends(), 2u);
  EXPECT_EQ(copy.doubled(2), 4);
  EXPECT_THROW(copy.load(root() / "libferrule-t_absent" MODULE_ENDING), std::runtime_error);
  // The same if it was already opened with global symbol visibility.
  void* const impostor = open_library(root() / "libferrule-t_impostor" MODULE_ENDING, RTLD_GLOBAL);
  ASSERT_NE(impostor, nullptr);
  const Copy late(root("late"), GetParam());
  late.load_all();
  EXPECT_EQ(late.doubled(2), 4);
  copy.unload("t_impostor");
  EXPECT_EQ(copy.doubled(2), 4);
  close_library(impostor);
}

INSTANTIATE_TEST_SUITE_P(Scopes, LoaderCopies, testing::Values(RTLD_LOCAL, RTLD_GLOBAL),
                         [](const auto& scope) { return scope.param == RTLD_LOCAL ? "Local" : "Global"; });

}  // namespace
}  // namespace ferrule::test

#endif
