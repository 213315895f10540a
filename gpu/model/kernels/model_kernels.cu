// SPDX-License-Identifier: Apache-2.0
// The model kernels for nvcc: what the mixes are taken from.
#include "gpu/model/kernels/sgemm.cu.h"
#include "gpu/model/kernels/streams.cu.h"
