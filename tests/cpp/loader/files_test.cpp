// Reading module files without executing them, and the program that writes manifests.
#include "loader_fixture.h"

#include "core/loader/candidate/manifest_file.h"
#include "core/platform/machine/cpu_features.h"
#include "module_file/module_name.h"
#include "module_file/read_image.h"
#include "module_file/sha256.h"

#include <cstring>
#include <random>

namespace ferrule::test {
namespace {

using module_file::read_image;
using module_file::Sha256;

std::string sha256(const std::string& text, Sha256::Method method) {
  Sha256 sha(method);
  // Hashes in uneven pieces, so that blocks are assembled from several updates.
  for (std::size_t i = 0; i < text.size(); i += 100) {
    const std::string piece = text.substr(i, 100);
    sha.update({reinterpret_cast<const uint8_t*>(piece.data()), piece.size()});
  }
  return sha.finish();
}

TEST(LoaderSha256, MatchesTheTestVectorsOfTheStandard) {
  for (const auto method : {Sha256::Method::portable, Sha256::Method::fastest}) {
    EXPECT_EQ(sha256("", method), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abc", method), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", method),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
                     "mnopqrstnopqrstu",
                     method),
              "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    EXPECT_EQ(sha256(std::string(1000000, 'a'), method),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

TEST(LoaderSha256, BothImplementationsAgreeForEveryPaddingLength) {
  for (std::size_t size = 0; size < 200; ++size)
    EXPECT_EQ(sha256(std::string(size, 'x'), Sha256::Method::portable),
              sha256(std::string(size, 'x'), Sha256::Method::fastest));
}

TEST(LoaderElf, AbiSymbolIsFoundThroughEitherHashTable) {
  for (const char* stem : {"t_plain", "t_sysv"}) {
    const module_file::Image image = read_image(built(stem));
    EXPECT_EQ(image.problem, "");
    ASSERT_TRUE(image.abi);
    EXPECT_EQ(*image.abi, module_file::own_abi());
    EXPECT_TRUE(image.has_init);
    EXPECT_FALSE(image.has_score);
  }
  EXPECT_TRUE(read_image(built("t_zero")).has_score);
  EXPECT_EQ(read_image(built("t_major")).abi->major, 99u);
}

using LoaderElfFiles = LoaderTest;

// Most of these files are invalid; no read may pass the end or loop forever.
TEST_F(LoaderElfFiles, DamagedFilesAreReadSafely) {
  const std::string whole = text_of_file(built("t_plain"));
  const fs::path path = folder_ / "damaged";
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    for (int change = 0; change < 4; ++change) {
      // Half of the changes hit the headers, where offsets are.
      const std::size_t place = random() % (change % 2 == 0 ? std::min<std::size_t>(bytes.size(), 700) : bytes.size());
      bytes[place] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    }
    write_file(path, bytes);
    read_image(path);
  }
}

TEST_F(LoaderElfFiles, EveryTruncationIsDetectedOrHarmless) {
  const std::string whole = text_of_file(built("t_plain"));
  for (std::size_t size = 0; size < whole.size(); size += 37) {
    write_file(folder_ / "short", whole.substr(0, size));
    EXPECT_NE(read_image(folder_ / "short").problem, "") << size;
  }
}

// The parts of a module's PE or Mach-O header that the reader uses.
struct Bytes {
  std::string text;
  template <class T>
  Bytes& put(std::size_t offset, T value) {
    if (text.size() < offset + sizeof value) text.resize(offset + sizeof value);
    std::memcpy(text.data() + offset, &value, sizeof value);
    return *this;
  }
};

#if defined(__linux__)  // elsewhere ELF is a format of another system
// A sparse file of eight gigabytes, all of it in one loaded segment, so that every offset in it is in range.
class LoaderSparseElf : public LoaderTest {
 protected:
  static constexpr uint64_t size = uint64_t{8} << 30, strings = 1024, symbols = 2048, hashes = 4096, entries = 512;

