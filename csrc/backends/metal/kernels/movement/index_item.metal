// Indices of elements. The including text defines `Index`, int or long, their type in memory.
#pragma once
#include "interface.metal"

// The place of an index, which counts from the end if it is negative, in an axis of `size` elements. -1 if it is out of
// bounds.
inline long place_of(long index, long size) {
  const long place = index < 0 ? index + size : index;
  return place >= 0 && place < size ? place : -1;
}
