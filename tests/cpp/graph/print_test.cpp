// A graph as text, DOT and JSON.
#include "compiler_fixture.h"

#include <nlohmann/json.hpp>

namespace ferrule::test {
namespace {

using GraphPrint = CompilerTest;

TEST_F(GraphPrint, TextHasOneLinePerNode) {
  const ValueId x = graph.add_input("x", {DType::float32, {2, 3}});
  graph.outputs = {add("softmax", {add("add", {x, scalar(1)})}, {{"axis", int64_t{-1}}}, second.get())};
  EXPECT_EQ(to_text(graph),
            "%0 = input x : float32(2, 3)\n"
            "%1 = scalar : float32()\n"
            "%2 = add(%0, %1) : float32(2, 3)\n"
            "%3 = softmax(%2, axis=1) : float32(2, 3) @ t_second:0\n"
            "return %3\n");
}

TEST_F(GraphPrint, DotEscapesNames) {
  const ValueId x = graph.add_input("a \"quoted\" \\ name", {DType::float32, {2}});
  graph.outputs = {add("exp", {x})};
  const std::string dot = to_dot(graph);
  EXPECT_NE(dot.find("a \\\"quoted\\\" \\\\ name"), std::string::npos) << dot;
  EXPECT_NE(dot.find("v0 -> n0"), std::string::npos) << dot;
  EXPECT_NE(dot.find("n0 -> o0"), std::string::npos) << dot;
}

TEST_F(GraphPrint, JsonContainsTheWholeGraph) {
  const ValueId x = input({2, 3});
  graph.outputs = {add("astype", {add("sum", {x}, {{"axis", std::vector<int64_t>{0}}})}, {{"dtype", DType::int64}})};
  const auto json = nlohmann::json::parse(to_json(graph));
  EXPECT_EQ(json["nodes"][0]["op"], "sum");
  EXPECT_EQ(json["nodes"][0]["attributes"]["axis"], (std::vector<int64_t>{0}));
  EXPECT_EQ(json["nodes"][1]["attributes"]["dtype"], "int64");
  EXPECT_EQ(json["values"][0]["strides"], (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(json["outputs"], (std::vector<uint32_t>{2}));
}

TEST_F(GraphPrint, JsonReplacesInvalidUtf8InNames) {
  const ValueId x = graph.add_input("\xff", {DType::float32, {2}});
  graph.outputs = {add("exp", {x})};
  EXPECT_EQ(nlohmann::json::parse(to_json(graph))["values"][0]["name"], "\xef\xbf\xbd");
}

}  // namespace
}  // namespace ferrule::test
