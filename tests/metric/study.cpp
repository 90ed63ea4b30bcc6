#include "study.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/check.h"
#include "gate/plain_error.h"
#include "inputs/families.h"
#include "metric/metric.h"
#include "tensor/convert.h"
#include "truth/interpreter.h"

namespace kw::metric {

using tensor::DType;
using tensor::HostTensor;

namespace {

struct Size {
  int64_t rows, cols;
};
constexpr Size kSizes[] = {{5, 1}, {3, 7}, {4, 64}, {4, 257}, {3, 1000}, {2, 4096}, {2, 20011}};
constexpr DType kTypes[] = {DType::Fp32, DType::Fp16, DType::Bf16};

template <class T>
T must(Result<T> result) {
  KW_CHECK(result.has_value(), result ? "" : result.error().message);
  return std::move(result).value();
}

std::vector<Style> honest_styles(const StudyOp& op) {
  std::vector<Style> styles;
  const auto add = [&](std::string name, Order order, bool fused, Functions functions,
                       Formula formula) {
    Style s;
    s.name = std::move(name);
    s.order = order;
    s.fused = fused;
    s.functions = functions;
    s.formula = formula;
    styles.push_back(s);
  };
  add("serial", Order::Serial, false, Functions::Full, Formula::Plain);
  if (op.sums) {
    add("reversed", Order::Reversed, false, Functions::Full, Formula::Plain);
    add("strided", Order::Strided, false, Functions::Full, Formula::Plain);
    add("tree", Order::Tree, false, Functions::Full, Formula::Plain);
    add("split", Order::Split, false, Functions::Full, Formula::Plain);
    add("two-level", Order::TwoLevel, false, Functions::Full, Formula::Plain);
    add("tensor core", Order::Truncated, false, Functions::Full, Formula::Plain);
  }
  if (op.products) {
    add("serial fma", Order::Serial, true, Functions::Full, Formula::Plain);
    add("strided fma", Order::Strided, true, Functions::Full, Formula::Plain);
  }
  if (op.functions) {
    add("approx", Order::Serial, false, Functions::Approx, Formula::Plain);
    add("approx strided fma", Order::Strided, true, Functions::Approx, Formula::Plain);
  }
  if (op.other) {
    add("other formula", Order::Serial, false, Functions::Full, Formula::Other);
    add("other formula strided fma", Order::Strided, true, Functions::Full, Formula::Other);
    if (op.functions)
      add("other formula approx", Order::Strided, true, Functions::Approx, Formula::Other);
  }
  return styles;
}

std::vector<Style> dishonest_styles(const StudyOp& op, DType dtype) {
  std::vector<Style> styles;
  const auto add = [&](std::string name, auto change) {
    Style s;
    s.name = std::move(name);
    s.order = Order::Strided;
    s.fused = true;
    change(s);
    styles.push_back(s);
  };
  const bool half = dtype != DType::Fp32;
  if (op.sums) {
    add("dropped tail", [](Style& s) { s.dropped = 3; });
    add("sampled", [](Style& s) { s.sampled = 2; });
  }
  if (half && (op.sums || std::string_view(op.name) == "cumsum")) {
    add("half accumulate", [&](Style& s) {
      s.order = Order::Serial;
      s.accumulate = dtype;
    });
  }
  const bool reads_inside =
      op.sums || std::string_view(op.name) == "gelu" || std::string_view(op.name) == "silu";
  if (!half && reads_inside) add("bf16 inside", [](Style& s) { s.inside = DType::Bf16; });
  if (!half && op.products && op.sums) add("tf32 inside", [](Style& s) { s.tf32 = true; });
  if (op.risky) {
    const std::string_view name = op.name;
    const bool exponential = name == "softmax" || name == "logsumexp";
    add(exponential ? "no maximum" : (name == "gelu" ? "tanh formula" : "one pass"),
        [](Style& s) { s.formula = Formula::Risky; });
  }
  return styles;
}

// Answers that need no arithmetic.
struct Forgery {
  const char* name;
  std::vector<float> (*make)(const Problem& p, const std::vector<float>& right);
};

std::vector<float> zeros(const Problem&, const std::vector<float>& right) {
  return std::vector<float>(right.size(), 0.0f);
}
std::vector<float> one_value(const Problem&, const std::vector<float>& right) {
  double total = 0;
  for (const float v : right) total += std::isfinite(v) ? static_cast<double>(v) : 0;
  return std::vector<float>(right.size(),
                            static_cast<float>(total / static_cast<double>(right.size())));
}
std::vector<float> halved(const Problem&, const std::vector<float>& right) {
  std::vector<float> out = right;
  for (float& v : out) v *= 0.5f;
  return out;
}
std::vector<float> negated(const Problem&, const std::vector<float>& right) {
  std::vector<float> out = right;
  for (float& v : out) v = -v;
  return out;
}
std::vector<float> input_copied(const Problem& p, const std::vector<float>& right) {
  std::vector<float> out(right.size());
  for (size_t k = 0; k < out.size(); ++k) out[k] = p.inputs[0][k % p.inputs[0].size()];
  return out;
}
std::vector<float> first_row(const Problem& p, const std::vector<float>& right) {
  const size_t row = right.size() / static_cast<size_t>(p.rows);
  std::vector<float> out(right.size());
  for (size_t k = 0; k < out.size(); ++k) out[k] = right[k % row];
  return out;
}
std::vector<float> last_missing(const Problem& p, const std::vector<float>& right) {
  std::vector<float> out = right;
  const size_t row = right.size() / static_cast<size_t>(p.rows);
  if (row > 1) {
    for (size_t k = row - 1; k < out.size(); k += row) out[k] = 0;
  } else {
    out.back() = 0;
  }
  return out;
}

constexpr Forgery kForgeries[] = {
    {"zero", zeros},
    {"constant", one_value},
    {"half scaled", halved},
    {"sign flip", negated},
    {"identity", input_copied},
    {"first row", first_row},
    {"tail unwritten", last_missing},
};

HostTensor stored(const ports::Truth& truth, const std::vector<float>& values) {
  HostTensor out = must(tensor::make_tensor(truth.dtype, truth.shape));
  const std::vector<double> wide(values.begin(), values.end());
  tensor::store_floats(out, 0, wide);
  return out;
}

// One operation, type, family and size: truth once, then every answer.
class Cell {
 public:
  Cell(const StudyOp& op, DType dtype, const std::string& family, const Size& size)
      : op_(op), text_(fmt::format("{} {}x{}", family, size.rows, size.cols)) {
    graph_ = must(op.build(dtype, size.rows, size.cols));
    task::Task task;
    for (const graph::NamedNode& input : graph_.inputs) {
      task::TensorSpec spec;
      spec.name = input.name;
      spec.dtype = dtype;
      if (input.name == "weight" || input.name == "bias") spec.role = task::Role::Weight;
      task.inputs.push_back(spec);
    }
    inputs_ =
        must(inputs::draw_inputs(task, graph_, {}, family, 20 + static_cast<uint64_t>(size.cols)));
    truth_ = std::move(must(truth::Interpreter().truth(graph_, inputs_, options()))[0]);
    if (gate::has_plain_error(task, graph_, family)) {
      truth::Interpreter oracle;
      std::vector<ports::Truth> truths = {std::move(truth_)};
      const auto added = gate::add_plain_error(oracle, task, graph_, inputs_, options(), truths);
      KW_CHECK(added.has_value(), "the plain evaluation is possible");
      truth_ = std::move(truths[0]);
    }
    problem_ = {size.rows, size.cols, dtype, {}};
    for (const HostTensor& input : inputs_) {
      std::vector<double> wide(static_cast<size_t>(tensor::value_count(input)));
      tensor::load_values(input, 0, wide);
      problem_.inputs.emplace_back(wide.begin(), wide.end());
    }
  }

