/* The cumulative layout hash of each minor, oldest first: FNV-1a over every field and slot list, as
 * csrc/sdk/layout computes it. `./dev lint --fix` writes it; a core with other headers does not compile. */
#ifndef FERRULE_LAYOUT_HASH_H
#define FERRULE_LAYOUT_HASH_H

/* clang-format off */
#define FE_LAYOUT_HASH UINT64_C(0x480325d9618a300c) /* of the headers' own minor */
#define FE_LAYOUT_HASH_COUNT 1
#define FE_LAYOUT_HASHES UINT64_C(0x480325d9618a300c)
/* clang-format on */

#endif
