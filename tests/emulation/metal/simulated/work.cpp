#include "metal/simulated/work.h"

#include <map>
#include <random>
#include <set>
#include <span>

#include "metal/simulated/settings.h"

namespace simulated {

namespace {

// Orders things by what each one must follow, and otherwise as FERRULE_EMULATION_METAL_ORDER says.
class Schedule {
 public:
  explicit Schedule(std::size_t count) : followers_(count), open_(count, 0) {}
  // A second `after` of the same pair changes nothing in the order.
  void set_after(std::size_t later, std::size_t earlier) {
    followers_[earlier].push_back(later);
    ++open_[later];
  }
  std::vector<std::size_t> order() {
    std::uint64_t seed = 0;
    const emulation::Order order = order_of_work(seed);
    std::mt19937_64 random(seed);
    std::vector<std::size_t> result;
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < open_.size(); ++i)
      if (open_[i] == 0) ready.insert(i);
    while (!ready.empty()) {
      auto next = ready.begin();
      if (order == emulation::Order::reverse) next = std::prev(ready.end());
      if (order == emulation::Order::random) std::advance(next, static_cast<std::ptrdiff_t>(random() % ready.size()));
      const std::size_t chosen = *next;
      ready.erase(next);
      result.push_back(chosen);
      for (const std::size_t later : followers_[chosen])
        if (--open_[later] == 0) ready.insert(later);
    }
    return result;
  }

 private:
  std::vector<std::vector<std::size_t>> followers_;
  std::vector<std::size_t> open_;  // how many things each one still waits for
};

void run_encoder(const Pass& pass) {
  std::span<const Command> commands = pass.commands;
  while (!commands.empty()) {
    // The commands between two barriers, which run in any order if the encoder is concurrent.
    std::size_t end = 1;
    while (end < commands.size() && pass.is_concurrent &&
           commands[end].number_of_barriers == commands[0].number_of_barriers)
      ++end;
    for (const std::size_t number : Schedule(end).order()) commands[number].run();
    commands = commands.subspan(end);
  }
}

// Encoders without an event between them.
void run_encoders(std::span<const std::unique_ptr<Pass>> passes) {
  Schedule schedule(passes.size());
  std::map<const Buffer*, std::size_t> last_user;
  for (std::size_t number = 0; number < passes.size(); ++number) {
    const Pass& pass = *passes[number];
    const auto use = [&](const Buffer* buffer) {
      if (!buffer->is_tracked()) return;
      const auto [place, is_new] = last_user.try_emplace(buffer, number);
      if (!is_new && place->second != number) schedule.set_after(number, place->second);
      place->second = number;
    };
    for (const Command& command : pass.commands)
      for (const Buffer* buffer : command.buffers) use(buffer);
  }
  for (const std::size_t number : schedule.order()) run_encoder(*passes[number]);
}

}  // namespace

void run_passes(const std::vector<std::unique_ptr<Pass>>& passes) {
  const std::span<const std::unique_ptr<Pass>> all = passes;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end]->kind == Pass::Kind::encoder) ++end;
    run_encoders(all.subspan(begin, end - begin));
    if (end == all.size()) return;
    const Pass& event = *all[end];
    if (event.kind == Pass::Kind::signal)
      event.event->signal(event.value);
    else if (!event.event->wait(event.value, wait_limit))
      throw EventTimeout{event.value};
    begin = end + 1;
  }
}

}  // namespace simulated
