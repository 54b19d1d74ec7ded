// Conversion of the attributes and numbers of a call from the host C API.
#pragma once

#include "ops/numbers.h"
#include "ops/row.h"

#include <ferrule/ferrule.h>

#include <optional>
#include <vector>

namespace ferrule {

// Throws for unknown kinds and for null values.
std::vector<ops::NamedAttribute> attributes_of(const ops::Row& op, const fe_attribute* attributes, std::size_t count);

// The number; empty for kinds that are not numbers. Throws for unknown kinds.
std::optional<ops::Number> number_of(const char* op, const fe_number& number);

// One entry per operand; empty if no operand is a number or weak.
std::vector<ops::OperandNumber> numbers_of(const ops::Row& op, const fe_number* numbers, std::size_t count);

// Throws unless `outputs` has as many entries as the op has outputs.
template <class Output>
void check_outputs(const ops::Row& op, const Output* outputs, std::size_t count) {
  if (!outputs) fail_argument("{}: the place for the outputs is null", op.name);
  if (count != op.output_count) fail_argument("{}: has {} outputs, not {}", op.name, op.output_count, count);
}

}  // namespace ferrule
