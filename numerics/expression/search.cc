// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/core/random.h"
#include "numerics/expression/analyse.h"
#include "numerics/expression/neighbours.h"
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
    for (const Point& point : points) {
      FormatValues values(graph, options.format, point);
      TrueValues truth(graph, values.point());
      const BigFloat value = truth(id).value;
      if (!value.IsFinite()) continue;
      near_.push_back({std::move(values), std::move(truth), value});
    }
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
    result.original = Measure(original_, {});
    if (near_.empty()) return result;
    Add(result.original);
    for (int i = 0; i < options_.expansions && !open_.empty(); ++i) {
      const int index = Next(i);
      const Measured current = pool_[static_cast<size_t>(index)];
      if (!Verified(current.id)) {
        ++result.refused;
        continue;
      }
      if (!options_.branches && current.mean_bits <= options_.good_enough) break;
      const std::vector<std::pair<int, const char*>> neighbours =
          rewriter_.Neighbours(&graph_, current.id);
      for (const auto& [id, rule] : neighbours) {
        if (static_cast<int>(pool_.size()) >= options_.candidates) break;
        if (seen_.count(id) != 0 || graph_.CountOperations(id) > most_) continue;
        std::vector<RewriteStep> steps = current.steps;
        steps.push_back({rule, id});
        Add(Measure(id, std::move(steps)));
      }
    }
    result.candidates = static_cast<int>(pool_.size());
    Choose(&result);
    if (options_.branches) Split(&result);
    return result;
  }

 private:
  struct Near {
    FormatValues values;
    TrueValues truth;
    BigFloat value;
  };

  Measured Measure(int id, std::vector<RewriteStep> steps) {
    Measured m{id, std::move(steps), 0, 0};
    std::vector<double>& bits = bits_[id];
    for (Near& near : near_) {
      bits.push_back(ErrorOf(options_.format, near.values(id), near.value).bits);
      m.mean_bits += bits.back();
      m.worst_bits = std::max(m.worst_bits, bits.back());
    }
    if (!near_.empty()) m.mean_bits /= static_cast<double>(near_.size());
    return m;
  }

  void Add(Measured m) {
    const int index = static_cast<int>(pool_.size());
    const int operations = graph_.CountOperations(m.id);
    seen_.insert(m.id);
    open_.insert({m.mean_bits, operations, index});
    short_.insert({operations, index});
    pool_.push_back(std::move(m));
  }

  // The best candidate not yet taken up; every third time the shortest, since two steps that gain
  // nothing alone can gain together.
  int Next(int turn) {
    const int index = turn % 3 == 2 ? std::get<1>(*short_.begin()) : std::get<2>(*open_.begin());
    const Measured& m = pool_[static_cast<size_t>(index)];
    const int operations = graph_.CountOperations(m.id);
    open_.erase({m.mean_bits, operations, index});
    short_.erase({operations, index});
    return index;
  }

  bool Verified(int id) {
    const auto [at, fresh] = verified_.try_emplace(id, true);
    if (!fresh) return at->second;
    bool equal = true;
    for (Near& near : near_) equal = equal && EqualAt(&near.truth, original_, id);
    for (TrueValues& far : far_) equal = equal && EqualAt(&far, original_, id);
    return verified_[id] = equal;
  }

  // Candidates from the best to the worst; among equals the shorter, then the older.
  std::vector<int> Ranked() {
    std::vector<int> order;
    for (int i = 0; i < static_cast<int>(pool_.size()); ++i) order.push_back(i);
    const auto key = [&](int i) {
      const Measured& m = pool_[static_cast<size_t>(i)];
      // A tenth of a bit is not worth a longer expression.
      return std::make_tuple(static_cast<int64_t>(m.mean_bits * 10), graph_.CountOperations(m.id),
                             i);
    };
    std::vector<std::tuple<int64_t, int, int>> keys;
    for (const int i : order) keys.push_back(key(i));
    std::sort(keys.begin(), keys.end());  // total order: the index is in the key
    for (size_t i = 0; i < keys.size(); ++i) order[i] = std::get<2>(keys[i]);
    return order;
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

  // Of the candidates within a quarter of a bit of the best one, that which risks least.
  void Choose(Rewrite* result) {
    constexpr int kFinalists = 16;
    int finalists = 0;
    double limit = result->original.mean_bits - options_.least_gain;
    std::tuple<int64_t, int, int> least;
    for (const int i : Ranked()) {
      const Measured& m = pool_[static_cast<size_t>(i)];
      if (m.mean_bits > limit || finalists == kFinalists) return;
      if (!Verified(m.id)) {
        ++result->refused;
        continue;
      }
      if (++finalists == 1) limit = std::min(limit, m.mean_bits + 0.25);
      const std::tuple<int64_t, int, int> key = {static_cast<int64_t>(Exposure(m.id) * 2),
                                                 graph_.CountOperations(m.id), i};
      if (finalists > 1 && key >= least) continue;
      least = key;
      result->best = m;
    }
  }

  // Two forms where one does not do: for every variable and every cut of the points in its order,
  // the best form on either side.
  void Split(Rewrite* result) {
    const double alone = result->best ? result->best->mean_bits : result->original.mean_bits;
    std::vector<int> order(near_.size());
    double least = alone - 1;
    std::vector<const Measured*> useful;
    for (const Measured& m : pool_) useful.push_back(&m);
    // The shorter first: a longer one has to gain a tenth of a bit at every point.
    std::stable_sort(useful.begin(), useful.end(), [&](const Measured* a, const Measured* b) {
      return graph_.CountOperations(a->id) < graph_.CountOperations(b->id);
    });
    for (size_t v = 0; v < graph_.variables().size() && !near_.empty(); ++v) {
      for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
      const auto at = [&](int i) -> const BigFloat& {
        return near_[static_cast<size_t>(i)].values.point()[v];
      };
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return at(a) < at(b); });
      std::vector<std::pair<double, const Measured*>> left(order.size() + 1, {0, nullptr});
      std::vector<std::pair<double, const Measured*>> right = left;
      for (const Measured* m : useful) {
        const std::vector<double>& bits = bits_[m->id];
        double sum = 0;
        for (size_t k = 1; k <= order.size(); ++k) {
          sum += bits[static_cast<size_t>(order[k - 1])];
          if (left[k].second == nullptr || sum < left[k].first - 0.1 * static_cast<double>(k))
            left[k] = {sum, m};
        }
        sum = 0;
        for (size_t k = order.size(); k-- > 0;) {
          sum += bits[static_cast<size_t>(order[k])];
          if (right[k].second == nullptr ||
              sum < right[k].first - 0.1 * static_cast<double>(order.size() - k))
            right[k] = {sum, m};
        }
      }
      for (size_t k = 1; k < order.size(); ++k) {
        if (at(order[k - 1]) == at(order[k])) continue;
        const double mean = (left[k].first + right[k].first) / static_cast<double>(order.size());
        if (mean >= least || !Verified(left[k].second->id) || !Verified(right[k].second->id))
          continue;
        least = mean;
        result->variable = static_cast<int>(v);
        // 0 between the signs, else the first value of the right side.
        const BigFloat& cut = at(order[k]);
        result->threshold = at(order[k - 1]).IsNegative() && !cut.IsNegative() ? BigFloat() : cut;
        result->below = *left[k].second;
        result->best = *right[k].second;
        double worst = 0;
        for (size_t i = 0; i < order.size(); ++i) {
          const int id = i < k ? left[k].second->id : right[k].second->id;
          worst = std::max(worst, bits_[id][static_cast<size_t>(order[i])]);
        }
        for (Measured* m : {&*result->below, &*result->best}) {
          m->mean_bits = mean;
          m->worst_bits = worst;
        }
      }
    }
  }

  Graph& graph_;
  int original_;
  SearchOptions options_;
  int most_;
  NeighbourFinder rewriter_;
  std::vector<Near> near_;
  std::vector<TrueValues> far_;
  std::vector<Measured> pool_;
  std::set<std::tuple<double, int, int>> open_;  // mean error, operations, index in the pool
  std::set<std::pair<int, int>> short_;          // operations, index: the same candidates
  std::set<int> seen_;
  std::map<int, bool> verified_;
  std::map<int, std::vector<double>> bits_;
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
