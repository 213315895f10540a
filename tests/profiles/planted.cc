// SPDX-License-Identifier: Apache-2.0
// Faults for the check of exact objects to find.

#include <cmath>

namespace assay {

double PlantedFusedMultiplyAdd(double a, double b, double c) { return __builtin_fma(a, b, c); }

double PlantedLibm(double x) { return std::tanh(x); }

}  // namespace assay
