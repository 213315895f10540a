// SPDX-License-Identifier: Apache-2.0
//
// The verbs that run labs: run, verify, diff, data.
#ifndef ASSAY_TOOLS_LAB_PROGRAM_RUN_H_
#define ASSAY_TOOLS_LAB_PROGRAM_RUN_H_

#include "tools/lab/program/session.h"

namespace assay::lab {

// Each gives an ExitCode.
int RunVerb(const Session& session);
int VerifyVerb(const Session& session);
int DiffVerb(const Session& session);
int DataVerb(const Session& session);
int ListVerb(const Session& session);

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_PROGRAM_RUN_H_
