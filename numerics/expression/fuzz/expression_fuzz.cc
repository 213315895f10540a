// SPDX-License-Identifier: Apache-2.0
// Any text: an error that says where, or an expression that reads back as itself, has values, an
// analysis and perhaps a rewrite that is equal.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "numerics/core/check.h"
#include "numerics/expression/analyse.h"
#include "numerics/expression/expression.h"
#include "numerics/expression/parse.h"
#include "numerics/expression/rewrite.h"

namespace assay::expression {
namespace {

// The first byte chooses the point; the rest is the text.
void Try(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Graph graph;
  const auto id = Parse(text, &graph);
  if (!id.ok()) {
    ASSAY_CHECK(!id.status().message().empty());
    return;
  }
  const std::string written = graph.ToText(*id);
  if (written.size() <= static_cast<size_t>(kMaxTextLength)) {
    const auto again = Parse(written, &graph);
    ASSAY_CHECK(again.ok());
    ASSAY_CHECK(*again == *id);
  }
  Point point;
  for (size_t i = 0; i < graph.variables().size(); ++i) {
    point.emplace_back(static_cast<double>(static_cast<int>(data[0]) - 128) *
                       (1.0 + static_cast<double>(i)) / 16);
  }
  for (const Format format : floating::kFormats) {
    FormatValues values(&graph, format, point);
    (void)values(*id);
    TrueValues truth(&graph, values.point());
    const Analysis analysis = Analyse(graph, *id, &truth);
    ASSAY_CHECK(analysis.steps.back().id == *id);
    ASSAY_CHECK(Blame(graph, analysis, &values).size() == analysis.steps.size());
  }
  SearchOptions options;
  options.expansions = 4;
  options.candidates = 60;
  const Rewrite rewrite =
      FindRewrite(&graph, *id, PointsAround(point, Format::kF64, 3, 1), options);
  if (rewrite.best) {
    TrueValues truth(&graph, PointsAround(point, Format::kF64, 1, 1)[0]);
    ASSAY_CHECK(EqualAt(&truth, *id, rewrite.best->id));
    ASSAY_CHECK(rewrite.best->mean_bits <= rewrite.original.mean_bits);
  }
}

}  // namespace
}  // namespace assay::expression

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) assay::expression::Try(data, size);
  return 0;
}
