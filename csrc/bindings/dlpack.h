// The part of the DLPack 1.0 binary interface that is used here (https://github.com/dmlc/dlpack,
// include/dlpack/dlpack.h).
#pragma once

#include <cstdint>

namespace ferrule::python::dlpack {

constexpr int32_t device_cpu = 1;
constexpr uint64_t flag_read_only = 1, flag_is_copied = 2;
constexpr uint32_t major_version = 1, minor_version = 0;

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // elements; null = C-contiguous
  uint64_t byte_offset;
};

// The struct before 1.0, which does not tell the consumer whether it may write.
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

struct ManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void* context;
  void (*deleter)(ManagedTensorVersioned*);
  uint64_t flags;
  Tensor tensor;
};

}  // namespace ferrule::python::dlpack
