#include "core/loader/own_modules.h"

#include "core/json_object.h"
#include "core/loader/load.h"
#include "core/log.h"
#include "core/threads/once.h"
#include "ops/error.h"

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace ferrule {
namespace {

void warn_of_damage(const std::exception& error) {
  log_warning("load: own-modules.json beside libferrule is damaged: {}", error.what());
}

std::set<std::string> read_list() {
  std::ifstream file(library_dir() / "own-modules.json", std::ios::binary);
  if (library_dir().empty() || !file) return {};
  std::ostringstream text;
  text << file.rdbuf();
  std::set<std::string> hashes;
  try {
    const JsonDocument list = parse_json(text.str());
    for (const auto& [name, hash] : list->at("sha256").items()) hashes.insert(hash.get<std::string>());
  } catch (const Error& error) {
    warn_of_damage(error);
  } catch (const nlohmann::json::exception& error) {
    warn_of_damage(error);
  }
  return hashes;
}

}  // namespace

bool is_own_module(const std::string& sha256) {
  static constinit Once<std::set<std::string>> hashes;
  return hashes.get(read_list).contains(sha256);
}

}  // namespace ferrule
