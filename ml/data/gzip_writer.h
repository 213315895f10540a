// SPDX-License-Identifier: Apache-2.0
//
// Writing gzip, by zlib. Native only: for tools that pack data.

#ifndef ASSAY_ML_DATA_GZIP_WRITER_H_
#define ASSAY_ML_DATA_GZIP_WRITER_H_

#include <cstdint>
#include <span>
#include <vector>

namespace assay::data {

// One gzip member of these bytes, at the strongest level. The header holds no time and no name: the
// same bytes give the same file with the same version of zlib.
std::vector<uint8_t> Gzip(std::span<const uint8_t> bytes);

}  // namespace assay::data

#endif  // ASSAY_ML_DATA_GZIP_WRITER_H_
