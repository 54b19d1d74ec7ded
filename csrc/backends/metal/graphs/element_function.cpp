#include "graphs/element_function.h"

#include <algorithm>

namespace ferrule::metal {
namespace {

enum class Access { flat, single, strided };
Access access_of(std::span<const int64_t> shape, std::span<const int64_t> strides) {
  if (std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride == 0; })) return Access::single;
  return shape.size() == 1 && strides[0] == 1 ? Access::flat : Access::strided;
}

// The text of the offsets `at0`, `at1`, ... of an element.
std::string offsets_text(const sdk::MergedAxes& axes, size_t operands, bool are_near) {
  const std::string integer = are_near ? "int" : "long";
  std::vector<Access> accesses;
  accesses.reserve(operands);
  for (size_t i = 0; i < operands; ++i) accesses.push_back(access_of(axes.shape(), axes.strides(i)));
  std::string text;
  if (std::find(accesses.begin(), accesses.end(), Access::strided) != accesses.end()) {
    text += joined({"  ", integer, " rest = ", integer, "(element);\n"});
    for (size_t axis = 0; axis < axes.rank(); ++axis) {
      const std::string at = std::to_string(axis), size = joined({integer, "(o.layouts->shape[", at, "])"});
      const bool is_last = axis + 1 == axes.rank();
      text += joined({"  const ", integer, " index", at, " = rest"});
      text += is_last ? ";\n" : joined({" % ", size, ";\n  rest /= ", size, ";\n"});
    }
  }
  for (size_t i = 0; i < operands; ++i) {
    const std::string number = std::to_string(i);
    text += joined({"  const ", accesses[i] == Access::flat ? "long" : integer, " at", number, " = "});
    if (accesses[i] == Access::single) text += '0';
    if (accesses[i] == Access::flat) text += "long(element)";
    for (size_t axis = 0; axis < axes.rank() && accesses[i] == Access::strided; ++axis) {
      const std::string at = std::to_string(axis);
      text +=
          joined({axis > 0 ? " + " : "", "index", at, " * ", integer, "(o.layouts->strides[", number, "][", at, "])"});
    }
    text += ";\n";
  }
  return text;
}

}  // namespace

void ElementFunction::finish(Dispatch& dispatch) const {
  dispatch.kernel.text = text + dispatch.kernel.text;
  constexpr size_t unit = 8;  // the alignment of ElementLayouts
  dispatch.parameters.resize((dispatch.parameters.size() + unit - 1) / unit * unit);
  dispatch.parameters.insert(dispatch.parameters.end(), layouts.begin(), layouts.end());
  dispatch.reads.insert(dispatch.reads.end(), reads.begin(), reads.end());
  dispatch.writes.insert(dispatch.writes.end(), writes.begin(), writes.end());
}

ElementFunction element_function(const ElementCode& code, std::span<const int64_t> shape, uint32_t first_buffer) {
  std::vector<sdk::Strides> all_strides;
  all_strides.reserve(code.operands.size());
  for (const ElementCode::Operand& operand : code.operands) all_strides.push_back(operand.strides);
  const sdk::MergedAxes axes(shape, all_strides);
  const size_t axis_count = std::max<size_t>(axes.rank(), 1), count = code.operands.size();
  bool are_near = true;
  for (size_t i = 0; i < count; ++i) are_near = are_near && sdk::is_near(axes.shape(), axes.strides(i));

  ElementFunction function;
  std::string& text = function.text;
  text = "#include \"interface.metal\"\n#include \"elementwise/elements.metal\"\n";
  for (const std::string_view file : code.files) text += joined({"#include \"", file, "\"\n"});
  const std::string rank = std::to_string(axis_count), number = std::to_string(count);
  text +=
      joined({"struct ElementLayouts {\n  long shape[", rank, "];\n  long strides[", number, "][", rank, "];\n};\n"});
  std::string parameters = "#define OPERAND_PARAMETERS ", list = "#define OPERANDS {", fields, locals;
  for (size_t i = 0; i < count; ++i) {
    const ElementCode::Operand& operand = code.operands[i];
    const std::string array = "array" + std::to_string(i), place = std::to_string(first_buffer + i);
    const std::string type = joined({"device ", operand.is_written ? "" : "const ", operand.format->stored, "* "});
    parameters += joined({type, array, " [[buffer(", place, ")]], "});
    list += array + ", ";
    fields += joined({"  ", type, array, ";\n"});
    locals += joined({"  ", type, array, " = o.", array, ";\n"});
    (operand.is_written ? function.writes : function.reads).push_back(operand.value);
  }
  text += parameters + "device Fault* fault [[buffer(29)]]\n" + list + "fault, &p.layouts}\n";
  text += joined({"struct Operands {\n", fields, "  device Fault* fault;\n  constant ElementLayouts* layouts;\n};\n"});
  text += "inline void compute(thread const Operands& o, ulong element";
  if (!code.own_type.empty()) text += joined({", ", code.own_type, " own"});
  text +=
      ") {\n" + locals + "  device Fault* fault = o.fault;\n" + offsets_text(axes, count, are_near) + code.text + "}\n";

  const auto put = [&](std::span<const int64_t> along) {
    std::vector<int64_t> sizes(along.begin(), along.end());
    sizes.resize(axis_count, 1);
    const auto bytes = std::as_bytes(std::span(sizes));
    function.layouts.insert(function.layouts.end(), bytes.begin(), bytes.end());
  };
  put(axes.shape());
  for (size_t i = 0; i < count; ++i) put(axes.strides(i));
  return function;
}

ElementFunction partial_function(std::string_view type, uint32_t first_buffer) {
  ElementFunction function;
  function.text =
      joined({"#include \"interface.metal\"\nstruct ElementLayouts {\n  long unused;\n};\n",
              "#define OPERAND_PARAMETERS device ", type, "* partials [[buffer(", std::to_string(first_buffer),
              ")]]\n#define OPERANDS {partials}\nstruct Operands {\n  device ", type,
              "* partials;\n};\ninline void compute(thread const Operands& o, ulong element, ", type,
              " own) { o.partials[element] = own; }\n"});
  function.layouts.resize(8);
  function.writes = {scratch_value};
  return function;
}

}  // namespace ferrule::metal
