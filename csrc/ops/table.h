// All rows, in the order of their names: what the files hold, by generation.
#pragma once

#include "ops/row.h"

#include <span>
#include <string_view>

namespace ferrule::ops {

std::span<const Row* const> all_ops();
// nullptr when there is no such op.
const Row* find_op(std::string_view name);
// The row, or nullptr; ids are 1 + the place in all_ops().
const Row* op_by_id(fe_op id);
fe_op id_of(const Row& row);
// The op's family, "exponential": the name of the file with its row, of its kernels' files and of its cases' file.
const char* family_of(const Row& row);
// The row; throws invalid_argument with the nearest names when there is none.
const Row& op_named(std::string_view name);

}  // namespace ferrule::ops
