// SPDX-License-Identifier: Apache-2.0
//
// What a lab author sees: a lab is a function that fills a report.
//
//   #include "tools/lab/lab.h"
//
//   absl::Status Run(assay::lab::Context& context, assay::lab::Report& report) {
//     const int64_t n = context.Integer("n", 1 << 10, 1 << 16, 1 << 20);
//     report.Exact("sum", Sum(n), "Sum of the first n terms");
//     auto& table = report.AddTable("terms", "Each term and its error");
//     table.Column<int64_t>("k").Column<double>("error", "ulp");
//     for (int64_t k = 0; k < n; k *= 2) table.Row(k, Error(k));
//     return absl::OkStatus();
//   }
//
//   ASSAY_LAB(my_article, {.title = "My article", .run = &Run});   // slug "my-article"
//
// The same function runs natively and in WebAssembly and must fill the same bytes there. This
// header and its implementation are portable: no files, no clock, no threads, no iostream. What
// surrounds them (records, claims, the command line) is in the other targets of this package.
//
// Ids of figures, tables and columns, and names of knobs, are lower-case identifiers
// ([a-z][a-z0-9_]*), so that predicates and articles can name them; a figure and a table of one lab
// never share an id. A wrong id, a repeated id or a row that does not fit its columns is the
// author's mistake: the first one is kept and becomes the status of the run.
#ifndef ASSAY_TOOLS_LAB_LAB_H_
#define ASSAY_TOOLS_LAB_LAB_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay::lab {

// How much a lab computes. quick: seconds, what tests run. browser: at most about 10 s in wasm,
// what a reader re-runs. full: the article's numbers, minutes on two cores.
enum class Profile { kQuick, kBrowser, kFull };

std::string_view ProfileName(Profile profile);               // "quick", "browser", "full"
std::optional<Profile> ParseProfile(std::string_view name);  // the inverse

// The type of a figure or column; its name in reports is "f32", "f64", "i64", "u64", "bool", "str".
enum class Type { kF32, kF64, kI64, kU64, kBool, kString };

std::string_view TypeName(Type type);

// The Type that holds a C++ type: every signed integer is i64, every unsigned one u64 (size_t and
// long have other widths in wasm, and the report must not notice).
template <class T>
constexpr Type TypeOf() {
  using U = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<U, bool>) {
    return Type::kBool;
  } else if constexpr (std::is_same_v<U, float>) {
    return Type::kF32;
  } else if constexpr (std::is_same_v<U, double>) {
    return Type::kF64;
  } else if constexpr (std::is_integral_v<U>) {
    return std::is_signed_v<U> ? Type::kI64 : Type::kU64;
  } else {
    static_assert(std::is_convertible_v<const U&, std::string_view>,
                  "a figure is float, double, an integer, bool or a string");
    return Type::kString;
  }
}

// One value as a report holds it.
struct Value {
  Type type = Type::kF64;
  std::string text;   // shortest round trip; "true" or "false"; the string itself
  uint64_t bits = 0;  // IEEE bits (NaN canonical), two's complement, 0 or 1; 0 for strings

  static Value Of(float value);
  static Value Of(double value);
  static Value Of(bool value);
  static Value OfInt(int64_t value);
  static Value OfUint(uint64_t value);
  static Value OfString(std::string_view value);

  template <class T>
  static Value From(const T& value) {
    constexpr Type type = TypeOf<T>();
    if constexpr (type == Type::kString) {
      return OfString(value);
    } else if constexpr (type == Type::kI64) {
      return OfInt(static_cast<int64_t>(value));
    } else if constexpr (type == Type::kU64) {
      return OfUint(static_cast<uint64_t>(value));
    } else {
      return Of(value);
    }
  }

  // Appends what the hash is taken over: 4 or 8 bytes little-endian, one byte for bool, the UTF-8
  // bytes of a string, preceded by their number (8 bytes, little-endian) where `length_first`.
  void AppendBytes(bool length_first, std::vector<uint8_t>& bytes) const;
};

