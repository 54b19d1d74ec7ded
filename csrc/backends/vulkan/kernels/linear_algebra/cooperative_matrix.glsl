// Matrices of 16 by 16 that a subgroup holds together: float16 factors, float32 sums. By GL_KHR_cooperative_matrix, or
// simulated, for devices without it: then each invocation computes its elements itself, so that all but the matrices can
// be tested anywhere.
#define SIDE 16
#define LEFT_ROW 24  // elements between rows in shared memory: aligned to 16 bytes, not all in the same banks
#define RIGHT_ROW 72

#ifdef VARIANT_khr
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#endif

layout(constant_id = 3) const uint SUBGROUPS = 4;  // of a workgroup
shared float16_t left_tile[4 * SIDE * LEFT_ROW];
shared float16_t right_tile[SIDE * RIGHT_ROW];
shared float sums_tile[SUBGROUPS * SIDE * SIDE];

#ifdef VARIANT_khr
#define Left coopmat<float16_t, gl_ScopeSubgroup, SIDE, SIDE, gl_MatrixUseA>
#define Right coopmat<float16_t, gl_ScopeSubgroup, SIDE, SIDE, gl_MatrixUseB>
#define Sums coopmat<float, gl_ScopeSubgroup, SIDE, SIDE, gl_MatrixUseAccumulator>

Sums zeros() { return Sums(0.0); }
Sums plus(Sums a, Sums b) { return a + b; }
// sums + left @ right; where the factors begin in left_tile and right_tile.
Sums plus_product(Sums sums, uint left_at, uint right_at) {
  Left left;
  Right right;
  coopMatLoad(left, left_tile, left_at, LEFT_ROW, gl_CooperativeMatrixLayoutRowMajor);
  coopMatLoad(right, right_tile, right_at, RIGHT_ROW, gl_CooperativeMatrixLayoutRowMajor);
  return coopMatMulAdd(left, right, sums);
}
void put(Sums sums, uint at) { coopMatStore(sums, sums_tile, at, SIDE, gl_CooperativeMatrixLayoutRowMajor); }
#else
struct Sums {
  float of[32];  // enough for subgroups of 8 and more
};
#define OWN_SUMS (SIDE * SIDE / gl_SubgroupSize)

Sums zeros() {
  Sums sums;
  for (uint i = 0; i < OWN_SUMS; ++i) sums.of[i] = 0.0;
  return sums;
}
Sums plus(Sums a, Sums b) {
  for (uint i = 0; i < OWN_SUMS; ++i) a.of[i] += b.of[i];
  return a;
}
Sums plus_product(Sums sums, uint left_at, uint right_at) {
  for (uint i = 0; i < OWN_SUMS; ++i) {
    uint own = gl_SubgroupInvocationID + i * gl_SubgroupSize, row = own / SIDE, column = own % SIDE;
    for (uint k = 0; k < SIDE; ++k) {
      precise float sum = fma(float(left_tile[left_at + row * LEFT_ROW + k]),
                              float(right_tile[right_at + k * RIGHT_ROW + column]), sums.of[i]);
      sums.of[i] = sum;
    }
  }
  return sums;
}
void put(Sums sums, uint at) {
  for (uint i = 0; i < OWN_SUMS; ++i) sums_tile[at + gl_SubgroupInvocationID + i * gl_SubgroupSize] = sums.of[i];
}
#endif
