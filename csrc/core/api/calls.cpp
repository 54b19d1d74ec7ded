// Host API: compiled graphs of the calls of a function.
#include "core/api/handles.h"
#include "core/executor/executable_cache.h"
#include "core/key.h"
#include "core/lazy/queued_releases.h"

using namespace ferrule;

namespace {

// A compiled graph and the caller's context.
struct KnownCall {
  KnownCall(const std::shared_ptr<const fe_compiled::Parts>& parts, void* added, const std::shared_ptr<void>& owner)
      : compiled(new fe_compiled(parts, owner), fe_compiled_release), context(added) {}
  const std::unique_ptr<fe_compiled, void (*)(fe_compiled*)> compiled;
  void* const context;
};

}  // namespace

struct fe_calls {
  explicit fe_calls(std::size_t capacity) : cache(capacity) {}
  ExecutableCache<std::shared_ptr<const KnownCall>> cache;
};

namespace {

// The key of a call: the device and type of each array, and the layout of those that are not donated.
Key key_of(const char* function, int64_t structure, fe_array* const* inputs, const uint8_t* donated, size_t count) {
  if (count > 0) given(inputs, function, "inputs");
  Key key;
  key.add(structure);
  for (size_t i = 0; i < count; ++i) {
    const ArrayPointer& array = array_of(inputs[i], function, "an input");
    if (array->state() != Array::State::computed) evaluate({&array, 1});
    if (array->is_donated()) array->strided_array();  // throws, unless it was given back meanwhile
    key.add(array->device()->id());
    key.add(array->type());
    const bool contiguous = (donated && donated[i] != 0) || is_contiguous(array->type().shape, array->strides());
    key.add(contiguous);
    if (!contiguous) key.add(array->strides());
  }
  return key;
}

void give_call(const KnownCall& call, fe_compiled** compiled, void** context) {
  ++call.compiled->references;
  *compiled = call.compiled.get();
  *context = call.context;
}

}  // namespace

extern "C" {

fe_error* fe_calls_create(size_t capacity, fe_calls** out) {
  return guarded([&] {
    given(out, "calls_create", "out");
    if (capacity == 0) fail_argument("calls_create: capacity is 0");
    *out = new fe_calls(capacity);
  });
}

void fe_calls_release(fe_calls* calls) { delete calls; }

fe_error* fe_calls_find(fe_calls* calls, int64_t structure, fe_array* const* inputs, const uint8_t* donated,
                        size_t count, fe_compiled** compiled, void** context) {
  return guarded([&] {
    given(calls, "calls_find", "calls");
    given(compiled, "calls_find", "compiled") = nullptr;
    given(context, "calls_find", "context") = nullptr;
    if (const auto known = calls->cache.find(key_of("calls_find", structure, inputs, donated, count).bytes()))
      give_call(*known, compiled, context);
  });
}

fe_error* fe_calls_add(fe_calls* calls, int64_t structure, fe_array* const* inputs, const uint8_t* donated,
                       size_t count, const fe_compiled* compiled, void* context, fe_release_function release,
                       fe_compiled** kept, void** kept_context) {
  return guarded([&] {
    const std::shared_ptr<void> owner = owner_of_borrowed_memory(release, context);
    given(calls, "calls_add", "calls");
    given(kept, "calls_add", "kept") = nullptr;
    given(kept_context, "calls_add", "kept_context") = nullptr;
    const auto& parts = given(compiled, "calls_add", "compiled").parts;
    if (count != parts->executable->plan().inputs.size())
      fail_argument("calls_add: the graph has {} inputs, and the call {}", parts->executable->plan().inputs.size(),
                    count);
    auto call = std::make_shared<const KnownCall>(parts, context, owner);
    std::string key(key_of("calls_add", structure, inputs, donated, count).bytes());
    give_call(*calls->cache.insert(std::move(key), std::move(call)), kept, kept_context);
  });
}

void fe_calls_clear(fe_calls* calls) {
  if (calls) calls->cache.clear();
}

fe_error* fe_calls_info_get(const fe_calls* calls, fe_calls_info* out) {
  return guarded([&] {
    const auto& cache = given(calls, "calls_info", "calls").cache;
    const auto counts = cache.counts();
    fill_struct("calls_info", out, {sizeof(fe_calls_info), counts.hits, counts.misses, cache.capacity(), counts.size});
  });
}
}
