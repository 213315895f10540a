// SPDX-License-Identifier: Apache-2.0
#include "web/articles/numerical-pitfalls/explorer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "numerics/core/elementary.h"
#include "numerics/expression/analyse.h"
#include "numerics/expression/evaluate.h"
#include "numerics/expression/expression.h"
#include "numerics/expression/rewrite.h"
#include "numerics/expression/rules.h"
#include "numerics/floating/anatomy.h"
#include "numerics/floating/big_float.h"
#include "web/articles/numerical-pitfalls/answer.h"

namespace assay::numerical_pitfalls {
namespace {

using expression::Analysis;
using expression::Ball;
using expression::FormatValues;
using expression::Graph;
using expression::Point;
using expression::TrueValues;
using floating::BigFloat;
using floating::Format;
using floating::kFormats;

constexpr int kSearchPoints = 12;
constexpr int kCurveBits = 1024;  // of true values along the curve

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Fills `texts`, one for each variable; false with the reason in *error.
bool ReadValues(std::string_view values, const Graph& graph, std::vector<std::string>* texts,
                Point* point, std::string* error) {
  texts->assign(graph.variables().size(), "1");
  for (std::string_view rest = values; !Trimmed(rest).empty();) {
    const size_t end = std::min(rest.size(), rest.find_first_of(",;"));
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    if (Trimmed(part).empty()) continue;
    const size_t equals = part.find('=');
    const std::string name(Trimmed(part.substr(0, equals)));
    if (equals == std::string_view::npos || name.empty()) {
      *error = "expected a value like x = 1e12, not \"" + std::string(Trimmed(part)) + "\"";
      return false;
    }
    for (size_t i = 0; i < texts->size(); ++i) {
      if (graph.variables()[i] == name) (*texts)[i] = std::string(Trimmed(part.substr(equals + 1)));
    }
  }
  for (size_t i = 0; i < texts->size(); ++i) {
    const std::optional<BigFloat> value = floating::ParseBigFloat((*texts)[i], {1024});
    if (!value) {
      *error =
          "the value of " + graph.variables()[i] + ", \"" + (*texts)[i] + "\", is not a number";
      return false;
    }
    if (!value->IsFinite()) {
      *error = "the value of " + graph.variables()[i] + ", \"" + (*texts)[i] + "\", is too large";
      return false;
    }
    point->push_back(*value);
  }
  return true;
}

// What one format makes of the expression.
struct InFormat {
  FormatValues values;
  TrueValues truth;
};

// EXACT of what is known: "unknown" where nothing is, and an infinity or a 0 that stands for a
// number out of BigFloat's range is not complete.
std::string KnownOf(const Ball& ball) {
  if (ball.error == Ball::kUnknown) return R"({"text":"unknown","complete":false})";
  const bool beyond = ball.error == Ball::kOverflow;
  const bool below =
      ball.value.IsZero() && ball.error != Ball::kExact && ball.error < -Ball::kHuge / 2;
  if (!beyond && !below) return ExactOf(ball.value);
  return "{\"text\":" + Quoted(below ? "0" : TextOf(ball.value)) + ",\"complete\":false}";
}

std::string Strings(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (size_t i = 0; i < texts.size(); ++i) json += (i > 0 ? "," : "") + texts[i];
  return json + "]";
}

// VALUE of `id` in each format against the truth of `against`.
std::string ValuesOf(int id, int against, std::vector<InFormat>* formats) {
  std::vector<std::string> values;
  for (InFormat& f : *formats) {
    const Format format = f.values.format();
    values.push_back(ValueOf(format, ToFormat(format, f.values(id)), f.truth(against).value));
  }
  return Strings(values);
}

// Bits of error with two decimals.
std::string Decimal(double x) {
  return Brief(static_cast<double>(static_cast<int64_t>(x * 100 + 0.5)) / 100, 6);
}

std::string CurveOf(Graph* graph, int id, int rewritten, const Point& point, size_t axis,
                    const ExplorerOptions& options) {
  std::array<std::vector<std::string>, 8> errors;  // of four formats: as typed, then rewritten
  std::vector<std::string> condition;
  const bool negative = point[axis].IsNegative();
  for (int k = 0; k < kCurvePoints; ++k) {
    const double decade =
        options.low + static_cast<double>((options.high - options.low) * k) / (kCurvePoints - 1);
    Point here = point;
    here[axis] = BigFloat(Pow(10.0, decade) * (negative ? -1 : 1));
    for (size_t f = 0; f < kFormats.size(); ++f) {
      FormatValues values(graph, kFormats[f], here);
      TrueValues truth(graph, values.point(), kCurveBits);
      const Ball& known = truth(id);
      const bool usable = known.value.IsFinite() && (known.Knows(64) || known.value.IsZero());
      for (const bool better : {false, true}) {
        std::string text = "null";
        if (usable && (!better || rewritten >= 0)) {
          text = Decimal(
              expression::ErrorOf(kFormats[f], values(better ? rewritten : id), known.value).bits);
        }
        errors[f + (better ? 4 : 0)].push_back(text);
      }
      if (kFormats[f] != Format::kF64) continue;
      // The condition in this variable, as a power of ten.
      const double c = usable ? Analyse(*graph, id, &truth).condition[axis] : -1;
      condition.push_back(c > 0 && c < 1e300 ? Brief(Log(c) / 2.302585092994045684, 4) : "null");
    }
  }
  const auto four = [&](size_t from) {
    std::vector<std::string> rows;
    for (size_t f = from; f < from + 4; ++f) rows.push_back(Strings(errors[f]));
    return Strings(rows);
  };
  std::string json;
  Append(&json, {"{\"variable\":", Quoted(graph->variables()[axis]), ",\"low\":",
                 std::to_string(options.low), ",\"high\":", std::to_string(options.high),
                 ",\"negative\":", negative ? "true" : "false", ",\"original\":", four(0),
                 ",\"rewritten\":", rewritten >= 0 ? four(4) : "null",
                 ",\"condition\":", Strings(condition), "}"});
  return json;
}

}  // namespace

std::string Explore(std::string_view text, std::string_view values,
                    const ExplorerOptions& options) {
  if (options.low < -kMostDecade || options.high > kMostDecade || options.low >= options.high) {
    return ErrorDocument("the curve's decades must rise and lie within -300 and 300");
  }
  Graph graph;
  std::string error;
  const std::optional<int> read = expression::Read(text, &graph, &error);
  if (!read) return ErrorDocument(error);
  const int id = *read;
  std::vector<std::string> texts;
  Point point;
  if (!ReadValues(values, graph, &texts, &point, &error)) return ErrorDocument(error);

  TrueValues truth(&graph, point);
  const Analysis exact = Analyse(graph, id, &truth);
  const int exact_bits = truth.BitsFor(id);
  std::vector<std::string> parts;
  for (size_t i = 0; i < texts.size(); ++i) {
    Append(&parts.emplace_back(),
           {"{\"name\":", Quoted(graph.variables()[i]), ",\"value\":", Quoted(texts[i]),
            ",\"condition\":", Quoted(Factor(exact.condition[i])), "}"});
  }
  std::string json;
  Append(&json, {"{\"mode\":\"expression\",\"text\":", Quoted(graph.ToText(id)), ",\"exact\":",
                 KnownOf(truth(id)), ",\"condition\":", Quoted(Factor(exact.total_condition)),
                 ",\"variables\":", Strings(parts)});

  std::vector<InFormat> formats;
  std::vector<std::vector<double>> blame;
  parts.clear();
  for (const Format format : kFormats) {
    FormatValues in(&graph, format, point);
    // A value out of the format's range is an error of the format, not another question.
    bool in_range = true;
    for (const BigFloat& x : in.point()) in_range = in_range && x.IsFinite();
    TrueValues stored(&graph, in_range ? in.point() : point);
    formats.push_back({std::move(in), std::move(stored)});
    InFormat& f = formats.back();
    blame.push_back(Blame(graph, Analyse(graph, id, &f.truth), &f.values));
    const floating::FormatInfo info = Info(format);
    std::vector<std::string> shown;
    for (const BigFloat& x : f.values.point()) {
      shown.push_back(Quoted(ShortestDecimal(format, ToFormat(format, x))));
    }
    const Ball& right = f.truth(id);
    Append(&parts.emplace_back(),
           {"{\"name\":\"", info.name, "\",\"exponent_bits\":", std::to_string(info.exponent_bits),
            ",\"fraction_bits\":", std::to_string(info.fraction_bits),
            ",\"stored\":", Strings(shown), ",\"truth\":", KnownOf(right),
            ",\"value\":", ValueOf(format, ToFormat(format, f.values(id)), right.value), "}"});
  }
  Append(&json, {",\"formats\":", Strings(parts)});

  parts.clear();
  for (size_t k = 0; k < exact.steps.size(); ++k) {
    const Analysis::Step& step = exact.steps[k];
    const expression::Node& node = graph.node(step.id);
    if (node.args.empty() || node.op == expression::Op::kNegate) continue;
    std::vector<std::string> shares;
    for (const std::vector<double>& b : blame) shares.push_back(Quoted(Factor(b[k])));
    Append(&parts.emplace_back(), {"{\"text\":", Quoted(graph.ToText(step.id)),
                                   ",\"exact\":", KnownOf(truth.At(exact_bits, step.id)),
                                   ",\"amplifies\":", Quoted(Factor(step.amplifies)),
                                   ",\"values\":", ValuesOf(step.id, step.id, &formats),
                                   ",\"blame\":", Strings(shares), "}"});
  }
  Append(&json, {",\"steps\":", Strings(parts), ",\"rewrite\":"});

  expression::SearchOptions search;
  search.format = options.format;
  const expression::Rewrite rewrite = expression::FindRewrite(
      &graph, id, expression::PointsAround(point, options.format, kSearchPoints, search.seed),
      search);
  const int rewritten = rewrite.best ? rewrite.best->id : -1;
  if (rewrite.best) {
    parts.clear();
    for (const expression::RewriteStep& step : rewrite.best->steps) {
      Append(&parts.emplace_back(), {"{\"rule\":", Quoted(step.rule),
                                     ",\"reason\":", Quoted(expression::ReasonFor(step.rule)),
                                     ",\"text\":", Quoted(graph.ToText(step.id)), "}"});
    }
    // Its errors are those against the original's truth.
    Append(&json, {"{\"text\":", Quoted(graph.ToText(rewritten)), ",\"by\":", Strings(parts),
                   ",\"before\":", Quoted(Brief(rewrite.original.mean_bits, 2)),
                   ",\"after\":", Quoted(Brief(rewrite.best->mean_bits, 2)),
                   ",\"values\":", ValuesOf(rewritten, id, &formats), "}"});
  } else {
    json += "null";
  }
  Append(&json, {",\"searched\":", std::to_string(rewrite.candidates), ",\"curve\":"});
  if (point.empty()) return json + "null}";
  size_t axis = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (graph.variables()[i] == options.axis) axis = i;
  }
  return json + CurveOf(&graph, id, rewritten, point, axis, options) + "}";
}

}  // namespace assay::numerical_pitfalls
