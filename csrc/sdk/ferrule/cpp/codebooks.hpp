// The codebooks of the block dtypes iq1, iq2 and iq3. An entry has the codes of 8 elements of 2 bits (iq3: of 4
// elements of 4 bits), the first in the lowest bits; <ferrule/kernels/block_weights.inc> has what the codes stand for.
#ifndef FERRULE_CPP_CODEBOOKS_HPP
#define FERRULE_CPP_CODEBOOKS_HPP

#include <cstdint>

namespace ferrule::sdk {

// clang-format off
inline constexpr uint16_t iq1_codebook[] = {
#include <ferrule/kernels/codebooks/iq1.inc>
};
inline constexpr uint16_t iq2_xxs_codebook[] = {
#include <ferrule/kernels/codebooks/iq2_xxs.inc>
};
inline constexpr uint16_t iq2_xs_codebook[] = {
#include <ferrule/kernels/codebooks/iq2_xs.inc>
};
inline constexpr uint16_t iq2_s_codebook[] = {
#include <ferrule/kernels/codebooks/iq2_s.inc>
};
inline constexpr uint16_t iq3_xxs_codebook[] = {
#include <ferrule/kernels/codebooks/iq3_xxs.inc>
};
inline constexpr uint16_t iq3_s_codebook[] = {
#include <ferrule/kernels/codebooks/iq3_s.inc>
};
// clang-format on

}  // namespace ferrule::sdk

#endif
