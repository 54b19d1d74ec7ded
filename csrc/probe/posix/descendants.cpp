#include "probe/posix/descendants.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace ferrule::probe {
namespace {

struct Entry {
  Process process;
  pid_t parent = 0;
  char state = '?';
};

// Parses "/proc/<id>/stat". The name is in parentheses and may contain any character, so the last parenthesis is
// searched. Reading fails when the process ends after the file was opened: getline then leaves the text empty, while an
// iterator would throw.
std::optional<Entry> entry_of(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  Entry entry{{id, text.substr(open + 1, close - open - 1)}, 0, '?'};
  std::istringstream rest(text.substr(close + 1));
  rest >> entry.state >> entry.parent;
  return entry;
}

std::vector<Entry> all_processes() {
  std::vector<Entry> entries;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (!folder) return entries;
  while (const dirent* item = readdir(folder.get())) {
    const std::string_view name = item->d_name;
    pid_t id = 0;
    if (const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), id);
        problem != std::errc() || end != name.data() + name.size())
      continue;
    if (auto entry = entry_of(id)) entries.push_back(std::move(*entry));
  }
  return entries;
}

// Reaps children that have ended. Orphaned descendants become children of this process, so without children there are
// no descendants. A scan of /proc could miss a process that forks and ends meanwhile; this check cannot.
bool has_children() {
  pid_t ended = 0;
  do ended = waitpid(-1, nullptr, WNOHANG);
  while (ended > 0);
  return ended == 0;
}

// Uses the fastest source, to catch a process that keeps forking before its next fork.
std::vector<pid_t> children() {
  std::vector<pid_t> ids;
  const std::string own = std::to_string(getpid());
  std::ifstream list("/proc/" + own + "/task/" + own + "/children");
  if (!list.is_open())
    for (const Process& process : descendants()) ids.push_back(process.id);
  for (pid_t id = 0; list >> id;) ids.push_back(id);
  return ids;
}

bool has_ended(const Entry& entry) { return entry.state == 'Z' || entry.state == 'X'; }

}  // namespace

void adopt_orphans() {
#if defined(__linux__)
  prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
}

std::vector<Process> descendants() {
  const std::vector<Entry> all = all_processes();
  std::multimap<pid_t, const Entry*> children;
  for (const Entry& entry : all) children.emplace(entry.parent, &entry);
  std::vector<Process> found;
  std::vector<pid_t> parents = {getpid()};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    const auto [begin, end] = children.equal_range(parent);
    for (auto child = begin; child != end; ++child) {
      parents.push_back(child->second->process.id);
      if (!has_ended(*child->second)) found.push_back(child->second->process);
    }
  }
  return found;
}

uint64_t resident_bytes(const std::vector<Process>& processes) {
  uint64_t sum = 0;
  for (const Process& process : processes) {
    uint64_t all = 0, resident = 0;
    std::ifstream("/proc/" + std::to_string(process.id) + "/statm") >> all >> resident;
    sum += resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  return sum;
}

Remains end_descendants(double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  Remains remains;
  while (has_children()) {
    if (std::chrono::steady_clock::now() > deadline) {
      remains.living = descendants();
      break;
    }
    // The children of a killed process are children of this one in the next round.
    for (const pid_t id : children()) {
      const auto entry = entry_of(id);
      if (!entry || has_ended(*entry)) continue;
      kill(id, SIGKILL);
      if (std::find(remains.names.begin(), remains.names.end(), entry->process.name) == remains.names.end())
        remains.names.push_back(entry->process.name);
    }
    std::this_thread::yield();
  }
  return remains;
}

}  // namespace ferrule::probe
