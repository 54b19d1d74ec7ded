#include "core/registry/leftover_modules.h"

#include "core/log.h"
#include "core/platform/libraries/dynamic_library.h"
#include "core/registry/module_source.h"
#include "core/sync/immortal.h"
#include "core/sync/mutexes.h"
#include "module_file/path_text.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

namespace ferrule {
namespace {

// The code that is kept here stays mapped until the process ends.
struct Kept {
  BriefMutex mutex;
  std::vector<LeftoverModule> modules;
  std::vector<std::shared_ptr<void>> code;
};
Kept& kept() { return Immortal<Kept>::get(); }

constexpr const char* threads_reason =
    "it is known to leave threads behind, which would crash the process if their code went away: it stays on purpose";
constexpr const char* system_reason =
    "the system keeps its code mapped (another user of it, -z nodelete, unique symbols, or musl, which unmaps nothing)";

void remember(const std::string& path, const char* reason, std::shared_ptr<void> code) {
  log_warning("{} stays mapped after it was unloaded: {}", path, reason);
  const std::scoped_lock lock(kept().mutex);
  if (code) kept().code.push_back(std::move(code));
  const auto is_known = [&](const LeftoverModule& leftover) { return leftover.path == path; };
  if (std::none_of(kept().modules.begin(), kept().modules.end(), is_known)) kept().modules.push_back({path, reason});
}

}  // namespace

void unmap_module(ModuleSource& source) {
  if (source.path.empty()) return;  // linked in
  std::shared_ptr<void> code = std::exchange(source.code, nullptr);
  if (source.leaves_threads) {
    remember(path_to_text(source.mapped), threads_reason, std::move(code));
    return;
  }
  code.reset();
  if (DynamicLibrary::is_open(source.mapped)) remember(path_to_text(source.mapped), system_reason, nullptr);
}

std::vector<LeftoverModule> leftover_modules() {
  std::vector<LeftoverModule> all;
  {
    const std::scoped_lock lock(kept().mutex);
    all = kept().modules;
  }
  std::vector<LeftoverModule> gone;
  std::erase_if(all, [&](const LeftoverModule& leftover) {
    if (DynamicLibrary::is_open(leftover.path)) return false;
    gone.push_back(leftover);
    return true;
  });
  const std::scoped_lock lock(kept().mutex);
  for (const LeftoverModule& leftover : gone)
    std::erase_if(kept().modules, [&](const LeftoverModule& other) { return other.path == leftover.path; });
  return all;
}

std::string reason_left_mapped(const std::string& path) {
  for (const LeftoverModule& leftover : leftover_modules())
    if (leftover.path == path) return leftover.reason;
  return "";
}

}  // namespace ferrule
