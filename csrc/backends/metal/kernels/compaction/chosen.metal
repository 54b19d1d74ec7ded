// The elements that a condition chooses, in the node's scratch memory: how many there are up to the end of each
// segment, then the number of each of them, in C order. The owner of the condition's memory may write to it meanwhile,
// so that a number may be missing: readers limit the numbers.
#pragma once
#include "interface.metal"

struct Chosen {
  ulong elements;  // of the condition
  ulong segments;
  ulong place;  // in scratch memory, in longs
};

inline long total_of(constant Chosen& chosen, device const long* scratch) {
  return scratch[chosen.place + chosen.segments - 1];
}
// The number of the chosen element at this place.
inline ulong number_at(constant Chosen& chosen, device const long* scratch, ulong place) {
  const long number = scratch[chosen.place + chosen.segments + place];
  return ulong(clamp(number, long(0), long(chosen.elements) - 1));
}