  const Problem& problem() const { return problem_; }
  std::vector<float> answer(const Style& style) const { return op_.model(problem_, style); }

  void judge(const std::vector<float>& answer, Row& row) const {
    judge(stored(truth_, answer), row);
  }
  /// Every node rounded as declared.
  void judge_unfused(Row& row) const {
    judge(must(truth::Interpreter().op_by_op(graph_, inputs_, options()))[0], row);
  }

 private:
  static ports::TruthOptions options() {
    ports::TruthOptions options;
    options.threads = 1;
    return options;
  }

  void judge(const HostTensor& got, Row& row) const {
    metric::CompareOptions how;
    how.threads = 1;
    const metric::Comparison result = metric::compare(truth_, got, how);
    ++row.cells;
    row.refused += result.pass ? 0 : 1;
    if (truth_.plain_z > 0) row.plain = std::max(row.plain, result.summary.rms_z / truth_.plain_z);
    const double z = result.summary.max_z;
    if (z <= row.worst_z && !(row.honest && !result.pass)) return;
    row.worst_z = std::max(row.worst_z, z);
    row.worst_cell = text_;
  }

  const StudyOp& op_;
  std::string text_;
  graph::Graph graph_;
  std::vector<HostTensor> inputs_;
  ports::Truth truth_;
  Problem problem_;
};

class Study {
 public:
  Study(const StudyOp& op, DType dtype) : op_(op), dtype_(dtype) {}

  std::vector<Row> run() {
    for (const std::string& family : study_families())
      for (const Size& size : kSizes) run_cell(family, size);
    std::vector<Row> rows;
    for (const bool honest : {true, false}) {
      for (const std::string& name : order_) {
        if (rows_[name].honest == honest) rows.push_back(rows_[name]);
      }
    }
    return rows;
  }

 private:
  Row& row(const std::string& name, bool honest) {
    const auto [at, fresh] = rows_.try_emplace(name);
    if (fresh) {
      at->second.op = op_.name;
      at->second.dtype = tensor::dtype_name(dtype_);
      at->second.name = name;
      at->second.honest = honest;
      order_.push_back(name);
    }
    return at->second;
  }

  void run_cell(const std::string& family, const Size& size) {
    const Cell cell(op_, dtype_, family, size);
    for (const Style& style : honest_styles(op_))
      cell.judge(cell.answer(style), row(style.name, true));
    cell.judge_unfused(row("op by op", true));
    for (const Style& style : dishonest_styles(op_, dtype_))
      cell.judge(cell.answer(style), row(style.name, false));
    const std::vector<float> right = cell.answer(honest_styles(op_)[0]);
    for (const Forgery& forgery : kForgeries)
      cell.judge(forgery.make(cell.problem(), right), row(forgery.name, false));
  }

  const StudyOp& op_;
  DType dtype_;
  std::map<std::string, Row> rows_;
  std::vector<std::string> order_;
};

}  // namespace

const std::vector<std::string>& study_families() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = inputs::all_families();
    std::erase(names, "special");  // infinities and NaN have a class, not a distance
    return names;
  }();
  return kNames;
}

std::vector<Row> study(const StudyOp& op) {
  std::vector<Row> rows;
  for (const DType dtype : kTypes) {
    const std::vector<Row> part = Study(op, dtype).run();
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

}  // namespace kw::metric
