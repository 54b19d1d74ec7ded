#include "metal/objc/object.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "metal/objc/faults.h"

namespace objc {

Selector selector_of(const std::string& name) {
  static constinit std::mutex mutex;
  static auto& names = *new std::set<std::string>();
  const std::scoped_lock lock(mutex);
  return names.insert(name).first->c_str();
}

namespace {

struct Entry {
  const Class* isa = nullptr;
  bool is_live = false;
  void (*destroy)(Object&) = nullptr;
};

// Live and freed objects by their address, in parts with a lock each, because each message looks here.
struct Part {
  std::mutex mutex;
  std::unordered_map<const void*, Entry> entries;
};
constexpr std::size_t parts = 64;
Part& part_of(const void* pointer) {
  static auto& all = *new std::array<Part, parts>();
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return all[(address >> 5U ^ address >> 12U) % parts];
}

constinit std::atomic<std::size_t> most_freed{0};

// Memory of objects that were freed. It is not given to other objects for a while.
void keep_freed(Object* object) {
  static constinit std::mutex mutex;
  static auto& kept = *new std::deque<Object*>();
  Object* oldest = nullptr;
  {
    const std::scoped_lock lock(mutex);
    kept.push_back(object);
    if (kept.size() <= most_freed.load(std::memory_order_relaxed)) return;
    oldest = kept.front();
    kept.pop_front();
  }
  {
    Part& part = part_of(oldest);
    const std::scoped_lock lock(part.mutex);
    part.entries.erase(oldest);
  }
  ::operator delete(oldest);
}

struct Counts {
  std::mutex mutex;
  std::map<std::string, std::size_t> live;
};
Counts& counts() {
  static auto& all = *new Counts();
  return all;
}
void add_to_count(const Class& isa, std::size_t change) {
  if (!isa.is_counted()) return;
  const std::scoped_lock lock(counts().mutex);
  counts().live[isa.name()] += change;
}

constinit std::atomic<void (*)(const Class&, bool)> observer = nullptr;
void observe(const Class& isa, bool is_made) {
  if (auto* const call = observer.load(); call != nullptr) call(isa, is_made);
}

std::string address(const void* pointer) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%p", pointer);
  return text.data();
}

// Reports what is wrong with a pointer that should be a live object.
void report_dead(const char* what, const void* pointer, const Known& about) {
  if (about.state == Known::State::freed)
    report_fault(std::string(what) + ": the " + about.isa->name() + " at " + address(pointer) + " was freed before");
  else
    report_fault(std::string(what) + ": there is no object at " + address(pointer));
}

}  // namespace

Known known(const void* pointer) {
  Part& part = part_of(pointer);
  const std::scoped_lock lock(part.mutex);
  const auto found = part.entries.find(pointer);
  if (found == part.entries.end()) return {};
  return {found->second.is_live ? Known::State::live : Known::State::freed, found->second.isa};
}

void set_most_freed(std::size_t count) { most_freed.store(count, std::memory_order_relaxed); }

void set_observer(void (*call)(const Class&, bool)) { observer = call; }

void detail::register_object(Object& object, void (*destroy)(Object&)) {
  const Class& isa = *object.isa;
  {
    Part& part = part_of(&object);
    const std::scoped_lock lock(part.mutex);
    part.entries[&object] = {&isa, true, destroy};
  }
  add_to_count(isa, 1);
  observe(isa, true);
}

Object* retain(Object* object) {
  if (object == nullptr) return nullptr;
  const Known about = known(object);
  if (about.state != Known::State::live) return report_dead("retain", object, about), object;
  if (about.isa != &class_of_classes()) object->count.fetch_add(1, std::memory_order_relaxed);
  return object;
}

void release(Object* object) {
  if (object == nullptr) return;
  const Known about = known(object);
  if (about.state != Known::State::live) {
    report_dead("over-release", object, about);
    return;
  }
  if (about.isa == &class_of_classes()) return;
  if (object->count.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  void (*destroy)(Object&) = nullptr;
  {
    Part& part = part_of(object);
    const std::scoped_lock lock(part.mutex);
    Entry& entry = part.entries[object];
    entry.is_live = false;
    destroy = entry.destroy;
  }
  destroy(*object);
  add_to_count(*about.isa, static_cast<std::size_t>(-1));
  observe(*about.isa, false);
  keep_freed(object);
}

std::size_t retain_count(Object* object) {
  if (object == nullptr) return 0;
  const Known about = known(object);
  if (about.state != Known::State::live) return report_dead("retainCount", object, about), 0;
  return object->count.load(std::memory_order_relaxed);
}

namespace {

// The pools of a thread: objects to release, and where each pool begins.
struct Pools {
  struct Pool {
    std::uintptr_t token;
    std::size_t begin;
  };
  std::vector<Object*> objects;
  std::vector<Pool> open;
  ~Pools() {
    // The main thread ends with the process.
    if (!open.empty() && ::gettid() != ::getpid())
      report_fault("a thread ends with " + std::to_string(open.size()) + " open autorelease pools");
  }
};
// Uses a key, not thread_local: another thread frees the thread-local memory of an opened library, and ThreadSanitizer
// does not see that the destructor has ended before.
Pools& pools() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    if (::pthread_key_create(&made, [](void* own) { delete static_cast<Pools*>(own); }) != 0) std::abort();
    return made;
  }();
  auto* own = static_cast<Pools*>(::pthread_getspecific(key));
  if (own == nullptr) {
    own = std::make_unique<Pools>().release();
    if (::pthread_setspecific(key, own) != 0) std::abort();
  }
  return *own;
}

}  // namespace

Object* autorelease(Object* object) {
  if (object == nullptr) return nullptr;
  const Known about = known(object);
  if (about.state != Known::State::live) return report_dead("autorelease", object, about), object;
  if (about.isa == &class_of_classes()) return object;
  if (pools().open.empty()) {
    report_fault("a " + about.isa->name() + " at " + address(object) +
                 " is autoreleased on a thread without an autorelease pool: it leaks");
    return object;
  }
  pools().objects.push_back(object);
  return object;
}

void* push_pool() {
  static constinit std::atomic<std::uintptr_t> next{1};
  const std::uintptr_t token = next.fetch_add(1);
  pools().open.push_back({token, pools().objects.size()});
  return reinterpret_cast<void*>(token);  // NOLINT(performance-no-int-to-ptr): no address, as in Objective-C
}

void pop_pool(void* token) {
  Pools& own = pools();
  const auto number = reinterpret_cast<std::uintptr_t>(token);
  std::size_t depth = own.open.size();
  while (depth > 0 && own.open[depth - 1].token != number) --depth;
  if (depth == 0) {
    report_fault("an autorelease pool is popped that is not open on this thread");
    return;
  }
  // The pools within it end, too. What is autoreleased meanwhile is in this pool, and ends with it.
  own.open.resize(depth);
  const std::size_t begin = own.open[depth - 1].begin;
  while (own.objects.size() > begin) {
    Object* const object = own.objects.back();
    own.objects.pop_back();
    release(object);
  }
  own.open.resize(depth - 1);
}

std::string live_objects() {
  std::string text;
  const std::scoped_lock lock(counts().mutex);
  for (const auto& [name, count] : counts().live)
    if (count != 0) text += name + " " + std::to_string(count) + "\n";
  return text;
}

std::string described(const void* pointer) {
  const Known about = known(pointer);
  return "<" + (about.isa == nullptr ? "no object" : about.isa->name()) + ": " + address(pointer) + ">";
}

}  // namespace objc
