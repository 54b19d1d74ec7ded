// Each method of the simulated Metal is one of Apple's: its selector stands in Apple's C++ headers.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "metal/simulated/simulated_metal.h"

namespace {

// The texts between quotation marks, each of which is a line's.
std::set<std::string> quoted(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::set<std::string> all;
  for (std::size_t begin = text.find('"'); begin != std::string::npos;) {
    const std::size_t end = text.find('"', begin + 1);
    if (end == std::string::npos) break;
    all.insert(text.substr(begin + 1, end - begin - 1));
    begin = text.find('"', end + 1);
  }
  return all;
}

TEST(MetalSelectors, AreThoseOfApplesHeaders) {
  const std::string folder = FERRULE_METAL_CPP;
  std::set<std::string> known = quoted(folder + "/Metal/MTLHeaderBridge.hpp");
  known.merge(quoted(folder + "/Foundation/NSPrivate.hpp"));
  ASSERT_GT(known.size(), 1000U);
  // NSObject's and NSString's, which the C++ headers do not need.
  known.merge(std::set<std::string>{"new", "class", "stringWithUTF8String:"});
  std::istringstream methods(simulated_metal_methods());
  std::size_t count = 0;
  for (std::string line; std::getline(methods, line); ++count) {
    const std::size_t space = line.find(' ');
    EXPECT_TRUE(known.contains(line.substr(space + 1, line.size() - space - 2))) << line;
  }
  EXPECT_GT(count, 100U);
}

}  // namespace
