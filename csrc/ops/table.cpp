#include "ops/table.h"

#include <algorithm>
#include <array>

namespace ferrule::ops {

#define FERRULE_OP(name) extern const Row op_##name;
#include "op_table.inc"
#undef FERRULE_OP

namespace {

constexpr std::array table = {
#define FERRULE_OP(name) &op_##name,
#include "op_table.inc"
#undef FERRULE_OP
};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::span<const Row* const> all_ops() { return table; }

const Row* find_op(std::string_view name) {
  const auto found = std::lower_bound(table.begin(), table.end(), name,
                                      [](const Row* row, std::string_view wanted) { return row->name < wanted; });
  return found != table.end() && (*found)->name == name ? *found : nullptr;
}

const Row* op_by_id(fe_op id) { return id >= 1 && id <= table.size() ? table[id - 1] : nullptr; }

fe_op id_of(const Row& row) {
  const auto found = std::lower_bound(table.begin(), table.end(), std::string_view(row.name),
                                      [](const Row* r, std::string_view wanted) { return r->name < wanted; });
  return static_cast<fe_op>(found - table.begin()) + 1;
}

const Row& op_named(std::string_view name) {
  if (const Row* row = find_op(name)) return *row;
  const auto nearest = std::min_element(table.begin(), table.end(), [&](const Row* a, const Row* b) {
    return edit_distance(a->name, name) < edit_distance(b->name, name);
  });
  fail_argument("there is no op named '{}'; the nearest name is '{}'", name, (*nearest)->name);
}

}  // namespace ferrule::ops
