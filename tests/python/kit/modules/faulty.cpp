// A correct backend of four ops with selectable faults, one for each of the kit's checks: the option `fault`
// (FERRULE_FAULTY_FAULT). Kept simple: elements are addressed one by one through their strides.
#include <ferrule/backend.hpp>
#include <ferrule/ops.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>

namespace {

using namespace ferrule::sdk;

using Index = std::array<int64_t, FE_MAX_RANK>;

Index index_of(int64_t number, std::span<const int64_t> shape) {
  Index index{};
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = number % shape[axis];
    number /= shape[axis];
  }
  return index;
}

// Position of an operand's element for an index; operands of lower rank broadcast.
int64_t place_of(const Index& index, size_t rank, const Operand& operand) {
  int64_t place = 0;
  const size_t lacking = rank - operand.shape().size();
  for (size_t axis = 0; axis < operand.shape().size(); ++axis)
    if (operand.shape()[axis] != 1) place += index[axis + lacking] * operand.strides()[axis];
  return place;
}

class Device final : public KernelDevice {
 public:
  explicit Device(std::string fault) : fault_(std::move(fault)) {}

  Kernel kernel(const Node& node) override {
    if (node.op() == "exp" && is("promises")) return promise(node);
    const bool counts = node.op() == "sum" && node.input(0).is("uint64");
    for (uint32_t i = 0; i < node.input_count() && !counts; ++i)
      if (!node.input(i).is(node.op() == "take" && i == 1 ? "int64" : "float32"))
        return refusal("only float32 is here");
    if (is("refuses_three_axes") && node.output(0).rank() == 3) return refusal("three axes are too many");
    if (node.op() == "add") return add(node, false);
    if (node.op() == "abs") return absolute(node);
    if (counts)
      return is("counts_in_32_bits") ? sum<uint64_t, uint32_t, uint64_t>(node) : sum<uint64_t, uint64_t>(node);
    if (node.op() == "sum") return sum<float, double>(node);
    if (node.op() == "take") return take(node);
    return refusal("only add, abs, sum and take are here");
  }

  // Forgets the ops that are fused to add.
  Kernel kernel_with_body(const Node& node) override {
    const fe_body* const body = node.body();
    if (!is("fuses_wrongly") || body->instruction_count < 2 || body->output_count != 1 ||
        !node.input(0).is("float32") || !node.output(0).is("float32") ||
        std::string_view(host->op_name(body->instructions[0]->op)) != "add")
      return refusal("no kernel takes a fused body");
    return add(node, true);
  }

 private:
  bool is(const char* fault) const { return fault_ == fault; }

  // Supports the 4 x 6 elements that are asked about in general, but not the call that is then computed.
  static Kernel promise(const Node& node) {
    if (node.output(0).count() != 24) return refusal("not of this shape");
    return {.support = {.kernel = "promised"}, .run = [](const Launch&) {}};
  }

  Kernel add(const Node& node, bool forgets_the_rest) {
    const Operand a = node.input(0), b = node.input(1), out = node.output(0);
    const bool contiguous =
        a.is_contiguous() && b.is_contiguous() && a.count() == out.count() && b.count() == out.count();
    return {.support = {.kernel = "add"}, .run = [=, this](const Launch& launch) {
              const auto* const x = launch.pointer<const float>(a);
              const auto* const y = launch.pointer<const float>(b);
              auto* const sum = launch.pointer<float>(out);
              misbehave(out);
              const size_t rank = out.shape().size();
              const int64_t count = out.count();
              for (int64_t i = 0; i < count; ++i) {
                const Index index = index_of(i, out.shape());
                const bool straight = is("ignores_strides") && !contiguous && a.count() == count && b.count() == count;
                const float left = straight ? x[i] : x[place_of(index, rank, a)];
                const float right = straight ? y[i] : y[place_of(index, rank, b)];
                sum[i] = result_of(left, right, i, count);
              }
              if (is("wrong_constant") && (a.is_constant() || b.is_constant())) sum[0] += 1;
              if (forgets_the_rest) return;
              out_of_bounds(x, sum, count);
            }};
  }

  float result_of(float left, float right, int64_t i, int64_t count) {
    const float sum = left + right;
    if (is("wrong")) return sum + 1;
    if (is("three_ulp_off") && std::isfinite(sum)) return sum * (1 + 3 * std::numeric_limits<float>::epsilon());
    if (is("saturates") && std::isinf(sum)) return std::copysign(std::numeric_limits<float>::max(), sum);
    if (is("flushes") && std::fabs(sum) < std::numeric_limits<float>::min()) return 0;
    if (is("loses_signs_of_zeros") && sum == 0) return 0;
    if (is("drops_nan") && i == count - 1 && std::isnan(sum)) return 0;
    if (is("wrong_alone") && count == 1) return sum + 1;
    if (is("depends_on_the_batch") && count < 1000) return std::nextafter(sum, 2 * sum);
    if (is("depends_on_threads") && host->thread_count() > 1) return std::nextafter(sum, 2 * sum);
    if (is("forgets_the_15th") && i == count - 1 && count % 16 == 15) return left;
    if (is("shares_memory")) {
      shared_ = sum;
      if (i % 4096 == 0) std::this_thread::yield();
      return shared_;
    }
    if (is("depends_on_the_run") && ++runs_ % 2 == 0) return std::nextafter(sum, 2 * sum);
    return sum;
  }

