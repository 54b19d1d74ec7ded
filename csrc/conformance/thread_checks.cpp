// Eight threads at once: they share backend, device, buffers and an executable, and have one queue each.
#include "conformance/graph.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace ferrule::conformance {
namespace {

constexpr int threads = 8, rounds = 60;

struct Work {
  const Sample* sample;
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Executable> shared;
  std::vector<Bytes> expected;  // per thread: the outputs that a single thread computes
};

Bytes result(const Device& device, fe_module_queue* queue, const Work& work, const Executable& executable,
             uint64_t seed) {
  Bound bound(device, queue, *work.graph, executable, seed);
  expect(execute(device, queue, executable, bound.execution()), name_of(*work.sample));
  return bound.outputs(queue);
}

void eight_threads(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const Device& device = opened.device;
  constexpr size_t max_ops = 12;
  std::vector<Work> all;
  std::vector<const Sample*> found = supported_samples(device, subject);
  for (size_t i = 0; i < found.size() && all.size() < max_ops; i += found.size() / max_ops + 1) {
    Work work{found[i], graph_of(*found[i]), nullptr, {}};
    work.shared = std::make_unique<Executable>(device, work.graph->view());
    for (int t = 0; t < threads; ++t)
      work.expected.push_back(
          result(device, device.queue(), work, *work.shared, subject.seed + static_cast<uint64_t>(t)));
    all.push_back(std::move(work));
  }

  report.now("eight threads");
  std::mutex mutex;
  std::atomic<int> ready{0};
  const auto run = [&](int number) {
    try {
      const Queue queue(device);
      ++ready;
      while (ready < threads) std::this_thread::yield();
      for (int round = 0; round < rounds; ++round)
        for (const Work& work : all) {
          const auto seed = subject.seed + static_cast<uint64_t>(number);
          const bool own = round % 4 == 3;
          if (!supports(device, work.graph->view())) throw Failure{name_of(*work.sample) + " is supported by turns"};
          const Bytes got = own ? result(device, queue.handle(), work, Executable(device, work.graph->view()), seed)
                                : result(device, queue.handle(), work, *work.shared, seed);
          if (got == work.expected[static_cast<size_t>(number)]) continue;
          throw Failure{name_of(*work.sample) + ", executed by eight threads, gives other bits than by one alone"};
        }
    } catch (const Failure& failure) {
      ready = threads;
      const std::lock_guard lock(mutex);
      report.problem(failure.sentence);
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(run, t);
  run(0);
  for (std::thread& other : others) other.join();
}

// The reason of a refusal stays valid until the same thread asks again, whatever other threads ask.
void refusals_of_eight_threads(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const Device& device = opened.device;
  constexpr uint32_t kinds = 50;
  const auto graph = graph_of(samples().front());
  const auto ask = [&](uint32_t number, fe_requirements& out) {
    out = {};
    out.struct_size = sizeof out;
    // The view has no nodes of these numbers.
    return device.backend()->supports(device.handle(), &graph->view(), 1 + number, &out);
  };
  const auto text = [](const char* reason) { return std::string(reason ? reason : ""); };
  std::vector<std::string> expected;
  for (uint32_t number = 0; number < kinds * threads; ++number) {
    fe_requirements said;
    if (ask(number, said) != 0) return report.problem("a node that is not there is supported");
    expected.push_back(text(said.reason));
  }
  report.now("eight threads");
  std::atomic<int> wrong{0};
  const auto run = [&](uint32_t thread) {
    for (uint32_t turn = 0; turn < 20 * kinds; ++turn) {
      const uint32_t number = kinds * thread + turn % kinds;
      fe_requirements said;
      ask(number, said);
      std::this_thread::yield();
      if (text(said.reason) != expected[number]) ++wrong;
    }
  };
  std::vector<std::thread> others;
  for (uint32_t t = 1; t < threads; ++t) others.emplace_back(run, t);
  run(0);
  for (std::thread& other : others) other.join();
  if (wrong > 0) report.problem("concurrent queries get other threads' reasons");
}

}  // namespace

void add_thread_checks(Checks& checks) {
  checks.push_back({"threads", "eight threads at once get the bits that one gets", eight_threads});
  checks.push_back(
      {"threads.refusals", "eight threads that are refused read each its own reason", refusals_of_eight_threads});
}

}  // namespace ferrule::conformance
