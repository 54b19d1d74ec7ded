#include "metal/simulated/work.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <span>

#include "metal/objc/faults.h"
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

void require_live(const Object* object) {
  const objc::Known about = objc::known(object);
  if (about.state == objc::Known::State::live) return;
  objc::report_fault("a command uses a " + (about.isa == nullptr ? "freed object" : about.isa->name()) +
                     " that was freed before the command buffer has completed");
  throw FreedResource();
}

void run(const Command& command) {
  for (const Buffer* buffer : command.buffers) require_live(buffer);
  for (const Object* object : command.others) require_live(object);
  command.run();
}

bool uses_one_of(const Command& command, const std::vector<const Buffer*>& buffers) {
  return std::any_of(buffers.begin(), buffers.end(), [&](const Buffer* buffer) {
    return std::find(command.buffers.begin(), command.buffers.end(), buffer) != command.buffers.end();
  });
}

// Commands that stand between two barriers for all buffers.
void run_concurrent(std::span<const Command> commands, const std::vector<Barrier>& barriers) {
  Schedule schedule(commands.size());
  for (std::size_t later = 0; later < commands.size(); ++later) {
    if (commands[later].number_of_barriers == commands.front().number_of_barriers) continue;
    for (std::size_t earlier = 0; earlier < later; ++earlier)
      for (std::size_t i = commands[earlier].number_of_barriers; i < commands[later].number_of_barriers; ++i)
        if (uses_one_of(commands[earlier], barriers[i].buffers) && uses_one_of(commands[later], barriers[i].buffers)) {
          schedule.set_after(later, earlier);
          break;
        }
  }
  for (const std::size_t number : schedule.order()) run(commands[number]);
}

void run_encoder(const Pass& pass) {
  const std::span<const Command> commands = pass.commands;
  if (!pass.is_concurrent) {
    for (const Command& command : commands) run(command);
    return;
  }
  const auto is_ordered = [&](const Command& earlier, const Command& later) {
    for (std::size_t i = earlier.number_of_barriers; i < later.number_of_barriers; ++i)
      if (pass.barriers[i].is_for_all) return true;
    return false;
  };
  for (std::size_t begin = 0; begin < commands.size();) {
    std::size_t end = begin + 1;
    while (end < commands.size() && !is_ordered(commands[begin], commands[end])) ++end;
    run_concurrent(commands.subspan(begin, end - begin), pass.barriers);
    begin = end;
  }
}

// Encoders without an event between them.
void run_encoders(std::span<const std::unique_ptr<Pass>> passes) {
  Schedule schedule(passes.size());
  std::map<const Buffer*, std::size_t> last_user;
  std::map<const Fence*, std::size_t> last_update;
  for (std::size_t number = 0; number < passes.size(); ++number) {
    const Pass& pass = *passes[number];
    const auto use = [&](const Buffer* buffer) {
      if (objc::known(buffer).state != objc::Known::State::live || !buffer->is_tracked()) return;
      const auto [place, is_new] = last_user.try_emplace(buffer, number);
      if (!is_new && place->second != number) schedule.set_after(number, place->second);
      place->second = number;
    };
    for (const Command& command : pass.commands)
      for (const Buffer* buffer : command.buffers) use(buffer);
    for (const Buffer* buffer : pass.used) use(buffer);
    for (const Fence* fence : pass.awaited)
      if (const auto found = last_update.find(fence); found != last_update.end())
        schedule.set_after(number, found->second);
    for (const Fence* fence : pass.updated) last_update[fence] = number;
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
    else if (!event.event->wait(event.value, settings().wait_limit))
      throw EventTimeout{event.value};
    begin = end + 1;
  }
}

}  // namespace simulated