// What a lab may ask for. A knob is recorded in the report's "args" when it is first asked for;
// asking again under the same name gives the same value.
class Context {
 public:
  using DataSource = std::function<absl::StatusOr<std::vector<uint8_t>>(std::string_view name)>;
  using ProgressSink = std::function<void(int64_t done, int64_t total, std::string_view what)>;

  struct Options {
    Profile profile = Profile::kQuick;
    int threads = 1;
    std::vector<std::pair<std::string, std::string>> args = {};  // overrides; a later one wins
    DataSource data = {};                                        // none: the lab has no data
    ProgressSink progress = {};                                  // none: nobody listens
  };

  explicit Context(Options options);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Profile profile() const { return options_.profile; }

  // How many threads the caller grants; exact results do not depend on it.
  int threads() const { return options_.threads; }

  // The seed of the run, 1 unless overridden; recorded as the knob "seed".
  uint64_t seed();

  // A knob: the value for the profile, unless the command line or the page overrides it. An
  // override that does not parse leaves the default and fails the run.
  int64_t Integer(std::string_view name, int64_t quick, int64_t browser, int64_t full);
  double Real(std::string_view name, double quick, double browser, double full);

  // The bytes of a data file declared in lab.json; its name and SHA-256 go into the report.
  // Fails: NotFound for an undeclared name or a missing file, whatever the source says otherwise.
  absl::StatusOr<std::vector<uint8_t>> Data(std::string_view name);

  // Says how far the run is. Cheap: a call that moves nothing by a thousandth is dropped here.
  //   done of total, in any unit; what: a few words, the same for all calls of one stage.
  void Progress(int64_t done, int64_t total, std::string_view what);

  // What the run used, in the order of the first use, and what went wrong (the first of it). For
  // the program around the lab.
  const std::vector<std::pair<std::string, std::string>>& args() const { return args_; }
  const std::vector<std::pair<std::string, std::string>>& data_hashes() const { return data_; }
  // As above, and an override of a knob that the lab never asked for (but for the seed), with the
  // nearest name.
  absl::Status Finish() const;

 private:
  const std::string* Override(std::string_view name) const;
  const std::string* Recorded(std::string_view name) const;
  void Fail(absl::Status status);

  Options options_;
  std::vector<std::pair<std::string, std::string>> args_;
  std::vector<std::pair<std::string, std::string>> data_;
  std::string progress_what_;
  int64_t progress_permille_ = -1;
  absl::Status status_;
};

// The error of a bounded figure. The figure holds when observed <= bound; a NaN never holds.
struct Bound {
  std::string metric = {};     // "max rel", "ulp", "rel. Frobenius", ...
  double observed = 0;         // in this run
  double bound = 0;            // derived, not tuned
  std::string why = {};        // the derivation in one sentence
  std::string reference = {};  // what the value was compared with
};

// Where a cited figure comes from.
struct Source {
  std::string author = {};
  int year = 0;
  std::string title = {};
  std::string where = {};  // table, page, section
  std::string url = {};    // or DOI
};

enum class Kind { kExact, kBounded, kModelled, kCited };

std::string_view KindName(Kind kind);

struct Figure {
  std::string id = {};
  Kind kind = Kind::kExact;
  std::string title = {};
  std::string unit = {};
  Value value;        // of an array: only the type
  int64_t count = 1;  // elements of an array
  bool is_array = false;
  std::string hash;   // SHA-256, lower-case hexadecimal
  Bound bound;        // kBounded
  std::string model;  // kModelled
  Source source;      // kCited
};

// An exact table: named, typed columns and rows of values. All columns come before the first row.
class Table {
 public:
  struct ColumnInfo {
    std::string name = {};
    Type type = Type::kF64;
    std::string unit = {};
  };

  // Adds a column; returns the table, so that columns chain.
  template <class T>
  Table& Column(std::string_view name, std::string_view unit = "1") {
    AddColumn(name, TypeOf<T>(), unit);
    return *this;
  }

  // Adds a row: one value per column, of the column's type. Any integer fits i64 and u64 if it is
  // in range; f32 and f64 want exactly float and double.
  template <class... Ts>
  void Row(const Ts&... values) {
    AddRow({Value::From(values)...});
  }

