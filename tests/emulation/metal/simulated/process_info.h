// NSProcessInfo: the version of the simulated system.
#pragma once

#include "metal/objc/foundation.h"

namespace simulated {

class ProcessInfo : public objc::Object {
 public:
  static const objc::Class& own_class();
  ProcessInfo() : Object(own_class()) {}

 private:
  static objc::Object* of_process();
  objc::Object* system() const;
};

}  // namespace simulated
