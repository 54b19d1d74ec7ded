#include "core/api/load_options.h"

#include "core/struct_size.h"
#include "module_file/path_text.h"

#include <cstdint>
#include <vector>

namespace ferrule {
namespace {

// The strings of a list of the options; `what` is the name of its field.
std::vector<std::string> strings(const char* what, const char* const* list, std::size_t count) {
  if (count > INT32_MAX) fail_argument("load_all: {} has {} entries, more than there can be", what, count);
  if (count > 0 && !list) fail_argument("load_all: {} is NULL, and has {} entries", what, count);
  std::vector<std::string> read;
  read.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!list[i]) fail_argument("load_all: {}[{}] is NULL", what, i);
    read.emplace_back(list[i]);
  }
  return read;
}

std::vector<std::filesystem::path> paths(const char* what, const char* const* list, std::size_t count) {
  std::vector<std::filesystem::path> read;
  for (const std::string& text : strings(what, list, count)) read.push_back(path_from_text(text));
  return read;
}

std::string word(const char* text) { return text ? text : ""; }

Policy policy_from(const char* function, const fe_load_options& given) {
  return policy_of(function, word(given.select), word(given.probe), word(given.trust), given.reprobe != 0);
}

}  // namespace

LoadOptions load_all_options(const fe_load_options* given) {
  const fe_load_options read = read_options("load_all", given);
  if (read.as_name) fail_argument("load_all: as_name is '{}', and load_all gives no names", read.as_name);
  LoadOptions options;
  if (read.dirs || read.dir_count > 0) options.dirs = paths("dirs", read.dirs, read.dir_count);
  options.extra_roots = paths("extra_roots", read.extra_roots, read.extra_root_count);
  options.only = strings("only", read.only, read.only_count);
  options.require = strings("require", read.require, read.require_count);
  options.policy = policy_from("load_all", read);
  return options;
}

FileOptions load_options(const fe_load_options* given) {
  const fe_load_options read = read_options("load", given);
  const std::pair<const char*, bool> others[] = {{"dirs", read.dirs || read.dir_count > 0},
                                                 {"extra_roots", read.extra_root_count > 0},
                                                 {"only", read.only_count > 0},
                                                 {"require", read.require_count > 0},
                                                 {"select", read.select != nullptr}};
  for (const auto& [field, is_set] : others)
    if (is_set) fail_argument("load: {} is set, and only load_all has it", field);
  return {policy_from("load", read), word(read.as_name)};
}

}  // namespace ferrule
