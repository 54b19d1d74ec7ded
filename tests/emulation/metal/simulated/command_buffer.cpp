#include "metal/simulated/command_buffer.h"

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "metal/objc/faults.h"
#include "metal/simulated/encoders.h"

namespace simulated {

using objc::create;
using objc::method;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Metal's message for an error.
const char* text_of(CommandBufferError code) {
  switch (code) {
    case CommandBufferError::internal:
      return "Internal Error (0000000e:kIOGPUCommandBufferCallbackErrorInternal)";
    case CommandBufferError::timeout:
      return "Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)";
    case CommandBufferError::page_fault:
      return "Caused GPU Address Fault Error (0000000b:kIOGPUCommandBufferCallbackErrorPageFault)";
    case CommandBufferError::access_revoked:
      return "Ignored (for causing prior/excessive GPU errors) "
             "(00000004:kIOGPUCommandBufferCallbackErrorSubmissionsIgnored)";
    case CommandBufferError::not_permitted:
      return "Insufficient Permission (to submit GPU work from background) "
             "(00000006:kIOGPUCommandBufferCallbackErrorBackgroundExecutionNotPermitted)";
    case CommandBufferError::out_of_memory:
      return "Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)";
    case CommandBufferError::invalid_resource:
      return "Invalid Resource (00000009:kIOGPUCommandBufferCallbackErrorInvalidResource)";
    case CommandBufferError::device_removed:
      return "The device was removed";
    case CommandBufferError::stack_overflow:
      return "Stack overflow";
  }
  return "Internal Error";
}

}  // namespace

CommandBuffer::~CommandBuffer() {
  if (!is_committed()) queue_->end(false);
}

bool CommandBuffer::is_committed() const {
  const std::scoped_lock lock(mutex_);
  return number_ != 0;
}

bool CommandBuffer::can_encode(const char* selector) const {
  const std::string name = std::string("-[MTLCommandBuffer ") + selector + "]: ";
  bool has_encoder = false;
  {
    const std::scoped_lock lock(mutex_);
    has_encoder = has_encoder_;
  }
  if (is_committed())
    objc::report_fault(name + "the command buffer is committed");
  else if (has_encoder)
    objc::report_fault(name + "the encoder before has not ended (endEncoding)");
  else
    return true;
  return false;
}

Pass& CommandBuffer::add_pass() {
  passes_.push_back(std::make_unique<Pass>());
  return *passes_.back();
}

Object* CommandBuffer::compute_encoder(std::size_t dispatch_type) {
  const char* const selector = "computeCommandEncoderWithDispatchType:";
  if (fails(selector) || !can_encode(selector)) return nullptr;
  if (dispatch_type > 1) {
    objc::report_fault(std::string("-[MTLCommandBuffer ") + selector + "]: an unknown dispatch type");
    return nullptr;
  }
  Pass& pass = add_pass();
  pass.is_concurrent = dispatch_type == 1;
  {
    const std::scoped_lock lock(mutex_);
    has_encoder_ = true;
  }
  return objc::autoreleased(create<ComputeEncoder>(*this, pass));
}

Object* CommandBuffer::blit_encoder() {
  if (fails("blitCommandEncoder") || !can_encode("blitCommandEncoder")) return nullptr;
  Pass& pass = add_pass();
  {
    const std::scoped_lock lock(mutex_);
    has_encoder_ = true;
  }
  return objc::autoreleased(create<BlitEncoder>(*this, pass));
}

void CommandBuffer::end_encoder() {
  const std::scoped_lock lock(mutex_);
  has_encoder_ = false;
}

void CommandBuffer::add_event(Pass::Kind kind, Object* event, std::uint64_t value, const char* selector) {
  if (!can_encode(selector)) return;
  auto* const own = objc::checked<SharedEvent>(event, selector);
  if (event == nullptr) objc::report_fault(std::string(selector) + ": the event must not be nil");
  if (own == nullptr) return;
  kept_.emplace_back(own);
  Pass& pass = add_pass();
  pass.kind = kind;
  pass.event = own;
  pass.value = value;
}

void CommandBuffer::signal(Object* event, std::uint64_t value) {
  add_event(Pass::Kind::signal, event, value, "encodeSignalEvent:value:");
}

