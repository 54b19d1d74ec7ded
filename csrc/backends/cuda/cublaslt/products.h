// Matrix products by cuBLASLt.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "cublaslt/library.h"
#include "device/open_device.h"
#include "device/stream_call.h"
#include "parameters/common.h"

namespace ferrule::cuda {

// A matrix in memory: its rows follow each other at a distance of `leading` elements, or its columns do.
struct ProductOperand {
  bool has_columns = false;
  int64_t leading = 0;
  int64_t batch = 0;  // elements from a matrix to the next; 0 for the same one
};

// out = a @ b, with contiguous rows of out.
struct ProductShape {
  CublasLt::DataType dtype;
  uint64_t m, n, k;
  int32_t batches;
  ProductOperand a, b;
};

// The parameters of the calls.
struct ProductAddresses {
  Address a, b, to, workspace;
};

// A product of one shape, by an algorithm that is chosen once.
class ProductCall : public StreamCall {
 public:
  virtual uint64_t workspace() const = 0;  // bytes
};

// The cuBLASLt products of one open device. Opens cuBLASLt at the first product, if the option `cublaslt` says so.
// Thread-safe.
class LibraryProducts {
 public:
  explicit LibraryProducts(OpenDevice& device) : device_(device) {}
  LibraryProducts(const LibraryProducts&) = delete;
  LibraryProducts& operator=(const LibraryProducts&) = delete;

  // Null if cuBLASLt is off, is missing, or has no algorithm. The device must be the calling thread's current one.
  std::shared_ptr<const ProductCall> find(const ProductShape& shape);

  // An open library and its handle, which the calls share.
  class Context;

 private:
  OpenDevice& device_;
  std::once_flag opening_;
  std::shared_ptr<Context> context_;
};

}  // namespace ferrule::cuda
