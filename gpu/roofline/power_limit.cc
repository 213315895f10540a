// SPDX-License-Identifier: Apache-2.0
#include "gpu/roofline/power_limit.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gpu/model/power.h"
#include "gpu/roofline/machines.h"

namespace assay::roofline {
namespace {

bool IsShare(double share) { return share >= 0 && share <= 1; }

// The fit gives a clock back to a few roundings; a limit is kept to one part in a million million.
constexpr double kRounding = 1e-12;

}  // namespace

absl::StatusOr<PoweredClock> ClockWithin(const model::GpuMachine& gpu, double limit_watts,
                                         const Load& load) {
  if (!(limit_watts > 0 && limit_watts < 1e6)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a limit of ", limit_watts, " W, expected more than 0 and less than 10^6"));
  }
  if (!IsShare(load.fp32_busy) || !IsShare(load.tensor_busy) ||
      !(load.bytes_per_s >= 0 && load.bytes_per_s < 1e18)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a load of ", load.fp32_busy, ", ", load.tensor_busy, " and ", load.bytes_per_s,
        " bytes a second, expected shares of 0 to 1 and 0 or more bytes"));
  }
  const model::PowerModel power = model::FitPower(gpu);
  if ((load.fp32_busy > 0 && !(power.fp32 > 0)) || (load.tensor_busy > 0 && !(power.tensor > 0))) {
    return absl::FailedPreconditionError(
        absl::StrCat(gpu.name, ": no clock under such a load is known"));
  }
  const auto watts = [&](double clock) {
    return model::Power(gpu, power, clock, load.fp32_busy, load.tensor_busy, load.bytes_per_s);
  };
  PoweredClock result = {.clock = gpu.base_clock, .watts = watts(gpu.base_clock)};
  const double most = limit_watts * (1 + kRounding);
  result.over = result.watts > most;
  const auto take = [&](double clock) {
    const double drawn = watts(clock);
    if (drawn > most) return false;
    result.clock = clock;
    result.watts = drawn;
    return true;
  };
  // Watts rise with the clock, so the first step that is too much ends the search.
  for (int step = 1; gpu.clock_step > 0; ++step) {
    const double clock = gpu.base_clock + step * gpu.clock_step;
    if (clock >= gpu.boost_clock || !take(clock)) break;
  }
  take(gpu.boost_clock);
  result.limited = result.clock < gpu.boost_clock;
  return result;
}

absl::StatusOr<Machine> RoofWithin(const model::GpuMachine& gpu, double limit_watts) {
  const absl::StatusOr<PoweredClock> plain =
      ClockWithin(gpu, limit_watts, {.fp32_busy = gpu.fp32_sustained_busy});
  if (!plain.ok()) return plain.status();
  const absl::StatusOr<PoweredClock> tensor =
      ClockWithin(gpu, limit_watts, {.tensor_busy = gpu.tensor_sustained_busy});
  if (!tensor.ok()) return tensor.status();
  model::GpuMachine limited = gpu;
  if (limited.fp32_sustained_clock > 0) limited.fp32_sustained_clock = plain->clock;
  if (limited.tensor_sustained_clock > 0) limited.tensor_sustained_clock = tensor->clock;
  return SustainedRoof(limited);
}

}  // namespace assay::roofline
