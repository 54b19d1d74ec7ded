#include "core/loader/choose_module.h"

#include "core/loader/open_module.h"
#include "core/loader/search/compatibility.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ferrule {
namespace {

using Group = std::vector<Candidate*>;

struct Opened {
  Candidate* candidate;
  ModuleSource source;
};

constexpr int score_without_one = 1;

int score_of(const Candidate& candidate) { return candidate.row.score.value_or(score_without_one); }

// The reason in a load that selects by score: the highest score wins; ties go by rank, then by file name.
std::string outscored_by(const Candidate& loser, const Candidate& winner, const std::string& file) {
  const char* const none = loser.row.score ? "" : ", which is what a module without a score has";
  if (score_of(winner) > score_of(loser))
    return fmt::format("{} has the higher score {}; this one has {}{}", file, score_of(winner), score_of(loser), none);
  return fmt::format("{} has the same score {}, and comes first", file, score_of(winner));
}

std::string outranked_by(const Candidate& loser, const Candidate& winner, Select select) {
  const std::string file = path_to_text(winner.path.filename());
  if (loser.root != winner.root) return fmt::format("{} in an earlier root is loaded", file);
  if (select == Select::by_score) return outscored_by(loser, winner, file);
  if (loser.manifest && winner.manifest && loser.row.rank != winner.row.rank)
    return fmt::format("{} has the higher rank {}", file, *winner.row.rank);
  if (!loser.manifest && winner.manifest) return fmt::format("{} has a manifest", file);
  if (loser.row.score && winner.row.score && *loser.row.score != *winner.row.score)
    return fmt::format("{} has the higher score {}", file, *winner.row.score);
  return fmt::format("{} is loaded", file);
}

// Opens candidates by rank until one works; the others are never opened.
Candidate* first_by_rank(const Group& group, const Prober& prober) {
  for (Candidate* candidate : in_order_of_rank(group))
    if (auto source = open_module(*candidate, prober))
      if (start_module(*candidate, std::move(*source))) return candidate;
  return nullptr;
}

// Opens all candidates and compares their scores; those that lose are closed on return.
Candidate* first_by_score(const Group& group, const Prober& prober) {
  std::vector<Opened> opened;
  for (Candidate* candidate : in_order_of_rank(group))
    if (auto source = open_module(*candidate, prober)) opened.push_back({candidate, std::move(*source)});
  std::stable_sort(opened.begin(), opened.end(),
                   [](const Opened& a, const Opened& b) { return score_of(*a.candidate) > score_of(*b.candidate); });
  for (Opened& best : opened)
    if (start_module(*best.candidate, std::move(best.source))) return best.candidate;
  return nullptr;
}

Candidate* choose_in_root(const Group& group, Select select, const Prober& prober) {
  if (select == Select::by_score) return first_by_score(group, prober);
  Group with_manifest, without;
  for (Candidate* candidate : group) (candidate->manifest ? with_manifest : without).push_back(candidate);
  Candidate* winner = first_by_rank(with_manifest, prober);
  return winner != nullptr ? winner : first_by_score(without, prober);
}

}  // namespace

void choose_module(const std::vector<Candidate*>& candidates, Select select, const Prober& prober) {
  Group runnable;
  for (Candidate* candidate : candidates)
    if (!candidate->is_refused) runnable.push_back(candidate);
  Candidate* winner = nullptr;
  for (auto begin = runnable.begin(); begin != runnable.end() && winner == nullptr;) {
    const auto is_elsewhere = [&](const Candidate* candidate) { return candidate->root != (*begin)->root; };
    const auto end = std::find_if(begin, runnable.end(), is_elsewhere);
    winner = choose_in_root(Group(begin, end), select, prober);
    begin = end;
  }
  if (winner == nullptr) return;
  for (Candidate* candidate : runnable)
    if (!candidate->is_refused && candidate != winner)
      candidate->refuse(LoadState::outranked, FE_UNSUPPORTED, outranked_by(*candidate, *winner, select));
}

}  // namespace ferrule
