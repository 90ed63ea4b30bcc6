// The problem: rows lie across memory, and a thread per column would read single elements far
// apart. The choice: adjacent threads take adjacent rows, and layers of threads share the columns.
// The alternative, transposing the tensor first, would read and write it once more. The cost: every
// value of a row is an array over its kVec adjacent rows.
#include "rows/stack_kernel.h"

#include <fmt/core.h>

#include <algorithm>

#include "emit/emit.h"

namespace kw::generate {

namespace {

Joined axes_of(const Domain& domain, const std::vector<Dim>& used, const std::string& name) {
  Joined one = joined(domain, used, {name});
  if (one.axes.size() == 1) return one;
  return joined(domain, used, {name + "_inner", name + "_outer"});
}

}  // namespace

StackKernel::StackKernel(const Region& region, const RowPlan& plan, Reading reading,
                         const PassUsage* usage)
    : region_(region),
      plan_(plan),
      reading_(reading),
      e_(region, 1),
      cache_(region, e_, reading == Reading::Once, usage),
      rows_(axes_of(plan.rows, plan.used, "row")),
      columns_(axes_of(plan.columns, plan.used, "column")),
      inner_(rows_.axes.back().name),
      packs_(e_, inner_, axis_names(rows_, columns_)) {
  e_.ranges = plan.ranges();
  plain_ = rows_.rename;
  for (const auto& [name, to] : columns_.rename) plain_.insert_or_assign(name, to);
  e_.rename = plain_;
  const std::map<std::string, Dim> lanes = {{inner_, variable(inner_) + variable(kLane)}};
  for (const auto& [name, to] : rows_.rename) {
    e_.rename.insert_or_assign(name, substitute(to, lanes));
  }
}

std::string StackKernel::body() {
  open_row();
  e_.on_node = [this](NodeId id, const Index& index) { return node(id, index); };
  e_.on_load = [this](const Buffer& buffer, const Dim& address) { return load(buffer, address); };
  for (pass_ = 0; pass_ < plan_.passes.size(); ++pass_) {
    if (!in_parts() || pass_ == only_) reduction_pass(plan_.passes[pass_]);
    if (!in_parts() || pass_ >= only_) continue;
    for (const NodeId id : plan_.passes[pass_]) join_parts(id);
  }
  if (ends_here()) {
    row_stores();
    if (!plan_.full_stores.empty()) store_pass();
  }
  e_.close();
  const std::string values = first_loads() + e_.close();
  CudaWriter w(1);
  w.raw(e_.at(0).text());
  for (const std::string& slots : shared_) w.line(slots);
  write_head(w);
  w.raw(values);
  return w.text();
}

// Scopes: 1 is all rows of the thread, 2 one of them, 3 one element of it.
void StackKernel::open_row() {
  std::vector<std::string> variables;
  for (const Axis& axis : rows_.axes) variables.push_back(axis.name);
  for (const char* own : {"row", "own_row", "layer", "own_columns"}) variables.emplace_back(own);
  for (const auto& [name, to] : rows_.rename) variables.push_back(name);
  row_scope_ = e_.open(variables, 0, 0);
  lane_scope_ = e_.open({kLane}, row_scope_);
  for (const auto& [name, to] : rows_.rename) {
    if (mentions(to, inner_)) e_.set_level(name, lane_scope_);
  }
  e_.keep_in_arrays(lane_scope_, kLane, "kVec");
}

void StackKernel::open_pass() {
  std::vector<std::string> variables = plan_.column_variables();
  for (const Axis& axis : columns_.axes) variables.push_back(axis.name);
  variables.emplace_back("column");
  element_scope_ = e_.open(variables, row_scope_, in_registers() ? 3 : 2);
  in_pass_.clear();
}

void StackKernel::write_lanes(CudaWriter& w, const std::string& text) {
  if (text.empty()) return;
  const auto loop = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
  w.raw(text);
}

void StackKernel::flush_rows() { write_lanes(e_.at(row_scope_), e_.take(lane_scope_)); }

/// The loop over this thread's columns.
void StackKernel::write_columns(CudaWriter& w, const std::function<void()>& inside) {
  if (in_registers()) {
    const auto loop = w.unrolled("for (int item = 0; item < kItems; ++item)");
    w.line("const Index column = item * {} + layer;", stack());
    const auto block = w.block("if (column < own_columns)");
    write_parts(columns_.axes, "column", e_, w);
    inside();
    return;
  }
  w.line("#pragma unroll 4");
  const auto loop = w.block("for (Index column = {}layer; column < own_columns; column += {})",
                            in_parts() ? "first + " : "", stack());
  write_parts(columns_.axes, "column", e_, w);
  inside();
}

// Packs that several passes read, and those of the first pass, are loaded before anything else.
std::string StackKernel::first_loads() {
  CudaWriter w(1);
  std::vector<const PackLoad*> first;
  for (const PackLoad& load : packs_.loads()) {
    const char* type = memory_type(load.buffer.dtype);
    if (!has_column(load.address)) {
      w.line("const Pack<{}, kVec> {} = load_pack<kVec>({} + {});", type, load.name,
             load.buffer.name, load.address.text());
    } else if (cache_.keeps(load.address)) {
      first.push_back(&load);
      w.line("Pack<{}, kVec> {}[kItems];", type, load.name);
    }
  }
  w.lines(cache_.declarations());
  if (first.empty()) return w.text();
  write_columns(w, [&] {
    for (const PackLoad* load : first) {
      w.line("{}[item] = load_pack<kVec>({} + {});", load->name, load->buffer.name,
             load->address.text());
    }
  });
  return w.text();
}

bool StackKernel::has_column(const Dim& address) const {
  return std::ranges::any_of(columns_.axes,
                             [&](const Axis& axis) { return mentions(address, axis.name); });
}

std::optional<Value> StackKernel::load(const Buffer& buffer, const Dim& address) {
  const Dim renamed = substitute(address, plain_);
  const bool moves = has_column(renamed), kept = moves && cache_.keeps(renamed);
  const auto element = packs_.element(buffer, renamed, kept ? "[item]" : "");
  if (!element) return std::nullopt;
  e_.note(address);
  if (!moves) return Value{{from_memory(buffer.dtype, *element)}, lane_scope_};
  cache_.note_load(renamed, pass_);
  if (!kept) in_pass_.insert(element->substr(0, element->find('.')));
  return Value{{from_memory(buffer.dtype, *element)}, element_scope_};
}

std::optional<Value> StackKernel::node(NodeId id, const Index& index) {
  const auto result = results_.find(id);
  if (result != results_.end()) return Value{{result->second}, lane_scope_};
  return cache_.value(id, index, element_scope_, pass_);
}

/// Declares the partial result of a reduction with its identity value.
std::string StackKernel::start_total(NodeId id) {
  const Node& node = region_.node(id);
  const std::string name =
      e_.fresh_variable(fmt::format("row_{}", graph::op_info(node.op).name), lane_scope_);
  e_.need(combine_of(node.op));
  e_.at(row_scope_).line("{} {}[kVec];", partial_type(node.dtype), name);
  e_.at(lane_scope_).line("{}[lane] = {};", name, identity_of(node.op, node.dtype));
  return name;
}

void StackKernel::reduction_pass(const std::vector<NodeId>& reductions) {
  open_pass();
  std::vector<std::string> before;
  count_.clear();
  for (const NodeId id : reductions) {
    const Node& node = region_.node(id);
    totals_[id] = start_total(id);
    if (plan_.centred.count(id) > 0) {
      write_centred_step(id);
      continue;
    }
    const Node& operand = region_.node(node.inputs[0]);
    const Value x =
        e_.value(node.inputs[0], plan_.operand_index(node, operand, plan_.places.at(id)));
    e_.at(element_scope_)
        .line(joined_text(node.op, totals_.at(id) + "[lane]", x, partial_type(node.dtype)));
  }
  if (!count_.empty()) {
    e_.at(row_scope_).line("float {} = 0.0f;", count_);
    before.push_back(fmt::format("{} += 1.0f;", count_));
    before.push_back(fmt::format("const float {0}_part = __fdividef(1.0f, {0});", count_));
  }
  write_pass(e_.close(), before, {});
  for (const NodeId id : reductions) {
    if (plan_.centred.count(id) > 0) centre(id);
    finish(id, totals_.at(id));
  }
}

void StackKernel::write_centred_step(NodeId id) {
  const NodeId sum = plan_.centred.at(id).sum;
  const Node& total = region_.node(sum);
  if (count_.empty()) count_ = e_.fresh_variable("row_count", row_scope_);
  const std::string mean = e_.fresh_variable("row_mean", lane_scope_);
  means_[id] = mean;
  e_.at(row_scope_).line("float {}[kVec];", mean);
  e_.at(lane_scope_).line("{}[lane] = 0.0f;", mean);
  const Node& operand = region_.node(total.inputs[0]);
  const Value x =
      e_.value(total.inputs[0], plan_.operand_index(total, operand, plan_.places.at(sum)));
  e_.need("join_element");
  e_.at(element_scope_)
      .line("join_element({}[lane], {}[lane], {}, {}_part);", mean, totals_.at(id), x.expr.text,
            count_);
}

void StackKernel::centre(NodeId id) {
  const std::string sum = totals_.at(plan_.centred.at(id).sum), name = totals_.at(id);
  const std::string size = in_parts() ? "last - first" : e_.text(plan_.column_count());
  CudaWriter& w = e_.at(row_scope_);
  const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
  w.line(
      "{0}[lane] = squares_about({0}[lane], {1}, {2}[lane], {3}[lane] / static_cast<float>({4}));",
      name, count_, means_.at(id), sum, size);
}

void StackKernel::write_pass(const std::string& text, const std::vector<std::string>& before,
                             const std::vector<std::string>& behind) {
  flush_rows();
  CudaWriter& w = e_.at(row_scope_);
  write_columns(w, [&] {
    for (const PackLoad& load : packs_.loads()) {
      if (in_pass_.count(load.name) == 0) continue;
      w.line("const Pack<{}, kVec> {} = load_pack<kVec>({} + {});", memory_type(load.buffer.dtype),
             load.name, load.buffer.name, load.address.text());
    }
    w.lines(before);
    write_lanes(w, text);
    w.lines(behind);
  });
}

/// Combines the partial results that blocks of an earlier launch found in their parts of the
/// columns.
void StackKernel::join_parts(NodeId id) {
  const std::string name = start_total(id), partials = partials_of(id, false);
  totals_[id] = name;
  flush_rows();
  if (plan_.centred.count(id) > 0) return join_squares(id, name);
  CudaWriter& w = e_.at(row_scope_);
  {
    const auto loop =
        w.block("for (Index other = layer; other < parts && own_row < rows; other += {})", stack());
    const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
    w.line("{0}[lane] = {1}()({0}[lane], {2}[other * rows + row + lane]);", name,
           combine_of(region_.node(id).op), partials);
  }
  finish(id, name);
}

/// Combines sums of squares with the distance of each part's mean from the mean of all.
void StackKernel::join_squares(NodeId id, const std::string& name) {
  const NodeId sum = plan_.centred.at(id).sum;
  const std::string columns = e_.text(plan_.column_count()), at = "[other * rows + row + lane]";
  CudaWriter& w = e_.at(row_scope_);
  e_.need("squares_about");
  {
    const auto loop =
        w.block("for (Index other = layer; other < parts && own_row < rows; other += {})", stack());
    w.line("const Index from = share * other;");
    w.line("const float size = from < {0} ? ({0} - from < share ? {0} - from : share) : 0;",
           columns);
    const auto lanes = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
    w.line("const float own_mean = {}{} / size;", partials_of(sum, false), at);
    w.line("{}[lane] += squares_about({}{}, size, own_mean, {}[lane] / static_cast<float>({}));",
           name, partials_of(id, false), at, totals_.at(sum), columns);
  }
  finish(id, name);
}

// Two arrays alternate: the barriers of one lie between two uses of the other.
std::string StackKernel::slots_for(const char* type) {
  const int turn = slots_[type]++;
  const std::string word =
      std::string_view(type).find(' ') == std::string_view::npos ? type : "long";
  const std::string name = fmt::format("{}_slots_{}", word, turn % 2 + 1);
  if (turn < 2) {
    shared_.push_back(fmt::format("__shared__ {0} {1}[{2} / ({3} < 32 ? 32 : {3}) * {3} * kVec];",
                                  type, name, tune("THREADS"), tune("WIDTH")));
  }
  return name;
}

void StackKernel::finish(NodeId id, const std::string& name) {
  const Node& node = region_.node(id);
  CudaWriter& w = e_.at(row_scope_);
  w.line("reduce_stack<{}, {}>({}, {}(), {});", tune("THREADS"), tune("WIDTH"), name,
         combine_of(node.op), slots_for(partial_type(node.dtype)));
  e_.need("reduce_stack");
  if (in_parts() && pass_ == only_) {
    const auto block = w.block("if (layer == 0 && own_row < rows)");
    w.line("#pragma unroll");
    w.line("for (int lane = 0; lane < kVec; ++lane) {}[part * rows + row + lane] = {}[lane];",
           partials_of(id, true), name);
  }
  const bool narrow = std::string_view(partial_type(node.dtype)) != register_type(node.dtype);
  results_[id] = narrow ? fmt::format("static_cast<{}>({}[lane])", register_type(node.dtype), name)
                        : name + "[lane]";
}

void StackKernel::write_store(const Store& store, std::vector<std::string>& before,
                              std::vector<std::string>& behind) {
  const Dim address = plan_.address_of(store), renamed = substitute(address, plain_);
  const Value value = e_.value(store.node, plan_.index_of(store, region_));
  e_.touch(store.to);
  e_.note(address);
  const std::string rounded = e_.stored(value, store.to.dtype);
  if (!packs_.can_store(renamed)) {
    e_.at(element_scope_).line("{}[{}] = {};", store.to.name, e_.text(address), rounded);
    return;
  }
  const std::string pack = e_.fresh(store.to.name + "_pack");
  before.push_back(fmt::format("Pack<{}, kVec> {};", memory_type(store.to.dtype), pack));
  e_.at(element_scope_).line("{}.at[lane] = {};", pack, rounded);
  behind.push_back(fmt::format("store_pack({} + {}, {});", store.to.name, renamed.text(), pack));
  e_.need("store_pack");
}

void StackKernel::row_stores() {
  if (plan_.row_stores.empty()) return;
  element_scope_ = e_.open({}, row_scope_, 2);
  std::vector<std::string> before, behind;
  for (const Store& store : plan_.row_stores) write_store(store, before, behind);
  const std::string text = e_.close();
  flush_rows();
  CudaWriter& w = e_.at(row_scope_);
  const bool parted = in_parts() && !plan_.full_stores.empty();
  const auto block = w.block("if (layer == 0 && own_row < rows{})", parted ? " && part == 0" : "");
  w.lines(before);
  write_lanes(w, text);
  w.lines(behind);
}

void StackKernel::store_pass() {
  open_pass();
  std::vector<std::string> before, behind;
  for (const Store& store : plan_.full_stores) write_store(store, before, behind);
  write_pass(e_.close(), before, behind);
}

// Threads without a row stay for the barriers; they get no columns.
void StackKernel::write_head(CudaWriter& w) {
  const std::string width = tune("WIDTH"), columns = e_.text(plan_.column_count());
  w.line("const Index rows = {};", e_.text(plan_.row_count()));
  w.line("const int layer = threadIdx.x / {};", width);
  w.line("const Index own_row = (static_cast<Index>(blockIdx.x) * {0} + threadIdx.x % {0}) * kVec;",
         width);
  w.line("const Index row = own_row < rows ? own_row : rows - kVec;");
  write_parts(rows_.axes, "row", e_, w);
  const std::string share = fmt::format("const Index share = ({} + parts - 1) / parts;", columns);
  if (in_parts() && only_ == plan_.passes.size() && plan_.full_stores.empty()) {
    if (!plan_.centred.empty()) w.line(share);
    return;
  }
  if (!in_parts()) {
    w.line("const Index own_columns = own_row < rows ? {} : 0;", columns);
    return;
  }
  w.line("const Index part = blockIdx.y;");
  w.line(share);
  w.line("const Index first = share * part;");
  w.line("const Index last = {0} - first < share ? {0} : first + share;", columns);
  w.line("const Index own_columns = own_row < rows ? last : 0;");
}

}  // namespace kw::generate
