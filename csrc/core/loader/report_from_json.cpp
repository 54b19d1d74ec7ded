#include "core/json_object.h"
#include "core/loader/report.h"
#include "ops/error.h"

namespace ferrule {
namespace {

LoadTimes times_from(const nlohmann::json& json) {
  return {json.at("find"), json.at("read"), json.at("hash"), json.at("probe"), json.at("open"), json.at("init")};
}

template <class Integer>
Integer number_from(const nlohmann::json& json, const char* key) {
  if (const auto number = whole_number<Integer>(json.at(key))) return *number;
  fail_argument("a load report is damaged: '{}' is {}, which is no number that fits", key, shown(json.at(key)));
}

}  // namespace

LoadReport report_from_json(const nlohmann::json& json) {
  try {
    LoadReport report;
    for (const auto& root : json.at("roots"))
      report.roots.push_back(
          {root.at("path"), root.at("origin"), number_from<std::size_t>(root, "candidates"), root.at("problem")});
    for (const auto& row : json.at("candidates")) {
      LoadRow to;
      to.path = row.at("path");
      to.root = row.at("root");
      to.name = row.at("name");
      to.variant = row.at("variant");
      // Text is compared, not JSON: JSON's comparison with text makes JSON of it, and may not throw for want of memory.
      const auto& word = row.at("state").get_ref<const std::string&>();
      int state = 0;
      while (state < static_cast<int>(LoadState::error) && word != name_of(static_cast<LoadState>(state))) ++state;
      to.state = static_cast<LoadState>(state);
      to.reason = row.at("reason");
      if (!row.at("rank").is_null()) to.rank = number_from<int>(row, "rank");
      if (!row.at("score").is_null()) to.score = number_from<int>(row, "score");
      to.devices = row.at("devices").get<std::vector<std::string>>();
      to.version = row.at("version");
      to.probed = row.at("probed");
      to.notes = row.at("notes").get<std::vector<std::string>>();
      to.output = row.at("output");
      to.files = row.at("files").get<std::vector<std::string>>();
      to.times = times_from(row.at("times"));
      report.rows.push_back(std::move(to));
    }
    for (const auto& remnant : json.at("remaining"))
      report.remaining.push_back({remnant.at("path"), remnant.at("reason")});
    const auto& policy = json.at("policy");
    report.policy = policy_of(policy.at("select"), policy.at("probe"), policy.at("trust"), false);
    report.times = times_from(json.at("times"));
    report.milliseconds = json.at("milliseconds");
    return report;
  } catch (const nlohmann::json::exception& error) {
    fail_argument("a load report is damaged: {}", error.what());
  }
}

}  // namespace ferrule
