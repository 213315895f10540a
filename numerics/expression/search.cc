// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/core/random.h"
#include "numerics/expression/analyse.h"
#include "numerics/expression/neighbours.h"
#include "numerics/expression/order.h"
#include "numerics/expression/rewrite.h"

namespace assay::expression {
namespace {

constexpr int kEqualBits = 100;
constexpr int kFarPoints = 12;
constexpr int kMostGrowth = 24;  // operations more than the original has

// 2^u for u between -spread and spread.
BigFloat RandomFactor(Random* random, double spread) {
  const double u = random->Uniform();
  return BigFloat(Exp((2 * u - 1) * spread * 0.69314718055994531));
}

class Search {
 public:
  Search(Graph* graph, int id, const std::vector<Point>& points, const SearchOptions& options)
      : graph_(*graph),
        original_(id),
        options_(options),
        most_(graph->CountOperations(id) + kMostGrowth) {
    for (const Point& point : points) Keep(point, &near_);
    // Far from them, where a coincidence of the points would show.
    Random random(options.seed, 9000);
    for (int i = 0; i < kFarPoints; ++i) {
      Point point;
      for (const BigFloat& x : points[0]) {
        const BigFloat size = RandomFactor(&random, i % 2 == 0 ? 3 : 12);
        const bool negative = random.Integer(4) == 0 ? !x.IsNegative() : x.IsNegative();
        point.push_back(negative ? -size : size);
      }
      far_.emplace_back(graph, std::move(point));
    }
  }

  Rewrite Run() {
    Rewrite result;
    result.points = static_cast<int>(near_.size());
    Add(original_, {});
    result.original = pool_[0].measured;
    if (near_.empty()) return result;
    for (int i = 0; i < options_.expansions && open_ > 0; ++i) {
      const size_t index = Next(i);
      const Measured current = pool_[index].measured;
      if (!Verified(index)) {
        ++result.refused;
        continue;
      }
      if (options_.split_checks.empty() && current.mean_bits <= options_.good_enough) break;
      const std::vector<std::pair<int, const char*>> neighbours =
          rewriter_.Neighbours(&graph_, current.id);
      for (const auto& [id, rule] : neighbours) {
        if (static_cast<int>(pool_.size()) >= options_.candidates) break;
        if (Seen(id) || graph_.CountOperations(id) > most_) continue;
        std::vector<RewriteStep> steps = current.steps;
        steps.push_back({rule, id});
        Add(id, std::move(steps));
      }
    }
    result.candidates = static_cast<int>(pool_.size());
    Choose(&result);
    if (!options_.split_checks.empty()) Split(&result);
    return result;
  }

 private:
  struct Near {
    FormatValues values;
    TrueValues truth;
    BigFloat value;
  };

  struct Candidate {
    Measured measured;
    int operations;
    std::vector<double> bits;  // of error at each point
    bool taken_up = false;
    std::optional<bool> verified;  // once asked
  };

  void Add(int id, std::vector<RewriteStep> steps) {
    Candidate c{{id, std::move(steps), 0, 0}, graph_.CountOperations(id), {}, false, {}};
    Measured& m = c.measured;
    for (Near& near : near_) {
      c.bits.push_back(ErrorOf(options_.format, near.values(id), near.value).bits);
      m.mean_bits += c.bits.back();
      m.worst_bits = std::max(m.worst_bits, c.bits.back());
    }
    if (!near_.empty()) m.mean_bits /= static_cast<double>(near_.size());
    pool_.push_back(std::move(c));
    seen_.resize(static_cast<size_t>(graph_.size()));
    seen_[static_cast<size_t>(id)] = true;
    ++open_;
  }

  bool Seen(int id) const {
    return static_cast<size_t>(id) < seen_.size() && seen_[static_cast<size_t>(id)];
  }

  // The best candidate not yet taken up; every third time the shortest, since two steps that gain
  // nothing alone can gain together. Among equals the shorter, then the older.
  size_t Next(int turn) {
    size_t best = pool_.size();
    for (size_t i = 0; i < pool_.size(); ++i) {
      if (pool_[i].taken_up) continue;
      if (best == pool_.size()) {
        best = i;
        continue;
      }
      const Candidate& a = pool_[i];
      const Candidate& b = pool_[best];
      const bool better = turn % 3 != 2 && a.measured.mean_bits != b.measured.mean_bits
                              ? a.measured.mean_bits < b.measured.mean_bits
                              : a.operations < b.operations;
      if (better) best = i;
    }
    pool_[best].taken_up = true;
    --open_;
    return best;
  }

  bool Verified(size_t index) {
    std::optional<bool>& verified = pool_[index].verified;
    if (!verified) {
      const int id = pool_[index].measured.id;
      bool equal = true;
      for (Near& near : near_) equal = equal && EqualAt(&near.truth, original_, id);
      for (TrueValues& far : far_) equal = equal && EqualAt(&far, original_, id);
      verified = equal;
    }
    return *verified;
  }

