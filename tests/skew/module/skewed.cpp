// A module that uses everything in its headers: the same source is compiled at 1.0 and at 1.1.
#include <ferrule/backend.hpp>
#include <ferrule/ops.h>

#include <cmath>

namespace {

using namespace ferrule::sdk;

// Applies f to each float32 element of contiguous operands.
template <class Function>
Kernel elementwise(const Node& node, uint32_t revision, Function f) {
  const Operand in = node.input(0), out = node.output(0);
  if (!in.is("float32")) return refusal("only float32 is here");
  return {.support = {.kernel = "skewed", .contiguous_inputs = {0}, .revision = revision},
          .run = [=](const Launch& launch) {
            const auto* const x = launch.pointer<const float>(in);
            auto* const y = launch.pointer<float>(out);
            for (int64_t i = 0; i < out.count(); ++i) y[i] = f(x[i]);
          }};
}

class SkewedDevice final : public KernelDevice {
 public:
  Kernel kernel(const Node& node) override {
    if (node.op() == "subtract") return subtract(node);
#if FE_ABI_MINOR >= 1
    // An older core's attributes end before what revision 2 appended; it passes none to an op that had none.
    const bool is_young = node.revision() >= 2;
    const auto bias =
        static_cast<float>(is_young && node.op() == "negative" ? node.attributes<fe_negative_attributes>().bias : 0);
    const auto scale =
        static_cast<float>(is_young && node.op() == "sqrt" ? node.attributes<fe_sqrt_attributes>().scale : 1);
    constexpr uint32_t revision = 2;
#else
    constexpr float bias = 0, scale = 1;
    constexpr uint32_t revision = 1;
#endif
    if (node.op() == "negative") return elementwise(node, revision, [=](float x) { return bias - x; });
    if (node.op() == "sqrt") return elementwise(node, revision, [=](float x) { return scale * std::sqrt(x); });
    return refusal("it is not here");
  }

 private:
  static Kernel subtract(const Node& node) {
    const Operand a = node.input(0), b = node.input(1), out = node.output(0);
    if (!a.is("float32") || a.count() != out.count() || b.count() != out.count()) return refusal("no such subtract");
    return {.support = {.kernel = "skewed", .contiguous_inputs = {0, 1}}, .run = [=](const Launch& launch) {
              const auto* const x = launch.pointer<const float>(a);
              const auto* const y = launch.pointer<const float>(b);
              auto* const z = launch.pointer<float>(out);
              for (int64_t i = 0; i < out.count(); ++i) z[i] = x[i] - y[i];
            }};
  }
};

// Reports to the test what the core offers this module.
std::string description_from_core() {
#if FE_ABI_MINOR >= 1
  if (FE_HAS_SLOT(host, core_minor)) return "core_minor is " + std::to_string(host->core_minor());
  return "the core has no core_minor";
#else
  return "built without core_minor";
#endif
}

class Skewed final : public Backend {
 public:
  static constexpr const char* version = "0.1";
  std::vector<DeviceDescription> devices() override {
    return {{.kind = SKEWED_KIND,
             .flags = FE_DEVICE_FLAG_HOST_MEMORY,
             .name = "plain",
             .description = description_from_core(),
             .borrow_alignment = 1}};
  }
  std::unique_ptr<Device> open(uint32_t, const Options&) override { return std::make_unique<SkewedDevice>(); }
};

#if FE_ABI_MINOR >= 1
// Whether the caller's struct, which may be older, contains the field.
template <class Struct, class Field>
bool has_room(const Struct* given, const Field& field) {
  return given->struct_size >=
         static_cast<size_t>(reinterpret_cast<const char*>(&field + 1) - reinterpret_cast<const char*>(given));
}

const char* motto(fe_module_backend*) { return "young"; }

fe_error* device_properties(fe_module_backend* backend, uint32_t index, fe_device_properties* out) {
  fe_error* const error = slots::device_properties(backend, index, out);
  if (!error && has_room(out, out->nickname)) out->nickname = "nick";
  return error;
}
#endif

int score() { return Skewed::score(); }

fe_error* init(const fe_host* given, fe_backend* out) {
  fe_error* const error = slots::init<Skewed>(given, out, FERRULE_MODULE_NAME, FERRULE_MODULE_VARIANT);
#if FE_ABI_MINOR >= 1
  if (error) return error;
  out->device_properties = device_properties;
  if (has_room(out, out->motto)) out->motto = motto;
#endif
  return error;
}

}  // namespace

FE_DEFINE_MODULE(score, init)
