// The functions that a backend offers by name (procs).
#include "core/error.h"
#include "core/registry/backend.h"
#include "core/registry/module_calls.h"

#include <ferrule/procs.h>

namespace ferrule {

Backend::Proc Backend::proc(const char* name) {
  struct Hold {
    std::shared_ptr<Backend> backend;
    ~Hold() {
      if (backend) --backend->holds_;
    }
  };
  const std::scoped_lock changing(changing_);
  if (is_closed()) fail(FE_NOT_FOUND, "backend {} is no longer loaded", this->name());
  Proc proc{find_proc(name), nullptr};
  if (proc.address == nullptr) return proc;
  const auto hold = std::make_shared<Hold>();
  hold->backend = shared_from_this();
  ++holds_;
  proc.hold = hold;
  return proc;
}

std::vector<std::pair<std::string, std::string>> Backend::features() {
  std::vector<std::pair<std::string, std::string>> features;
  const std::scoped_lock changing(changing_);
  if (is_closed()) return features;
  const auto list = reinterpret_cast<fe_features_function>(find_proc(FE_FEATURES));
  if (list == nullptr) return features;
  size_t count = 0;
  const fe_feature* const first = call_module("features", [&] { return list(&count); });
  if (first == nullptr) return features;
  for (size_t i = 0; i < count; ++i) {
    const fe_feature* const feature = fe_feature_at(first, i);
    if (feature->name != nullptr) features.emplace_back(feature->name, feature->value != nullptr ? feature->value : "");
  }
  return features;
}

}  // namespace ferrule
