// Delays forks of the process during calls that a fork would break.
#pragma once

namespace ferrule {

// Delays forks of other threads for its lifetime, by two seconds at most. In the child, a call in progress (in the
// system's loader, or a module's init) would be left half done, without the thread that would finish it.
class HoldsForks {
 public:
  HoldsForks() noexcept;
  ~HoldsForks();
  HoldsForks(const HoldsForks&) = delete;
  HoldsForks& operator=(const HoldsForks&) = delete;
};

}  // namespace ferrule
