// The label of an object: setLabel: and label.
#pragma once

#include <mutex>
#include <string>

#include "metal/objc/foundation.h"

namespace simulated {

class Label {
 public:
  void set(objc::Object* text) {
    const auto* const string = objc::checked<objc::String>(text, "setLabel:");
    const std::scoped_lock lock(mutex_);
    has_text_ = string != nullptr;
    text_ = has_text_ ? string->text() : "";
  }
  objc::Object* get() const {
    const std::scoped_lock lock(mutex_);
    return has_text_ ? objc::String::autoreleased_of(text_) : nullptr;
  }

 private:
  mutable std::mutex mutex_;
  bool has_text_ = false;
  std::string text_;
};

// The methods of a class with a member `label`.
template <class T>
struct Labelled {
  static void set(objc::Object* self, objc::Selector, objc::Object* text) noexcept {
    static_cast<T*>(self)->label.set(text);
  }
  static objc::Object* get(objc::Object* self, objc::Selector) noexcept { return static_cast<T*>(self)->label.get(); }
};
template <class T>
objc::Method set_label() {
  return {"setLabel:", reinterpret_cast<objc::Function>(&Labelled<T>::set)};
}
template <class T>
objc::Method get_label() {
  return {"label", reinterpret_cast<objc::Function>(&Labelled<T>::get)};
}

}  // namespace simulated
