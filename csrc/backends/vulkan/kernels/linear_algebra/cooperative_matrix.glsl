// 16 x 16 matrices that a subgroup holds together, with float16 factors and float32 sums. They use
// GL_KHR_cooperative_matrix, or a simulation for devices without it: each invocation computes its own elements, so that
// everything except the matrices can be tested on any device.
#define SIDE 16
#define LEFT_ROW 24  // elements between rows in shared memory: aligned to 16 bytes, not all in the same banks
#define RIGHT_ROW 72

#ifdef VARIANT_khr
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#endif

layout(constant_id = 3) const uint SUBGROUPS = 4;  // per workgroup
shared float16_t left_tile[4 * SIDE * LEFT_ROW];
shared float16_t right_tile[SIDE * RIGHT_ROW];
shared float sums_tile[SUBGROUPS * SIDE * SIDE];

#ifdef VARIANT_khr
#define Left coopmat<float16_t, gl_ScopeSubgroup, SIDE, SIDE, gl_MatrixUseA>
#define Right coopmat<float16_t, gl_ScopeSubgroup, SIDE, SIDE, gl_MatrixUseB>
#define Sums coopmat<float, gl_ScopeSubgroup, SIDE, SIDE, gl_MatrixUseAccumulator>

Sums zeros() { return Sums(0.0); }
Sums plus(Sums a, Sums b) { return a + b; }
// sums + left @ right. The factors begin at left_at and right_at in left_tile and right_tile.
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
  float of[32];  // enough for subgroups of at least 8
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
