// Parameters of the kernels of attention, and the sizes that host and device agree on.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

// A batch is a pair of matrices of keys and values, with the rows of all queries that are multiplied by them: row r is
// query r % queries of member r / queries of the group. Several heads of queries form a group if they share a head of
// keys.
struct AttentionParameters {
  enum Mask : uint32_t { no_mask, keeps, adds };
  enum Operand : uint32_t { query, key, value, mask, operands };
  Address inputs[operands];
  Address to, fault;
  Address length;           // of keys: where it is, or the number itself
  Address weighted, parts;  // by block of keys and row: `value_head` floats; AttentionPart
  Layout batches[operands];
  int64_t query_group, mask_group;  // strides in elements, as those below; those of heads are 1
  int64_t query_row, key_row, value_row, mask_row, mask_column;
  uint32_t queries, group, keys, head, value_head;
  uint32_t tiles;   // blocks of rows of a batch, one for each thread block
  uint32_t blocks;  // of keys; 1 if a thread block loops over them
  uint32_t mask_kind, causal, length_bytes, length_is_stored, op;
  uint32_t vectors;  // bits 0 to 2: rows of queries, keys, values begin 16 bytes after 16-byte boundaries, if the
                     // first one does
  float scale, log2_scale;  // scale * log2(e)
};

// The contribution of a block of keys to a row beside the weighted values: see attention_rows.h.
struct AttentionPart {
  float reference, total;
};

struct AttentionCombineParameters {
  Address weighted, parts, to, length;
  uint64_t rows, rows_of_batch;
  uint32_t value_head, keys, key_block, blocks, length_bytes, length_is_stored;
};

// Keys in a block, on which the bits of a result depend: with matrix instructions and heads of up to 128 items, and
// else.
inline constexpr uint32_t attention_wide_block = 128, attention_block = 64;
// Rows of a warp's matrix instructions, and of a thread block of a decoding kernel.
inline constexpr uint32_t attention_row_tile = 16;
inline constexpr uint32_t attention_simt_threads = 256, attention_simt_rows = 64;
inline constexpr uint32_t attention_decode_threads = 128;

}  // namespace ferrule::cuda
