// The table of all rows, ordered by name; generated from the files.
#pragma once

#include "ops/row.h"

#include <span>
#include <string_view>

namespace ferrule::ops {

std::span<const Row* const> all_ops();
// nullptr for an unknown op.
const Row* find_op(std::string_view name);
// nullptr for an unknown id. Ids are 1 + the index in all_ops().
const Row* op_by_id(fe_op id);
fe_op id_of(const Row& row);
// The op's family, such as "exponential": the name of the files with its row, its kernels and its cases.
const char* family_of(const Row& row);
// Throws invalid_argument for an unknown op, with similar names.
const Row& op_named(std::string_view name);

}  // namespace ferrule::ops
