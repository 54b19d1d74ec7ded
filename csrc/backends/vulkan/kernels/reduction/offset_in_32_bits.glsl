// offset_in for fewer than 2^32 elements, with 32-bit divisions, which devices have in hardware.
int64_t short_offset_in(Layout layout_, uint index) {
  if (layout_.rank == 0u) return 0l;
  int64_t offset = 0;
  uint last = layout_.rank - 1u;
  for (uint axis = 0; axis < last; ++axis) {
    uint size = uint(layout_.shape[axis]), next = index / size;
    offset += int64_t(uint64_t(index - next * size)) * layout_.strides[axis];
    index = next;
  }
  return offset + int64_t(uint64_t(index)) * layout_.strides[last];
}
