#include "metal/simulated/encoders.h"

#include "metal/objc/faults.h"

namespace simulated {

using objc::method;

Encoder::~Encoder() {
  if (has_ended_) return;
  objc::report_fault("a " + isa->name() + " is freed without endEncoding");
  buffer_->end_encoder();
}

void Encoder::fail(const char* selector, const std::string& text) const {
  objc::report_fault("-[" + isa->name() + " " + selector + "]: " + text);
}

bool Encoder::is_open(const char* selector) const {
  if (has_ended_) fail(selector, "the encoder has ended (endEncoding)");
  return !has_ended_;
}

void Encoder::end() {
  if (!is_open("endEncoding")) return;
  has_ended_ = true;
  buffer_->end_encoder();
}

void Encoder::wait_for_fence(Object* fence) {
  const char* const selector = "waitForFence:";
  if (!is_open(selector)) return;
  auto* const own = checked_object<Fence>(fence, "fence", selector);
  if (own == nullptr) return;
  for (const Fence* updated : pass_.updated)
    if (updated == own) return fail(selector, "the fence is updated by the same encoder before");
  buffer_->keep(own);
  pass_.awaited.push_back(own);
}

void Encoder::update_fence(Object* fence) {
  const char* const selector = "updateFence:";
  if (!is_open(selector)) return;
  auto* const own = checked_object<Fence>(fence, "fence", selector);
  if (own == nullptr) return;
  buffer_->keep(own);
  pass_.updated.push_back(own);
}

const objc::Class& Encoder::own_class() {
  static const auto& one =
      *new objc::Class("MTLCommandEncoder", &objc::root_class(), objc::Class::Kind::inner, nullptr,
                       {method<&Encoder::end>("endEncoding"), method<&Encoder::wait_for_fence>("waitForFence:"),
                        method<&Encoder::update_fence>("updateFence:"), method<&Encoder::device>("device"),
                        set_label<Encoder>(), get_label<Encoder>()});
  return one;
}

}  // namespace simulated
