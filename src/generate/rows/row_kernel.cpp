// The problem: a row program has several passes over a row, and each pass needs the results of
// earlier ones. The choice: one class writes all passes for every team of threads, and the row
// stays in registers if it fits. TeamLoops writes the loops around the passes. The alternative, a
// class per team, would repeat the passes, which are the larger part. The cost: combining results
// has a case for each team.
#include "rows/row_kernel.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/contains.h"
#include "emit/emit.h"

namespace kw::generate {

std::vector<std::string> axis_names(const Joined& rows, const Joined& columns) {
  std::vector<std::string> names = names_of(rows.axes);
  for (const Axis& axis : columns.axes) names.push_back(axis.name);
  return names;
}

std::string joined_text(Op op, const std::string& name, const Value& x, const char* type) {
  if (op == Op::Sum) return fmt::format("{} += {};", name, x.expr.text);
  if (op == Op::Prod) return fmt::format("{} *= {};", name, x.expr.operand());
  return fmt::format("{0} = {1}()({0}, static_cast<{2}>({3}));", name, combine_of(op), type,
                     x.expr.text);
}

RowKernel::RowKernel(const Region& region, const RowPlan& plan, Team team, bool registers,
                     const PassUsage* usage)
    : region_(region),
      plan_(plan),
      registers_(registers),
      e_(region, 1),
      team_(region, plan, team, registers, e_),
      cache_(region, e_, registers, usage),
      inner_(team_.columns.axes.back().name),
      packs_(e_, inner_, axis_names(team_.rows, team_.columns)) {
  e_.ranges = plan.ranges();
  e_.rename = team_.rows.rename;
  for (const auto& [name, to] : team_.columns.rename) {
    e_.rename.insert_or_assign(name,
                               substitute(to, {{inner_, variable(inner_) + variable(kLane)}}));
  }
  plain_ = team_.rows.rename;
  for (const auto& [name, to] : team_.columns.rename) plain_.insert_or_assign(name, to);
}

std::string RowKernel::body() {
  open_row();
  e_.on_node = [this](NodeId id, const Index& index) { return node(id, index); };
  e_.on_load = [this](const Buffer& buffer, const Dim& address) { return load(buffer, address); };
  for (pass_ = 0; pass_ < plan_.passes.size(); ++pass_) {
    if (!team_.is_split() || pass_ == team_.only) reduction_pass(plan_.passes[pass_]);
    if (!team_.is_split() || pass_ >= team_.only) continue;
    for (const NodeId id : plan_.passes[pass_]) join_parts(id);
  }
  if (!team_.is_split() || team_.only == plan_.passes.size()) {
    row_stores();
    if (!plan_.full_stores.empty()) store_pass();
  }
  const std::string values = first_loads() + e_.close();
  CudaWriter w(1);
  w.raw(e_.at(0).text());
  for (const std::string& slots : shared_) w.line(slots);
  team_.write_rows(w, values, !shared_.empty());
  return w.text();
}

void RowKernel::open_row() {
  std::vector<std::string> variables = plan_.row_variables();
  for (const Axis& axis : team_.rows.axes) variables.push_back(axis.name);
  for (const char* own : {"row", "own_row", "thread"}) variables.emplace_back(own);
  row_scope_ = e_.open(variables, 0, team_.nested() ? 1 : 0);
}

// Opens the pack and lane scopes of one pass.
void RowKernel::open_pass(bool guarded) {
  std::vector<std::string> variables = plan_.column_variables();
  for (const Axis& axis : team_.columns.axes) variables.push_back(axis.name);
  variables.emplace_back("column");
  pack_scope_ = e_.open(variables, row_scope_, guarded ? 2 : 1);
  lane_scope_ = e_.open({kLane}, pack_scope_);
  for (const auto& [name, to] : team_.columns.rename) {
    if (mentions(to, inner_)) e_.set_level(name, lane_scope_);
  }
  in_pass_.clear();
}

// Packs that several passes read, and those of the first pass, are loaded before anything else.
std::string RowKernel::first_loads() {
  CudaWriter w(team_.nested() ? 2 : 1);
  std::vector<const PackLoad*> first;
  for (const PackLoad& load : packs_.loads()) {
    if (cache_.keeps(load.address)) first.push_back(&load);
  }
  for (const PackLoad* load : first)
    w.line("Pack<{}, kVec> {}[kItems];", memory_type(load->buffer.dtype), load->name);
  w.lines(cache_.declarations());
  write_shared_rows(w);
  if (first.empty()) return w.text();
  team_.write_columns(w, "", [&] {
    for (const PackLoad* load : first) {
      const bool once = is_of_row(load->address);
      if (once) e_.need("load_once");
      w.line("{}[item] = {}<kVec>({} + {});", load->name, once ? "load_once" : "load_pack",
             load->buffer.name, load->address.text());
    }
  });
  return w.text();
}

bool RowKernel::is_of_row(const Dim& address) const {
  return std::ranges::any_of(team_.rows.axes,
                             [&](const Axis& axis) { return mentions(address, axis.name); });
}

bool RowKernel::is_shared(const Dim& address) const {
  return shares_ && cache_.is_read_again(address);
}

std::vector<Buffer> RowKernel::shared_rows() const {
  std::vector<Buffer> rows;
  for (const PackLoad& load : packs_.loads()) {
    if (is_shared(load.address)) rows.push_back(load.buffer);
  }
  return rows;
}

// Every thread reads only the packs it wrote, so no barrier is needed.
void RowKernel::write_shared_rows(CudaWriter& w) {
  if (shared_rows().empty()) return;
  shared_.emplace_back("extern __shared__ uint4 row_memory[];");
  const std::string columns = e_.text(plan_.column_count());
  std::string from = "row_memory";
  for (const PackLoad& load : packs_.loads()) {
    if (!is_shared(load.address)) continue;
    const char* type = memory_type(load.buffer.dtype);
    w.line("auto* {0}_row = reinterpret_cast<Pack<{1}, kVec>*>({2});", load.name, type, from);
    from += fmt::format(" + (({}) * sizeof({}) + 15) / 16", columns, type);
  }
  team_.write_columns(w, "", [&] {
    for (const PackLoad& load : packs_.loads()) {
      if (!is_shared(load.address)) continue;
      w.line("{0}_row[column / kVec] = load_pack<kVec>({1} + {2});", load.name, load.buffer.name,
             load.address.text());
    }
  });
}

std::optional<Value> RowKernel::load(const Buffer& buffer, const Dim& address) {
  const Dim renamed = substitute(address, plain_);
  const bool kept = cache_.keeps(renamed);
  const auto element = packs_.element(buffer, renamed, kept ? "[item]" : "");
  if (!element) return std::nullopt;
  e_.note(address);
  cache_.note_load(renamed, pass_);
  if (!kept) in_pass_.insert(element->substr(0, element->find('.')));
  return Value{{from_memory(buffer.dtype, *element)}, lane_scope_};
}

std::optional<Value> RowKernel::node(NodeId id, const Index& index) {
  const auto result = results_.find(id);
  if (result != results_.end()) return result->second;
  return cache_.value(id, index, lane_scope_, pass_);
}

/// Declares the partial result of a reduction with its identity value.
std::string RowKernel::start_total(NodeId id) {
  const Node& node = region_.node(id);
  const std::string name =
      e_.fresh_variable(fmt::format("row_{}", graph::op_info(node.op).name), row_scope_);
  totals_[id] = name;
  e_.need(combine_of(node.op));
  return fmt::format("{} {} = {};", partial_type(node.dtype), name,
                     identity_of(node.op, node.dtype));
}

void RowKernel::write_step(NodeId id) {
  const Node& node = region_.node(id);
  const Node& operand = region_.node(node.inputs[0]);
  const Value x = e_.value(node.inputs[0], plan_.operand_index(node, operand, plan_.places.at(id)));
  e_.at(lane_scope_).line(joined_text(node.op, totals_.at(id), x, partial_type(node.dtype)));
}

void RowKernel::reduction_pass(const std::vector<NodeId>& reductions) {
  open_pass(registers_);
  std::vector<std::string> starts;
  for (const NodeId id : reductions) {
    const auto centred = plan_.centred.find(id);
    if (centred == plan_.centred.end()) continue;
    means_[centred->second.sum] = {e_.fresh_variable("row_count", row_scope_),
                                   e_.fresh_variable("row_mean", row_scope_),
                                   e_.fresh_variable("pack_sum", pack_scope_)};
  }
  std::vector<std::string> packs_start;
  for (const NodeId id : reductions) {
    starts.push_back(start_total(id));
    if (waits(id)) continue;
    const auto means = means_.find(id);
    if (means == means_.end()) {
      write_step(id);
      continue;
    }
    starts.push_back(
        fmt::format("float {} = 0.0f, {} = 0.0f;", means->second.count, means->second.mean));
    packs_start.push_back(fmt::format("float {} = 0.0f;", means->second.pack));
    const std::string total = std::exchange(totals_[id], means->second.pack);
    write_step(id);
    totals_[id] = total;
  }
  const std::string lanes = e_.close(), packs = e_.take(pack_scope_);
  const std::string online = online_steps(reductions) + centred_steps(reductions);
  e_.close();
  CudaWriter& w = e_.at(row_scope_);
  w.lines(starts);
  for (const auto& [max, base] : bases_)
    w.line("float {} = {};", base, identity_of(Op::Max, DType::Fp32));
  team_.write_columns(w, "", [&] {
    write_pass_body(w, packs, lanes, packs_start, {});
    w.raw(online);
  });
  for (const NodeId id : reductions) {
    if (plan_.rescaled.count(id) > 0) rescale(id);
    if (plan_.centred.count(id) > 0) centre(id);
    finish(id, totals_.at(id));
  }
  bases_.clear();
  means_.clear();
}

void RowKernel::write_pass_body(CudaWriter& w, const std::string& packs, const std::string& lanes,
                                const std::vector<std::string>& before_lanes,
                                const std::vector<std::string>& behind_lanes) {
  for (const PackLoad& load : packs_.loads()) {
    if (in_pass_.count(load.name) == 0) continue;
    if (is_shared(load.address)) {
      w.line("const Pack<{0}, kVec> {1} = {1}_row[column / kVec];", memory_type(load.buffer.dtype),
             load.name);
      continue;
    }
    w.line("const Pack<{}, kVec> {} = load_pack<kVec>({} + {});", memory_type(load.buffer.dtype),
           load.name, load.buffer.name, load.address.text());
  }
  w.raw(packs);
  w.lines(before_lanes);
  {
    const auto block = w.unrolled("for (int lane = 0; lane < kVec; ++lane)");
    w.raw(lanes);
  }
  w.lines(behind_lanes);
}

/// Combines the partial results that blocks of an earlier launch found in their parts of the row.
void RowKernel::join_parts(NodeId id) {
  CudaWriter& w = e_.at(row_scope_);
  w.line(start_total(id));
  const std::string name = totals_.at(id), at = "[row * parts + other]";
  std::string part = partials_of(id, false) + at;
  const auto online = plan_.rescaled.find(id);
  if (online != plan_.rescaled.end()) {
    e_.need("rescaled");
    part = fmt::format("rescaled({}, {}{}, {})", part, partials_of(online->second.max, false), at,
                       totals_.at(online->second.max));
  }
  const auto centred = plan_.centred.find(id);
  if (centred != plan_.centred.end()) {
    const NodeId sum = centred->second.sum;
    const std::string columns = e_.text(plan_.column_count());
    const std::string mean = e_.fresh_variable("row_mean", row_scope_);
    e_.need("squares_about");
    w.line("const float {} = {} / static_cast<float>({});", mean, totals_.at(sum), columns);
    const auto loop =
        w.block("for (Index other = thread; other < parts; other += {})", team_.threads());
    w.line("const Index from = share * other;");
    w.line("const Index size = from + share < {0} ? share : from < {0} ? {0} - from : 0;", columns);
    w.line(
        "{0} += squares_about({1}, static_cast<float>(size), {2}{3} / static_cast<float>(size), "
        "{4});",
        name, part, partials_of(sum, false), at, mean);
  } else {
    const auto loop =
        w.block("for (Index other = thread; other < parts; other += {})", team_.threads());
    w.line("{0} = {1}()({0}, {2});", name, combine_of(region_.node(id).op), part);
  }
  finish(id, name);
}

void RowKernel::finish(NodeId id, const std::string& name) {
  const Node& node = region_.node(id);
  CudaWriter& w = e_.at(row_scope_);
  if (!team_.is_lanes()) {
    const std::string slots = e_.fresh(name + "_slots");
    shared_.push_back(fmt::format("__shared__ {} {}[{} / 32];", partial_type(node.dtype), slots,
                                  team_.threads()));
    w.line("{0} = reduce_block<{1}>({0}, {2}(), {3});", name, team_.threads(), combine_of(node.op),
           slots);
    e_.need("reduce_block");
  } else {
    w.line("{0} = reduce_lanes<{1}>({0}, {2}());", name, team_.threads(), combine_of(node.op));
    e_.need("reduce_lanes");
  }
  if (team_.is_split() && pass_ == team_.only) {
    w.line("if (thread == 0) {}[row * parts + part] = {};", partials_of(id, true), name);
  } else if (plan_.rescaled.count(id) > 0 && plan_.rescaled.at(id).bare) {
    w.comment("An infinite maximum is subtracted from itself somewhere: no number.");
    w.line("{0} += {1} - {1};", name, totals_.at(plan_.rescaled.at(id).max));
  }
  const bool narrow = std::string_view(partial_type(node.dtype)) != register_type(node.dtype);
  results_[id] = {
      {narrow ? fmt::format("static_cast<{}>({})", register_type(node.dtype), name) : name},
      row_scope_};
}

void RowKernel::row_stores() {
  if (plan_.row_stores.empty()) return;
  lane_scope_ = 0;
  std::vector<std::string> lines;
  for (const Store& store : plan_.row_stores) {
    const Index index = plan_.index_of(store, region_);
    const Value value = e_.value(store.node, index);
    e_.touch(store.to);
    lines.push_back(fmt::format("{}[{}] = {};", store.to.name, e_.text(plan_.address_of(store)),
                                e_.stored(value, store.to.dtype)));
  }
  CudaWriter& w = e_.at(row_scope_);
  const char* others = team_.is_lanes()                                 ? " && own_row < rows"
                       : team_.is_split() && !plan_.full_stores.empty() ? " && part == 0"
                                                                        : "";
  const auto block = w.block("if (thread == 0{})", others);
  w.lines(lines);
}

void RowKernel::store_pass() {
  open_pass(registers_ || team_.is_lanes());
  std::vector<std::string> packs, stores;
  for (const Store& store : plan_.full_stores) {
    const Index index = plan_.index_of(store, region_);
    const Dim address = plan_.address_of(store);
    const Value value = e_.value(store.node, index);
    e_.touch(store.to);
    const Dim renamed = substitute(address, plain_);
    if (!packs_.can_store(renamed)) {
      e_.at(lane_scope_)
          .line("{}[{}] = {};", store.to.name, e_.text(address), e_.stored(value, store.to.dtype));
      continue;
    }
    e_.note(address);
    const std::string pack = e_.fresh(store.to.name + "_pack");
    packs.push_back(fmt::format("Pack<{}, kVec> {};", memory_type(store.to.dtype), pack));
    e_.at(lane_scope_).line("{}.at[lane] = {};", pack, e_.stored(value, store.to.dtype));
    stores.push_back(fmt::format("store_pack({} + {}, {});", store.to.name, renamed.text(), pack));
    e_.need("store_pack");
  }
  const std::string lanes = e_.close(), pack_text = e_.close();
  CudaWriter& w = e_.at(row_scope_);
  team_.write_columns(w, team_.is_lanes() ? "own_row < rows" : "",
                      [&] { write_pass_body(w, pack_text, lanes, packs, stores); });
}

std::string partials_name(const Region& region, NodeId reduction) {
  return fmt::format("{}_{}_parts", graph::op_info(region.node(reduction).op).name, reduction);
}

std::string partials_parameter(const Region& region, NodeId reduction, bool written,
                               Parameters& parameters) {
  const std::string name = partials_name(region, reduction);
  const std::string declaration = fmt::format("{}{}* __restrict__ {}", written ? "" : "const ",
                                              partial_type(region.node(reduction).dtype), name);
  const std::pair<std::string, std::string> own = {declaration, name};
  if (!contains(parameters, own)) parameters.push_back(own);
  return name;
}

}  // namespace kw::generate
