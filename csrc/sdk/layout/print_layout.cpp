// Prints the files that `./dev lint --fix` keeps in git: the layout hashes (`hash`), or the snapshot of the whole
// interface (`snapshot`).
#include <ferrule/cache.h>
#include <ferrule/ferrule.h>

#include "sdk/layout/layout_hash.h"
#include "sdk/layout/layout_text.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace {

using ferrule::layout_hash;
using ferrule::layout_text;

// Before 1.0 only the current layout is listed; from 1.0 on, those of as many minors as fe_abi can hold.
constexpr uint32_t hash_count = FE_ABI_MAJOR == 0 ? 1 : std::min(FE_ABI_MINOR + 1, FE_ABI_MOST_HASHES);

// The hashes in the snapshot that is in git now, if there is one.
struct KeptHash {
  uint32_t major, minor;
  uint64_t hash;
};
#define FE_ABI(major, minor) constexpr uint32_t kept_major = major;
#define FE_HASH(minor, hash)
#define FE_SIZE(structure, bytes)
#define FE_SLOT(structure, name, bytes, kind)
#define FE_VALUE(type, name, value)
#define FE_POINTER(name, result, parameters)
#define FE_FUNCTION(name, result, parameters)
#define FE_OP(name, revision)
#define FE_ATTRIBUTE(op, name, offset, kind, since)
#include <ferrule/abi_snapshot.inc>
#undef FE_ABI
#undef FE_HASH
#define FE_ABI(major, minor)
#define FE_HASH(minor, hash) KeptHash{kept_major, minor, hash},
constexpr KeptHash kept_hashes[] = {
#include <ferrule/abi_snapshot.inc>
};

// From 1.0 on, the layout of a minor must not change once a later minor exists.
bool is_an_old_minor_changed() {
  bool is_changed = false;
  for (const KeptHash& kept : kept_hashes) {
    if (FE_ABI_MAJOR == 0 || kept.major != FE_ABI_MAJOR || kept.minor >= FE_ABI_MINOR) continue;
    if (layout_hash(layout_text, kept.minor) == kept.hash) continue;
    std::fprintf(stderr,
                 "the layout of interface %d.%" PRIu32
                 " was changed: append behind FE_SINCE(%d), or raise the major number\n",
                 FE_ABI_MAJOR, kept.minor, FE_ABI_MINOR);
    is_changed = true;
  }
  return is_changed;
}

void print_hashes() {
  std::printf(
      "/* The cumulative layout hash of each minor, oldest first: FNV-1a over every field and slot list, as\n"
      " * csrc/sdk/layout computes it. `./dev lint --fix` writes it; a core with other headers does not compile. */\n"
      "#ifndef FERRULE_LAYOUT_HASH_H\n#define FERRULE_LAYOUT_HASH_H\n\n/* clang-format off */\n"
      "#define FE_LAYOUT_HASH UINT64_C(0x%016" PRIx64
      ") /* of the headers' own minor */\n"
      "#define FE_LAYOUT_HASH_COUNT %" PRIu32 "\n#define FE_LAYOUT_HASHES",
      layout_hash(layout_text, FE_ABI_MINOR), hash_count);
  for (uint32_t i = 0; i < hash_count; ++i)
    std::printf("%s UINT64_C(0x%016" PRIx64 ")", i == 0 ? "" : ",",
                layout_hash(layout_text, FE_ABI_MINOR + 1 - hash_count + i));
  std::printf("\n/* clang-format on */\n\n#endif\n");
}

#define PRINT_FIELD(type, name) \
  std::printf("FE_SLOT(%s, %s, %zu, \"%s\")\n", structure, #name, offsetof(Struct, name), #type);
#define PRINT_SLOT(result, name, parameters) \
  std::printf("FE_SLOT(%s, %s, %zu, \"%s %s\")\n", structure, #name, offsetof(Struct, name), #result, #parameters);
#define PRINT_STRUCT(type, fields, PRINT)                         \
  {                                                               \
    using Struct = type;                                          \
    const char* structure = #type;                                \
    std::printf("FE_SIZE(%s, %zu)\n", structure, sizeof(Struct)); \
    fields(PRINT)                                                 \
  }

// Declarations that are not in a list of slots; read_declarations.py generates their macros.
#define DECLARED_STRUCT(type) std::printf("FE_SIZE(%s, %zu)\n", #type, sizeof(type));
#define DECLARED_FIELD(structure, name, kind) \
  std::printf("FE_SLOT(%s, %s, %zu, \"%s\")\n", #structure, #name, offsetof(structure, name), kind);
#define DECLARED_ENUMERATOR(type, name) std::printf("FE_VALUE(%s, %s, %d)\n", #type, #name, static_cast<int>(name));
#define DECLARED_POINTER(result, name, parameters) std::printf("FE_POINTER(%s, %s, %s)\n", #name, #result, #parameters);
#define DECLARED_FUNCTION(result, name, parameters) \
  std::printf("FE_FUNCTION(%s, %s, %s)\n", #name, #result, #parameters);

void print_snapshot() {
  std::printf(
      "// The binary interface as of the last `./dev lint --fix`, on a 64-bit machine. `abi_diff` compares it, and\n"
      "// tests/cpp/sdk/layout_test.cpp holds the headers against it. docs/develop/abi.md explains the lines.\n");
  std::printf("FE_ABI(%d, %d)\n", FE_ABI_MAJOR, FE_ABI_MINOR);
  for (uint32_t i = 0; i < hash_count; ++i) {
    const uint32_t minor = FE_ABI_MINOR + 1 - hash_count + i;
    std::printf("FE_HASH(%" PRIu32 ", 0x%016" PRIx64 ")\n", minor, layout_hash(layout_text, minor));
  }
  PRINT_STRUCT(fe_dtype_info, FE_DTYPE_INFO_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_storage, FE_STORAGE_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_value, FE_VALUE_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_instruction, FE_INSTRUCTION_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_body, FE_BODY_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_node, FE_NODE_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_graph_view, FE_GRAPH_VIEW_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_device_properties, FE_DEVICE_PROPERTIES_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_option, FE_OPTION_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_option_info, FE_OPTION_INFO_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_input_requirement, FE_INPUT_REQUIREMENT_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_requirements, FE_REQUIREMENTS_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_binding, FE_BINDING_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_execution, FE_EXECUTION_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_strided_copy, FE_STRIDED_COPY_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_native_memory, FE_NATIVE_MEMORY_FIELDS, PRINT_FIELD)
  PRINT_STRUCT(fe_host, FE_HOST_SLOTS, PRINT_SLOT)
  PRINT_STRUCT(fe_backend, FE_BACKEND_SLOTS, PRINT_SLOT)
#include "declarations.inc"
}

}  // namespace

int main(int count, char** arguments) {
  if (is_an_old_minor_changed()) return 1;
  const bool snapshot = count == 2 && std::strcmp(arguments[1], "snapshot") == 0;
  snapshot ? print_snapshot() : print_hashes();
}