  const std::string& id() const { return id_; }
  const std::string& title() const { return title_; }
  const std::vector<ColumnInfo>& columns() const { return columns_; }
  int64_t rows() const { return rows_; }
  const std::string& cell(int64_t row, int64_t column) const {
    return cells_[static_cast<size_t>(row * static_cast<int64_t>(columns_.size()) + column)];
  }
  // SHA-256 over the values in row-major order.
  std::string Hash() const;

 private:
  friend class Report;
  Table(std::string_view id, std::string_view title) : id_(id), title_(title) {}
  void AddColumn(std::string_view name, Type type, std::string_view unit);
  void AddRow(std::initializer_list<Value> values);
  void Fail(std::string message);

  std::string id_;
  std::string title_;
  std::vector<ColumnInfo> columns_;
  std::vector<std::string> cells_;
  std::vector<uint8_t> bytes_;
  int64_t rows_ = 0;
  absl::Status status_;
};

// What a lab fills.
class Report {
 public:
  Report() = default;
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  // A value that is the same bits on every machine.
  //   id: see the top of this file. T: float, double, bool, an integer or a string.
  //   title: what it is, in words. unit: "1" for a plain number.
  template <class T>
  void Exact(std::string_view id, const T& value, std::string_view title,
             std::string_view unit = "1") {
    Figure figure = Describe(id, Kind::kExact, title, unit);
    figure.value = Value::From(value);
    AddScalar(std::move(figure));
  }

  // Many exact values, recorded by their hash and number. T as for Exact, but for strings.
  template <class T>
  void ExactArray(std::string_view id, std::span<const T> values, std::string_view title,
                  std::string_view unit = "1") {
    static_assert(TypeOf<T>() != Type::kString, "put strings into a table");
    Figure figure = Describe(id, Kind::kExact, title, unit);
    figure.value.type = TypeOf<T>();
    figure.count = static_cast<int64_t>(values.size());
    figure.is_array = true;
    std::vector<uint8_t> bytes;
    bytes.reserve(values.size() * 8);
    for (const T& value : values) AppendElement(value, bytes);
    AddArray(std::move(figure), bytes);
  }
  template <class T>
  void ExactArray(std::string_view id, const std::vector<T>& values, std::string_view title,
                  std::string_view unit = "1") {
    ExactArray(id, std::span<const T>(values), title, unit);
  }

  // A value that agrees with a reference within a derived bound; see Bound.
  void Bounded(std::string_view id, double value, const Bound& bound, std::string_view title,
               std::string_view unit = "1");

  // What a stated model predicts: the same bits everywhere, yet a prediction.
  //   model: the model in a sentence.
  void Modelled(std::string_view id, double value, std::string_view model, std::string_view title,
                std::string_view unit = "1");

  // Someone else's number.
  void Cited(std::string_view id, double value, const Source& source, std::string_view title,
             std::string_view unit = "1");

  // An empty table; the reference stays valid as long as the report.
  Table& AddTable(std::string_view id, std::string_view title);

  const std::vector<Figure>& figures() const { return figures_; }
  const std::deque<Table>& tables() const { return tables_; }
  absl::Status status() const;  // the first mistake of the author, see the top of this file

 private:
  Figure Describe(std::string_view id, Kind kind, std::string_view title, std::string_view unit);
  void AddScalar(Figure figure);
  void AddArray(Figure figure, std::span<const uint8_t> bytes);
  void ClaimId(std::string_view id);
  void Fail(std::string message);
  static void AppendWord(uint64_t word, int bytes, std::vector<uint8_t>& out);
  static void AppendElement(float value, std::vector<uint8_t>& out);
  static void AppendElement(double value, std::vector<uint8_t>& out);
  template <class T>
  static void AppendElement(const T& value, std::vector<uint8_t>& out) {
    // A bool is one byte, every integer eight.
    AppendWord(static_cast<uint64_t>(value), TypeOf<T>() == Type::kBool ? 1 : 8, out);
  }

  std::vector<Figure> figures_;
  std::deque<Table> tables_;
  absl::Status status_;
};

