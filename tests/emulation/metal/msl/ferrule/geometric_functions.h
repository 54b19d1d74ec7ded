// Metal Shading Language Specification, "Geometric Functions".
#pragma once

namespace metal {

template <class V, ferrule_if_float_vector<V> = 0>
ferrule_inline ferrule_element<V> dot(V x, V y) {
  ferrule_element<V> sum = x[0] * y[0];
  for (int i = 1; i < ferrule_shape<V>::count; ++i) sum += x[i] * y[i];
  return sum;
}
template <class V, ferrule_if_float_vector<V> = 0>
ferrule_inline ferrule_element<V> length_squared(V x) {
  return dot(x, x);
}
template <class V, ferrule_if_float_vector<V> = 0>
ferrule_inline ferrule_element<V> length(V x) {
  return sqrt(dot(x, x));
}
template <class V, ferrule_if_float_vector<V> = 0>
ferrule_inline ferrule_element<V> distance(V x, V y) {
  return length(x - y);
}
template <class V, ferrule_if_float_vector<V> = 0>
ferrule_inline V normalize(V x) {
  return x * rsqrt(dot(x, x));
}
ferrule_inline float3 cross(float3 x, float3 y) { return x.yzx * y.zxy - x.zxy * y.yzx; }

}  // namespace metal
