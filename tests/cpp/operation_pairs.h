// Runs two operations on one object in two threads at once: every pair of operations, including each with itself.
#pragma once

#include "core/error.h"

#include <ferrule/ferrule.h>
#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ferrule::test {

// `run` returns the first error. The codes in `may_lose` are allowed when a concurrent call came first.
template <class Object>
struct Operation {
  Operation(const char* called, std::function<fe_error*(Object&)> function, std::vector<fe_code> codes = {})
      : name(called), run(std::move(function)), may_lose(std::move(codes)) {}
  const char* name;
  std::function<fe_error*(Object&)> run;
  std::vector<fe_code> may_lose;
};

struct Often {
  int objects;  // per pair
  int times;    // number of times each thread runs its operation on each object
};

// `make` creates the object of a pair; `check` inspects it after both threads have ended.
template <class Object, class Make, class Check>
void run_pairs(const std::vector<Operation<Object>>& operations, Often often, Make make, Check check) {
  for (std::size_t i = 0; i < operations.size(); ++i)
    for (std::size_t j = i; j < operations.size(); ++j) {
      const Operation<Object>* const pair[] = {&operations[i], &operations[j]};
      SCOPED_TRACE(std::string(pair[0]->name) + " and " + pair[1]->name);
      for (int round = 0; round < often.objects; ++round) {
        auto object = make();
        std::latch start(2);  // a waiting thread yields the processor
        std::vector<std::string> problems[2];
        const auto work = [&](int thread) {
          start.arrive_and_wait();
          for (int time = 0; time < often.times; ++time) {
            const ErrorPointer error(pair[thread]->run(*object));
            const fe_code code = code_of(error.get());
            bool is_expected = code == FE_OK;
            for (const fe_code expected : pair[thread]->may_lose) is_expected = is_expected || code == expected;
            if (!is_expected)
              problems[thread].push_back(std::string(pair[thread]->name) + ": " + message_of(error.get()));
          }
        };
        std::thread other(work, 1);
        work(0);
        other.join();
        for (const auto& of_thread : problems)
          for (const std::string& problem : of_thread) ADD_FAILURE() << problem;
        check(*object, *pair[0], *pair[1]);
        if (testing::Test::HasFailure()) return;
      }
    }
}

template <class Object, class Make>
void run_pairs(const std::vector<Operation<Object>>& operations, Often often, Make make) {
  run_pairs(operations, often, make, [](auto&, auto&, auto&) {});
}

}  // namespace ferrule::test
