// Errors that kernels find in the values of their operands, for devices that report them after an execution.
#ifndef FERRULE_CPP_FAULTS_HPP
#define FERRULE_CPP_FAULTS_HPP

#include <ferrule/cpp/error.hpp>

#include <cstdint>
#include <string>

namespace ferrule::sdk {

// The record of the first error that the kernels of an execution find, as they write it.
struct Fault {
  enum Kind : uint32_t {
    none,
    index,   // `found` is out of bounds for an axis of `limit` elements
    power,   // `what` is an fe_dtype; an integer has a negative power
    length,  // `found` is a kv_length that is not between 0 and `limit`
    chosen,  // a mask chooses `found` slices, and there are `limit` values
    start,   // `found` is the start of a slice, which is not between 0 and `limit` of the axis
  };
  uint32_t kind, what;  // `what` tells a module which op it is, unless the kind says otherwise
  int64_t found, limit, axis;
};

// The error of a fault. `op` gives the name of its op.
template <class Op>
Error error_of(const Fault& fault, const Op& op) {
  const auto number = [](int64_t value) { return std::to_string(value); };
  const auto sentence = [&]() -> std::string {
    switch (fault.kind) {
      case Fault::power: {
        const char* const dtype = host->dtype_name(fault.what);
        return std::string("pow: ") + (dtype != nullptr ? dtype : "an integer") +
               " to a negative integer power has no integer result";
      }
      case Fault::length:
        return op() + ": kv_length " + number(fault.found) + " is not between 0 and " + number(fault.limit);
      case Fault::chosen:
        return op() + ": the mask chooses " + number(fault.found) + " slices, and there are " + number(fault.limit) +
               " values";
      case Fault::start:
        return op() + ": the start " + number(fault.found) + " of axis " + number(fault.axis) +
               " is not between 0 and " + number(fault.limit) + ": the slice leaves x";
      default:
        return op() + ": index " + number(fault.found) + " is out of bounds for axis " + number(fault.axis) +
               " with size " + number(fault.limit);
    }
  };
  return {FE_INVALID_ARGUMENT, sentence()};
}

}  // namespace ferrule::sdk

#endif
