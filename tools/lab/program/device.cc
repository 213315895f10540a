// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/program/device.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "numerics/core/ceilings.h"
#include "tools/lab/number.h"
#include "tools/lab/program/files.h"
#include "tools/lab/program/workspace.h"

namespace assay::lab {
namespace {

constexpr char kUnreadable[] = "unreadable";

std::string FirstLine(const std::string& path) {
  const auto text = ReadFile(path);
  if (!text.ok() || text->empty()) return kUnreadable;
  return text->substr(0, text->find('\n'));
}

// The first processor of /proc/cpuinfo: key -> value.
std::map<std::string, std::string> CpuInfo() {
  std::map<std::string, std::string> info;
  const auto text = ReadFile("/proc/cpuinfo");
  if (!text.ok()) return info;
  for (std::string_view line : absl::StrSplit(*text, '\n')) {
    if (line.empty() && !info.empty()) break;
    const std::pair<std::string_view, std::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    info.emplace(absl::StripAsciiWhitespace(parts.first), absl::StripAsciiWhitespace(parts.second));
  }
  return info;
}

std::string Entry(const std::map<std::string, std::string>& info, const std::string& key) {
  const auto found = info.find(key);
  return found == info.end() || found->second.empty() ? kUnreadable : found->second;
}

int LogicalCores() { return std::max<int>(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))); }

std::string Hypervisor(const std::map<std::string, std::string>& info) {
  const std::string flags = absl::StrCat(" ", Entry(info, "flags"), " ");
  if (flags.find(" hypervisor ") == std::string::npos) return "none";
  const std::string product = FirstLine("/sys/class/dmi/id/product_name");
  return product == kUnreadable ? "yes" : absl::StrCat("yes, ", product);
}

Json Caches() {
  Json caches = Json::array();
  for (int index = 0; index < 8; ++index) {
    const std::string folder = absl::StrCat("/sys/devices/system/cpu/cpu0/cache/index", index);
    if (!FileExists(folder)) break;
    caches.push_back(absl::StrCat(
        "L", FirstLine(folder + "/level"), " ", FirstLine(folder + "/type"), " ",
        FirstLine(folder + "/size"), ", ", FirstLine(folder + "/ways_of_associativity"),
        " ways, lines of ", FirstLine(folder + "/coherency_line_size"), " bytes"));
  }
  return caches;
}

Json Gpus() {
  Json gpus = Json::array();
  const auto text =
      Capture({"nvidia-smi", "--query-gpu=name,memory.total,compute_cap,ecc.mode.current",
               "--format=csv,noheader"},
              "/");
  if (!text.ok()) return gpus;
  for (std::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    std::vector<std::string> cells = absl::StrSplit(line, ", ");
    if (cells.size() != 4) continue;
    gpus.push_back({{"name", cells[0]},
                    {"memory", cells[1]},
                    {"compute_capability", cells[2]},
                    {"ecc", cells[3]}});
  }
  return gpus;
}

}  // namespace

std::string DeviceId(const std::string& model, int cores) {
  std::string id;
  for (char c : absl::AsciiStrToLower(model)) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      id.push_back(c);
    } else if (!id.empty() && id.back() != '-') {
      id.push_back('-');
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return absl::StrCat(id.empty() ? "cpu" : id, "-", cores, "c");
}

Json DescribeDevice(const std::string& id) {
  const std::map<std::string, std::string> info = CpuInfo();
  const int cores = LogicalCores();
  const std::string model = Entry(info, "model name");
  const int64_t ram = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  const std::string device = id.empty() ? DeviceId(model, cores) : id;
  Json gpus = Gpus();
  std::string name = absl::StrCat(model, ", ", cores, cores == 1 ? " core" : " cores");
  if (!gpus.empty()) absl::StrAppend(&name, ", ", gpus[0]["name"].get<std::string>());
  Json document = {{"schema", "device/1"},
                   {"id", device},
                   {"name", name},
                   {"cpu",
                    {{"model", model},
                     {"vendor", Entry(info, "vendor_id")},
                     {"family", Entry(info, "cpu family")},
                     {"model_number", Entry(info, "model")},
                     {"stepping", Entry(info, "stepping")},
                     {"logical_cores", cores},
                     {"vector", WidestVectors()},
                     {"hypervisor", Hypervisor(info)},
                     {"caches", Caches()}}},
                   {"ram_bytes", FormatInt(ram)}};
  if (!gpus.empty()) document["gpus"] = std::move(gpus);
  return document;
}

MachineState ReadMachineState() {
  MachineState state;
  struct utsname names = {};
  state.kernel = uname(&names) == 0 ? absl::StrCat(names.sysname, " ", names.release) : kUnreadable;
  state.libc = absl::StrCat("glibc ", gnu_get_libc_version());
  state.governor = FirstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  const std::string load = FirstLine("/proc/loadavg");
  state.load = load.substr(0, load.find(' '));
  state.mhz = Entry(CpuInfo(), "cpu MHz");
  const auto gpu =
      Capture({"nvidia-smi", "--query-gpu=driver_version,clocks.sm,clocks.mem,temperature.gpu",
               "--format=csv,noheader"},
              "/");
  if (gpu.ok()) state.gpu = gpu->substr(0, gpu->find('\n'));
  return state;
}

}  // namespace assay::lab
