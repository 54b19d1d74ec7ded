// Products of matrices inside decompositions, and the threads that compute them.
#pragma once

#include "../cancellation.h"
#include "scalars.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {

// The threads that work on one matrix: those of the call, or the calling one alone where other matrices of the stack
// are computed at the same time. After an error nothing more is run.
struct Team {
  const Call* call = nullptr;
  fe_error* error = nullptr;

  template <class Body>
  void run(int64_t n, int64_t grain, Body body) {
    if (n <= 0 || error != nullptr) return;
    if (call == nullptr || n <= grain)
      body(int64_t{0}, n);
    else
      error = parallel(*call, n, grain, body);
  }
  // Whether nothing more is run. Loops whose iterations take a while on one thread ask it.
  bool is_stopped() {
    if (error == nullptr && call != nullptr) error = cancelled(*call);
    return error != nullptr;
  }
};

// A factor of a product: element (i, j) is at[i * row + j * column], conjugated if `conjugated`.
template <class T>
struct Factor {
  const T* at;
  int64_t row, column;
  bool conjugated = false;
};

enum class Store { replace, add, subtract };

// C = A B, C += A B or C -= A B, of m x k and k x n. Rows of C are `ldc` elements apart. `packed` has packed_size<T>()
// elements. Each element is one sum along k in blocks that depend on k alone.
template <class T>
void multiply(Team& team, int64_t m, int64_t n, int64_t k, Factor<T> a, Factor<T> b, T* c, int64_t ldc, Store store,
              T* packed);

template <class T>
int64_t packed_size(int64_t m, int64_t n, int64_t k);

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
