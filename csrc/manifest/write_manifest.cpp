// ferrule-manifest <module> [options]: writes <module's stem>.json beside a module. Run it as the last build step: a
// module that is changed afterwards does not match its manifest and is refused.
#include "module_file/code_hash.h"
#include "module_file/module_name.h"
#include "module_file/own_libraries.h"
#include "module_file/read_image.h"
#include "module_file/sha256.h"
#include "module_file/path_text.h"
#include "module_file/program_arguments.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using ferrule::module_file::AbiVersion;
using ferrule::module_file::Image;
using ferrule::module_file::ModuleName;
using ferrule::module_file::Systems;

constexpr const char* usage =
    "usage: ferrule-manifest <module> [options]\n"
    "Writes <module's stem>.json beside the module. Options; a list is given as a,b or by repeating the option:\n"
    "  --rank N             among the variants of one name the highest is opened (0 without a variant)\n"
    "  --preference N       among the backends of one kind of device the highest comes first\n"
    "  --device-kind KIND   gpu, integrated_gpu, accelerator, remote, cpu, software, test\n"
    "  --cpu-feature NAME   what the CPU must have: avx2, fma, ...\n"
    "  --driver LIBRARY     what must be on the machine: libcuda.so.1, ...\n"
    "  --driver-title NAME  of the driver before it, for messages: 'NVIDIA driver', ...\n"
    "  --driver-floor V     the oldest version of the driver before it that will do: 550, ...\n"
    "  --driver-version-file FILE  that tells its version; else the name of the library's file does\n"
    "  --driver-variable NAME  of the environment, that changes what it shows: CUDA_VISIBLE_DEVICES, VK_*, ...\n"
    "  --driver-hiding-variable NAME  of the environment, that hides its devices if it is empty or -1, none, void\n"
    "  --driver-file-variable NAME  of the environment, that lists files or folders which it reads\n"
    "  --driver-folder PATH    that it reads, below each base folder of configuration and data (XDG): vulkan/icd.d, "
    "...\n"
    "  --driver-state-file FILE  that tells the version of another part of it: /sys/module/nvidia/version, ...\n"
    "  --version V          of the module, for people\n"
    "  --architecture NAME  of the GPU code inside\n"
    "  --op NAME            what the module computes, for readers\n"
    "  --library FILE       what will lie beside the module; what lies there already and it needs is found\n"
    "  --output FILE        another place for the manifest\n";

struct Driver {
  std::string library, title, floor, version_file;
  std::map<std::string, std::vector<std::string>> lists;  // by key in the manifest
};

// The list options of the last --driver, and their keys in its entry of the manifest.
constexpr std::pair<std::string_view, const char*> driver_lists[] = {{"--driver-variable", "variables"},
                                                                     {"--driver-hiding-variable", "hiding_variables"},
                                                                     {"--driver-file-variable", "file_variables"},
                                                                     {"--driver-folder", "folders"},
                                                                     {"--driver-state-file", "state_files"}};

struct Arguments {
  std::filesystem::path module, output;
  std::string version;
  std::vector<Driver> drivers;
  std::vector<std::filesystem::path> libraries;
  int rank = 0, preference = 0;
  std::map<std::string, std::vector<std::string>> lists = {
      {"--device-kind", {}}, {"--cpu-feature", {}}, {"--architecture", {}}, {"--op", {}}};
};

int number(std::string_view option, std::string_view text) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    throw std::runtime_error(fmt::format("{} takes a number, not '{}'", option, text));
  return value;
}

void append(std::vector<std::string>& list, std::string_view text) {
  for (std::size_t end = 0; end != std::string_view::npos;
       text.remove_prefix(end == std::string_view::npos ? 0 : end + 1)) {
    end = text.find(',');
    if (const std::string_view part = text.substr(0, end); !part.empty()) list.emplace_back(part);
  }
}

void add_drivers(std::vector<Driver>& drivers, std::string_view text) {
  std::vector<std::string> libraries;
  append(libraries, text);
  for (std::string& library : libraries) drivers.push_back({std::move(library), "", "", "", {}});
}

Driver& last_driver(std::vector<Driver>& drivers, const std::string& option) {
  if (drivers.empty()) throw std::runtime_error(option + " comes before any --driver");
  return drivers.back();
}

const char* key_of_driver_list(std::string_view option) {
  for (const auto& [name, key] : driver_lists)
    if (name == option) return key;
  return nullptr;
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("--")) {
      if (!arguments.module.empty()) throw std::runtime_error("more than one module is named");
      arguments.module = ferrule::path_from_text(word);
      continue;
    }
    if (i + 1 == words.size()) throw std::runtime_error(word + " takes a value");
    const std::string& value = words[++i];
    if (word == "--rank")
      arguments.rank = number(word, value);
    else if (word == "--preference")
      arguments.preference = number(word, value);
    else if (word == "--version")
      arguments.version = value;
    else if (word == "--driver")
      add_drivers(arguments.drivers, value);
    else if (word == "--driver-title")
      last_driver(arguments.drivers, word).title = value;
    else if (word == "--driver-floor")
      last_driver(arguments.drivers, word).floor = value;
    else if (word == "--driver-version-file")
      last_driver(arguments.drivers, word).version_file = value;
    else if (const char* key = key_of_driver_list(word))
      append(last_driver(arguments.drivers, word).lists[key], value);
    else if (word == "--library")
      arguments.libraries.push_back(ferrule::path_from_text(value));
    else if (word == "--output")
      arguments.output = ferrule::path_from_text(value);
    else if (const auto list = arguments.lists.find(word); list != arguments.lists.end())
      append(list->second, value);
    else
      throw std::runtime_error("there is no option " + word);
  }
  if (arguments.module.empty()) throw std::runtime_error("no module is named");
  if (arguments.output.empty()) arguments.output = std::filesystem::path(arguments.module).replace_extension(".json");
  return arguments;
}

