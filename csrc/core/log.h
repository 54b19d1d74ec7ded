// The logger. Lines below the level are dropped; others go to the callback, else to standard error.
#pragma once

#include <ferrule/types.h>
#include <fmt/format.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace ferrule {

using LogCallback = void (*)(void* argument, fe_log_level level, const char* message);

// The thread that calls a callback: the thread that logs, or the thread that calls drain_log. The second is for
// languages with a global lock that the core's threads must not take.
enum class LogDelivery { immediate, queued };

// A null callback restores standard error and drops queued lines.
void set_log_callback(LogCallback callback, void* argument, LogDelivery delivery = LogDelivery::immediate);
// Delivers queued lines and returns their number. When the queue overflowed, the oldest lines are lost, and a line says
// so.
std::size_t drain_log();

// The level set by set_log_level, else by FERRULE_LOG=debug|info|warning|error, else warning.
fe_log_level log_level() noexcept;
void set_log_level(fe_log_level level) noexcept;
const char* name_of(fe_log_level level) noexcept;

inline bool is_logged(fe_log_level level) noexcept { return level >= log_level(); }
// Does not throw; when out of memory the line is lost.
void log_line(fe_log_level level, std::string_view message) noexcept;

template <class... Arguments>
void log(fe_log_level level, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (is_logged(level)) log_line(level, fmt::format(format, std::forward<Arguments>(arguments)...));
}
template <class... Arguments>
void log_debug(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  log(FE_LOG_DEBUG, format, std::forward<Arguments>(arguments)...);
}
template <class... Arguments>
void log_info(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  log(FE_LOG_INFO, format, std::forward<Arguments>(arguments)...);
}
template <class... Arguments>
void log_warning(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  log(FE_LOG_WARNING, format, std::forward<Arguments>(arguments)...);
}

}  // namespace ferrule
