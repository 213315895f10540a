// SPDX-License-Identifier: Apache-2.0
// Writes the instruction mix of a cubin.
//
// usage: sass_mix FILE.cubin > FILE.mix
//
// Exit code: 0 done, 1 the file is not to be read or no cubin, 2 wrong use.
#include <cstdio>
#include <string>

#include "gpu/model/cubin.h"
#include "gpu/model/mix.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: sass_mix FILE.cubin > FILE.mix\n", stderr);
    return 2;
  }
  std::FILE* const file = std::fopen(argv[1], "rb");
  if (file == nullptr) {
    std::fprintf(stderr, "sass_mix: cannot open %s\n", argv[1]);
    return 1;
  }
  std::string bytes;
  char buffer[65536];
  for (size_t got = 0; (got = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) {
    bytes.append(buffer, got);
  }
  std::fclose(file);
  const absl::StatusOr<assay::model::Cubin> cubin = assay::model::ReadCubin(bytes);
  const absl::StatusOr<assay::model::Mix> mix =
      cubin.ok() ? assay::model::MixOfAll(*cubin) : cubin.status();
  if (!mix.ok()) {
    std::fprintf(stderr, "sass_mix: %s: %s\n", argv[1], mix.status().ToString().c_str());
    return 1;
  }
  std::fputs(assay::model::FormatMix(*mix).c_str(), stdout);
  return 0;
}
