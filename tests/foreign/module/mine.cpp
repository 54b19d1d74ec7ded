// A third-party backend: one file, one op, on the host.
#include <ferrule/backend.hpp>

namespace {

using namespace ferrule::sdk;

class Adder final : public KernelDevice {
 public:
  Kernel kernel(const Node& node) override {
    if (node.op() != "add") return refusal("only add is here");
    const Operand a = node.input(0), b = node.input(1), out = node.output(0);
    if (!a.is("float32") || !b.is("float32")) return refusal("only float32 is here");
    if (a.count() != out.count() || b.count() != out.count()) return refusal("it does not broadcast");
    return {.support = {.kernel = "mine_add", .contiguous_inputs = {0, 1}}, .run = [=](const Launch& launch) {
              const auto* const x = launch.pointer<const float>(a);
              const auto* const y = launch.pointer<const float>(b);
              auto* const sum = launch.pointer<float>(out);
              parallel_for(out.count(), 4096, launch.thread_limit(), [&](int64_t begin, int64_t end, uint32_t) {
                for (int64_t i = begin; i < end; ++i) sum[i] = x[i] + y[i];
              });
            }};
  }
};

class Mine final : public Backend {
 public:
  std::vector<DeviceDescription> devices() override {
    return {{.kind = FE_DEVICE_CPU,
             .flags = FE_DEVICE_FLAG_HOST_MEMORY,
             .name = "mine",
             .description = "adds on the host",
             .borrow_alignment = 1}};
  }
  std::unique_ptr<Device> open(uint32_t, const Options&) override { return std::make_unique<Adder>(); }
};

}  // namespace

FERRULE_BACKEND(Mine)
