// Arguments that travel as JSON text.
#pragma once

#include "core/json_object.h"
#include "ops/row.h"

namespace ferrule {

// The attributes of a call, typed by the op's row.
std::vector<ops::NamedAttribute> parse_attributes(const ops::Row& op, const char* text);

}  // namespace ferrule
