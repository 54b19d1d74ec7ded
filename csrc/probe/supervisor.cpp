#include "probe/supervisor.h"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <system_error>

namespace ferrule::probe {

nlohmann::json supervise(const Trial& trial) {
  try {
    return watch_worker(trial);
  } catch (const std::system_error& error) {
    // No process or pipe could be created.
    return {{"verdict", "failed"},
            {"reason", fmt::format("its probe could not be started: {}", error.what())},
            {"may_pass", true}};
  } catch (const std::exception& error) {
    // Includes an answer of another form than the worker's, which something else must have written.
    return {{"verdict", "failed"},
            {"reason", fmt::format("its probe gave no answer that can be read: {}", error.what())}};
  }
}

}  // namespace ferrule::probe
