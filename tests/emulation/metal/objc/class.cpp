// Classes, and the methods that all objects have.
#include "metal/objc/faults.h"
#include "metal/objc/foundation.h"
#include "metal/objc/object.h"

namespace objc {

Class::Class(std::string name, const Class* parent, Kind kind, Object* (*make)(), std::initializer_list<Method> methods,
             std::initializer_list<Method> class_methods)
    : Object(class_of_classes()), name_(std::move(name)), parent_(parent), kind_(kind), make_(make) {
  for (const Method& one : methods) methods_.emplace(selector_of(one.selector), one.function);
  for (const Method& one : class_methods) class_methods_.emplace(selector_of(one.selector), one.function);
  detail::register_object(*this, nullptr);
}

Class::Class() : Object(*this), name_("Class"), parent_(nullptr), kind_(Kind::ageless), make_(nullptr) {
  detail::register_object(*this, nullptr);
}

Function Class::find(Selector selector) const {
  for (const Class* one = this; one != nullptr; one = one->parent_)
    if (const auto found = one->methods_.find(selector); found != one->methods_.end()) return found->second;
  return nullptr;
}

Function Class::find_class_method(Selector selector) const {
  for (const Class* one = this; one != nullptr; one = one->parent_)
    if (const auto found = one->class_methods_.find(selector); found != one->class_methods_.end()) return found->second;
  return nullptr;
}

namespace {

// Methods of NSObject. They are functions with all arguments of a message, because some are for objects and classes.
bool responds(Object* self, Selector, Selector asked) noexcept {
  if (asked == nullptr) return false;
  const Selector selector = selector_of(asked);
  if (self->isa == &class_of_classes()) return static_cast<const Class*>(self)->find_class_method(selector) != nullptr;
  return self->isa->find(selector) != nullptr;
}
Object* make_object(Object* self, Selector selector) noexcept {
  const auto* const isa = static_cast<const Class*>(self);
  if (isa->make() != nullptr) return isa->make()();
  report_fault("+[" + isa->name() + " " + selector + "]: such objects are made by other methods only");
  return nullptr;
}

template <class F>
Method plain(const char* selector, F* function) {
  return {selector, reinterpret_cast<Function>(function)};
}

}  // namespace

const Class& class_of_classes() {
  static const auto& one = *new Class();
  return one;
}

const Class& root_class() {
  static const auto& one = *new Class(
      "NSObject", nullptr, Class::Kind::named, [] { return static_cast<Object*>(create<Plain>()); },
      {plain("respondsToSelector:", responds)}, {plain("respondsToSelector:", responds), plain("new", make_object)});
  return one;
}

const Class* class_of_name(const std::string& name) {
  for (const Class* one : all_classes())
    if (one->is_named() && one->name() == name) return one;
  return nullptr;
}

}  // namespace objc
