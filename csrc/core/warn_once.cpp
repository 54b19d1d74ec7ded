#include "core/warn_once.h"

#include "core/log.h"
#include "core/sync/immortal.h"
#include "core/sync/mutexes.h"

#include <fmt/format.h>

#include <mutex>
#include <set>
#include <utility>

namespace ferrule {
namespace {

struct WarnedSentences {
  BriefMutex mutex;
  std::set<std::string> sentences;
};

}  // namespace

void warn_once(std::string sentence) {
  WarnedSentences& warned = Immortal<WarnedSentences>::get();
  {
    const std::scoped_lock lock(warned.mutex);
    if (!warned.sentences.insert(sentence).second) return;
  }
  log_warning("{}", sentence);
}

void warn_of_variable(std::string_view name, std::string_view value, std::string_view need, std::string_view taken) {
  warn_once(fmt::format("{} is '{}', and must be {}; using {}", name, value, need, taken));
}

}  // namespace ferrule
