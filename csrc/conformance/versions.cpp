// Cores that are older than the module, and structs that are shorter than in its headers: the module must not use what
// is absent.
#include "conformance/graph.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace ferrule::conformance {
namespace {

// The layout hash of a minor; null if `abi` has none for it.
const uint64_t* layout_hash_of(const fe_abi& abi, uint32_t minor) {
  if (minor > abi.minor || abi.minor - minor >= abi.hash_count) return nullptr;
  return static_cast<const uint64_t*>(abi.layout_hashes) + (abi.hash_count - 1 - (abi.minor - minor));
}

void abi_fits_header(const Subject& subject, Report& report, const void*) {
  constexpr fe_abi own = FE_ABI_INITIALIZER;
  const Module module(subject.path);
  const fe_abi& abi = module.abi();
  const auto compare = [&](const char* field, uint64_t has, uint64_t wants) {
    if (has != wants)
      report.problem(std::string(FE_ABI_SYMBOL) + "." + field + " is " + std::to_string(has) + ", and must be " +
                     std::to_string(wants));
  };
  compare("magic", abi.magic, own.magic);
  compare("major", abi.major, own.major);
  // While the major is 0, minors must be equal.
  if (own.major == 0) compare("minor", abi.minor, own.minor);
  if (abi.hash_count == 0 || abi.hash_count > FE_ABI_MOST_HASHES)
    return report.problem(FE_ABI_SYMBOL ".hash_count is " + std::to_string(abi.hash_count) + ", and must be 1 to " +
                          std::to_string(FE_ABI_MOST_HASHES));
  compare("struct_size", abi.struct_size, offsetof(fe_abi, layout_hashes) + abi.hash_count * sizeof(uint64_t));
  const uint32_t common = std::min(abi.minor, own.minor);
  const uint64_t* const has = layout_hash_of(abi, common);
  const uint64_t* const wants = layout_hash_of(own, common);
  if (has == nullptr || wants == nullptr)
    return report.problem(FE_ABI_SYMBOL " and this interface share no minor whose layout both know");
  compare(("layout_hash of minor " + std::to_string(common)).c_str(), *has, *wants);
}

// Initialises the module with another host; if that succeeds, the module must work.
void use(const Module& module, const fe_host& given, const std::string& what, const Subject& subject, Report& report) {
  report.now(what);
  fe_backend table{};
  table.struct_size = sizeof table;
  if (const Outcome outcome = module.init(table, given); !outcome)
    return expect_error(report, outcome, "init under " + what);
  table.close(table.self);
  const Backend backend(module, given);
  if (backend->device_count(backend->self) <= subject.device) return;
  const Device device(backend, subject.device);
  for (const Sample& sample : samples()) {
    const auto graph = graph_of(sample);
    if (!supports(device, graph->view())) continue;
    const Executable executable(device, graph->view());
    Bound bound(device, device.queue(), *graph, executable, subject.seed);
    expect(execute(device, device.queue(), executable, bound.execution()), name_of(sample) + " under " + what);
    return;
  }
}

struct HostSlot {
  const char* name;
  size_t offset;
};
#define FE_HOST_SLOT(result, name, parameters) {#name, offsetof(fe_host, name)},
constexpr HostSlot host_slots[] = {FE_HOST_SLOTS(FE_HOST_SLOT)};
#undef FE_HOST_SLOT

// The error slots are necessary: without them a module cannot report anything.
bool is_needed(const HostSlot& slot) { return slot.offset < offsetof(fe_host, log); }

void host_too_old(const Subject& subject, Report& report, const void*) {
  const Module module(subject.path);
  for (const HostSlot& slot : host_slots) {
    if (is_needed(slot)) continue;
    fe_host older = host();
    older.struct_size = slot.offset;
    std::memset(reinterpret_cast<char*>(&older) + slot.offset, 0x11, sizeof older - slot.offset);
    use(module, older, std::string("a core that ends before ") + slot.name, subject, report);
  }
}

void host_without_slot(const Subject& subject, Report& report, const void*) {
  const Module module(subject.path);
  for (const HostSlot& slot : host_slots) {
    if (is_needed(slot)) continue;
    fe_host lacking = host();
    std::memset(reinterpret_cast<char*>(&lacking) + slot.offset, 0, sizeof(void*));
    use(module, lacking, std::string("a core without ") + slot.name, subject, report);
  }
}

void table_too_small(const Subject& subject, Report& report, const void*) {
  const Module module(subject.path);
  constexpr unsigned char untouched = 0xa5;
  for (size_t size = sizeof(size_t); size < sizeof(fe_backend); size += sizeof(void*)) {
    const std::string what = "a table of " + std::to_string(size) + " bytes";
    report.now(what);
    fe_backend table;
    std::memset(&table, untouched, sizeof table);
    table.struct_size = size;
    const Outcome outcome = module.init(table);
    for (size_t at = size; at < sizeof table; ++at)
      if (reinterpret_cast<unsigned char*>(&table)[at] != untouched) {
        report.problem("init writes behind " + what);
        break;
      }
    if (!outcome) {
      expect_error(report, outcome, what);
      continue;
    }
    if (table.struct_size > size)
      report.problem("init says that " + what + " has " + std::to_string(table.struct_size));
    if (size >= offsetof(fe_backend, close) + sizeof(table.close) && table.close) table.close(table.self);
  }
}

// A struct that a slot fills may be shorter than in the module's headers.
void outputs_too_small(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const fe_backend& backend = opened.backend.table();
  constexpr unsigned char untouched = 0xa5;
  const auto try_sizes = [&](auto sample, const char* what, auto fill) {
    for (size_t size = sizeof(size_t); size <= sizeof sample; size += sizeof(size_t)) {
      report.now(std::string(what) + " of " + std::to_string(size) + " bytes");
      std::memset(&sample, untouched, sizeof sample);
      sample.struct_size = size;
      fill(&sample);
      for (size_t at = size; at < sizeof sample; ++at)
        if (reinterpret_cast<unsigned char*>(&sample)[at] != untouched) {
          report.problem(std::string(what) + " writes behind a struct of " + std::to_string(size) + " bytes");
          break;
        }
    }
  };
  try_sizes(fe_device_properties{}, "device_properties",
            [&](fe_device_properties* out) { take(backend.device_properties(backend.self, subject.device, out)); });
  if (FE_HAS_SLOT(&backend, device_option))
    try_sizes(fe_option_info{}, "device_option",
              [&](fe_option_info* out) { take(backend.device_option(backend.self, 0, out)); });
  if (FE_HAS_SLOT(&backend, buffer_native)) {
    const Buffer buffer(opened.device, 64);
    try_sizes(fe_native_memory{}, "buffer_native",
              [&](fe_native_memory* out) { take(backend.buffer_native(buffer.handle(), out)); });
  }
  const auto graph = graph_of(samples().front());
  const uint32_t inputs = graph->view().nodes[0]->input_count;
  const auto ask = [&](fe_requirements* out) { backend.supports(opened.device.handle(), &graph->view(), 0, out); };
  try_sizes(fe_requirements{}, "supports", [&](fe_requirements* out) {
    std::vector<fe_input_requirement> each(inputs, {sizeof(fe_input_requirement), 0, 0});
    if (out->struct_size > offsetof(fe_requirements, input_count)) {
      out->inputs = each.data();
      out->input_count = inputs;
    }
    ask(out);
  });
  // The last element of the list of requirements, whose stride is struct_size.
  try_sizes(fe_input_requirement{}, "supports with an input's requirement", [&](fe_input_requirement* last) {
    std::vector<std::byte> each(inputs * last->struct_size + sizeof *last, std::byte{untouched});
    for (uint32_t i = 0; i < inputs; ++i) std::memcpy(each.data() + i * last->struct_size, last, last->struct_size);
    fe_requirements out{sizeof out, reinterpret_cast<fe_input_requirement*>(each.data()), inputs, 0, nullptr, nullptr};
    ask(&out);
    std::memcpy(last, each.data() + (inputs - 1) * last->struct_size, sizeof *last);
  });
}

}  // namespace

void add_version_checks(Checks& checks) {
  checks.push_back({"abi", "the constant that a loader reads fits this interface", abi_fits_header});
  checks.push_back({"host_too_old", "a core whose table ends early is refused, or enough", host_too_old});
  checks.push_back({"host_without_slot", "a slot that is null is absent", host_without_slot});
  checks.push_back({"table_too_small", "init writes nothing behind the table it was given", table_too_small});
  checks.push_back({"outputs_too_small", "a slot writes nothing behind the struct it fills", outputs_too_small});
}

}  // namespace ferrule::conformance
