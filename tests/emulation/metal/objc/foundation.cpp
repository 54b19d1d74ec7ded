#include "metal/objc/foundation.h"

#include "metal/objc/faults.h"

namespace objc {

namespace {

constexpr std::size_t ascii = 1, utf8_encoding = 4;

bool is_supported(std::size_t encoding) {
  if (encoding == ascii || encoding == utf8_encoding) return true;
  report_fault("NSString: the encoding " + std::to_string(encoding) + " is not supported here");
  return false;
}

// Whether the text is UTF-8 without characters of more bytes than needed, surrogates, and numbers beyond the last one.
bool is_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t place) { return static_cast<unsigned char>(text[place]); };
    const unsigned first = byte(i);
    if (first < 0x80) {
      ++i;
      continue;
    }
    const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() - i < bytes) return false;
    unsigned code = first & (0xffU >> (bytes + 1));
    for (std::size_t next = 1; next < bytes; ++next) {
      if ((byte(i + next) & 0xc0U) != 0x80U) return false;
      code = code << 6U | (byte(i + next) & 0x3fU);
    }
    const unsigned least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return false;
    i += bytes;
  }
  return true;
}

Object* copied(Object* self) { return retain(self); }  // these objects never change

}  // namespace

void report_wrong_class(const Object* object, const Class& wanted, const char* caller) {
  report_fault(std::string(caller) + ": a " + wanted.name() + " is needed, not " + described(object));
}

Object* String::with_utf8(const char* text) {
  if (text == nullptr) {
    report_fault("+[NSString stringWithUTF8String:]: NULL cString");
    return nullptr;
  }
  return is_utf8(text) ? autoreleased_of(text) : nullptr;
}

Object* String::with_encoding(const char* text, std::size_t encoding) {
  return is_supported(encoding) ? with_utf8(text) : nullptr;
}

Object* String::empty() { return autoreleased_of(""); }

Object* String::init_with_encoding(const char* text, std::size_t encoding) {
  if (text == nullptr)
    report_fault("-[NSString initWithCString:encoding:]: NULL cString");
  else if (is_supported(encoding))
    text_ = text;
  return this;
}

Object* String::copy() { return copied(this); }

const char* String::with_encoding_of(std::size_t encoding) const {
  return is_supported(encoding) ? text_.c_str() : nullptr;
}

// Of UTF-16, as in Foundation.
std::size_t String::length() const {
  std::size_t units = 0;
  for (const char byte : text_) {
    const auto value = static_cast<unsigned char>(byte);
    if ((value & 0xc0U) != 0x80U) ++units;
    if (value >= 0xf0U) ++units;
  }
  return units;
}

bool String::is_equal_to(const Object* other) const {
  if (other == nullptr || other->isa != &own_class()) return false;
  return static_cast<const String*>(other)->text_ == text_;
}

const Class& String::own_class() {
  static const auto& one = *new Class(
      "NSString", &root_class(), Class::Kind::named, [] { return static_cast<Object*>(create<String>()); },
      {method<&String::utf8>("UTF8String"), method<&String::length>("length"),
       method<&String::with_encoding_of>("cStringUsingEncoding:"), method<&String::utf8>("fileSystemRepresentation"),
       method<&String::init_with_encoding>("initWithCString:encoding:"),
       method<&String::is_equal_to>("isEqualToString:"), method<&String::is_equal_to>("isEqual:"),
       method<&String::hash>("hash"), method<&String::copy>("copy"), method<&String::description>("description")},
      {method<&String::with_utf8>("stringWithUTF8String:"),
       method<&String::with_encoding>("stringWithCString:encoding:"), method<&String::empty>("string")});
  return one;
}

Object* Array::empty() { return autoreleased(create<Array>()); }

Object* Array::with_object(Object* object) { return with_objects(&object, 1); }

Object* Array::with_objects(Object* const* objects, std::size_t count) {
  return autoreleased(static_cast<Array*>(create<Array>()->init_with_objects(objects, count)));
}

Object* Array::init_with_objects(Object* const* objects, std::size_t count) {
  objects_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    if (objects[i] == nullptr)
      report_fault("NSArray: attempt to insert nil object from objects[" + std::to_string(i) + "]");
    else
      objects_.emplace_back(objects[i]);
  }
  return this;
}

Object* Array::copy() { return copied(this); }

Object* Array::at(std::size_t index) const {
  if (index < objects_.size()) return objects_[index].get();
  report_fault("-[NSArray objectAtIndex:]: index " + std::to_string(index) + " beyond bounds, there are " +
               std::to_string(objects_.size()) + " objects");
  return nullptr;
}

const Class& Array::own_class() {
  static const auto& one =
      *new Class("NSArray", &root_class(), Class::Kind::named, [] { return static_cast<Object*>(create<Array>()); },
                 {method<&Array::count>("count"), method<&Array::at>("objectAtIndex:"),
                  method<&Array::init_with_objects>("initWithObjects:count:"), method<&Array::copy>("copy")},
                 {method<&Array::empty>("array"), method<&Array::with_object>("arrayWithObject:"),
                  method<&Array::with_objects>("arrayWithObjects:count:")});
  return one;
}

Object* Url::file(String* path) {
  Url* const made = create<Url>();
  return autoreleased(static_cast<Url*>(made->init_file(path)));
}

Object* Url::init_file(String* path) {
  if (path == nullptr)
    report_fault("NSURL: nil string parameter");
  else if (const auto* const text = checked<String>(path, "NSURL"); text != nullptr)
    path_ = text->text();
  return this;
}

Object* Url::copy() { return copied(this); }

const Class& Url::own_class() {
  static const auto& one =
      *new Class("NSURL", &root_class(), Class::Kind::named, [] { return static_cast<Object*>(create<Url>()); },
                 {method<&Url::representation>("fileSystemRepresentation"),
                  method<&Url::init_file>("initFileURLWithPath:"), method<&Url::copy>("copy")},
                 {method<&Url::file>("fileURLWithPath:")});
  return one;
}

Object* Error::copy() { return copied(this); }

Object* Error::describe() const {
  return String::autoreleased_of("Error Domain=" + domain_ + " Code=" + std::to_string(code_) + " \"" + description_ +
                                 "\"");
}

const Class& Error::own_class() {
  static const auto& one = *new Class("NSError", &root_class(), Class::Kind::named, nullptr,
                                      {method<&Error::code>("code"), method<&Error::domain>("domain"),
                                       method<&Error::localized>("localizedDescription"),
                                       method<&Error::describe>("description"), method<&Error::copy>("copy")});
  return one;
}

void set_error(Object** error, const std::string& domain, long code, const std::string& description) {
  if (error != nullptr) *error = autoreleased(create<Error>(domain, code, description));
}

const Class& AutoreleasePool::own_class() {
  static const auto& one =
      *new Class("NSAutoreleasePool", &root_class(), Class::Kind::named,
                 [] { return static_cast<Object*>(create<AutoreleasePool>()); },
                 {method<&AutoreleasePool::drain>("drain"), method<&AutoreleasePool::add>("addObject:")});
  return one;
}

}  // namespace objc
