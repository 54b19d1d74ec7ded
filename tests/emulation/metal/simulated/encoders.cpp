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

const objc::Class& Encoder::own_class() {
  static const auto& one = *new objc::Class("MTLCommandEncoder", &objc::root_class(), objc::Class::Kind::inner, nullptr,
                                            {method<&Encoder::end>("endEncoding")});
  return one;
}

}  // namespace simulated
