// Scaled dot-product attention of a block of queries, in one pass over blocks of 32 keys with a running maximum and sum
// (Milakov & Gimelshein 2018; Dao 2022). A whole row of scores is never stored.
//
// The result of a query depends only on the query and its keys: products are added in order, and the weights of a block
// by halves. A block of which a query keeps nothing does not change a bit of its result.
// variants: f32 f16 bf16
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shader_interface.glsl"
#include "float_item.glsl"
#include "elementwise/arithmetic/float32.glsl"
#include "elementwise/exponential/float32.glsl"

layout(constant_id = 3) const uint QUERIES = 16;  // a multiple of ROWS
layout(constant_id = 4) const uint HEAD = 64;     // elements of a query and of a key, and zeros up to a multiple of BLOCK
layout(constant_id = 5) const uint VALUE_HEAD = 64;  // elements of a value, rounded up in the same way
layout(constant_id = 6) const uint MASK = 0;  // 0 none, 1 keeps where it holds, 2 is added
layout(constant_id = 7) const bool CAUSAL = false;
layout(constant_id = 8) const uint LENGTH_BYTES = 0;  // size of the operand that holds the number of keys; 0: all keys

#define BLOCK 32  // keys, and elements of keys or values that are in shared memory at a time
#define ROWS 4    // queries that the 128 invocations of the workgroup process in parallel

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout query_batches, key_batches, value_batches, mask_batches;
  int64_t query_row, query_column, key_row, key_column, value_row, value_column, mask_row, mask_column;
  uint64_t batches;
  uint queries, keys;
  float scale;
  uint to, key_count;
  uint head, value_head;  // without the zeros
};

shared float query_tile[QUERIES * HEAD + 1];
shared float tile[BLOCK * (BLOCK + 1)];
shared float weights[QUERIES * BLOCK];
shared float folded[QUERIES * BLOCK];

bool is_lowest(float x) { return is_infinite(x) && sign_bit(x) != 0u; }

uint64_t batch_of(Layout batches, uint64_t batch, int64_t item_bytes) {
  return push.addresses.at[batches.value] + uint64_t(offset_in(batches, batch) * item_bytes);
}

int64_t place(uint row, int64_t row_stride, uint column, int64_t column_stride) {
  return int64_t(uint64_t(row)) * row_stride + int64_t(uint64_t(column)) * column_stride;
}

// Element (i, j) of the tile is element (first_row + i, first_column + j) of a matrix, or zero outside the matrix.
void fill_tile(uint64_t from, uint first_row, uint rows, int64_t row, uint first_column, uint columns, int64_t column) {
  for (uint i = gl_LocalInvocationIndex; i < BLOCK * BLOCK; i += gl_WorkGroupSize.x) {
    uint r = first_row + i / BLOCK, c = first_column + i % BLOCK;
    tile[i / BLOCK * (BLOCK + 1) + i % BLOCK] = r < rows && c < columns ? item(from, place(r, row, c, column)) : 0.0;
  }
}

// Folds each query's row of `folded` into its first element: the sum or the maximum.
void fold_rows(bool adds) {
  for (uint width = BLOCK / 2; width > 0; width /= 2) {
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < QUERIES * width; i += gl_WorkGroupSize.x) {
      uint at = i / width * BLOCK + i % width;
      float a = folded[at], b = folded[at + width];
      folded[at] = adds ? a + b : b > a ? b : a;
    }
  }
  barrier();
}

int64_t length_at(uint64_t address) {
  if (LENGTH_BYTES == 8u) return RefI64(address).at;
  // Not int64_t(int), for the reason in take.comp.
  uint low = RefU32(address).at;
  return packInt2x32(ivec2(low, (low & 0x80000000u) != 0u ? -1 : 0));
}