  // Indices of the candidates from the best to the worst; among equals the shorter, then the older.
  // A tenth of a bit is not worth a longer expression.
  std::vector<size_t> Ranked() const {
    std::vector<double> keys;
    for (const Candidate& c : pool_) {
      keys.push_back(1000 * static_cast<double>(static_cast<int64_t>(c.measured.mean_bits * 10)) +
                     c.operations);
    }
    return OrderOf(keys);
  }

  // The mean over the points of log2 of the sum of all weights: what the roundings could come to at
  // worst. Tells what is good from what was lucky.
  double Exposure(int id) {
    double sum = 0;
    for (Near& near : near_) {
      double weights = 0;
      for (const Analysis::Step& step : Analyse(graph_, id, &near.truth).steps) {
        if (!graph_.node(step.id).args.empty()) weights += step.weight;
      }
      sum += weights < 0x1p60 ? Log(1 + weights) / 0.69314718055994531 : 60;
    }
    return sum / static_cast<double>(near_.size());
  }

  // Of the shortest candidates within half a bit of the best one, that which risks least.
  void Choose(Rewrite* result) {
    constexpr size_t kFinalists = 24;
    double limit = result->original.mean_bits - options_.least_gain;
    std::vector<double> operations;
    std::vector<size_t> close;
    for (const size_t i : Ranked()) {
      const Measured& m = pool_[i].measured;
      if (m.mean_bits > limit) break;
      if (close.empty()) {
        if (!Verified(i)) {
          ++result->refused;
          continue;
        }
        limit = std::min(limit, m.mean_bits + 0.5);
      }
      close.push_back(i);
      operations.push_back(pool_[i].operations);
    }
    double least = 0;
    size_t finalists = 0;
    for (const size_t k : OrderOf(operations)) {
      const size_t i = close[k];
      if (finalists == kFinalists || !Verified(i)) continue;
      // To two bits, then by length.
      const double exposure =
          1000.0 * static_cast<double>(static_cast<int64_t>(Exposure(pool_[i].measured.id) / 2)) +
          pool_[i].operations;
      if (++finalists > 1 && exposure >= least) continue;
      least = exposure;
      result->best = pool_[i].measured;
    }
  }

  // Two forms where one does not do: for every variable and every cut of the points in its order
  // that leaves kFewest on either side, the best form there. A form for fewer would be one for
  // those points alone.
  void Split(Rewrite* result) {
    constexpr size_t kFewest = 3;
    // The shorter first: a longer one has to gain so many bits at every point.
    constexpr double kWorthwhile = 0.25;
    std::vector<Near> checks;
    for (const Point& point : options_.split_checks) Keep(point, &checks);
    const Rewrite alone = *result;
    double least = (alone.best ? *alone.best : alone.original).mean_bits;
    double least_checked = MeanBits(alone, &checks);
    std::vector<double> keys;
    for (const Candidate& c : pool_) keys.push_back(c.operations);
    const std::vector<size_t> useful = OrderOf(keys);
    struct Part {
      double sum = 0;
      size_t candidate = 0;
    };
    struct Cut {
      size_t variable;
      BigFloat threshold;
      size_t below;
      size_t above;
      double mean;
      double worst;
    };
    std::vector<Cut> cuts;
    for (size_t v = 0; v < graph_.variables().size(); ++v) {
      const auto at = [&](size_t i) -> const BigFloat& { return near_[i].values.point()[v]; };
      keys.clear();
      for (size_t i = 0; i < near_.size(); ++i) keys.push_back(at(i).ToDouble());
      const std::vector<size_t> order = OrderOf(keys);
      // The best candidate for the first k points, and for those from the k-th.
      std::vector<Part> left(order.size() + 1);
      std::vector<Part> right(order.size() + 1);
      for (const size_t c : useful) {
        const std::vector<double>& bits = pool_[c].bits;
        const bool first = c == useful[0];
        double sum = 0;
        for (size_t k = 1; k <= order.size(); ++k) {
          sum += bits[order[k - 1]];
          if (first || sum < left[k].sum - kWorthwhile * static_cast<double>(k)) left[k] = {sum, c};
        }
        sum = 0;
        for (size_t k = order.size(); k-- > 0;) {
          sum += bits[order[k]];
          if (first || sum < right[k].sum - kWorthwhile * static_cast<double>(order.size() - k)) {
            right[k] = {sum, c};
          }
        }
      }
      for (size_t k = kFewest; k + kFewest <= order.size(); ++k) {
        const BigFloat& below = at(order[k - 1]);
        const BigFloat& above = at(order[k]);
        if (below == above) continue;
        // 0 between the signs, else the first value of the right side.
        const bool signs = below.IsNegative() && !above.IsNegative();
        Cut cut{v, signs ? BigFloat() : above, left[k].candidate, right[k].candidate, 0, 0};
        cut.mean = (left[k].sum + right[k].sum) / static_cast<double>(order.size());
        for (size_t i = 0; i < order.size(); ++i) {
          cut.worst = std::max(cut.worst, pool_[i < k ? cut.below : cut.above].bits[order[i]]);
        }
        cuts.push_back(std::move(cut));
      }
    }
    // Cuts at 0 first: a value between the points is as good as its neighbours, 0 has a reason.
    // Each must save a bit over what is kept already, also at the points for checking.
    keys.clear();
    for (const Cut& cut : cuts) keys.push_back(cut.threshold.IsZero() ? 0 : 1);
    for (const size_t i : OrderOf(keys)) {
      const Cut& cut = cuts[i];
      if (cut.mean > least - 1 || !Verified(cut.below) || !Verified(cut.above)) continue;
      Rewrite split = alone;
      split.variable = static_cast<int>(cut.variable);
      split.threshold = cut.threshold;
      split.below = pool_[cut.below].measured;
      split.best = pool_[cut.above].measured;
      for (Measured* m : {&*split.below, &*split.best}) {
        m->mean_bits = cut.mean;
        m->worst_bits = cut.worst;
      }
      const double checked = MeanBits(split, &checks);
      if (checks.empty() || checked > least_checked - 1) continue;
      least = cut.mean;
      least_checked = checked;
      *result = std::move(split);
    }
  }

