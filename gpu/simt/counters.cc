// SPDX-License-Identifier: Apache-2.0

#include "gpu/simt/counters.h"

namespace assay::simt {

void Accumulate(const AccessCounters& from, AccessCounters& to) {
  to.requests += from.requests;
  to.lanes += from.lanes;
  to.bytes += from.bytes;
  to.sectors += from.sectors;
  to.ideal_sectors += from.ideal_sectors;
  to.lines += from.lines;
  to.wavefronts += from.wavefronts;
  to.ideal_wavefronts += from.ideal_wavefronts;
  to.serial_passes += from.serial_passes;
}

AccessCounters Total(const LaunchCounters& counters, Space space, AccessKind kind) {
  AccessCounters total;
  total.space = space;
  total.kind = kind;
  for (const AccessCounters& access : counters.accesses) {
    if (access.space == space && access.kind == kind) Accumulate(access, total);
  }
  return total;
}

}  // namespace assay::simt