void main() {
  Parameters p = Parameters(push.parameters);
  uint keys = p.keys;
  if (LENGTH_BYTES != 0u) {
    int64_t length = length_at(push.addresses.at[p.key_count]);
    if (length < 0l || length > int64_t(uint64_t(p.keys))) {
      report_fault(FAULT_LENGTH, p.to, length, int64_t(uint64_t(p.keys)), 0l);
      return;
    }
    keys = uint(length);
  }
  const uint own = gl_LocalInvocationIndex, column = own % BLOCK, first_row = own / BLOCK;
  const uint own_rows = QUERIES / ROWS, chunks = VALUE_HEAD / BLOCK;
  uint64_t blocks = (p.queries + QUERIES - 1) / QUERIES, group = invocation() / gl_WorkGroupSize.x;
  uint64_t batch = group / blocks;
  if (batch >= p.batches) return;
  uint first_query = uint(group - batch * blocks) * QUERIES;
  uint64_t query = batch_of(p.query_batches, batch, ITEM_BYTES), key = batch_of(p.key_batches, batch, ITEM_BYTES);
  uint64_t value = batch_of(p.value_batches, batch, ITEM_BYTES);
  uint64_t mask = MASK == 0u ? 0ul : batch_of(p.mask_batches, batch, MASK == 1u ? 1l : int64_t(ITEM_BYTES));

  for (uint i = own; i < QUERIES * HEAD; i += gl_WorkGroupSize.x) {
    uint row = first_query + i / HEAD, c = i % HEAD;
    bool inside = row < p.queries && c < p.head;
    query_tile[i] = inside ? item(query, place(row, p.query_row, c, p.query_column)) : 0.0;
  }
  float greatest[own_rows], total[own_rows], scores[own_rows], sums[chunks * own_rows];
  for (uint i = 0; i < own_rows; ++i) {
    greatest[i] = signed_infinity(SIGN_BIT);
    total[i] = 0.0;
  }
  for (uint i = 0; i < chunks * own_rows; ++i) sums[i] = 0.0;

  // Query i keeps keys up to i + ahead.
  int ahead = int(keys) - int(p.queries);
  uint last = CAUSAL ? uint(clamp(int64_t(first_query) + QUERIES + ahead, 0l, int64_t(keys))) : keys;
  for (uint first_key = 0; first_key < last; first_key += BLOCK) {
    for (uint i = 0; i < own_rows; ++i) scores[i] = 0.0;
    for (uint first = 0; first < HEAD; first += BLOCK) {
      fill_tile(key, first_key, keys, p.key_row, first, p.head, p.key_column);
      barrier();
      for (uint d = 0; d < BLOCK; ++d) {
        float k = tile[column * (BLOCK + 1) + d];
        for (uint i = 0; i < own_rows; ++i) {
          precise float score = fma(query_tile[(first_row + i * ROWS) * HEAD + first + d], k, scores[i]);
          scores[i] = score;
        }
      }
      barrier();
    }
    uint j = first_key + column;
    for (uint i = 0; i < own_rows; ++i) {
      uint row = first_row + i * ROWS, q = first_query + row;
      bool kept = j < keys && q < p.queries && (!CAUSAL || int64_t(j) <= int64_t(q) + ahead);
      precise float score = scores[i] * p.scale;
      if (MASK != 0u && kept) {
        int64_t at = place(q, p.mask_row, j, p.mask_column);
        if (MASK == 1u)
          kept = uint(RefU8(mask + uint64_t(at)).at) != 0u;
        else
          score += item(mask, at);
      }
      scores[i] = kept ? score : signed_infinity(SIGN_BIT);
      // NaN counts as infinity here, because either makes the result NaN; so a query whose scores are all NaN keeps
      // some.
      folded[row * BLOCK + column] = is_nan(scores[i]) ? signed_infinity(0u) : scores[i];
    }
    fold_rows(false);
    float factors[own_rows];
    for (uint i = 0; i < own_rows; ++i) {
      float before = greatest[i], found = folded[(first_row + i * ROWS) * BLOCK];
      greatest[i] = found > before ? found : before;
      // As long as no key is kept, nothing is scaled, as the difference to minus infinity would be NaN.
      factors[i] = greatest[i] == before ? 1.0 : is_lowest(before) ? 0.0 : exp_f32(before - greatest[i]);
      scores[i] = is_lowest(scores[i]) ? 0.0 : exp_f32(scores[i] - greatest[i]);
    }
    barrier();
    for (uint i = 0; i < own_rows; ++i) {
      uint at = (first_row + i * ROWS) * BLOCK + column;
      weights[at] = folded[at] = scores[i];
    }
    fold_rows(true);
    for (uint i = 0; i < own_rows; ++i) {
      precise float sum = total[i] * factors[i] + folded[(first_row + i * ROWS) * BLOCK];
      total[i] = sum;
    }
    for (uint chunk = 0; chunk < chunks; ++chunk) {
      fill_tile(value, first_key, keys, p.value_row, chunk * BLOCK, p.value_head, p.value_column);
      barrier();
      for (uint i = 0; i < own_rows; ++i) {
        precise float sum = sums[chunk * own_rows + i] * factors[i];
        for (uint k = 0; k < BLOCK; ++k)
          sum = fma(weights[(first_row + i * ROWS) * BLOCK + k], tile[k * (BLOCK + 1) + column], sum);
        sums[chunk * own_rows + i] = sum;
      }
      barrier();
    }
  }

  uint64_t to = push.addresses.at[p.to] + batch * p.queries * p.value_head * ITEM_BYTES;
  for (uint i = 0; i < own_rows; ++i) {
    uint q = first_query + first_row + i * ROWS;
    if (q >= p.queries) continue;
    for (uint chunk = 0; chunk < chunks; ++chunk) {
      uint c = chunk * BLOCK + column;
      if (c >= p.value_head) continue;
      // A query that keeps no key gives sums of zeros times values: zeros, or NaN where a value is not finite.
      float result = divide_f32(sums[chunk * own_rows + i], is_lowest(greatest[i]) ? 1.0 : total[i]);
      store_float(to + (uint64_t(q) * p.value_head + c) * ITEM_BYTES, result);
    }
  }
}