  static Bytes header(uint64_t dynamic_size) {
    Bytes bytes;
    bytes.put(0, uint32_t{0x464c457f}).put(4, uint8_t{2}).put(5, uint8_t{1}).put(16, uint16_t{3});
#if defined(__aarch64__)
    bytes.put(18, uint16_t{183});
#else
    bytes.put(18, uint16_t{62});
#endif
    bytes.put(32, uint64_t{64}).put(54, uint16_t{56}).put(56, uint16_t{2});  // two program headers behind this one
    bytes.put(64, uint32_t{1}).put(64 + 32, size);                           // the whole file, at address 0
    bytes.put(120, uint32_t{2}).put(120 + 8, entries).put(120 + 16, entries).put(120 + 32, dynamic_size);
    return bytes;
  }
  static void put_tables(Bytes& bytes, int64_t kind_of_hash) {
    const std::pair<int64_t, uint64_t> tags[] = {{5, strings}, {10, 64}, {6, symbols}, {kind_of_hash, hashes}};
    std::size_t at = entries;
    for (const auto& [tag, value] : tags) {
      bytes.put(at, tag).put(at + 8, value);
      at += 16;
    }
    bytes.put(at, uint64_t{0});
  }
  std::string problem_of(const Bytes& bytes) {
    write_file(folder_ / "holes", bytes.text);
    fs::resize_file(folder_ / "holes", size);
    const double begin = seconds_computed();
    std::string problem = read_image(folder_ / "holes").problem;
    EXPECT_LT(seconds_computed() - begin, 5) << problem;
    return problem;
  }
};

TEST_F(LoaderSparseElf, EndlessSymbolChainIsAbandoned) {
  Bytes bytes = header(80);
  put_tables(bytes, 0x6ffffef5);
  bytes.put(hashes, uint32_t{1}).put(hashes + 4, uint32_t{1}).put(hashes + 16, uint32_t{1});  // a bucket: symbol 1
  EXPECT_CONTAINS(problem_of(bytes), "it does not export ferrule_backend_abi");
}

TEST_F(LoaderSparseElf, CyclicSymbolChainIsAbandoned) {
  Bytes bytes = header(80);
  put_tables(bytes, 4);
  bytes.put(hashes, uint32_t{1}).put(hashes + 4, uint32_t{0xffffffff}).put(hashes + 8, uint32_t{1});
  bytes.put(hashes + 16, uint32_t{1});  // a chain that loops: symbol 1 follows symbol 1
  EXPECT_CONTAINS(problem_of(bytes), "it does not export ferrule_backend_abi");
}

TEST_F(LoaderSparseElf, DynamicSegmentOfGigabytesIsReadWithoutAllocatingThem) {
  EXPECT_CONTAINS(problem_of(header(size - entries)), "its dynamic segment names no symbols");
}
#endif

class LoaderOtherFormats : public LoaderTest {
 protected:
  module_file::FileBytes file(const Bytes& bytes) {
    write_file(folder_ / "file", bytes.text);
    return module_file::FileBytes(folder_ / "file");
  }
};

struct Checked {
  std::string problem;
  bool is_foreign = false;
};

constexpr module_file::Systems ours = module_file::Systems::ours;

Checked checked_mach_o(module_file::FileBytes file) {
  Checked result;
  result.problem = module_file::check_mach_o(file, 0, ours, result.is_foreign);
  return result;
}

Checked checked_universal(module_file::FileBytes file) {
  Checked result;
  result.problem = module_file::check_universal(file, ours, result.is_foreign);
  return result;
}

module_file::Image pe_image(module_file::FileBytes file) { return module_file::PeReader(file).read(); }

Bytes mach_o(uint32_t machine) {
  Bytes bytes;
  bytes.put(0, module_file::mach_o_magic).put(4, machine).put(12, 6u).put(16, 1u);
  bytes.put(32, 0x19u).put(36, 72u).put(72, uint64_t{0}).put(80, uint64_t{104}).put(96, uint64_t{0});
  return bytes;
}

TEST_F(LoaderOtherFormats, SegmentsOfMachOMustLieInsideTheFile) {
  Bytes bytes = mach_o(module_file::our_machine.mach_o);
  EXPECT_EQ(checked_mach_o(file(bytes)).problem, "");
  bytes.put(80, uint64_t{105});
  const Checked truncated = checked_mach_o(file(bytes));
  EXPECT_CONTAINS(truncated.problem, "truncated: a segment ends at byte 105");
  EXPECT_FALSE(truncated.is_foreign);
}

TEST_F(LoaderOtherFormats, MachOForAnotherMachineIsForeign) {
  const Checked other = checked_mach_o(file(mach_o(0x01000012)));
  EXPECT_CONTAINS(other.problem, "it is a module for machine 16777234, this machine is ");
  EXPECT_TRUE(other.is_foreign);
}

// A file with two parts: one for a machine of which there are none, and one for `second`.
Bytes universal(uint32_t second) {
  const auto big = [](uint32_t n) { return n << 24 | (n & 0xff00) << 8 | (n >> 8 & 0xff00) | n >> 24; };
  constexpr uint32_t first_at = 64, second_at = 192, size = 104;
  Bytes bytes;
  bytes.put(0, module_file::universal_magic).put(4, big(2));
  bytes.put(8 + 8, big(first_at)).put(8 + 12, big(size)).put(28 + 8, big(second_at)).put(28 + 12, big(size));
  const Bytes parts[] = {mach_o(0x01000012), mach_o(second)};
  bytes.text.resize(second_at + size);
  bytes.text.replace(first_at, size, parts[0].text);
  bytes.text.replace(second_at, size, parts[1].text);
  return bytes;
}

TEST_F(LoaderOtherFormats, OnePartOfUniversalFileForThisMachineIsEnough) {
  const Checked good = checked_universal(file(universal(module_file::our_machine.mach_o)));
  EXPECT_EQ(good.problem, "");
  const Checked other = checked_universal(file(universal(0x01000012)));
  EXPECT_CONTAINS(other.problem, "it is a module for machine 16777234, this machine is ");
  EXPECT_TRUE(other.is_foreign);
}

// A DLL with one section, which has the tables of exports and imports, and ferrule_backend_abi.
namespace pe {

constexpr uint32_t optional_header = 0x58, section = optional_header + 240, begin = 0x200, address = 0x1000,
                   size = 0x600;
constexpr uint32_t exports = 0x000, functions = 0x040, names = 0x060, ordinals = 0x080, imports = 0x100, texts = 0x200,
                   abi = 0x400;  // places in the section

// Puts a text into the section and returns its address.
uint32_t put_text(Bytes& bytes, uint32_t& place, const std::string& text) {
  const uint32_t at = place;
  for (const char c : text) bytes.put(begin + place++, c);
  bytes.put(begin + place++, '\0');
  return address + at;
}

// The names are sorted, as the system wants them.
Bytes with_exports(const std::vector<std::string>& exported, const std::vector<std::string>& imported = {}) {
  Bytes bytes;
  bytes.put(0, module_file::pe_magic).put(0x3c, 0x40u).put(0x40, 0x00004550u);
  bytes.put(0x44, static_cast<uint16_t>(module_file::our_machine.pe)).put(0x46, uint16_t{1});
  bytes.put(0x54, uint16_t{240}).put(0x56, uint16_t{0x2000}).put(optional_header, uint16_t{0x20b});
  bytes.put(optional_header + 108, 16u).put(optional_header + 112, address + exports);
  bytes.put(optional_header + 116, exports + imports).put(optional_header + 120, address + imports);
  bytes.put(section + 12, address).put(section + 16, size).put(section + 20, begin);
  bytes.put(begin + size - 1, '\0');
  const auto count = static_cast<uint32_t>(exported.size());
  bytes.put(begin + exports + 20, count)
      .put(begin + exports + 24, count)
      .put(begin + exports + 28, address + functions);
  bytes.put(begin + exports + 32, address + names).put(begin + exports + 36, address + ordinals);
  uint32_t place = texts;
  for (uint32_t i = 0; i < count; ++i) {
    bytes.put(begin + names + i * 4, put_text(bytes, place, exported[i]))
        .put(begin + ordinals + i * 2, static_cast<uint16_t>(i));
    bytes.put(begin + functions + i * 4, address + abi);  // what a function's code is does not matter
  }
  for (std::size_t i = 0; i < imported.size(); ++i)
    bytes.put(begin + imports + i * 20 + 12, put_text(bytes, place, imported[i]));
  return bytes.put(begin + abi, fe_abi FE_ABI_INITIALIZER);
}

Bytes module() { return with_exports({FE_ABI_SYMBOL, FE_INIT_SYMBOL, FE_SCORE_SYMBOL}, {"KERNEL32.dll", "own.dll"}); }

}  // namespace pe

TEST_F(LoaderOtherFormats, ExportsAndImportsOfPeAreRead) {
  const module_file::Image image = pe_image(file(pe::module()));
  EXPECT_EQ(image.problem, "");
  EXPECT_EQ(image.abi, module_file::own_abi());
  EXPECT_TRUE(image.has_init);
  EXPECT_TRUE(image.has_score);
  EXPECT_EQ(image.libraries, (std::vector<std::string>{"KERNEL32.dll", "own.dll"}));
  EXPECT_FALSE(pe_image(file(pe::with_exports({FE_ABI_SYMBOL, FE_INIT_SYMBOL}))).has_score);
  for (const char* only : {FE_ABI_SYMBOL, FE_INIT_SYMBOL, "something_else"})
    EXPECT_CONTAINS(pe_image(file(pe::with_exports({only}))).problem, "it is not a ferrule module");
  EXPECT_CONTAINS(pe_image(file(pe::with_exports({}, {"..\\own.dll"}))).problem, "it needs '..\\own.dll' by a path");
}

TEST_F(LoaderOtherFormats, FaultyTablesOfPeAreReported) {
  using namespace pe;
  const auto problem = [&](uint32_t at, auto value) {
    Bytes bytes = pe::module();
    return pe_image(file(bytes.put(at, value))).problem;
  };
  EXPECT_CONTAINS(problem(begin + abi, uint64_t{1}), "does not begin with the magic number");
  EXPECT_CONTAINS(problem(begin + functions, address + abi + 1), "not a multiple of 8");
  EXPECT_CONTAINS(problem(begin + functions, address + size), "is not constant data in the file");
  EXPECT_CONTAINS(problem(begin + functions, address + exports + 8),
                  "does not export");  // forwarded to another library
  EXPECT_CONTAINS(problem(begin + names, 0xfffffff0u), "does not export");
  EXPECT_CONTAINS(problem(begin + ordinals, uint16_t{3}), "does not export");
  EXPECT_CONTAINS(problem(begin + imports + 12, address + size), "the name of a needed library is not in the file");
  EXPECT_CONTAINS(problem(optional_header + 120, address + size), "its table of imports is not whole");
  EXPECT_CONTAINS(problem(optional_header, uint16_t{0x10b}), "not of 64 bit");
}

TEST_F(LoaderOtherFormats, AbsurdCountsOfPeAreReadQuickly) {
  Bytes bytes = pe::module();
  bytes.put(pe::begin + pe::exports + 24, 0xffffffffu).put(pe::section + 16, 0x7fffff00u - pe::begin);
  write_file(folder_ / "holes", bytes.text);
  fs::resize_file(folder_ / "holes", 0x7fffff00u);
  const double begin = seconds_computed();
  EXPECT_NE(read_image(folder_ / "holes").problem, "");
  EXPECT_NE(pe_image(module_file::FileBytes(folder_ / "holes")).problem, "");
  EXPECT_LT(seconds_computed() - begin, 5);
}

TEST_F(LoaderOtherFormats, SectionsOfPeMustLieInsideTheFile) {
  Bytes bytes = pe::module();
  bytes.put(pe::section + 16, 0xfffffff0u);
  EXPECT_CONTAINS(pe_image(file(bytes)).problem, "truncated");
}

TEST_F(LoaderOtherFormats, PeForAnotherMachineIsForeign) {
  Bytes bytes = pe::module();
  const module_file::Image other = pe_image(file(bytes.put(0x44, uint16_t{0x014c})));
  EXPECT_CONTAINS(other.problem, "it is a module for x86 (32 bit), this machine is ");
  EXPECT_TRUE(other.is_foreign);
}

TEST(LoaderNames, FileNamesAreParsedIntoNameAndVariant) {
  const auto parsed = [](const char* file) {
    const auto name = module_file::parse_module_name(file);
    return !name ? "nothing" : !name->problem.empty() ? "problem" : name->name + "|" + name->variant;
  };
  EXPECT_EQ(parsed("libferrule-cpu-haswell" MODULE_ENDING), "cpu|haswell");
  EXPECT_EQ(parsed("ferrule-my_own2" MODULE_ENDING), "my_own2|");
  EXPECT_EQ(parsed("libferrule-a-b-c.1" MODULE_ENDING), "a|b-c.1");
  EXPECT_EQ(parsed("libferrule" MODULE_ENDING), "nothing");
  EXPECT_EQ(parsed("libferrule-cpu.so.1"), "nothing");
  EXPECT_EQ(parsed("libferrule-cpu.json"), "nothing");
  EXPECT_EQ(parsed("libferrule-" MODULE_ENDING), "problem");
  EXPECT_EQ(parsed("libferrule-CPU" MODULE_ENDING), "problem");
}

TEST(LoaderCpu, SpellingsOfAFeatureMapToOneName) {
  EXPECT_EQ(has_cpu_feature("no_such_thing"), std::nullopt);
#if defined(__x86_64__)
  EXPECT_EQ(has_cpu_feature("avx512_vnni"), has_cpu_feature("AVX512-VNNI"));
  EXPECT_EQ(has_cpu_feature("sse4_2"), has_cpu_feature("sse4.2"));
  EXPECT_EQ(has_cpu_feature("sse3"), std::optional(true));
#if !defined(_WIN32)  // zig's __builtin_cpu_supports knows no processor there
  EXPECT_EQ(has_cpu_feature("avx2"), std::optional(__builtin_cpu_supports("avx2") != 0));
  EXPECT_EQ(has_cpu_feature("avx512f"), std::optional(__builtin_cpu_supports("avx512f") != 0));
  EXPECT_EQ(has_cpu_feature("avx512_bf16"), std::optional(__builtin_cpu_supports("avx512bf16") != 0));
#endif
#endif
  EXPECT_EQ(missing_cpu_features({"made_up"}).size(), 1u);
}

#if defined(_WIN32)
#define LIBRARY_OF_NUMBERS "ntdll.dll"
#define DISK "C:"
#else
#define LIBRARY_OF_NUMBERS "libm.so.6"
#define DISK ""
#endif

class LoaderManifestWriter : public LoaderTest {
 protected:
  int run(const std::string& arguments) {
    return std::system(  // NOLINT(bugprone-command-processor)
        (std::string(FERRULE_TEST_MANIFEST_WRITER) + " " + arguments + " 2>" + (folder_ / "errors").string()).c_str());
  }
};

TEST_F(LoaderManifestWriter, OutputIsAcceptedByTheLoader) {
  const fs::path module = put(root(), "t_pair-high");
  ASSERT_EQ(run(module.string() + " --rank 40 --preference -3 --cpu-feature sse3,ssse3 --cpu-feature popcnt"
                                  " --device-kind cpu --op add --op mul --driver " SYSTEM_LIBRARY " --version 0.3"
                                  " --driver " LIBRARY_OF_NUMBERS
                                  " --driver-title \"M driver\" --driver-floor 6.1 --driver-version-file " DISK
                                  "/sys/module/v"
                                  " --driver-variable \"T_*\",U --driver-file-variable V --driver-folder t/icd.d"
                                  " --driver-state-file " DISK "/sys/module/w --driver-hiding-variable U"),
            0);
  const Manifest manifest = parse_manifest(text_of_file(root() / "libferrule-t_pair-high.json"));
  EXPECT_EQ(manifest.name, "t_pair");
  EXPECT_EQ(manifest.variant, "high");
  EXPECT_EQ(manifest.version, "0.3");
  EXPECT_EQ(manifest.driver, (std::vector<DriverNeed>{{.library = SYSTEM_LIBRARY},
                                                      {LIBRARY_OF_NUMBERS,
                                                       "M driver",
                                                       "6.1",
                                                       DISK "/sys/module/v",
                                                       {"T_*", "U"},
                                                       {"V"},
                                                       {"t/icd.d"},
                                                       {DISK "/sys/module/w"}}}));
  EXPECT_EQ(manifest.rank, 40);
  EXPECT_EQ(manifest.preference, -3);
  EXPECT_EQ(manifest.abi, module_file::own_abi());
  EXPECT_EQ(manifest.size, fs::file_size(module));
  EXPECT_EQ(manifest.sha256, *module_file::sha256_of_file(module));
  EXPECT_EQ(manifest.cpu_features, (std::vector<std::string>{"sse3", "ssse3", "popcnt"}));
  EXPECT_EQ(manifest.device_kinds, std::vector<std::string>{"cpu"});
  EXPECT_EQ(manifest.ops, (std::vector<std::string>{"add", "mul"}));
  EXPECT_EQ(row(load_from({root()}), "t_pair-high").state, LoadState::loaded);
}

TEST_F(LoaderManifestWriter, ExecutesNoCodeOfTheModule) {
  ASSERT_EQ(run(put(root(), "t_plain").string()), 0);
  EXPECT_EQ(notes(), "");
}

TEST_F(LoaderManifestWriter, RefusesFilesThatAreNoModules) {
  write_file(root() / "libferrule-t_text" MODULE_ENDING, "text");
  EXPECT_NE(run((root() / "libferrule-t_text" MODULE_ENDING).string()), 0);
  EXPECT_CONTAINS(text_of_file(folder_ / "errors"), "not a module");
  EXPECT_FALSE(fs::exists(root() / "libferrule-t_text.json"));
  EXPECT_NE(run(put(root(), "t_plain").string() + " --rank high"), 0);
  EXPECT_CONTAINS(text_of_file(folder_ / "errors"), "--rank takes a number");
  EXPECT_NE(run(put(root(), "t_plain").string() + " --colour red"), 0);
  EXPECT_NE(run(put(root(), "t_plain").string() + " --driver-floor 5"), 0);
  EXPECT_CONTAINS(text_of_file(folder_ / "errors"), "--driver-floor comes before any --driver");
  EXPECT_NE(run(""), 0);
}

}  // namespace
}  // namespace ferrule::test