  void misbehave(const Operand& out) const {
    if (is("hangs") && out.count() == 1) std::this_thread::sleep_for(std::chrono::hours(1));
    if (is("exits") && out.count() == 1) std::_Exit(7);
    if (is("sleeps")) std::this_thread::sleep_for(std::chrono::hours(1));
    if (is("crashes")) {
      std::fprintf(stderr, "%s is at home in %s\n", std::getenv("USER"), std::getenv("HOME"));
      std::abort();
    }
  }

  void out_of_bounds(const float* x, float* sum, int64_t count) const {
    if (count == 0) return;
    if (is("writes_past")) sum[count] = 1;
    if (is("writes_before")) sum[-1] = 1;
    if (is("writes_input")) const_cast<float*>(x)[0] += 1;
    if (is("reads_past")) sum[0] += 0 * static_cast<float>(static_cast<const volatile float*>(x)[count] == 1e30F);
  }

  Kernel absolute(const Node& node) {
    const Operand x = node.input(0), out = node.output(0);
    return {.support = {.kernel = "abs", .contiguous_inputs = {0}}, .run = [=](const Launch& launch) {
              std::transform(launch.pointer<const float>(x), launch.pointer<const float>(x) + x.count(),
                             launch.pointer<float>(out), [](float v) { return std::fabs(v); });
            }};
  }

  // Elements are accumulated as Total and stored as another type.
  template <class Element, class Total, class Result = std::conditional_t<std::is_integral_v<Element>, Total, Element>>
  Kernel sum(const Node& node) {
    const Operand x = node.input(0), out = node.output(0);
    const auto& attributes = node.attributes<fe_sum_attributes>();
    std::array<bool, FE_MAX_RANK> reduced{};
    if (attributes.axis.count == 0) reduced.fill(true);
    for (size_t i = 0; i < attributes.axis.count; ++i)
      reduced[static_cast<size_t>((attributes.axis.data[i] + x.rank()) % std::max(x.rank(), 1))] = true;
    if (is("wrong_axis") && x.rank() == 2) std::swap(reduced[0], reduced[1]);
    return {.support = {.kernel = "sum"}, .run = [=, this](const Launch& launch) {
              const auto* const from = launch.pointer<const Element>(x);
              auto* const to = launch.pointer<Result>(out);
              std::vector<Total> sums(static_cast<size_t>(out.count()), Total{});
              if (is("aborts") && x.count() == 0) std::abort();
              for (int64_t i = 0; i < x.count(); ++i) {
                const Index index = index_of(i, x.shape());
                size_t place = 0;
                for (size_t axis = 0; axis < x.shape().size(); ++axis)
                  if (!reduced[axis])
                    place = place * static_cast<size_t>(x.shape()[axis]) + static_cast<size_t>(index[axis]);
                const Element element = from[place_of(index, x.shape().size(), x)];
                if (is("forgets_minus_infinity") && static_cast<double>(element) < -1e38) continue;
                sums[place % sums.size()] += element;
              }
              std::copy(sums.begin(), sums.end(), to);
            }};
  }

  Kernel take(const Node& node) {
    const Operand x = node.input(0), indices = node.input(1), out = node.output(0);
    const int64_t given = node.attributes<fe_take_attributes>().axis;
    const auto axis = static_cast<size_t>(given < 0 ? given + x.rank() : given);
    const auto moved = indices.shape().size();
    return {.support = {.kernel = "take", .contiguous_inputs = {1}}, .run = [=, this](const Launch& launch) {
              const auto* const from = launch.pointer<const float>(x);
              const auto* const wanted = launch.pointer<const int64_t>(indices);
              auto* const to = launch.pointer<float>(out);
              for (int64_t i = 0; i < out.count(); ++i) {
                const Index index = index_of(i, out.shape());
                int64_t number = 0, place = 0;
                for (size_t k = 0; k < moved; ++k) number = number * indices.shape()[k] + index[axis + k];
                int64_t chosen = wanted[number];
                if (chosen < 0) chosen += x.shape()[axis];
                if (chosen < 0 || chosen >= x.shape()[axis]) {
                  if (is("ignores_errors"))
                    chosen = 0;
                  else
                    throw Error(FE_INVALID_ARGUMENT,
                                "take: the index " + std::to_string(wanted[number]) + " is out of bounds");
                }
                for (size_t k = 0; k < x.shape().size(); ++k)
                  place += x.strides()[k] * (k < axis ? index[k] : k == axis ? chosen : index[k + moved - 1]);
                to[i] = from[place];
              }
            }};
  }

  std::string fault_;
  std::atomic<int> runs_ = 0;
  std::atomic<float> shared_ = 0;  // shared by all executions
};

class Faulty final : public Backend {
 public:
  std::vector<DeviceDescription> devices() override {
    const char* const fault = std::getenv("FERRULE_FAULTY_FAULT");
    if (fault && std::string_view(fault) == "aborts_at_init") std::abort();
    return {{.kind = FE_DEVICE_CPU,
             .flags = FE_DEVICE_FLAG_HOST_MEMORY,
             .name = "faulty",
             .description = "wrong on demand",
             .borrow_alignment = 1}};
  }
  std::vector<OptionDescription> options() override { return {{"fault", "string", "what to do wrong"}}; }
  std::unique_ptr<ferrule::sdk::Device> open(uint32_t, const Options& options) override {
    return std::make_unique<::Device>(options.text("fault", ""));
  }
};

}  // namespace

FERRULE_BACKEND(Faulty)