// The version in the module's symbol when its format is read; else this program's, which is built with the module.
AbiVersion abi_of(const Image& image) { return image.abi.value_or(ferrule::module_file::own_abi()); }

// The entry of a driver: only its name when it has no other properties.
nlohmann::ordered_json entry_of(const Driver& driver) {
  if (driver.title.empty() && driver.floor.empty() && driver.version_file.empty() && driver.lists.empty())
    return driver.library;
  nlohmann::ordered_json entry = {{"library", driver.library}};
  if (!driver.title.empty()) entry["title"] = driver.title;
  if (!driver.floor.empty()) entry["floor"] = driver.floor;
  if (!driver.version_file.empty()) entry["version_file"] = driver.version_file;
  for (const auto& [key, list] : driver.lists) entry[key] = list;
  return entry;
}

std::string hash_of(const std::filesystem::path& path) {
  if (const auto sha256 = ferrule::module_file::sha256_of_file(path)) return *sha256;
  throw std::runtime_error(ferrule::path_to_text(path) + " cannot be read");
}

// The hashes of the libraries that come with the module, by their paths relative to its folder.
nlohmann::ordered_json libraries_of(const Arguments& arguments, const Image& image) {
  nlohmann::ordered_json hashes = nlohmann::ordered_json::object();
  const std::filesystem::path folder = std::filesystem::canonical(arguments.module).parent_path();
  for (const auto& library : ferrule::module_file::OwnLibraries::of(image, folder, Systems::all)) {
    if (!library.problem.empty())
      throw std::runtime_error(ferrule::path_to_text(library.path) + ": " + library.problem);
    hashes[library.name] = hash_of(library.path);
  }
  for (const std::filesystem::path& library : arguments.libraries)
    hashes[library.filename().generic_string()] = hash_of(library);
  return hashes;
}

nlohmann::ordered_json manifest_of(const Arguments& arguments) {
  const auto name = ferrule::module_file::parse_module_name(ferrule::path_to_text(arguments.module.filename()),
                                                            ferrule::module_file::all_module_endings);
  if (!name || !name->problem.empty())
    throw std::runtime_error(name ? name->problem
                                  : "its name is not [lib]ferrule-<name>[-<variant>] with the ending of a module");
  ferrule::module_file::FileBytes file(arguments.module);
  const Image image = ferrule::module_file::read_image(file, Systems::all);
  if (!image.problem.empty()) throw std::runtime_error(image.problem);
  const auto sha256 = ferrule::module_file::sha256_of(file);
  if (!sha256) throw std::runtime_error("the file cannot be read");
  const AbiVersion abi = abi_of(image);
  std::vector<std::string> hashes;
  hashes.reserve(abi.layout_hashes.size());
  for (const uint64_t hash : abi.layout_hashes) hashes.push_back(fmt::format("{:#018x}", hash));
  nlohmann::ordered_json manifest;
  manifest["name"] = name->name;
  manifest["variant"] = name->variant;
  if (!arguments.version.empty()) manifest["version"] = arguments.version;
  manifest["device_kinds"] = arguments.lists.at("--device-kind");
  manifest["abi"] = {{"major", abi.major}, {"minor", abi.minor}, {"layout_hashes", hashes}};
  manifest["sha256"] = *sha256;
  if (const auto code = ferrule::module_file::code_hash_of(file)) manifest["code_sha256"] = *code;
  manifest["size"] = file.size();
  manifest["libraries"] = libraries_of(arguments, image);
  manifest["rank"] = arguments.rank;
  manifest["preference"] = arguments.preference;
  manifest["cpu_features"] = arguments.lists.at("--cpu-feature");
  manifest["driver"] = nlohmann::ordered_json::array();
  for (const Driver& driver : arguments.drivers) manifest["driver"].push_back(entry_of(driver));
  manifest["architectures"] = arguments.lists.at("--architecture");
  manifest["ops"] = arguments.lists.at("--op");
  return manifest;
}

// Writes a temporary file and renames it, so that readers never see an incomplete file.
void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::path unfinished = path;
  unfinished += ".new";
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(ferrule::path_to_text(unfinished) + " cannot be written");
  std::filesystem::rename(unfinished, path);
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments = ferrule::program_arguments(count, words);
  for (const std::string& word : arguments)
    if (word == "--help" || word == "-h") return std::fputs(usage, stdout), 0;
  try {
    const Arguments parsed = parse(arguments);
    try {
      write(parsed.output, manifest_of(parsed).dump(2) + "\n");
    } catch (const std::exception& error) {
      throw std::runtime_error(ferrule::path_to_text(parsed.module) + ": " + error.what());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ferrule-manifest: %s\n", error.what());
    return 1;
  }
  return 0;
}
