// An index in memory, of 4 or 8 bytes.
int64_t index_at(uint64_t address, uint bytes) {
  if (bytes == 8u) return RefI64(address).at;
  // Not int64_t(int): lavapipe of Mesa 22.3 treats its results as non-negative in comparisons.
  uint low = RefU32(address).at;
  return packInt2x32(ivec2(low, (low & 0x80000000u) != 0u ? -1 : 0));
}
