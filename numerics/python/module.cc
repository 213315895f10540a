// SPDX-License-Identifier: Apache-2.0
#include "numerics/python/module.h"

PYBIND11_MODULE(_numerics, module) {
  assay::python::DefineCalibration(module);
  assay::python::DefineCertificate(module);
  assay::python::DefineIsotonic(module);
  assay::python::DefineLosses(module);
  assay::python::DefineRegression(module);
}
