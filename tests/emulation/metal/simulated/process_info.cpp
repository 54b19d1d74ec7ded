#include "metal/simulated/process_info.h"

#include "metal/simulated/settings.h"

namespace simulated {

using objc::create;
using objc::method;

objc::Object* ProcessInfo::of_process() { return objc::autoreleased(create<ProcessInfo>()); }

objc::Object* ProcessInfo::system() const { return objc::String::autoreleased_of(settings().system); }

const objc::Class& ProcessInfo::own_class() {
  static const auto& one = *new objc::Class("NSProcessInfo", &objc::root_class(), objc::Class::Kind::named, nullptr,
                                            {method<&ProcessInfo::system>("operatingSystemVersionString")},
                                            {method<&ProcessInfo::of_process>("processInfo")});
  return one;
}

}  // namespace simulated
