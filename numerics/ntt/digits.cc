// SPDX-License-Identifier: Apache-2.0
//
// Prints the decimal digits of large numbers, or the first and last ones if there are many.
//
//   digits power 2 1000000     digits factorial 100000     digits --all factorial 1000
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "numerics/core/sha256.h"
#include "numerics/core/thread_pool.h"
#include "numerics/ntt/big_product.h"

namespace {

constexpr char kUsage[] =
    "usage: digits [--all] power BASE EXPONENT\n"
    "       digits [--all] factorial N\n";

// Decimal, or false.
bool Parse(const std::string& text, uint64_t* value) {
  char* end = nullptr;
  *value = std::strtoull(text.c_str(), &end, 10);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos && *end == 0;
}

int Fail(const std::string& message) {
  std::fprintf(stderr, "digits: %s\n", message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool all = !arguments.empty() && arguments[0] == "--all";
  if (all) arguments.erase(arguments.begin());
  uint64_t first = 0, second = 0;
  const bool power = arguments.size() == 3 && arguments[0] == "power" &&
                     Parse(arguments[1], &first) && Parse(arguments[2], &second);
  const bool factorial =
      arguments.size() == 2 && arguments[0] == "factorial" && Parse(arguments[1], &first);
  if (!power && !factorial) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  assay::ThreadPool pool(assay::ThreadPool::HardwareThreads());
  const absl::StatusOr<assay::ntt::Natural> x =
      power ? assay::ntt::Power(first, second, &pool) : assay::ntt::Factorial(first, &pool);
  if (!x.ok()) return Fail(std::string(x.status().message()));
  const absl::StatusOr<std::string> digits = assay::ntt::ToDecimal(*x, &pool);
  if (!digits.ok()) return Fail(std::string(digits.status().message()));
  if (all || digits->size() <= 100) {
    std::printf("%s\n", digits->c_str());
  } else {
    std::printf("%s...%s\n%zu digits, SHA-256 %s\n", digits->substr(0, 40).c_str(),
                digits->substr(digits->size() - 40).c_str(), digits->size(),
                assay::Sha256Hex(std::string_view(*digits)).c_str());
  }
  return 0;
}