void CommandBuffer::wait(Object* event, std::uint64_t value) {
  add_event(Pass::Kind::wait, event, value, "encodeWaitForEvent:value:");
}

void CommandBuffer::commit() {
  if (!can_encode("commit")) return;
  static constinit std::atomic<std::uint64_t> next{1};
  {
    const std::scoped_lock lock(mutex_);
    number_ = next.fetch_add(1);
    status_ = Status::committed;
  }
  log_line("commit");
  queue_->commit(*this);
}

void CommandBuffer::run() {
  std::this_thread::sleep_for(settings().delay);
  {
    const std::scoped_lock lock(mutex_);
    status_ = Status::scheduled;
    gpu_start_ = now();
  }
  run_all();
  passes_.clear();
  {
    const std::scoped_lock lock(mutex_);
    gpu_end_ = now();
    status_ = error_ ? Status::error : Status::completed;
  }
  kept_.clear();
  begin_release();
  queue_->end(true);
  {
    const std::scoped_lock lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_all();
}

void CommandBuffer::run_all() {
  const CommandBufferError lasting = device().lasting_error;
  if (lasting != CommandBufferError{}) return fail(lasting, "");
  if (const auto chosen = settings().failing_buffers.find(number_); chosen != settings().failing_buffers.end()) {
    const CommandBufferError code = chosen->second;
    if (code == CommandBufferError::device_removed || code == CommandBufferError::access_revoked)
      device().lasting_error = code;
    return fail(code, "");
  }
  try {
    run_passes(passes_);
  } catch (const emulation::KernelError& failure) {
    const std::string_view text = failure.what();
    const bool is_late = text.find("has not ended after") != std::string_view::npos;
    fail(is_late ? CommandBufferError::timeout : CommandBufferError::internal, failure.what());
  } catch (const EventTimeout& timeout) {
    fail(CommandBufferError::timeout, "the value " + std::to_string(timeout.value) + " of an event was not signaled");
  } catch (const std::bad_alloc&) {
    fail(CommandBufferError::out_of_memory, "");
  }
}

void CommandBuffer::fail(CommandBufferError code, const std::string& text) {
  const std::string description = text_of(code);
  auto made = Owned<objc::Error>::adopt(create<objc::Error>("MTLCommandBufferErrorDomain", static_cast<long>(code),
                                                            text.empty() ? description : description + ": " + text));
  log_line("command buffer " + std::to_string(number_) + " fails: " + description);
  const std::scoped_lock lock(mutex_);
  error_ = std::move(made);
}

void CommandBuffer::wait_until_completed() {
  if (!is_committed()) {
    objc::report_fault("-[MTLCommandBuffer waitUntilCompleted]: waits for ever, because it is not committed");
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return has_ended_; });
}

std::size_t CommandBuffer::get_status() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::size_t>(status_);
}

Object* CommandBuffer::get_error() const {
  const std::scoped_lock lock(mutex_);
  return status_ == Status::error ? error_.get() : nullptr;
}

double CommandBuffer::time_of(const double& member) const {
  const std::scoped_lock lock(mutex_);
  return member;
}
double CommandBuffer::gpu_start() const { return time_of(gpu_start_); }
double CommandBuffer::gpu_end() const { return time_of(gpu_end_); }

const objc::Class& CommandBuffer::own_class() {
  static const auto& one = *new objc::Class(
      "MTLCommandBuffer", &objc::root_class(), objc::Class::Kind::inner, nullptr,
      {method<&CommandBuffer::compute_encoder>("computeCommandEncoderWithDispatchType:"),
       method<&CommandBuffer::blit_encoder>("blitCommandEncoder"),
       method<&CommandBuffer::signal>("encodeSignalEvent:value:"),
       method<&CommandBuffer::wait>("encodeWaitForEvent:value:"), method<&CommandBuffer::commit>("commit"),
       method<&CommandBuffer::wait_until_completed>("waitUntilCompleted"), method<&CommandBuffer::get_status>("status"),
       method<&CommandBuffer::get_error>("error"), method<&CommandBuffer::gpu_start>("GPUStartTime"),
       method<&CommandBuffer::gpu_end>("GPUEndTime")});
  return one;
}

}  // namespace simulated
