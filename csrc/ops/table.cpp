#include "ops/table.h"

#include "base/edit_distance.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

namespace ferrule::ops {

#define FERRULE_OP(name, family) extern const Row op_##name;
#include "op_table.inc"
#undef FERRULE_OP

namespace {

constexpr std::array table = {
#define FERRULE_OP(name, family) &op_##name,
#include "op_table.inc"
#undef FERRULE_OP
};

constexpr std::array<const char*, table.size()> families = {
#define FERRULE_OP(name, family) #family,
#include "op_table.inc"
#undef FERRULE_OP
};

}  // namespace

std::span<const Row* const> all_ops() { return table; }

// Recording looks ops up by name.
const Row* find_op(std::string_view name) {
  // Never destroyed: threads may record until the process ends.
  static const std::unordered_map<std::string_view, const Row*>& rows = *[] {
    auto by_name = std::make_unique<std::unordered_map<std::string_view, const Row*>>();
    for (const Row* const row : table) by_name->emplace(row->name, row);
    return by_name.release();
  }();
  const auto found = rows.find(name);
  return found != rows.end() ? found->second : nullptr;
}

namespace {
// The index is made while libferrule is loaded, so that a fork cannot find it half made.
[[maybe_unused]] const bool is_index_made = find_op("") == nullptr;
}  // namespace

const Row* op_by_id(fe_op id) { return id >= 1 && id <= table.size() ? table[id - 1] : nullptr; }

fe_op id_of(const Row& row) {
  const auto found = std::lower_bound(table.begin(), table.end(), std::string_view(row.name),
                                      [](const Row* r, std::string_view wanted) { return r->name < wanted; });
  return static_cast<fe_op>(found - table.begin()) + 1;
}

const char* family_of(const Row& row) { return families[id_of(row) - 1]; }

const Row& op_named(std::string_view name) {
  if (const Row* row = find_op(name)) return *row;
  const auto nearest = std::min_element(table.begin(), table.end(), [&](const Row* a, const Row* b) {
    return edit_distance(a->name, name) < edit_distance(b->name, name);
  });
  fail_argument("there is no op named '{}'; the nearest name is '{}'", name, (*nearest)->name);
}

}  // namespace ferrule::ops
