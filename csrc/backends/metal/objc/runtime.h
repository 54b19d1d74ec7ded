// Metal through the Objective-C runtime, without Apple's headers: the libraries are opened when the module starts, and
// each message is a call of objc_msgSend. metal-cpp would initialise its selectors when the file is opened, which a
// module may not, and would need Apple's headers.
//
//   const AutoreleasePool pool;
//   const Owned queue = Owned::taken(send<Id>(device, Message::new_command_queue));
#pragma once

#include <ferrule/backend.hpp>

#include <string>
#include <utility>

#include "objc/selectors.h"
#include "objc/types.h"

namespace ferrule::metal {

// Opens the libraries at the first call. Throws FE_UNSUPPORTED, with the reason, where there is no Metal.
void open_metal();
// Opens CoreGraphics, without which Metal knows no default device. Nothing if that fails.
void open_graphics();

namespace objc {

using Function = void (*)();
// Functions of the libraries, and the selectors by Message; set by open_metal.
struct Libraries {
  Function message_send;
  Id (*retain)(Id);
  void (*release)(Id);
  void* (*push_pool)();
  void (*pop_pool)(void*);
  Id (*get_class)(const char*);
  Id (*copy_all_devices)();
  Id (*create_default_device)();
  Selector selectors[static_cast<size_t>(Message::number_of_messages)];
};
extern Libraries libraries;

}  // namespace objc

// Sends a message. The types are those of the method; a null receiver gives zero.
template <class Result, class... Arguments>
Result send(Id receiver, Message message, Arguments... arguments) {
  using Method = Result (*)(Id, Selector, Arguments...);
  const auto method = reinterpret_cast<Method>(objc::libraries.message_send);
  return method(receiver, objc::libraries.selectors[static_cast<size_t>(message)], arguments...);
}

// Whether the object has a method that older systems lack.
inline bool understands(Id object, Message message) {
  return send<Boolean>(object, Message::responds_to_selector,
                       objc::libraries.selectors[static_cast<size_t>(message)]) != 0;
}

// Releases, at the end of its lifetime, the objects that are autoreleased on this thread meanwhile. Every function that
// sends messages to Metal has one.
class AutoreleasePool {
 public:
  AutoreleasePool() : token_(objc::libraries.push_pool()) {}
  AutoreleasePool(const AutoreleasePool&) = delete;
  AutoreleasePool& operator=(const AutoreleasePool&) = delete;
  ~AutoreleasePool() { objc::libraries.pop_pool(token_); }

 private:
  void* token_;
};

// A reference to an object.
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    if (object_ != nullptr) objc::libraries.release(object_);
  }
  // Takes over a reference that the caller owns: the result of a method whose name begins with "new".
  static Owned taken(Id object) { return Owned(object); }
  // Retains an object that somebody else owns.
  static Owned shared(Id object) { return Owned(object == nullptr ? nullptr : objc::libraries.retain(object)); }
  Owned another() const { return shared(object_); }

  Id get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Owned(Id object) : object_(object) {}
  Id object_ = nullptr;
};

inline Id class_named(const char* name) { return objc::libraries.get_class(name); }
inline Owned new_object(const char* class_name) {
  return Owned::taken(send<Id>(class_named(class_name), Message::new_object));
}
// An autoreleased NSString.
inline Id string_of(const std::string& text) {
  return send<Id>(class_named("NSString"), Message::string_with_utf8_string, text.c_str());
}
// The text of an NSString; empty for null.
std::string text_of(Id string);
// The description of an NSError; "no reason is given" for null.
std::string reason_of(Id error);

}  // namespace ferrule::metal
