// Random graphs: the plan given to devices computes the recorded graph bit for bit, fused or not, on one or two
// devices.
#include "compiler_fixture.h"
#include "graph_interpreter.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace ferrule::test {
namespace {

class CompilerRandom : public CompilerTest {
 protected:
  using List = std::vector<int64_t>;

  std::size_t below(std::size_t n) { return random() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  double number() { return static_cast<double>(static_cast<int>(below(33)) - 16) / 8; }

  Shape some_shape() {
    Shape shape;
    const std::size_t rank = below(4);
    for (std::size_t i = 0; i < rank; ++i) shape.push_back(one_in(40) ? 0 : static_cast<int64_t>(1 + below(4)));
    return shape;
  }

  // A storage that holds an array of this shape with axes in some order, some of them reversed.
  void add_random_input(bool is_constant) {
    const Shape shape = some_shape();
    std::vector<int> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    if (one_in(2)) std::shuffle(order.begin(), order.end(), random);
    Strides strides;
    strides.resize(shape.rank());
    int64_t step = one_in(3) ? 2 : 1, offset = 0;
    for (int axis : order) {
      strides[axis] = step;
      step *= std::max<int64_t>(shape[axis], 1);
      if (one_in(5) && shape[axis] > 0) {
        offset += (shape[axis] - 1) * strides[axis];
        strides[axis] = -strides[axis];
      }
    }
    std::vector<float>& bytes = memory.emplace_back(static_cast<std::size_t>(step) + 1);
    for (float& element : bytes) element = static_cast<float>(number());
    const TensorType type{DType::float32, shape};
    Dense dense{type, {}};
    for_each_index(shape, [&](const Dims& index) {
      dense.elements.push_back(bytes[static_cast<std::size_t>(offset + place_of(index, strides))]);
    });
    if (is_constant) {
      auto storage =
          Storage::borrow(one_in(4) ? second : first, bytes.data(), bytes.size() * 4, FE_ACCESS_READ, nullptr);
      graph.add_constant("c", type, {std::move(storage), offset, strides});
      constants.push_back(std::move(dense));
    } else {
      graph.add_input("x", type, strides);
      pointers.push_back(reinterpret_cast<char*>(bytes.data() + offset));
      inputs.push_back(std::move(dense));
    }
  }

  void add_random_node() {
    static constexpr const char* binary[] = {"add", "subtract", "multiply", "maximum"};
    const ValueId a = pick(), b = pick();
    const Shape shape = graph.type(a).shape;
    const int rank = shape.rank();
    Device* const device = one_in(12) ? second.get() : nullptr;
    List axes(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    switch (below(14)) {
      case 0:
        std::shuffle(axes.begin(), axes.end(), random);
        add("permute_dims", {a}, {{"axes", axes}}, device);
        break;
      case 1: {
        List starts, sizes, steps;
        for (int axis = 0; axis < rank; ++axis) {
          const int64_t size =
              shape[axis] == 0 ? 0 : static_cast<int64_t>(1 + below(static_cast<std::size_t>(shape[axis])));
          const bool back = one_in(3);
          starts.push_back(back ? std::max<int64_t>(shape[axis] - 1, 0) : shape[axis] - size);
          sizes.push_back(size);
          steps.push_back(back ? -1 : 1);
        }
        add("slice", {a}, {{"starts", starts}, {"sizes", sizes}, {"steps", steps}}, device);
        break;
      }
      case 2: {
        List sizes(shape.begin(), shape.end());
        if (one_in(2)) std::reverse(sizes.begin(), sizes.end());
        if (one_in(2)) sizes = {element_count(shape)};
        if (sizes.size() < 4 && one_in(2))
          sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(below(sizes.size() + 1)), 1);
        add("reshape", {a}, {{"shape", sizes}}, device);
        break;
      }
      case 3: {
        List sizes(shape.begin(), shape.end());
        for (int64_t& size : sizes)
          if (size == 1) size = 3;
        if (sizes.size() < 4) sizes.insert(sizes.begin(), 2);
        if (element_count(Shape(std::span<const int64_t>(sizes))) < 200)
          add("broadcast_to", {a}, {{"shape", sizes}}, device);
        break;
      }
      case 4:
      case 5: {
        List some;
        for (int64_t axis : axes)
          if (one_in(2)) some.push_back(axis);
        try {
          add(one_in(2) ? "sum" : "max", {a}, {{"axis", some}, {"keepdims", one_in(2)}}, device);
        } catch (const Error&) {  // max of an empty array
        }
        break;
      }
      case 6: {
        if (rank == 0) break;
        add("softmax", {a}, {{"axis", static_cast<int64_t>(below(shape.size()))}}, device);
        break;
      }
      case 7:
        if (rank > 0 && element_count(shape) < 100)
          add("concat", {a, a}, {{"axis", static_cast<int64_t>(below(shape.size()))}}, device);
        break;
      case 8:
        add(one_in(2) ? "negative" : "exp", {a}, {}, device);
        break;
      case 9:
        try {
          add("matmul", {a, b}, {}, device);
        } catch (const Error&) {
        }
        break;
      case 10:
        add("astype", {add("astype", {a}, {{"dtype", DType::float64}}, device)}, {{"dtype", DType::float32}}, device);
        break;
      default:
        try {
          add(binary[below(4)], {a, one_in(3) ? a : b}, {}, device);
        } catch (const Error&) {
        }
    }
  }

  ValueId pick() {
    for (int tries = 0; tries < 20; ++tries) {
      const std::size_t count = graph.values.size();
      const auto value =
          static_cast<ValueId>(one_in(2) ? below(count) : count - 1 - below(std::min<std::size_t>(count, 6)));
      if (graph.type(value).dtype == DType::float32 && element_count(graph.type(value).shape) < 400) return value;
    }
    return graph.inputs[0];
  }

  void make(uint32_t seed) {
    random.seed(seed);
    graph = {};
    memory.clear();
    inputs.clear();
    constants.clear();
    pointers.clear();
    memory.reserve(8);
    for (std::size_t i = 0; i < 4; ++i) add_random_input(false);
    for (std::size_t i = 0; i < 3; ++i) add_random_input(true);
    scalar(number());
    const std::size_t nodes = 5 + below(80);
    for (std::size_t i = 0; i < nodes; ++i) add_random_node();
    for (std::size_t i = 0; i < 1 + below(4); ++i) graph.outputs.push_back(pick());
    graph.outputs.push_back(static_cast<ValueId>(graph.values.size() - 1));

    of_first = {};
    of_second = {};
    of_first.refused = {"softmax"};
    of_second.refused = {"softmax"};
    if (one_in(3)) of_first.refused.insert("exp");
    if (one_in(3)) of_first.refused.insert("sum");
    for (FakeDevice* device : {&of_first, &of_second})
      for (const char* op : {"matmul", "sum", "concat", "fused", "add"}) {
        if (one_in(4)) device->wants_contiguous.insert(op);
        if (one_in(4)) device->wants_rows.insert(op);
      }
    of_first.takes_epilogues = !one_in(3);
  }

  void compare(const std::vector<Dense>& got, const std::vector<Dense>& wanted, const Graph& from) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].type, wanted[i].type);
      ASSERT_EQ(got[i].elements.size(), wanted[i].elements.size());
      for (std::size_t k = 0; k < got[i].elements.size(); ++k) {
        const double g = got[i].elements[k], w = wanted[i].elements[k];
        ASSERT_TRUE(g == w || (std::isnan(g) && std::isnan(w)))
            << "output " << i << ", element " << k << ": " << g << ", not " << w << "\n"
            << to_text(from);
      }
    }
  }

  std::mt19937 random;
  std::vector<std::vector<float>> memory;
  std::vector<Dense> inputs, constants;
  std::vector<char*> pointers;
};

TEST_F(CompilerRandom, PlansComputeTheRecordedGraph) {
  for (uint32_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    make(seed);
    // No device supports softmax: both sides compute its decomposition.
    Support support;
    std::vector<std::string> reasons;
    const std::vector<Dense> wanted = interpret(place(graph, options(), support, reasons), inputs, constants);
    for (const bool fused : {false, true}) {
      SCOPED_TRACE(fused ? "fused" : "not fused");
      CompileOptions options = this->options();
      options.fuse = fused;
      const Plan plan = compile(graph, options);
      compare(PlanInterpreter(plan, pointers, graph.scalar_defaults).run(), wanted, graph);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace ferrule::test
