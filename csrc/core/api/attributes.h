// The attributes and the numbers of a call as the host C API gives them.
#pragma once

#include "ops/numbers.h"
#include "ops/row.h"

#include <ferrule/ferrule.h>

#include <optional>
#include <vector>

namespace ferrule {

// Throws for kinds that there are not and values that are null.
std::vector<ops::NamedAttribute> attributes_of(const ops::Row& op, const fe_attribute* attributes, std::size_t count);

// The number; none of the kinds that are no numbers. Throws for kinds that there are not.
std::optional<ops::Number> number_of(const char* op, const fe_number& number);

// As many as there are operands, or none when no operand is a number or stands for one.
std::vector<ops::OperandNumber> numbers_of(const ops::Row& op, const fe_number* numbers, std::size_t count);

// Throws unless there is place for as many outputs as the op has.
template <class Output>
void check_outputs(const ops::Row& op, const Output* outputs, std::size_t count) {
  if (!outputs) fail_argument("{}: the place for the outputs is null", op.name);
  if (count != op.output_count) fail_argument("{}: has {} outputs, not {}", op.name, op.output_count, count);
}

}  // namespace ferrule
