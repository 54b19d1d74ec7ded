// The module under test, opened step by step. A step that fails ends the check with a Failure.
#pragma once

#include "conformance/check.h"
#include "conformance/host.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ferrule::conformance {

// The opened module file.
class Module {
 public:
  explicit Module(const std::string& path);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();
  const fe_abi& abi() const { return *abi_; }
  // Calls the module's init with a table, as a core does, and with this or another host.
  Outcome init(fe_backend& table, const fe_host& given = host()) const;
  Outcome init_nothing() const;  // with null for the table
  void close();
  void stay_mapped() { handle_ = nullptr; }  // keeps the file mapped, because threads still run in it

 private:
  void* handle_;
  const fe_abi* abi_;
  fe_init_function init_;
};

// An initialised backend. All slots that are not optional are present.
class Backend {
 public:
  explicit Backend(const Module& module, const fe_host& given = host());
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  ~Backend() { close(); }
  const fe_backend* operator->() const { return &table_; }
  const fe_backend& table() const { return table_; }
  bool has_queues() const { return FE_HAS_SLOT(&table_, queue_create); }
  void close();

 private:
  fe_backend table_{};
};

using Options = std::vector<std::pair<std::string, std::string>>;

// The key of the device_open option that ends with `ending`. If there is none, throws NotApplicable with a message that
// uses `what_it_does`.
std::string option_ending(const Backend& backend, std::string_view ending, const char* what_it_does);

// An open device with a compute queue, if the backend has queues.
class Device {
 public:
  Device(const Backend& backend, uint32_t index, const Options& options = {});
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { close(); }
  const Backend& backend() const { return *backend_; }
  fe_module_device* handle() const { return handle_; }
  fe_module_queue* queue() const { return queue_; }
  void close();

 private:
  const Backend* backend_;
  fe_module_device* handle_ = nullptr;
  fe_module_queue* queue_ = nullptr;
};

// Module, backend and device, for checks that need all three.
struct Opened {
  explicit Opened(const Subject& subject, const Options& options = {})
      : module(subject.path), backend(module), device(backend, subject.device, options) {}
  Module module;
  Backend backend;
  Device device;
};

// A further queue of a device; null if the backend has no queues.
class Queue {
 public:
  explicit Queue(const Device& device, fe_queue_kind kind = FE_QUEUE_COMPUTE);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue();
  fe_module_queue* handle() const { return handle_; }

 private:
  const fe_backend* table_;
  fe_module_queue* handle_ = nullptr;
};

// An event, recorded by its constructor and released by its destructor. Without a queue it is always done.
class Event {
 public:
  Event(const Device& device, fe_module_queue* queue);
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();
  fe_module_event* handle() const { return handle_; }
  Outcome wait() const;  // without limit
  bool is_done() const;

 private:
  const fe_backend* table_;
  fe_module_event* handle_ = nullptr;
};

// A buffer, freed by its destructor.
class Buffer {
 public:
  Buffer(const Device& device, uint64_t size);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();
  fe_module_buffer* handle() const { return handle_; }

 private:
  const Device* device_;
  fe_module_buffer* handle_ = nullptr;
};

// Waits for all work that the queue has been given. Without queues it returns at once.
Outcome finish(const Device& device, fe_module_queue* queue);

// Throws Failure unless the outcome is a success.
void expect(const Outcome& outcome, const std::string& what);
// Reports a problem unless the outcome is an error with a message and one of these codes (any code, if none is given).
void expect_error(Report& report, const Outcome& outcome, const std::string& what, std::vector<fe_code> codes = {});

}  // namespace ferrule::conformance
