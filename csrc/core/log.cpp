#include "core/log.h"

#include "core/environment.h"
#include "core/sync/fork_generation.h"
#include "core/sync/immortal.h"
#include "core/sync/mutexes.h"

#include <atomic>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

namespace ferrule {
namespace {

constexpr std::size_t queue_capacity = 1000;

struct Line {
  fe_log_level level;
  std::string message;
};

struct Logger {
  BriefMutex mutex;
  uint32_t generation = 0;
  LogCallback callback = nullptr;
  void* argument = nullptr;
  LogDelivery delivery = LogDelivery::immediate;
  std::deque<Line> queue;
  std::size_t lost = 0;
};

// Drops lines that were queued before a fork: the parent delivers them. Called under the lock.
void forget_lines_of_parent(Logger& log) {
  if (std::exchange(log.generation, fork_generation()) == fork_generation()) return;
  log.queue.clear();
  log.lost = 0;
}

// Writes the line in one call, so that lines of several threads do not mix.
void print(fe_log_level level, std::string_view message) {
  std::string line = fmt::format("ferrule: {}: {}\n", name_of(level), message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

fe_log_level level_of_environment() {
  const auto value = environment("FERRULE_LOG");
  if (!value) return FE_LOG_WARNING;
  const std::string word = lower_case(*value);
  for (const fe_log_level level : {FE_LOG_DEBUG, FE_LOG_INFO, FE_LOG_WARNING, FE_LOG_ERROR})
    if (word == name_of(level)) return level;
  print(FE_LOG_WARNING,
        fmt::format("FERRULE_LOG is '{}', and must be debug, info, warning or error; using warning", *value));
  return FE_LOG_WARNING;
}

// -1 until first used. Two threads may both read the environment, with the same result.
std::atomic<int> current_level{-1};

}  // namespace

const char* name_of(fe_log_level level) noexcept {
  switch (level) {
    case FE_LOG_DEBUG:
      return "debug";
    case FE_LOG_INFO:
      return "info";
    case FE_LOG_WARNING:
      return "warning";
    case FE_LOG_ERROR:
      break;
  }
  return "error";
}

fe_log_level log_level() noexcept {
  const int level = current_level.load(std::memory_order_relaxed);
  if (level >= 0) return static_cast<fe_log_level>(level);
  int none = -1;
  const fe_log_level found = level_of_environment();
  return current_level.compare_exchange_strong(none, found) ? found : static_cast<fe_log_level>(none);
}

void set_log_level(fe_log_level level) noexcept { current_level.store(level, std::memory_order_relaxed); }

void set_log_callback(LogCallback callback, void* argument, LogDelivery delivery) {
  Logger& log = Immortal<Logger>::get();
  std::deque<Line> dropped;
  const std::scoped_lock lock(log.mutex);
  log.callback = callback;
  log.argument = argument;
  log.delivery = delivery;
  if (callback == nullptr || delivery == LogDelivery::immediate) {
    log.queue.swap(dropped);
    log.lost = 0;
  }
}

void log_line(fe_log_level level, std::string_view message) noexcept {
  if (!is_logged(level)) return;
  try {
    Logger& log = Immortal<Logger>::get();
    std::unique_lock lock(log.mutex);
    forget_lines_of_parent(log);
    if (log.callback == nullptr) {
      lock.unlock();
      print(level, message);
    } else if (log.delivery == LogDelivery::queued) {
      if (log.queue.size() == queue_capacity) {
        log.queue.pop_front();
        ++log.lost;
      }
      log.queue.push_back({level, std::string(message)});
    } else {
      // Outside the lock: a callback may log, or set another callback.
      const LogCallback callback = log.callback;
      void* const argument = log.argument;
      lock.unlock();
      callback(argument, level, std::string(message).c_str());
    }
  } catch (...) {
    // A failure to log cannot be reported.
  }
}

std::size_t drain_log() {
  Logger& log = Immortal<Logger>::get();
  std::deque<Line> lines;
  LogCallback callback = nullptr;
  void* argument = nullptr;
  {
    const std::scoped_lock lock(log.mutex);
    forget_lines_of_parent(log);
    if (log.callback == nullptr || log.queue.empty()) return 0;
    lines.swap(log.queue);
    callback = log.callback;
    argument = log.argument;
    if (log.lost > 0) {
      lines.push_front({FE_LOG_WARNING, fmt::format("{} log lines were dropped: fe_drain() was not called", log.lost)});
      log.lost = 0;
    }
  }
  for (const Line& line : lines) callback(argument, line.level, line.message.c_str());
  return lines.size();
}

}  // namespace ferrule
