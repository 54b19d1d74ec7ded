// Calls spliced into a compiled shader: the output is a valid module, and a mismatch is reported by name.
#include "pipelines/splice.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "pipelines/embedded_shaders.h"
#include "pipelines/spirv.h"

namespace {

using ferrule::sdk::Error;
using ferrule::vulkan::Call;
using ferrule::vulkan::find_shader;
using ferrule::vulkan::function_names;
using ferrule::vulkan::splice;
namespace spirv = ferrule::vulkan::spirv;
using Words = std::vector<uint32_t>;

Call::Argument literal(uint32_t value) { return {true, value}; }
Call::Argument result(uint32_t call) { return {false, call}; }

// exp(x) + x
const std::vector<Call> body = {{"place_flat", {}},
                                {"load_float32", {literal(0), result(0)}},
                                {"exp_f32", {result(1)}},
                                {"add_f32", {result(2), result(1)}},
                                {"store_float32", {literal(1), result(0), result(3)}}};

std::string message_of(const std::vector<Call>& calls) {
  try {
    splice(find_shader("elementwise.basic"), calls);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), FE_INTERNAL);
    return error.what();
  }
  return "";
}

TEST(VulkanSplice, CallsKeepTheirOrderInTheBody) {
  const Words module = splice(find_shader("elementwise.basic"), body);
  const spirv::Contents contents = spirv::read(module);
  const uint32_t id = contents.by_name.at("spliced");
  const spirv::Function& function = contents.functions[contents.function_at.at(id)];
  ASSERT_EQ(function.callees.size(), body.size());
  for (size_t i = 0; i < body.size(); ++i) EXPECT_EQ(function.callees[i], contents.by_name.at(body[i].function));
}

TEST(VulkanSplice, UncalledFunctionsAreRemoved) {
  const auto names = function_names(splice(find_shader("elementwise.basic"), body));
  EXPECT_TRUE(names.contains("main"));
  EXPECT_TRUE(names.contains("exponential"));  // from exp_f32
  EXPECT_FALSE(names.contains("sin_f32"));
  EXPECT_LT(names.size(), 40u);
  EXPECT_TRUE(function_names(find_shader("elementwise.basic")).contains("sin_f32"));
}

TEST(VulkanSplice, EveryNamedIdIsDefined) {
  for (const char* shader : {"elementwise.basic", "elementwise.f64"}) {
    const Words module = splice(find_shader(shader), body);
    const spirv::Contents contents = spirv::read(module);
    std::set<uint32_t> defined;
    for (const spirv::Instruction& instruction : contents.instructions) {
      // An id is the first operand of the instruction that defines it, or follows its type.
      if (instruction.op() == spirv::op_name || instruction.op() == spirv::op_decorate) continue;
      if (instruction.operand_count() > 0) defined.insert(instruction.operand(0));
      if (instruction.operand_count() > 1 && contents.types.contains(instruction.operand(0)))
        defined.insert(instruction.operand(1));
    }
    for (const spirv::Instruction& instruction : contents.instructions)
      if (instruction.op() == spirv::op_name || instruction.op() == spirv::op_decorate) {
        EXPECT_TRUE(instruction.operand(0) == contents.entry_point || defined.contains(instruction.operand(0)))
            << instruction.operand(0);
      }
  }
}

TEST(VulkanSplice, EqualLiteralsShareOneConstant) {
  const std::vector<Call> calls = {{"place_near", {literal(40)}}, {"place_near", {literal(40)}}};
  const Words source(find_shader("elementwise.basic").begin(), find_shader("elementwise.basic").end());
  const auto constants = [](const Words& module) {
    size_t count = 0;
    for (const spirv::Instruction& instruction : spirv::instructions_of(module))
      count += instruction.op() == spirv::op_constant;
    return count;
  };
  EXPECT_EQ(constants(splice(source, calls)), constants(source) + 1);
}

TEST(VulkanSplice, MismatchedFunctionIsNamedInTheError) {
  EXPECT_EQ(message_of({{"fly_f32", {}}}), "splice: the shader has no function fly_f32");
  EXPECT_EQ(message_of({{"place_near", {}}}), "splice: place_near takes 1 arguments, not 0");
  EXPECT_EQ(message_of({{"place_near", {result(0)}}}),
            "splice: argument 0 of place_near is the result of no earlier call");
  EXPECT_EQ(message_of({{"exp_f32", {literal(1)}}}), "splice: argument 0 of exp_f32 is of another type");
  EXPECT_EQ(message_of({{"place_flat", {}}, {"exp_f32", {result(0)}}}),
            "splice: argument 0 of exp_f32 is of another type");
}

// Damage causes an error or is ignored; no read leaves the module (run with the address sanitizer).
TEST(VulkanSplice, DamagedModulesAreRefusedOrSpliced) {
  const auto source = find_shader("elementwise.basic");
  std::mt19937 random(1);
  size_t refused = 0;
  for (int round = 0; round < 300; ++round) {
    Words module(source.begin(), source.end());
    if (round % 3 == 0) module.resize(random() % module.size());
    for (int i = 0; i < 20 && !module.empty(); ++i)
      module[random() % module.size()] = random() % 3 ? random() : random() % 64;
    try {
      splice(module, body);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), FE_INTERNAL);
      ++refused;
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_THROW(splice({}, body), Error);
}

TEST(VulkanSplice, FloatControlsAreModesOfTheEntryPoint) {
  const Words module = ferrule::vulkan::with_float_controls(
      find_shader("elementwise.basic"),
      {.denorm_preserve = {32}, .signed_zero_inf_nan_preserve = {32, 64}, .rounding_mode_rte = {}});
  std::vector<uint32_t> modes;
  for (const spirv::Instruction& instruction : spirv::instructions_of(module))
    if (instruction.op() == spirv::op_execution_mode && instruction.operand_count() == 3 &&
        instruction.operand(1) >= 4459 && instruction.operand(1) <= 4463)
      modes.push_back(instruction.operand(1) * 100 + instruction.operand(2));
  EXPECT_EQ(modes, std::vector<uint32_t>({445932, 446132, 446164}));
}

}  // namespace
