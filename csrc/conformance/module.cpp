#include "conformance/module.h"

#include "conformance/shared_library.h"

#include <algorithm>

namespace ferrule::conformance {

Module::Module(const std::string& path) : handle_(open_library(path)) {
  abi_ = static_cast<const fe_abi*>(symbol_of(handle_, FE_ABI_SYMBOL));
  init_ = reinterpret_cast<fe_init_function>(symbol_of(handle_, FE_INIT_SYMBOL));
  if (!abi_ || !init_) throw Failure{"it does not export " FE_ABI_SYMBOL " and " FE_INIT_SYMBOL};
  const auto score = reinterpret_cast<fe_score_function>(symbol_of(handle_, FE_SCORE_SYMBOL));
  if (score && score() <= 0) throw NotApplicable{"its score says that it cannot run on this machine"};
}

Module::~Module() { close(); }

void Module::close() {
  if (handle_) close_library(handle_);
  handle_ = nullptr;
}

Outcome Module::init(fe_backend& table, const fe_host& given) const { return take(init_(&given, &table)); }

Outcome Module::init_nothing() const { return take(init_(&host(), nullptr)); }

Backend::Backend(const Module& module, const fe_host& given) {
  table_.struct_size = sizeof table_;
  expect(module.init(table_, given), "init");
  const auto require = [](bool there, const char* slot) {
    if (!there) throw Failure{std::string("it does not have the slot ") + slot};
  };
#define FE_REQUIRE(slot) require(FE_HAS_SLOT(&table_, slot), #slot);
  FE_REQUIRE(close)
  FE_REQUIRE(device_count)
  FE_REQUIRE(device_properties)
  FE_REQUIRE(device_open)
  FE_REQUIRE(device_close)
  FE_REQUIRE(buffer_allocate)
  FE_REQUIRE(buffer_free)
  FE_REQUIRE(copy_from_host)
  FE_REQUIRE(copy_to_host)
  FE_REQUIRE(copy)
  FE_REQUIRE(supports)
  FE_REQUIRE(compile)
  FE_REQUIRE(executable_release)
  FE_REQUIRE(execute)
  if (FE_HAS_SLOT(&table_, host_allocate)) FE_REQUIRE(host_free)
  if (!FE_HAS_SLOT(&table_, queue_create)) return;
  FE_REQUIRE(queue_destroy)
  FE_REQUIRE(queue_reset)
  FE_REQUIRE(event_record)
  FE_REQUIRE(event_wait)
  FE_REQUIRE(event_done)
  FE_REQUIRE(event_release)
#undef FE_REQUIRE
}

void Backend::close() {
  if (table_.close) table_.close(table_.self);
  table_.close = nullptr;
}

std::string option_ending(const Backend& backend, std::string_view ending, const char* what_it_does) {
  const fe_backend& b = backend.table();
  constexpr uint32_t most = 1000;
  if (FE_HAS_SLOT(&b, device_option))
    for (uint32_t i = 0; i < most; ++i) {
      fe_option_info info{};
      info.struct_size = sizeof info;
      if (!take(b.device_option(b.self, i, &info))) break;
      if (info.key && std::string_view(info.key).ends_with(ending)) return info.key;
    }
  throw NotApplicable{"it has no option *" + std::string(ending) + ", by which " + what_it_does};
}

Device::Device(const Backend& backend, uint32_t index, const Options& options) : backend_(&backend) {
  const uint32_t count = backend->device_count(backend->self);
  if (index >= count)
    throw NotApplicable{"there is no device " + std::to_string(index) + ": it shows " + std::to_string(count)};
  std::vector<fe_option> given;
  given.reserve(options.size());
  for (const auto& [key, value] : options) given.push_back({sizeof(fe_option), key.c_str(), value.c_str()});
  expect(take(backend->device_open(backend->self, index, given.empty() ? nullptr : given.data(),
                                   static_cast<uint32_t>(given.size()), &handle_)),
         "device_open");
  if (!backend.has_queues()) return;
  const Outcome outcome = take(backend->queue_create(handle_, FE_QUEUE_COMPUTE, &queue_));
  if (outcome) return;
  backend->device_close(handle_);
  expect(outcome, "queue_create");
}

void Device::close() {
  if (!handle_) return;
  if (queue_) (*backend_)->queue_destroy(queue_);
  (*backend_)->device_close(handle_);
  handle_ = nullptr;
}

Queue::Queue(const Device& device, fe_queue_kind kind) : table_(&device.backend().table()) {
  if (!device.backend().has_queues()) return;
  expect(take(table_->queue_create(device.handle(), kind, &handle_)),
         "queue_create of kind " + std::to_string(static_cast<int>(kind)));
}

Queue::~Queue() {
  if (handle_) table_->queue_destroy(handle_);
}

Event::Event(const Device& device, fe_module_queue* queue) : table_(&device.backend().table()) {
  if (queue) expect(take(table_->event_record(queue, &handle_)), "event_record");
}

Event::~Event() {
  if (handle_) table_->event_release(handle_);
}

Outcome Event::wait() const { return handle_ ? take(table_->event_wait(handle_, -1)) : Outcome{}; }

bool Event::is_done() const { return !handle_ || table_->event_done(handle_) != 0; }

Buffer::Buffer(const Device& device, uint64_t size) : device_(&device) {
  expect(take(device.backend()->buffer_allocate(device.handle(), size, 64, &handle_)),
         "buffer_allocate of " + std::to_string(size) + " bytes");
}

Buffer::~Buffer() { device_->backend()->buffer_free(handle_); }

Outcome finish(const Device& device, fe_module_queue* queue) {
  const Backend& backend = device.backend();
  if (!queue) return {};
  fe_module_event* event = nullptr;
  if (Outcome recorded = take(backend->event_record(queue, &event)); !recorded) return recorded;
  Outcome waited = take(backend->event_wait(event, -1));
  backend->event_release(event);
  return waited;
}

void expect(const Outcome& outcome, const std::string& what) {
  if (!outcome) throw Failure{what + ": " + name_of(outcome.code) + ": " + outcome.message};
}

void expect_error(Report& report, const Outcome& outcome, const std::string& what, std::vector<fe_code> codes) {
  if (outcome) return report.problem(what + " was accepted, and must be an error");
  if (outcome.message.empty()) report.problem(what + " gives an error without a sentence");
  if (codes.empty() || std::find(codes.begin(), codes.end(), outcome.code) != codes.end()) return;
  std::string wanted;
  for (const fe_code code : codes) wanted += (wanted.empty() ? "" : " or ") + std::string(name_of(code));
  report.problem(what + " gives the error " + name_of(outcome.code) + " (" + outcome.message + "), and must give " +
                 wanted);
}

}  // namespace ferrule::conformance
