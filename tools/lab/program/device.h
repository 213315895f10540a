// SPDX-License-Identifier: Apache-2.0
//
// What machine is this?
#ifndef ASSAY_TOOLS_LAB_PROGRAM_DEVICE_H_
#define ASSAY_TOOLS_LAB_PROGRAM_DEVICE_H_

#include <string>

#include "tools/lab/records/json.h"

namespace assay::lab {

// The machine as web/devices records it (schema device/1), under the given id; an empty id is made
// from the processor's model and the number of its cores. What cannot be read is "unreadable".
Json DescribeDevice(const std::string& id);

// An id made of letters, digits and hyphens: "AMD EPYC 7B13" with 2 cores -> "amd-epyc-7b13-2c".
std::string DeviceId(const std::string& model, int cores);

// What may change from day to day: kernel, libc, governor, load and clocks now.
struct MachineState {
  std::string kernel, libc, governor, load, mhz, gpu;  // gpu: empty without one
};
MachineState ReadMachineState();

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_PROGRAM_DEVICE_H_
