// The problem: kernels need the value of a node at any index, without copies of moved tensors. The
// choice: indices are polynomials, and movement ops rewrite them on the way to the loads. Each
// value gets a name in the outermost scope that it depends on. The alternative, a loop nest that is
// transformed afterwards, would be more general. The cost: schedules must open their scopes before
// they ask for values.
#include "emit/emitter.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/check.h"
#include "core/text.h"
#include "text/text.h"

namespace kw::generate {

namespace {

constexpr size_t kLongExpression = 64;

bool is_name_or_number(const std::string& text) {
  const std::string_view name =
      std::string_view(text).substr(0, text.ends_with("[lane]") ? text.size() - 6 : text.size());
  return std::ranges::all_of(
      name, [](char c) { return is_name_char(c) || c == '.'; });
}

/// The name of a value if the reference's author gave it none.
std::string noun(const Node& node) {
  static const std::map<Op, const char*> nouns = {
      {Op::Add, "sum"},        {Op::Sub, "difference"},     {Op::Mul, "product"},
      {Op::Div, "quotient"},   {Op::Cast, "value"},         {Op::Where, "choice"},
      {Op::Maximum, "larger"}, {Op::Minimum, "smaller"},    {Op::Neg, "negative"},
      {Op::Abs, "size"},       {Op::Reciprocal, "inverse"},
  };
  const auto found = nouns.find(node.op);
  if (found != nouns.end()) return found->second;
  return std::string(graph::op_info(node.op).name) + "_value";
}

// A moved value gets the name of its source.
std::string noun_of(const Region& region, NodeId id) {
  while (region.loads.count(id) == 0 &&
         graph::op_info(region.node(id).op).kind == OpKind::Movement) {
    id = region.node(id).inputs[0];
  }
  const auto loaded = region.loads.find(id);
  return loaded != region.loads.end() ? loaded->second.name + "_value" : noun(region.node(id));
}

Value constant_value(Emitter& e, const Node& node) {
  if (!node.attrs.number_text.empty()) return e.number(node);
  if (node.attrs.starts.empty()) {
    return {{literal(node.dtype, node.attrs.number, node.attrs.integer)}, 0};
  }
  return {
      {fmt::format("static_cast<{}>({})", register_type(node.dtype), e.text(node.attrs.starts[0]))},
      0};
}

Value source_value(Emitter& e, NodeId id, const Index& index) {
  const Node& node = e.region().node(id);
  if (node.op == Op::Constant) return constant_value(e, node);
  if (node.op == Op::Iota) {
    const Dim& at = index[static_cast<size_t>(node.attrs.dims[0])];
    return {{fmt::format("static_cast<{}>({})", register_type(node.dtype), e.text(at))},
            e.level_of(at)};
  }
  KW_CHECK(node.op == Op::Philox, "every input is in memory");
  e.need("philox_uniform");
  const Value seed = e.value(node.inputs[0], {}), offset = e.value(node.inputs[1], {});
  const Dim position = linear(node.shape, index);
  return {{fmt::format("philox_uniform({}, {}, {})", seed.expr.text, offset.expr.text,
                       e.text(position))},
          std::max({e.level_of(position), seed.level, offset.level})};
}

}  // namespace

Emitter::Emitter(const Region& region, int indent)
    : region_(region), names_(region.taken), roundings_(kw::generate::roundings(region)) {
  for (const std::string_view word : reserved_words()) names_.emplace(word);
  for (const auto& [node, buffer] : region.loads) names_.insert(buffer.name);
  for (const Store& store : region.stores) {
    names_.insert(store.to.name);
    ++uses_[store.node];
  }
  for (const NodeId id : interior(region)) {
    for (const NodeId input : region.node(id).inputs) ++uses_[input];
  }
  scopes_.push_back({CudaWriter(indent), indent, {}});
}

int Emitter::open(const std::vector<std::string>& variables, int inside, int deeper) {
  const int level = static_cast<int>(scopes_.size());
  const int indent = scopes_[static_cast<size_t>(inside)].indent + deeper;
  scopes_.push_back({CudaWriter(indent), indent, {}, inside});
  for (const std::string& name : variables) variable_level_[name] = level;
  return level;
}

std::string Emitter::close() {
  std::string text = scopes_.back().writer.text();
  scopes_.pop_back();
  return text;
}

std::string Emitter::take(int level) {
  Scope& scope = scopes_[static_cast<size_t>(level)];
  std::string text = scope.writer.text();
  scope.writer = CudaWriter(scope.indent);
  return text;
}

void Emitter::keep_in_arrays(int level, const std::string& counter, const std::string& count) {
  Scope& scope = scopes_[static_cast<size_t>(level)];
  scope.counter = counter;
  scope.count = count;
}

std::string Emitter::declare(int level, const std::string& type, const std::string& wish,
                             const std::string& text) {
  const std::string name = fresh_variable(wish, level);
  const Scope& scope = scopes_[static_cast<size_t>(level)];
  if (scope.counter.empty()) {
    at(level).line("const {} {} = {};", type, name, text);
    return name;
  }
  at(scope.inside).line("{} {}[{}];", type, name, scope.count);
  const std::string element = fmt::format("{}[{}]", name, scope.counter);
  at(level).line("{} = {};", element, text);
  return element;
}

int Emitter::level_of(const Dim& index) const {
  int level = 0;
  for (const std::string& word : identifiers(index.text())) {
    const auto found = variable_level_.find(word);
    if (found != variable_level_.end()) level = std::max(level, found->second);
  }
  return level;
}

Value Emitter::number(const Node& constant) {
  KW_CHECK(region_.numbers != nullptr, "the plan has the numbers of its constants");
  const PlanNumber& number = region_.numbers->at(number_key(constant));
  used_.numbers[number.name] = register_type(number.dtype);
  if (register_type(number.dtype) == register_type(constant.dtype)) return {{number.name}, 0};
  return {{fmt::format("static_cast<{}>({})", register_type(constant.dtype), number.name)}, 0};
}

std::string Emitter::fresh(const std::string& wish) {
  if (names_.insert(wish).second) return wish;
  int& number = numbers_.try_emplace(wish, 2).first->second;  // all lower numbers are taken
  while (true) {
    std::string name = fmt::format("{}_{}", wish, number++);
    if (names_.insert(name).second) return name;
  }
}

std::string Emitter::fresh_variable(const std::string& wish, int level) {
  std::string name = fresh(wish);
  variable_level_[name] = level;
  return name;
}

std::string Emitter::text(const Dim& index) {
  const Dim renamed = rename.empty() ? index : substitute(index, rename);
  used_.indices.push_back(index);
  std::string out = renamed.text();
  for (const std::string& word : identifiers(out)) {
    if (variable_level_.count(word) == 0) used_.parameters.insert(word);
  }
  return out;
}

void Emitter::nest(int level, const std::vector<std::string>& heads, const std::string& body) {
  const std::function<void(size_t)> around = [&](size_t i) {
    if (i == heads.size()) {
      at(level).raw(body);
      return;
    }
    const auto block = at(level).block(heads[i]);
    around(i + 1);
  };
  around(0);
}

std::string Emitter::stored(const Value& value, DType dtype) {
  if (dtype == DType::E8m0) need("to_exponent");
  return to_memory(dtype, value.expr.text);
}

void Emitter::store(int level, const Store& store, const Dim& address, const Value& value) {
  touch(store.to);
  const std::string place = text(address);
  at(level).line("{}[{}] = {};", store.to.name, place, stored(value, store.to.dtype));
}

std::string Emitter::key_of(NodeId node, const Index& index) const {
  std::string key = std::to_string(node);
  for (const Dim& dim : index) key += "," + dim.text();
  for (const Condition& condition : conditions_) key += "|" + condition.name;
  return key;
}

const Value* Emitter::remembered(const std::string& key) const {
  for (const Scope& scope : scopes_) {
    const auto found = scope.memo.find(key);
    if (found != scope.memo.end()) return &found->second;
  }
  return nullptr;
}

bool Emitter::deserves_name(NodeId node, const Value& value) const {
  if (is_name_or_number(value.expr.text)) return false;
  if (value.expr.text.size() > kLongExpression) return true;
  if (region_.node(node).op == Op::Constant) return false;
  const auto loaded = region_.loads.find(node);
  if (loaded != region_.loads.end() && is_half(loaded->second.dtype)) return true;
  const auto uses = uses_.find(node);
  return uses != uses_.end() && uses->second > 1;
}

Value Emitter::value(NodeId node, const Index& index) {
  if (overflowed()) return {{"0"}, 0};
  const std::string key = key_of(node, index);
  if (const Value* known = remembered(key)) return *known;
  ++work_;
  ++used_.instances[node];
  Value value = compute(node, index);
  if (deserves_name(node, value))
    value = bound(value, region_.node(node).dtype, noun_of(region_, node));
  scopes_[static_cast<size_t>(value.level)].memo[key] = value;
  return value;
}

Value Emitter::bound(const Value& value, DType dtype, const std::string& wish) {
  return {{declare(value.level, register_type(dtype), wish, value.expr.text)}, value.level};
}

std::string Emitter::named(int level, const std::string& type, const std::string& wish,
                           const std::string& text) {
  const auto known = scopes_[static_cast<size_t>(level)].named.find(text);
  if (known != scopes_[static_cast<size_t>(level)].named.end()) return known->second;
  const std::string name = declare(level, type, wish, text);
  scopes_[static_cast<size_t>(level)].named[text] = name;
  return name;
}

Value Emitter::compute(NodeId id, const Index& index) {
  const auto loaded = region_.loads.find(id);
  if (loaded != region_.loads.end())
    return load(loaded->second, linear(loaded->second.shape, index));
  if (on_node) {
    if (std::optional<Value> hooked = on_node(id, index)) return *hooked;
  }
  return plain(id, index);
}

Value Emitter::plain(NodeId id, const Index& index) {
  const Node& node = region_.node(id);
  switch (graph::op_info(node.op).kind) {
    case OpKind::Source:
      return source_value(*this, id, index);
    case OpKind::Pointwise:
      return pointwise(id, index);
    case OpKind::Movement:
      return is_heavy(node.op) ? serial_value(*this, id, index) : moved_value(*this, id, index);
    default:
      return serial_value(*this, id, index);
  }
}

Value Emitter::load(const Buffer& buffer, const Dim& address) {
  touch(buffer);
  if (on_load && conditions_.empty()) {
    if (std::optional<Value> hooked = on_load(buffer, address)) return *hooked;
  }
  Access access{buffer, address, {}, true};
  if (!conditions_.empty()) {
    access.bounds = conditions_.back().bounds;
    access.bounded = conditions_.back().bounded;
  }
  used_.accesses.push_back(access);
  if (on_access) {
    const Condition none, &condition = conditions_.empty() ? none : conditions_.back();
    if (std::optional<Value> hooked = on_access(access, condition.name, condition.level)) {
      return *hooked;
    }
  }
  Value value{{from_memory(buffer.dtype, fmt::format("{}[{}]", buffer.name, text(address)))},
              level_of(address)};
  if (buffer.dtype == DType::E8m0) need("from_exponent");
  if (conditions_.empty()) return value;
  const Condition& condition = conditions_.back();
  value.expr = {
      fmt::format("{} ? {} : {}", condition.name, value.expr.text, literal(buffer.dtype, 0, 0)),
      false};
  value.level = std::max(value.level, condition.level);
  return value;
}

Emitter::Guarded Emitter::under(const std::string& condition, int level,
                                const std::function<Value()>& body,
                                const std::vector<Bound>& bounds) {
  std::string whole = condition;
  std::vector<Bound> all = bounds;
  bool bounded = !bounds.empty();
  if (!conditions_.empty()) {
    whole = fmt::format("{} && {}", conditions_.back().name, condition);
    level = std::max(level, conditions_.back().level);
    all.insert(all.end(), conditions_.back().bounds.begin(), conditions_.back().bounds.end());
    bounded = bounded && conditions_.back().bounded;
  }
  conditions_.push_back({named(level, "bool", "inside", whole), level, all, bounded});
  Value value = body();
  Guarded guarded{conditions_.back().name, value};
  conditions_.pop_back();
  guarded.value.level = std::max(value.level, level);
  return guarded;
}

std::string Emitter::if_inside(const std::string& text, const std::string& otherwise) const {
  if (conditions_.empty()) return text;
  return fmt::format("({} ? {} : {})", conditions_.back().name, text, otherwise);
}

Value Emitter::Guarded::or_else(const Value& other) const {
  // A load under the same condition already gives this value.
  const std::string &text = value.expr.text, end = " : " + other.expr.text;
  if (text.starts_with(condition + " ? ") && text.ends_with(end) &&
      text.find(" ? ") == text.rfind(" ? ")) {
    return value;
  }
  return {
      {fmt::format("{} ? {} : {}", condition, value.expr.operand(), other.expr.operand()), false},
      std::max(value.level, other.level)};
}

std::optional<Value> Emitter::shortcut(NodeId id, const Index& index) {
  const std::optional<Shortcut> found = find_shortcut(*region_.graph, id);
  if (!found) return std::nullopt;
  // Nodes before another kernel's result are not available here.
  for (const NodeId argument : found->arguments) {
    if (uses_.count(argument) == 0) return std::nullopt;
  }
  Value out{{found->expression, false}, 0};
  std::vector<Value> operands;
  std::vector<Index> places;
  for (const NodeId argument : found->arguments) {
    places.push_back(region_.node(argument).shape.size() == index.size() ? index : Index{});
    operands.push_back(value(argument, places.back()));
    out.level = std::max(out.level, operands.back().level);
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    const Expr operand = hoisted(found->arguments[i], places[i], operands[i], out.level).expr;
    const std::string hole = fmt::format("{{{}}}", i);
    out.expr.text = replace_all(out.expr.text, "(" + hole + ")", "(" + operand.text + ")");
    out.expr.text = replace_all(out.expr.text, hole, operand.operand());
  }
  for (const std::string& function : found->functions) need(function);
  return out;
}

// A value that does not change in an inner loop is computed outside it.
Value Emitter::hoisted(NodeId id, const Index& index, const Value& value, int level) {
  if (value.level >= level || value.level == 0 || is_name_or_number(value.expr.text)) return value;
  const Value named = bound(value, region_.node(id).dtype, noun_of(region_, id));
  scopes_[static_cast<size_t>(value.level)].memo[key_of(id, index)] = named;
  return named;
}

Value Emitter::pointwise(NodeId id, const Index& index) {
  const Node& node = region_.node(id);
  if (in_float(node.dtype)) {
    if (std::optional<Value> cheaper = shortcut(id, index)) return *cheaper;
  }
  std::vector<Value> values;
  int level = 0;
  for (const NodeId input : node.inputs) {
    values.push_back(value(input, index));
    level = std::max(level, values.back().level);
  }
  std::vector<Expr> operands;
  for (size_t i = 0; i < values.size(); ++i) {
    operands.push_back(hoisted(node.inputs[i], index, values[i], level).expr);
  }
  const DType from = region_.node(node.inputs.back()).dtype;
  Value out{pointwise_text(node.op, from, node.dtype, operands, used_.functions), level};
  if (roundings_.count(id) == 0) return out;
  if (node.dtype == DType::E8m0) need("from_exponent");
  return {{from_memory(node.dtype, stored(out, node.dtype))}, level};
}

}  // namespace kw::generate
