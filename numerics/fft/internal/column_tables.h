// SPDX-License-Identifier: Apache-2.0
//
// column_tables.h: makes the tables of columns.h, and decides how a length is cut.
#ifndef ASSAY_NUMERICS_FFT_INTERNAL_COLUMN_TABLES_H_
#define ASSAY_NUMERICS_FFT_INTERNAL_COLUMN_TABLES_H_

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "numerics/fft/internal/columns.h"

namespace assay::fft::internal {

// roots[i] = UnitRoot(k + i, n) for i = 0..count-1.
template <class T>
void UnitRoots(int64_t k, int64_t count, int64_t n, std::complex<T>* roots);

// All n-th roots of unity from few evaluations of sine and cosine.
template <class T>
class RootTable {
 public:
  // Fails (returns false) without memory. n >= 1.
  bool Fill(int64_t n);
  // exp(-2 pi i k / n) for 0 <= k < n: the bits of UnitRoot(k, n).
  std::complex<T> operator[](int64_t k) const;

 private:
  int64_t n_ = 0;
  std::unique_ptr<std::complex<T>[]> values_;
};

// `count` numbers, not set; null without memory.
template <class T>
std::unique_ptr<T[]> Allocate(int64_t count);

// Whether `count` numbers can be had, to ask before a container that would throw.
template <class T>
bool CanAllocate(int64_t count);

template <class T>
void FillRoots(Roots<T>* roots);

// How n points are cut, n1 = 0 where the two sweeps do not pay or n is not smooth enough.
struct Cut {
  int64_t n1;
  int64_t n2;
  int lanes;
  bool butterfly_first;
};
template <class T>
Cut ChooseCut(int64_t n);

// The radices of a column, in order; empty for one row. length has no prime factor above 13.
std::vector<int> ColumnRadices(int64_t length);

// False without memory. length >= 2 with no prime factor above 13.
template <class T>
bool MakeColumn(int64_t length, ColumnTables<T>* t);

// Null without memory. roots must outlive the tables.
template <class T>
std::unique_ptr<BlockTables<T>> MakeBlockTables(int64_t n, const Cut& cut, const Roots<T>* roots,
                                                const Sweeps<T>& sweeps);

}  // namespace assay::fft::internal

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_COLUMN_TABLES_H_
