// SPDX-License-Identifier: Apache-2.0
// How the memory system serves the addresses of one warp instruction.
#ifndef ASSAY_GPU_SIMT_INTERNAL_COALESCING_H_
#define ASSAY_GPU_SIMT_INTERNAL_COALESCING_H_

#include <cstdint>

namespace assay::simt::internal {

struct GlobalCost {
  int bytes = 0;          // distinct ones
  int sectors = 0;        // distinct 32-byte sectors
  int ideal_sectors = 0;  // that could hold the bytes
  int lines = 0;          // distinct 128-byte lines
};

struct SharedCost {
  int bytes = 0;             // distinct ones
  int wavefronts = 0;        // passes over the 32 banks
  int ideal_wavefronts = 0;  // passes if no two lanes met in a bank
};

// addresses: [n] of the active lanes, 1 <= n <= 32, in lane order, each a multiple of width;
//   width: 1, 2, 4, 8 or 16 bytes.
GlobalCost CountGlobal(const uint64_t* addresses, int n, int width);

// As above, in shared memory, where bank b holds the 4-byte words that are b modulo 32. A pass
// delivers one word of each bank, to any number of lanes. Lanes that ask for 8 bytes are served 16
// at a time, for 16 bytes 8 at a time; loads twice as many where every active lane n has the
// address of lane n ^ 1, or every one that of n ^ 2 (NVIDIA developer forum, 77228).
//   lanes: [n] their numbers, ascending.
SharedCost CountShared(const uint64_t* addresses, const uint8_t* lanes, int n, int width,
                       bool load);

// The most lanes that name one address: how often an atomic is done in a row.
int CountSerial(const uint64_t* addresses, int n);

// The distinct sectors (address / 32), ascending, into sectors: [32]; returns how many.
int ListSectors(const uint64_t* addresses, int n, uint64_t* sectors);

}  // namespace assay::simt::internal

#endif  // ASSAY_GPU_SIMT_INTERNAL_COALESCING_H_
