// Host API: loading.
#include "core/api/handles.h"
#include "core/api/load_options.h"
#include "core/api/load_report.h"
#include "core/lazy/array.h"
#include "core/loader/load.h"
#include "core/platform/libraries/library_paths.h"
#include "module_file/path_text.h"

using namespace ferrule;

namespace {

void reload_as(const char* function, const char* name, bool by_force, fe_backend_ref** out) {
  given(name, function, "name");
  clear_compile_cache();
  auto backend = reload(name, by_force);
  if (out) *out = new fe_backend_ref{std::move(backend)};
}

}  // namespace

extern "C" {

fe_error* fe_load_all(const fe_load_options* given_options, fe_load_report** report) {
  return guarded([&] {
    const LoadOptions options = load_all_options(given_options);
    auto made = std::make_unique<fe_load_report>(load_all(options));
    Registry::instance().warn_of_unknown_names();
    const fe_load_report& loaded = *made;
    if (report) *report = made.release();
    check_required(options, loaded.report);
  });
}

fe_error* fe_load(const char* path, const fe_load_options* given_options, fe_backend_ref** out) {
  return guarded([&] {
    const FileOptions options = load_options(given_options);
    auto backend = load(path_from_text(&given(path, "load", "path")), options.policy, options.as_name);
    if (out) *out = new fe_backend_ref{std::move(backend)};
  });
}

fe_error* fe_unload(const char* name) {
  return guarded([&] {
    given(name, "unload", "name");
    clear_compile_cache();
    Registry::instance().unload(name);
  });
}

fe_error* fe_reload(const char* name, fe_backend_ref** out) {
  return guarded([&] { reload_as("reload", name, false, out); });
}

fe_error* fe_reload_by_force(const char* name, fe_backend_ref** out) {
  return guarded([&] { reload_as("reload_by_force", name, true, out); });
}

fe_error* fe_register(const fe_static_module* module, fe_backend_ref** out) {
  return guarded([&] {
    auto backend = Registry::instance().add(module);
    if (out) *out = new fe_backend_ref{std::move(backend)};
  });
}

fe_error* fe_register_backend(const fe_program_backend* program, fe_backend_ref** out) {
  return guarded([&] {
    auto backend = Registry::instance().add(program);
    if (out) *out = new fe_backend_ref{std::move(backend)};
  });
}

fe_error* fe_shutdown(void) {
  return guarded([] {
    clear_compile_cache();
    Registry::instance().shutdown();
  });
}

fe_error* fe_refresh(void) {
  return guarded([] {
    // Executables of a device that was retired are not used again, and keep it from being closed.
    if (Registry::instance().refresh()) clear_compile_cache();
  });
}

fe_error* fe_executable_dir(fe_string** out) {
  return guarded([&] {
    const std::filesystem::path folder = executable_dir();
    if (folder.empty())
      fail(FE_NOT_FOUND, "executable_dir: the system does not report the path of the running program");
    give_text("executable_dir", out, path_to_text(folder));
  });
}
}
