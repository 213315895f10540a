// SPDX-License-Identifier: Apache-2.0
//
// The program `lab`: list, run, verify, diff, render, measure, data.
#ifndef ASSAY_TOOLS_LAB_PROGRAM_CLI_H_
#define ASSAY_TOOLS_LAB_PROGRAM_CLI_H_

#include <string>
#include <vector>

#include "tools/lab/program/flags.h"

namespace assay::lab {

// Runs one command line; gives the exit code.
//   arguments: argv, the program's own name first.
int Main(const std::vector<std::string>& arguments);

// What the program knows, for its help and its tests.
const std::vector<Verb>& Verbs();
const std::vector<Flag>& CommonFlags();

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_PROGRAM_CLI_H_
