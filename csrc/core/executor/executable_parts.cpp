#include "core/executor/executable_parts.h"

namespace ferrule {

CompiledSegment::~CompiledSegment() {
  if (executable && !device_use.device()->belongs_to_parent())
    device_use.device()->table().executable_release(executable);
}

}  // namespace ferrule
