// ferrule-generate-ops header|table|samples|description: prints one of the files that are generated from the
// op rows.
#include "ops/generate/generate.h"

#include <cstdio>
#include <cstring>
#include <exception>

int main(int count, char** arguments) {
  using namespace ferrule::ops;
  const struct {
    const char* what;
    std::string (*text)();
  } outputs[] = {{"header", c_header}, {"table", op_table}, {"samples", op_samples}, {"description", description}};
  try {
    for (const auto& output : outputs)
      if (count == 2 && std::strcmp(arguments[1], output.what) == 0)
        return std::fputs(output.text().c_str(), stdout) < 0 ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ferrule-generate-ops: %s\n", error.what());
    return 1;
  }
  std::fputs("usage: ferrule-generate-ops header|table|samples|description\n", stderr);
  return 2;
}
