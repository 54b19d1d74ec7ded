#include "probe/judgement.h"

#include "probe/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

namespace ferrule::probe {
namespace {

using nlohmann::json;

struct Said {
  std::string step = "start";  // the last step that was begun, such as "'init'"
  json answer;                 // null when there is none
};

Said said_in(const std::string& text, const std::string& seal) {
  Said said;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const json line = json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                  text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    begin = end + 1;
    if (!line.is_object()) continue;
    if (const auto found = line.find("step"); found != line.end() && found->is_string()) {
      said.step = fmt::format("'{}'", found->get<std::string>());
      if (const std::string device = line.value("device", json()).is_string() ? line["device"].get<std::string>() : "";
          !device.empty())
        said.step += " on " + device;
    }
    if (line.value("seal", json()) != seal) continue;
    if (const auto found = line.find("answer"); found != line.end() && found->is_object()) said.answer = *found;
  }
  return said;
}

// Removes the path with which errors of fe_load begin: the verdict also serves the same bytes at other paths.
std::string without_path(const std::string& sentence, const std::string& module) {
  const std::string beginning = module + ": ";
  return sentence.starts_with(beginning) ? sentence.substr(beginning.size()) : sentence;
}

json failed(const std::string& reason, bool is_accident = false) {
  json verdict = {{"verdict", "failed"}, {"reason", reason}};
  // The cached verdict about a failure that may not occur again expires soon.
  if (is_accident) verdict["may_pass"] = true;
  return verdict;
}

json judge(const std::string& module, const json& answer, std::vector<std::string>& notes) {
  if (const auto found = answer.find("notes"); found != answer.end())
    for (const json& note : *found) notes.push_back(note.get<std::string>());
  if (const auto found = answer.find("changes"); found != answer.end() && !found->empty())
    return failed(fmt::format("it changes the process: {}", fmt::join(found->get<std::vector<std::string>>(), "; ")));
  if (const auto error = answer.find("error"); error != answer.end() && error->is_object())
    return {{"verdict", "refused"}, {"reason", without_path(error->at("reason"), module)}, {"code", error->at("code")}};
  const json& devices = answer.at("devices");
  std::vector<std::string> problems;
  std::size_t working = 0;
  bool is_wrong = false;
  for (const json& device : devices) {
    const std::string state = device.at("state"), reason = device.at("reason");
    working += state == "right" || state == "unchecked";
    is_wrong |= state == "wrong";
    if (state == "wrong" || state == "error") problems.push_back(reason);
  }
  // A device that computes wrong results may not be noticed the next time, so the module fails. An error, such as that
  // of a device whose memory other processes use, may pass.
  const std::string reason = fmt::format("{}", fmt::join(problems, "; "));
  if (is_wrong) return failed(reason);
  if (working == 0 && !problems.empty()) return failed(reason, true);
  for (const std::string& problem : problems) notes.push_back(problem);
  return {{"verdict", "passed"},
          {"reason", ""},
          {"devices", devices},
          {"threads", answer.at("threads")},
          {"version", answer.at("version")}};
}

}  // namespace

json verdict_about(const std::string& module, const std::string& answer, const std::string& seal, const Ending& ending,
                   std::vector<std::string>& notes) {
  const Said said = said_in(answer, seal);
  if (!ending.ended_because.empty()) {
    json verdict = failed(fmt::format("{} (step {})", ending.ended_because, said.step), ending.is_accident);
    if (ending.is_timeout) verdict["verdict"] = "timeout";
    return verdict;
  }
  if (!ending.fault.empty())
    return failed(fmt::format("its probe was ended by {} (step {})", ending.fault, said.step), ending.is_accident);
  if (ending.exit_status == answer_is_closed)
    return failed(fmt::format("it closes descriptors that are not its own (before step {})", said.step));
  if (ending.exit_status != 0 || said.answer.is_null())
    return failed(fmt::format("it ended its process with exit status {} (step {})", ending.exit_status, said.step));
  return judge(module, said.answer, notes);
}

std::string new_seal() { return fmt::format("{:08x}{:08x}", std::random_device()(), std::random_device()()); }

}  // namespace ferrule::probe
