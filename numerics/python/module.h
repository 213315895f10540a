// SPDX-License-Identifier: Apache-2.0
//
// The parts of the extension module assay._numerics. Its functions take arrays that the package in
// assay/ has checked and laid out, and are no public interface: that is the package's.
#ifndef ASSAY_NUMERICS_PYTHON_MODULE_H_
#define ASSAY_NUMERICS_PYTHON_MODULE_H_

#include <pybind11/pybind11.h>

namespace assay::python {

void DefineCalibration(pybind11::module_& module);
void DefineCertificate(pybind11::module_& module);
void DefineIsotonic(pybind11::module_& module);
void DefineLosses(pybind11::module_& module);
void DefineRegression(pybind11::module_& module);

}  // namespace assay::python

#endif  // ASSAY_NUMERICS_PYTHON_MODULE_H_
