#include "metal/objc/foundation.h"

#include "metal/objc/faults.h"

namespace objc {

namespace {

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

const Class& String::own_class() {
  static const auto& one =
      *new Class("NSString", &root_class(), Class::Kind::named, [] { return static_cast<Object*>(create<String>()); },
                 {method<&String::utf8>("UTF8String")}, {method<&String::with_utf8>("stringWithUTF8String:")});
  return one;
}

Object* Array::with_object(Object* object) {
  if (object == nullptr) report_fault("+[NSArray arrayWithObject:]: the object must not be nil");
  return object == nullptr ? nullptr : autoreleased(create<Array>(std::vector<Owned<Object>>{object}));
}

Object* Array::at(std::size_t index) const {
  if (index < objects_.size()) return objects_[index].get();
  report_fault("-[NSArray objectAtIndex:]: index " + std::to_string(index) + " beyond bounds, there are " +
               std::to_string(objects_.size()) + " objects");
  return nullptr;
}

const Class& Array::own_class() {
  static const auto& one =
      *new Class("NSArray", &root_class(), Class::Kind::named, [] { return static_cast<Object*>(create<Array>()); },
                 {method<&Array::count>("count"), method<&Array::at>("objectAtIndex:")},
                 {method<&Array::with_object>("arrayWithObject:")});
  return one;
}

Object* Url::file(String* path) {
  const auto* const text = checked<String>(path, "NSURL");
  if (path == nullptr) report_fault("NSURL: nil string parameter");
  return text == nullptr ? nullptr : autoreleased(create<Url>(text->text()));
}

const Class& Url::own_class() {
  static const auto& one =
      *new Class("NSURL", &root_class(), Class::Kind::named, [] { return static_cast<Object*>(create<Url>()); }, {},
                 {method<&Url::file>("fileURLWithPath:")});
  return one;
}

const Class& Error::own_class() {
  static const auto& one =
      *new Class("NSError", &root_class(), Class::Kind::named, nullptr,
                 {method<&Error::code>("code"), method<&Error::localized>("localizedDescription")});
  return one;
}

void set_error(Object** error, const std::string& domain, long code, const std::string& description) {
  if (error != nullptr) *error = autoreleased(create<Error>(domain, code, description));
}

}  // namespace objc
