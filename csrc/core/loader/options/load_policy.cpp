#include "core/loader/options/load_policy.h"

#include "core/environment.h"
#include "core/error.h"
#include "core/warn_once.h"

#include <algorithm>
#include <array>

namespace ferrule {
namespace {

// The words of each enumeration, in its order.
constexpr std::array select_words = {"manifest", "score"};
constexpr std::array probe_words = {"auto", "always", "never"};
constexpr std::array trust_words = {"owner", "manifest-hash", "any"};

template <class Word, std::size_t Count>
Word word_of(const char* function, const std::array<const char*, Count>& words, const std::string& given,
             const char* option) {
  for (std::size_t i = 0; i < Count; ++i)
    if (given == words[i]) return static_cast<Word>(i);
  fail_argument("{}: {} is '{}', and must be one of: {}", function, option, given, fmt::join(words, ", "));
}

// The value of the caller's word, else of the environment variable, else the first of the enumeration. The variable
// causes a warning when it is none of the words.
template <class Word, std::size_t Count>
Word word_or(const char* function, const std::array<const char*, Count>& words, const std::string& given,
             const char* option, const char* variable) {
  if (!given.empty()) return word_of<Word>(function, words, given, option);
  const auto value = environment(variable);
  if (!value) return Word{};
  const auto found = std::find(words.begin(), words.end(), *value);
  if (found != words.end()) return static_cast<Word>(found - words.begin());
  warn_of_variable(variable, *value, fmt::format("one of: {}", fmt::join(words, ", ")), words[0]);
  return Word{};
}

}  // namespace

Policy policy_of(const char* function, const std::string& select, const std::string& probe, const std::string& trust,
                 bool reprobe) {
  Policy policy;
  if (!select.empty()) policy.select = word_of<Select>(function, select_words, select, "select");
  policy.probe = word_or<ProbePolicy>(function, probe_words, probe, "probe", "FERRULE_PROBE");
  policy.trust = word_or<Trust>(function, trust_words, trust, "trust", "FERRULE_TRUST");
  policy.reprobe = reprobe;
  return policy;
}

Policy default_policy() { return policy_of("load_all", "", "", "", false); }

const char* name_of(Select select) noexcept { return select_words[static_cast<std::size_t>(select)]; }
const char* name_of(ProbePolicy probe) noexcept { return probe_words[static_cast<std::size_t>(probe)]; }
const char* name_of(Trust trust) noexcept { return trust_words[static_cast<std::size_t>(trust)]; }

}  // namespace ferrule