  // Of error, over points, of what a rewrite puts there.
  double MeanBits(const Rewrite& rewrite, std::vector<Near>* points) const {
    double sum = 0;
    for (Near& near : *points) {
      const int id = FormAt(rewrite, near.values.point()).id;
      sum += ErrorOf(options_.format, near.values(id), near.value).bits;
    }
    return points->empty() ? 0 : sum / static_cast<double>(points->size());
  }

  // Adds a point to those measured at, unless the original has no value there.
  void Keep(const Point& point, std::vector<Near>* points) const {
    FormatValues values(&graph_, options_.format, point);
    TrueValues truth(&graph_, values.point());
    BigFloat value = truth(original_).value;
    if (!value.IsFinite()) return;
    points->push_back({std::move(values), std::move(truth), std::move(value)});
  }

  Graph& graph_;
  int original_;
  SearchOptions options_;
  int most_;
  NeighbourFinder rewriter_;
  std::vector<Near> near_;
  std::vector<TrueValues> far_;
  std::vector<Candidate> pool_;
  std::vector<bool> seen_;  // by id
  int open_ = 0;            // candidates not yet taken up
};

}  // namespace

std::vector<Point> PointsAround(const Point& point, Format format, int count, uint64_t seed) {
  const auto stored = [&](const BigFloat& x) { return FromFormat(format, ToFormat(format, x)); };
  std::vector<Point> points;
  Random random(seed, 9001);
  for (int i = 0; i < (point.empty() ? 1 : count); ++i) {
    Point p;
    for (const BigFloat& x : point) {
      if (i == 0) {
        p.push_back(stored(x));
        continue;
      }
      const BigFloat factor = RandomFactor(&random, 1);
      const BigFloat around = x.IsZero() ? factor.Times2To(-20) : x;
      p.push_back(stored(Multiply(around, factor, {64})));
    }
    points.push_back(std::move(p));
  }
  return points;
}

const Measured& FormAt(const Rewrite& rewrite, const Point& point) {
  if (!rewrite.best) return rewrite.original;
  if (!rewrite.below) return *rewrite.best;
  const bool below = point[static_cast<size_t>(rewrite.variable)] < rewrite.threshold;
  return below ? *rewrite.below : *rewrite.best;
}

bool EqualAt(TrueValues* truth, int first, int second) {
  const Ball& a = (*truth)(first);
  if (!a.value.IsFinite()) return true;
  const Ball& b = (*truth)(second);
  if (!b.value.IsFinite()) return false;
  if (a.value == b.value) return true;
  // What is only known as "below its error" is as good as the error.
  const BigFloat difference = Subtract(a.value, b.value, {64}).Abs();
  int64_t allowed = std::max(a.error, b.error);
  if (!a.value.IsZero()) allowed = std::max(allowed, a.value.Exponent() - kEqualBits);
  return difference.Exponent() <= allowed && allowed < Ball::kUnknown;
}

Rewrite FindRewrite(Graph* graph, int id, const std::vector<Point>& points,
                    const SearchOptions& options) {
  ASSAY_CHECK(!points.empty());
  return Search(graph, id, points, options).Run();
}

}  // namespace assay::expression
