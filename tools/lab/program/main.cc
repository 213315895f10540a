// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "tools/lab/program/cli.h"

int main(int argc, char** argv) {
  return assay::lab::Main(std::vector<std::string>(argv, argv + argc));
}
