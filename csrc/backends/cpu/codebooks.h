// The codebooks of the block dtypes iq1, iq2 and iq3. An entry has the codes of 8 elements of 2 bits (iq3: of 4
// elements of 4 bits), the first in the lowest bits; block_decoding has what the codes stand for.
#pragma once

#include <cstdint>

namespace ferrule::cpu {

extern constinit const uint16_t iq1_codebook[2048];
extern constinit const uint16_t iq2_xxs_codebook[256];
extern constinit const uint16_t iq2_xs_codebook[512];
extern constinit const uint16_t iq2_s_codebook[1024];
extern constinit const uint16_t iq3_xxs_codebook[256];
extern constinit const uint16_t iq3_s_codebook[512];

}  // namespace ferrule::cpu
