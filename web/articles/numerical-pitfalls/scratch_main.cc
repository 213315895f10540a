#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include "tools/lab/lab.h"
using namespace assay::lab;
int main(int argc, char** argv) {
  Context::Options o;
  o.profile = *ParseProfile(argv[1]);
  std::string dir = argv[2];
  for (int i = 3; i < argc; ++i) {
    std::string a = argv[i];
    auto e = a.find('=');
    o.args.emplace_back(a.substr(0, e), a.substr(e + 1));
  }
  o.data = [&](std::string_view name) -> absl::StatusOr<std::vector<uint8_t>> {
    std::ifstream f(dir + "/" + std::string(name) + ".pack", std::ios::binary);
    return std::vector<uint8_t>((std::istreambuf_iterator<char>(f)), {});
  };
  auto t0 = std::chrono::steady_clock::now();
  std::string last;
  o.progress = [&](int64_t, int64_t, std::string_view w) {
    if (w != last) {
      last = w;
      fprintf(stderr, "%.2f %s\n",
              std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count(),
              last.c_str());
    }
  };
  auto r = RunToJson(*FindLab("numerical-pitfalls"), o);
  fprintf(stderr, "%.2f done\n",
          std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count());
  if (!r.ok()) {
    fprintf(stderr, "%s\n", r.status().ToString().c_str());
    return 1;
  }
  fputs(r->c_str(), stdout);
}
