#include "computing.h"

#include "memory.h"

#include <array>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace ferrule::null {

Library::Library(const std::filesystem::path& path) : name_(path.string()) {
#if defined(_WIN32)
  handle_ = LoadLibraryW(path.c_str());
  const std::string why = handle_ ? "" : "error " + std::to_string(GetLastError());
#else
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* const message = handle_ ? nullptr : dlerror();
  const std::string why = message ? message : "";
#endif
  if (!handle_) throw sdk::Error(FE_IO, "null: computes_with: " + name_ + " cannot be opened: " + why);
}

Library::~Library() {
#if defined(_WIN32)
  FreeLibrary(static_cast<HMODULE>(handle_));
#else
  dlclose(handle_);
#endif
}

void* Library::symbol(const char* name) const {
#if defined(_WIN32)
  void* const found = reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name));
#else
  void* const found = dlsym(handle_, name);
#endif
  if (!found) throw sdk::Error(FE_NOT_FOUND, "null: computes_with: " + name_ + " has no " + name);
  return found;
}

Computer::Computer(const std::string& path) : library_(std::filesystem::path(std::u8string(path.begin(), path.end()))) {
  const auto& abi = *static_cast<const fe_abi*>(library_.symbol(FE_ABI_SYMBOL));
  if (abi.magic != FE_ABI_MAGIC || abi.hash_count == 0 || abi.layout_hashes[abi.hash_count - 1] != FE_LAYOUT_HASH)
    throw sdk::Error(FE_ABI_MISMATCH, "null: computes_with: " + path + " was built for another interface");
  table_.struct_size = sizeof table_;
  sdk::check(reinterpret_cast<fe_init_function>(library_.symbol(FE_INIT_SYMBOL))(sdk::host, &table_));
  try {
    fe_device_properties properties{};
    properties.struct_size = sizeof properties;
    sdk::check(table_.device_properties(table_.self, 0, &properties));
    if (FE_HAS_SLOT(&table_, queue_create) || (properties.flags & FE_DEVICE_FLAG_HOST_MEMORY) == 0)
      throw sdk::Error(FE_UNSUPPORTED, "null: computes_with: " + path +
                                           " has queues, or memory of its own; a module is needed that computes on the "
                                           "calling thread, in the host's memory");
    sdk::check(table_.device_open(table_.self, 0, nullptr, 0, &device_));
  } catch (...) {
    table_.close(table_.self);
    throw;
  }
}

Computer::~Computer() {
  table_.device_close(device_);
  table_.close(table_.self);
}

Computer::BufferPointer Computer::borrow(void* pointer, uint64_t size) {
  fe_module_buffer* buffer = nullptr;
  sdk::check(table_.buffer_borrow(device_, pointer, size, FE_ACCESS_READ_WRITE, &buffer));
  return {buffer, {shared_from_this()}};
}

sdk::Support Computer::supports(const sdk::Node& node) {
  std::vector<fe_input_requirement> inputs(node.input_count());
  for (fe_input_requirement& input : inputs) input.struct_size = sizeof input;
  fe_requirements asked{};
  asked.struct_size = sizeof asked;
  asked.inputs = inputs.data();
  asked.input_count = node.input_count();
  const int answer = table_.supports(device_, &node.view(), node.index(), &asked);
  const std::string reason = asked.reason ? asked.reason : "";
  if (answer < 0) throw sdk::Error(static_cast<fe_code>(-answer), reason);
  sdk::Support support{.supported = answer == 1,
                       .kernel = asked.kernel ? asked.kernel : "",
                       .reason = reason,
                       .revision = node.youngest_revision()};
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].layout == FE_LAYOUT_CONTIGUOUS) support.contiguous_inputs.add(i);
    if (inputs[i].layout == FE_LAYOUT_ROWS) support.row_inputs.add(i);
    support.alignment = std::max(support.alignment, inputs[i].alignment);
  }
  return support;
}

sdk::PreparedForm Computer::prepared_form(const sdk::Node& node, uint32_t input) {
  if (!FE_HAS_SLOT(&table_, prepare_size)) return {};
  sdk::PreparedForm form;
  std::array<char, 256> key{};
  sdk::check(table_.prepare_size(device_, &node.view(), node.index(), input, &form.size, key.data(), key.size()));
  form.key = key.data();
  return form;
}

void Computer::prepare(const sdk::Node& node, uint32_t input, const fe_binding& from, const fe_binding& to) {
  sdk::check(table_.prepare(device_, &node.view(), node.index(), input, &from, &to));
}

Computer::Program::Program(std::shared_ptr<Computer> computer, const fe_graph_view& view)
    : computer_(std::move(computer)) {
  sdk::check(computer_->table_.compile(computer_->device_, &view, &executable_));
}

Computer::Program::~Program() { computer_->table_.executable_release(executable_); }

uint64_t Computer::Program::scratch_size() const {
  const fe_backend& table = computer_->table_;
  return FE_HAS_SLOT(&table, executable_scratch_size) ? table.executable_scratch_size(executable_) : 0;
}

void Computer::Program::execute(const fe_execution& execution) const {
  sdk::check(computer_->table_.execute(executable_, nullptr, &execution));
}

}  // namespace ferrule::null
