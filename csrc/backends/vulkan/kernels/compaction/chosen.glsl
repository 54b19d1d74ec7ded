// The elements that a condition chooses, in the node's scratch memory behind its first `chosen` bytes: how many there are
// up to the end of each segment, then the number of each of them. The owner of the condition's memory may write to it
// meanwhile, so that a number may be missing: readers limit the numbers. `p` are a shader's parameters.
#define total_until(p, segment) RefI64(scratch_address() + uint64_t((p).chosen) + uint64_t(segment) * 8ul)
#define total_of(p) total_until(p, (p).segments - 1l)
#define chosen_at(p, place) total_until(p, (p).segments + int64_t(place))
