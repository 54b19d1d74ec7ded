// The classes of Foundation that Metal's methods take and return.
#pragma once

#include <string>
#include <vector>

#include "metal/objc/object.h"

namespace objc {

// An object of NSObject itself.
struct Plain : Object {
  Plain() : Object(root_class()) {}
};

class String : public Object {
 public:
  static const Class& own_class();
  explicit String(std::string text = {}) : Object(own_class()), text_(std::move(text)) {}
  static String* autoreleased_of(std::string text) { return autoreleased(create<String>(std::move(text))); }
  const std::string& text() const { return text_; }

 private:
  static Object* with_utf8(const char* text);
  const char* utf8() const { return text_.c_str(); }
  std::string text_;
};

class Array : public Object {
 public:
  static const Class& own_class();
  explicit Array(std::vector<Owned<Object>> objects = {}) : Object(own_class()), objects_(std::move(objects)) {}
  const std::vector<Owned<Object>>& objects() const { return objects_; }

 private:
  static Object* with_object(Object* object);
  std::size_t count() const { return objects_.size(); }
  Object* at(std::size_t index) const;
  std::vector<Owned<Object>> objects_;
};

class Url : public Object {
 public:
  static const Class& own_class();
  explicit Url(std::string path = {}) : Object(own_class()), path_(std::move(path)) {}
  const std::string& path() const { return path_; }

 private:
  static Object* file(String* path);
  std::string path_;
};

class Error : public Object {
 public:
  static const Class& own_class();
  Error(std::string domain, long code, std::string description)
      : Object(own_class()), domain_(std::move(domain)), code_(code), description_(std::move(description)) {}
  long code() const { return code_; }

 private:
  Object* localized() const { return String::autoreleased_of(description_); }
  const std::string domain_;
  const long code_;
  const std::string description_;
};

// Stores a new autoreleased error, if the caller wants one.
void set_error(Object** error, const std::string& domain, long code, const std::string& description);

// The object, if it is one of this class; else a fault that names the caller, and null. Null stays null.
template <class T>
T* checked(Object* object, const char* caller);
void report_wrong_class(const Object* object, const Class& wanted, const char* caller);
template <class T>
T* checked(Object* object, const char* caller) {
  if (object == nullptr) return nullptr;
  const Known about = known(object);
  if (about.state == Known::State::live && about.isa == &T::own_class()) return static_cast<T*>(object);
  report_wrong_class(object, T::own_class(), caller);
  return nullptr;
}

}  // namespace objc
