#include "procs.h"

#include <algorithm>
#include <atomic>

#include "table.h"

namespace ferrule::cpu {
namespace {

std::atomic<uint32_t> max_threads{0};  // 0 = all

const fe_feature* list_features(size_t* count) {
  if (count != nullptr) *count = features().size();
  return features().data();
}

void set_n_threads(uint32_t count) { max_threads.store(count, std::memory_order_relaxed); }

}  // namespace

void* proc(std::string_view name) {
  if (name == FE_FEATURES) return reinterpret_cast<void*>(static_cast<fe_features_function>(list_features));
  if (name == FE_FEATURES_TEXT) return reinterpret_cast<void*>(static_cast<fe_features_text_function>(features_text));
  if (name == FE_SET_N_THREADS) return reinterpret_cast<void*>(static_cast<fe_set_n_threads_function>(set_n_threads));
  return nullptr;
}

uint32_t limited(uint32_t thread_limit) {
  const uint32_t most = max_threads.load(std::memory_order_relaxed);
  if (most == 0) return thread_limit;
  return thread_limit == 0 ? most : std::min(most, thread_limit);
}

}  // namespace ferrule::cpu
