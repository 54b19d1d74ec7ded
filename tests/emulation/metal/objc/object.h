// Objects and classes of a small Objective-C runtime.
//
// An object is a C++ object that derives from Object and is made by create(). Its class has a table of selectors and
// functions, which call its member functions. All objects that live are known, and so are the last ones that were
// freed, because their memory is kept for a while: a message to an object that was freed is found.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace objc {

// A selector is the one copy of its name.
using Selector = const char*;
Selector selector_of(const std::string& name);

class Class;

// The first member of each object is its class, as in Objective-C.
struct Object {
  explicit Object(const Class& of) : isa(&of) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const Class* isa;
  std::atomic<std::size_t> count{1};
};

using Function = void (*)();

// The function that a message calls: a member function, with the object as its receiver, or a static member function
// for messages to the class.
template <auto member>
struct Call;
template <class T, class Result, class... Arguments, Result (T::*member)(Arguments...)>
struct Call<member> {
  static Result function(Object* self, Selector, Arguments... arguments) noexcept {
    return (static_cast<T*>(self)->*member)(arguments...);
  }
};
template <class T, class Result, class... Arguments, Result (T::*member)(Arguments...) const>
struct Call<member> {
  static Result function(const Object* self, Selector, Arguments... arguments) noexcept {
    return (static_cast<const T*>(self)->*member)(arguments...);
  }
};
template <class Result, class... Arguments, Result (*member)(Arguments...)>
struct Call<member> {
  static Result function(Object*, Selector, Arguments... arguments) noexcept { return member(arguments...); }
};

struct Method {
  const char* selector;
  Function function;
};
template <auto member>
Method method(const char* selector) {
  return {selector, reinterpret_cast<Function>(&Call<member>::function)};
}

class Class : public Object {
 public:
  enum class Kind : std::uint8_t {
    named,    // objc_getClass knows it
    inner,    // a class behind a protocol, such as that of MTLBuffer's objects
    ageless,  // its objects are not counted as live: they live as long as the process
  };
  // `make` makes an object for new; null if nobody may.
  Class(std::string name, const Class* parent, Kind kind, Object* (*make)(), std::initializer_list<Method> methods,
        std::initializer_list<Method> class_methods = {});

  const std::string& name() const { return name_; }
  bool is_named() const { return kind_ == Kind::named; }
  bool is_counted() const { return kind_ != Kind::ageless; }
  Object* (*make() const)() { return make_; }
  // Null if neither this class nor a parent has it.
  Function find(Selector selector) const;
  Function find_class_method(Selector selector) const;

 private:
  friend const Class& class_of_classes();
  Class();  // the class of classes
  using Table = std::unordered_map<Selector, Function>;
  const std::string name_;
  const Class* const parent_;
  const Kind kind_;
  Object* (*const make_)();
  Table methods_, class_methods_;
};

// NSObject, and the class of classes.
const Class& root_class();
const Class& class_of_classes();
// All classes; of the program that uses the runtime.
const std::vector<const Class*>& all_classes();
// Null if there is no class of this name that is named.
const Class* class_of_name(const std::string& name);

// Facts about a pointer.
struct Known {
  enum class State : std::uint8_t { nothing, live, freed } state = State::nothing;
  const Class* isa = nullptr;
};
Known known(const void* pointer);

// Sets how many freed objects are remembered, so that their use is found. Initially 0.
void set_most_freed(std::size_t count);
// The ends of objects are reported to these functions, for the log.
void set_observer(void (*observer)(const Class& isa, bool is_made));

namespace detail {

void register_object(Object& object, void (*destroy)(Object&));

}  // namespace detail

// Makes an object with a count of 1.
template <class T, class... Arguments>
T* create(Arguments&&... arguments) {
  static_assert(std::is_base_of_v<Object, T> && !std::is_polymorphic_v<T>);
  T* const made = new T(std::forward<Arguments>(arguments)...);
  detail::register_object(*made, [](Object& object) { std::destroy_at(static_cast<T*>(&object)); });
  return made;
}

// These take any pointer, and report a fault for one that is no live object. Null is none.
Object* retain(Object* object);
void release(Object* object);
Object* autorelease(Object* object);
std::size_t retain_count(Object* object);
// The same object, which a pool of this thread will release.
template <class T>
T* autoreleased(T* object) {
  autorelease(object);
  return object;
}

// Autorelease pools of the calling thread.
void* push_pool();
void pop_pool(void* token);

// A reference that retains its object.
template <class T>
class Owned {
 public:
  Owned() = default;
  Owned(T* object) : object_(object) { retain(object_); }  // NOLINT(google-explicit-constructor): as in Objective-C
  Owned(const Owned& other) : Owned(other.object_) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { release(object_); }
  // Takes a reference over that the caller owns.
  static Owned adopt(T* object) {
    Owned made;
    made.object_ = object;
    return made;
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

// Live objects of counted classes, a line "<class> <count>" for each class in the order of names.
std::string live_objects();

// "<class: 0x...>" for any pointer.
std::string described(const void* pointer);

}  // namespace objc
