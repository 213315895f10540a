// SPDX-License-Identifier: Apache-2.0
//
// The C face of the sample demo.
#include <cstdint>
#include <cstdlib>

extern "C" {

void* alloc(uint32_t n) { return std::malloc(n); }
void dealloc(void* p) { std::free(p); }

const char* message(int code) {
  return code == 1 ? "the number of terms must lie in 2 to 4096" : "no error";
}

// Partial sums of the harmonic series. out: [n] f64. Returns 0, or 1 where n is out of range.
int partial_sums(int32_t n, double* out) {
  if (n < 2 || n > 4096) return 1;
  double sum = 0;
  for (int32_t k = 1; k <= n; ++k) out[k - 1] = sum += 1.0 / k;
  return 0;
}

// Never returns: for the tests of Stop.
int forever(int32_t seed) {
  volatile int32_t x = seed;
  for (;;) x = x + 1;
}

// Reads far outside memory: for the tests of traps.
int trap(void) { return *reinterpret_cast<volatile int*>(0xfffffff0u); }
}