// Keeps the optimiser from dropping a computation whose result nobody reads: for timed functions.
template <class T>
inline void KeepResult(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// What a measuring function may ask for: all that a lab may, and a budget. Runs natively only.
class MeasureContext : public Context {
 public:
  struct Timing {
    std::function<int64_t()> now_ns = {};  // a monotonic clock; none: measuring is refused
    int repetitions = 20;                  // samples of each variant
    int warmup = 3;                        // runs of each variant before the first sample
    int64_t min_sample_ns = 1000000;       // a sample repeats the run until it lasts so long
    double budget_seconds = 240;  // no new round starts after it, but three are always taken
  };

  MeasureContext(Options options, Timing timing)
      : Context(std::move(options)), timing_(std::move(timing)) {}

  const Timing& timing() const { return timing_; }

 private:
  Timing timing_;
};

// One way of doing a job, to be timed against others.
struct Variant {
  std::string id = {};             // of the measured figure
  std::string title = {};          // what it is, in words
  std::function<void()> run = {};  // one run, on data made ready before
  // Is the output of the last run right? Asked after the timing; none: not checked.
  std::function<absl::Status()> check = {};
  double flops = 0;  // of one run, counted; 0: not stated
  double bytes = 0;  // moved to and from memory by one run, counted; 0: not stated
};

// What was timed: all samples, in the order they were taken.
struct Series {
  std::string group = {};
  std::string group_title = {};
  std::string id = {};
  std::string title = {};
  std::vector<double> samples_ns;  // time of one run, per sample
  int64_t runs_per_sample = 1;
  int warmup = 0;
  uint64_t order_seed = 0;
  double flops = 0;
  double bytes = 0;
  bool checked = false;  // the variant's check passed in this run
};

// What a measuring function fills.
class Measurements {
 public:
  // Times the variants of one job on the same data, interleaved: every round runs each once, in an
  // order drawn from the seed, so that drift of the machine falls on all alike. Warms up first,
  // checks each variant's output afterwards.
  //   group: names the job. Fails: FailedPrecondition without a clock (in wasm), and with the
  //   status of the first check that fails; nothing is recorded then.
  absl::Status Compare(MeasureContext& context, std::string_view group, std::string_view title,
                       std::span<const Variant> variants);

  const std::vector<Series>& series() const { return series_; }

 private:
  std::vector<Series> series_;
};

using RunFunction = absl::Status (*)(Context& context, Report& report);
using MeasureFunction = absl::Status (*)(MeasureContext& context, Measurements& measurements);

struct Lab {
  std::string title = {};
  RunFunction run = nullptr;
  MeasureFunction measure = nullptr;  // none: the lab times nothing
  std::string slug = {};              // filled by ASSAY_LAB
};

// All labs linked into the program, by slug.
std::vector<const Lab*> AllLabs();
const Lab* FindLab(std::string_view slug);

// A run as one document: {"schema":"report/1",...}, in a fixed order of keys, one line feed at the
// end, byte-identical on every machine. Format: README.md of this package.
std::string ToJson(std::string_view slug, const Context& context, const Report& report);

// Runs a lab and gives the document above. Fails: what the lab, the context and the report say.
absl::StatusOr<std::string> RunToJson(const Lab& lab, Context::Options options);

// The name in `candidates` with the fewest edits from `name` (a letter more, less or other, or two
// neighbours swapped), or nothing if all are farther than a third of its length (at least 2).
std::string NearestName(std::string_view name, std::span<const std::string> candidates);

namespace internal {
// Registers a lab at start-up. identifier: the slug with '_' for '-'.
bool RegisterLab(std::string_view identifier, Lab lab);
}  // namespace internal

// Registers a lab: ASSAY_LAB(numerical_pitfalls, {.title = "...", .run = &Run, .measure =
// &Measure}); Its slug is the identifier with hyphens. The library that holds it is alwayslink.
#define ASSAY_LAB(identifier, ...)                            \
  [[maybe_unused]] static const bool assay_lab_##identifier = \
      ::assay::lab::internal::RegisterLab(#identifier, ::assay::lab::Lab __VA_ARGS__)

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_LAB_H_
