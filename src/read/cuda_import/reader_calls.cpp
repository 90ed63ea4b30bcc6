// The problem: a launcher calls its own functions, the CUDA runtime and the standard library. The
// choice: functions of the file are interpreted in place; known runtime calls have a fixed meaning
// here. Calls that cannot change a result are dropped, and every other call is a problem that names
// the library. The alternative, ignoring unknown calls, could lose work that a kernel depends on.
// The cost: every supported runtime call is listed in this file.
#include "cuda_import/reader_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/contains.h"
#include "core/text.h"
#include "cuda_import/kept_values.h"
#include "cuda_import/reader_expressions.h"
#include "cuda_import/reader_launches.h"
#include "cuda_import/reader_names.h"
#include "cuda_import/reader_statements.h"

namespace kw::cuda_import {

namespace {

using Kind = HostValue::Kind;

constexpr int kMostCalls = 24;

/// Calls that change no result here: kernelwright itself synchronises, frees and reports.
const std::vector<std::string> kDropped = split(
    "cudaDeviceSynchronize cudaThreadSynchronize cudaStreamSynchronize cudaGetLastError "
    "cudaPeekAtLastError cudaFree cudaFreeAsync cudaFuncSetAttribute cudaFuncSetCacheConfig "
    "cudaFuncSetSharedMemConfig cudaDeviceSetCacheConfig cudaDeviceSetSharedMemConfig "
    "cudaDeviceSetLimit cudaCtxResetPersistingL2Cache cudaSetDevice cudaGetErrorString "
    "cudaGetErrorName cudaStreamCreate cudaStreamCreateWithFlags cudaStreamCreateWithPriority "
    "cudaStreamDestroy cudaStreamWaitEvent cudaProfilerStart cudaProfilerStop",
    ' ');
const std::set<std::string> kHarmless = {"printf", "fprintf",      "puts",
                                         "fflush", "assert",       "srand",
                                         "perror", "std::fprintf", "std::printf"};
const std::set<std::string> kEnds = {"exit", "abort", "std::exit", "std::abort", "std::terminate"};

HostValue status() {
  HostValue out;
  out.kind = Kind::Status;
  return out;
}

std::string library_of(const std::string& name) {
  for (const char* one : {"cublas", "cudnn", "cufft", "cusparse", "curand", "cusolver",
                          "thrust::", "cub::", "cutlass::", "cute::", "torch::", "at::"}) {
    if (name.starts_with(one)) return replace_all(one, "::", "");
  }
  return "";
}

/// ceilf takes a float, whatever it is given.
HostValue one_float(HostState& host, const std::string& base, HostValue value,
                    const cuda_source::Token& where) {
  if (!base.ends_with("f")) return value;
  return converted(host, value, CType{"float", tensor::DType::Fp32, 4}, where);
}

/// min and max; with a template argument, of that type.
HostValue extreme(HostState& host, bool smaller, HostValue a, HostValue b, TokenRange templates,
                  const cuda_source::Token& where) {
  if (templates.first < templates.last) {
    size_t at = templates.first;
    const auto type = read_type(host.tokens(), at, templates.last, host.types);
    if (!type || at != templates.last) return unknown_value("this min or max", where);
    a = converted(host, a, *type, where);
    b = converted(host, b, *type, where);
  }
  if (!a.is(Kind::Integer) || !b.is(Kind::Integer) || a.assumed || b.assumed)
    return unknown_value("min and max of things that are not integers here", where);
  if (a.integer != b.integer) {
    if (bits_of(a.integer) != bits_of(b.integer))
      return unknown_value("min and max of integers of different types", where);
    const HostValue other = a;
    a = balanced(host, a, b, where);
    b = balanced(host, b, other, where);
    if (a.is(Kind::Unknown)) return a;
    if (b.is(Kind::Unknown)) return b;
  }
  return integer_value(make_term(smaller ? TermOp::Min : TermOp::Max, {a.term, b.term}), a.integer);
}

HostValue library_call(HostState& host, const std::string& name,
                       const std::vector<TokenRange>& arguments, TokenRange templates,
                       const cuda_source::Token& where, bool* known) {
  *known = true;
  const std::string base = last_name(name);
  if (kEnds.count(name)) {
    host.out.path.refused = true;
    return {};
  }
  if (kHarmless.count(name) || name.starts_with("std::chrono") || base == "getenv") {
    for (const TokenRange& one : arguments) evaluate(host, one);  // for their effects
    return {};
  }
  if (name == "std::move" && arguments.size() == 1) return evaluate(host, arguments[0]);
  if (base == "swap" && arguments.size() == 2) {
    const HostValue a = evaluate(host, arguments[0]), b = evaluate(host, arguments[1]);
    const auto plain = [](const HostValue& one) {
      return one.slot != HostValue::kNoSlot && one.member < 0 && !one.is(Kind::Address);
    };
    if (!plain(a) || !plain(b)) {
      host.problem(where, "what is swapped here is not followed", "swap variables");
      return {};
    }
    host.assign(a.slot, -1, b, where);
    host.assign(b.slot, -1, a, where);
    return {};
  }
  static const std::set<std::string> kUp = {"ceil", "ceilf"}, kDown = {"floor", "floorf"};
  if ((kUp.count(base) || kDown.count(base)) && arguments.size() == 1)
    return rounded(host, one_float(host, base, evaluate(host, arguments[0]), where),
                   kUp.count(base) > 0, where);
  if ((base == "min" || base == "max") && arguments.size() == 2)
    return extreme(host, base == "min", evaluate(host, arguments[0]), evaluate(host, arguments[1]),
                   templates, where);
  static const std::set<std::string> kReal = {"sqrt", "sqrtf", "rsqrtf", "exp", "expf", "log",
                                              "logf", "log2",  "log2f",  "pow", "powf"};
  if (kReal.count(base))
    return unknown_value("floating-point arithmetic on the host ('" + base + "')", where);
  *known = false;
  return {};
}

}  // namespace

namespace {

void set_by_address(HostState& host, const HostValue& address, HostValue value,
                    const cuda_source::Token& where) {
  if (!address.is(Kind::Address) || !address.text.empty()) {
    host.problem(where, "a runtime call writes to no variable", "");
    return;
  }
  host.assign(address.slot, -1, std::move(value), where);
}

/// What a call that changes no result writes to its variables is not known.
HostValue dropped_call(HostState& host, const std::string& name,
                       const std::vector<TokenRange>& arguments, const cuda_source::Token& where) {
  for (const TokenRange& one : arguments) {
    const HostValue value = evaluate(host, one);
    if (value.is(Kind::Address) && value.slot < host.slots.size())
      host.assign(value.slot, -1, unknown_value(fmt::format("what '{}' writes", name), where),
                  where);
  }
  if (name.starts_with("cudaGetErr")) {
    HostValue text;
    text.kind = Kind::Text;
    return text;
  }
  return status();
}

/// Numbers of the device that plans know, by their attributes.
HostValue attribute_value(const std::string& what, const cuda_source::Token& where) {
  const int64_t most = usual_most(IntKind::I32);
  if (what == "cudaDevAttrMultiProcessorCount") return integer_value(named("SMS", {1, 4096}));
  if (what == "cudaDevAttrL2CacheSize") return integer_value(named("L2_BYTES", {0, most}));
  if (what == "cudaDevAttrMaxSharedMemoryPerBlockOptin")
    return integer_value(named("SMEM_MAX", {1, 1 << 24}));
  return unknown_value(fmt::format("plans do not know '{}'", what), where);
}

HostValue runtime_call(HostState& host, const std::string& name,
                       const std::vector<TokenRange>& arguments, const cuda_source::Token& where,
                       bool* known) {
  *known = true;
  const auto argument = [&](size_t i) {
    return i < arguments.size() ? evaluate(host, arguments[i]) : HostValue{};
  };
  if (name == "cudaEventQuery" || name == "cudaStreamQuery")
    return unknown_value(fmt::format("the answer of '{}'", name), where);
  const bool asks = name == "cudaGetLastError" || name == "cudaPeekAtLastError";
  if (asks || std::ranges::count(kDropped, name) > 0 || name.starts_with("cudaEvent"))
    return dropped_call(host, name, arguments, where);
  if (name == "cudaMalloc" || name == "cudaMallocAsync" || name == "cudaMallocManaged") {
    allocate(host, arguments, where);
  } else if (name == "cudaMemset" || name == "cudaMemsetAsync") {
    set_memory(host, arguments, where);
  } else if (name == "cudaMemcpy" || name == "cudaMemcpyAsync") {
    copy_memory(host, arguments, where);
  } else if (name == "cudaGetDevice") {
    set_by_address(host, argument(0), unknown_value("the number of the device", where), where);
  } else if (name == "cudaGetDeviceProperties") {
    HostValue properties;
    properties.kind = Kind::Properties;
    set_by_address(host, argument(0), properties, where);
  } else if (name == "cudaDeviceGetAttribute") {
    const HostValue place = argument(0);
    set_by_address(host, place, attribute_value(argument(1).text, where), where);
  } else if (name == "cudaOccupancyMaxActiveBlocksPerMultiprocessor") {
    const HostValue kernel = argument(1);
    set_by_address(host, argument(0),
                   kernel.is(Kind::Kernel) ? integer_value(blocks_per_sm(kernel.text))
                                           : unknown_value("the occupancy of no kernel", where),
                   where);
  } else if (name == "cudaLaunchKernel" || name == "cudaLaunchCooperativeKernel") {
    launch_by_call(host, arguments, name == "cudaLaunchCooperativeKernel", where);
  } else {
    *known = false;
  }
  return status();
}

}  // namespace

HostValue run_body(HostState& host, size_t code, TokenRange body, const cuda_source::Token& where) {
  if (++host.calls > kMostCalls) {
    host.problem(where, "functions call each other too deeply", "");
    host.broken = true;
    --host.calls;
    return {};
  }
  const auto saved = std::tuple(host.code, host.at, host.end);
  host.code = code;
  if (body.last == 0) body = {0, host.codes[code].size()};
  host.at = body.first;
  host.end = body.last;
  host.result = {};
  block(host, body);
  std::tie(host.code, host.at, host.end) = saved;
  --host.calls;
  return std::move(host.result);
}

namespace {

/// Binds parameters to arguments that were evaluated before.
void bind_parameter(HostState& host, Scope& scope, const CParameter& parameter, HostValue value,
                    const cuda_source::Token& where) {
  const CType& type = parameter.type;
  if (const size_t slot = aliased(host, type, value); slot != HostValue::kNoSlot) {
    scope[parameter.name] = slot;
    return;
  }
  value = converted(host, value, type, where);
  if (type.reference && value.is(Kind::Address))
    value = unknown_value("a reference to a pointer to a variable", where);
  if (!value.is(Kind::Address)) value.slot = HostValue::kNoSlot;
  value.home = HostValue::kNoSlot;
  value.member = -1;
  host.slots.push_back({std::move(value), parameter.name, type});
  scope[parameter.name] = host.slots.size() - 1;
}

/// The values of a call's arguments, defaults included.
std::vector<HostValue> argument_values(HostState& host, const std::vector<CParameter>& parameters,
                                       const std::vector<TokenRange>& arguments,
                                       const cuda_source::Token& where) {
  std::vector<HostValue> values;
  bool changes = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    EffectWatch watch(host);
    values.push_back(evaluate(host, arguments[i]));
    changes = changes || watch.seen();
    const bool reference = i < parameters.size() && parameters[i].type.reference;
    if (reference && (values.back().slot == HostValue::kNoSlot || values.back().member >= 0) &&
        !values.back().is(Kind::Unknown) && may_be_place(host, arguments[i]))
      values.back() = unknown_value("a reference to this", where);
  }
  if (changes && arguments.size() > 1) {
    size_t named_ones = 0;
    for (const TokenRange& one : arguments) named_ones += names_variable(host, one) ? 1 : 0;
    if (named_ones > 1)
      host.problem(where, "one argument changes what another may read", "write two statements");
  }
  if (arguments.size() > parameters.size())
    host.problem(where, "a call with more arguments than parameters", "");
  for (size_t i = values.size(); i < parameters.size(); ++i) {
    if (parameters[i].fallback.empty()) {
      host.problem(where, "a call with too few arguments", "");
      break;
    }
    host.codes.push_back(parameters[i].fallback);
    const auto saved = std::tuple(host.code, host.at, host.end, host.frame);
    host.code = host.codes.size() - 1;
    host.frame = host.scopes.size();  // it sees names of the file only
    values.push_back(evaluate(host, {0, host.tokens().size()}));
    std::tie(host.code, host.at, host.end, host.frame) = saved;
  }
  return values;
}

/// A value of another kind makes a type of a template parameter, as far as the type is a plain one.
void deduce(HostState& host, const std::string& base, const HostValue& value) {
  CType type;
  if (value.is(Kind::Pointer) && value.type.dtype) {
    type = value.type;
    type.pointers = 0;
    type.pointee_const = false;
  } else if (value.is(Kind::Integer)) {
    static constexpr tensor::DType kTypes[] = {
        tensor::DType::Bool,   tensor::DType::Int8,   tensor::DType::Uint8,
        tensor::DType::Int16,  tensor::DType::Uint16, tensor::DType::Int32,
        tensor::DType::Uint32, tensor::DType::Int64,  tensor::DType::Uint64};
    type.dtype = kTypes[static_cast<size_t>(value.integer)];
    type.base = kind_name(value.integer);
    type.size = tensor::dtype_size(*type.dtype);
  } else if (value.is(Kind::Real) && value.width >= 32) {
    type.dtype = value.width == 32 ? tensor::DType::Fp32 : tensor::DType::Fp64;
    type.base = value.width == 32 ? "float" : "double";
    type.size = value.width / 8;
  } else if (value.is(Kind::Scalar)) {
    type = value.type;
  } else {
    return;
  }
  host.types[base] = type;
}

void bind_templates(HostState& host, Scope& scope, const Item& item, TokenRange templates,
                    bool has_templates, const cuda_source::Token& where) {
  const std::vector<TokenRange> given =
      has_templates ? host.split(templates) : std::vector<TokenRange>{};
  for (size_t i = 0; i < item.template_parameters.size(); ++i) {
    const std::string& name = item.template_parameters[i];
    const bool takes_type = item.template_types[i].base.empty();
    host.types.erase(name);
    if (i >= given.size()) {
      if (!takes_type)
        host.problem(where, fmt::format("the template argument '{}' is left out", name),
                     "write it in '<…>'");
      continue;
    }
    size_t at = given[i].first;
    const auto type = read_type(host.tokens(), at, given[i].last, host.types);
    if (takes_type) {
      if (type && at == given[i].last) host.types[name] = *type;
      continue;
    }
    CParameter parameter;
    parameter.name = name;
    parameter.type = item.template_types[i];
    const auto alias = host.types.find(parameter.type.base);
    if (alias != host.types.end()) parameter.type = alias->second;
    bind_parameter(host, scope, parameter, evaluate(host, given[i]), where);
  }
}

/// The type in front of a function's name, or behind its '->'. Empty for auto.
CType result_type(HostState& host, const Item& item, const cuda_source::Token& where) {
  const auto all = host.source.expanded(item.first, item.parameters_first);
  size_t at = 0;
  while (at < all.size() && (!all[at].identifier() || all[at].is("template"))) {
    const size_t start = at;
    if (all[at].is("template") && at + 1 < all.size())
      at = cuda_source::behind_angles(all, at + 1, all.size());
    else if (all[at].is("[") || all[at].is("("))
      at = cuda_source::behind_bracket(all, at, all.size());
    if (at <= start) at = start + 1;
  }
  CType type = read_type(all, at, all.size(), host.types).value_or(CType{});
  const auto tail = host.source.expanded(item.parameters_last + 1, item.body_first);
  for (size_t i = 0; i < tail.size(); ++i) {
    if (tail[i].is("try"))
      host.problem(where, "a function that catches what it throws is not followed", "");
    size_t start = i + 1;
    if (tail[i].is("->")) type = read_type(tail, start, tail.size(), host.types).value_or(CType{});
  }
  const bool odd = type.base == "decltype" || type.base.starts_with("__attribute");
  if (type.reference || odd)
    host.problem(where, "a function that returns a reference is not followed", "return a value");
  if (odd || type.base == "auto") return {};
  return type;
}

HostValue call_item(HostState& host, const Item& item, TokenRange templates, bool has_templates,
                    const std::vector<TokenRange>& arguments, const cuda_source::Token& where) {
  const std::vector<CParameter> parameters = host.source.parameters(item);
  const TypeNames saved_types = host.types;
  if (item.parameters_first < item.parameters_last)
    host.code_of(item.parameters_first, item.parameters_last);  // names ambiguous macros
  Scope scope;
  std::vector<HostValue> values = argument_values(host, parameters, arguments, where);
  bind_templates(host, scope, item, templates, has_templates, where);
  for (size_t i = 0; i < parameters.size() && i < values.size(); ++i) {
    const std::string& base = parameters[i].type.base;
    if (contains(item.template_parameters, base) && host.types.count(base) == 0)
      deduce(host, base, values[i]);
    CParameter parameter = parameters[i];
    if (const auto own = host.types.find(base);
        own != host.types.end() && contains(item.template_parameters, base)) {
      parameter.type.dtype = own->second.dtype;
      parameter.type.size = own->second.size;
      parameter.type.pointers += own->second.pointers;
      parameter.type.base = own->second.base;
    }
    bind_parameter(host, scope, parameter, std::move(values[i]), where);
  }
  const CType type = result_type(host, item, where);
  const size_t saved_frame = host.frame;
  host.frame = host.scopes.size();
  host.scopes.push_back(std::move(scope));
  const size_t code = host.code_of(item.body_first, item.body_last);
  HostValue out = run_body(host, code, {}, where);
  host.scopes.pop_back();
  host.frame = saved_frame;
  host.types = saved_types;
  return converted(host, out, type, where);
}

}  // namespace

/// Whether another function of the host has the same name; choosing among them needs a compiler.
static bool overloaded(const HostState& host, const Item& item) {
  return std::ranges::count_if(host.source.outline.items, [&](const Item& other) {
           return (other.kind == Item::Kind::Host || other.kind == Item::Kind::Device) &&
                  last_name(other.name) == last_name(item.name);
         }) > 1;
}

HostValue call(HostState& host, const std::string& name, TokenRange templates, bool has_templates,
               const cuda_source::Token& where) {
  const bool braces = host.next_is("{");
  const size_t open = host.at, close = host.behind(host.at);
  const std::vector<TokenRange> arguments = host.split({open + 1, close - 1});
  host.at = close;
  if (name == "dim3") {
    HostValue list;
    list.kind = Kind::List;
    for (const TokenRange& one : arguments) list.items.push_back(evaluate(host, one));
    HostValue out;
    out.extents = extents_of(host, list, where, "this dim3");
    out.kind = Kind::Extents;
    return out;
  }
  std::vector<cuda_source::Token> word;
  for (const std::string& part : split(name, ' ')) {
    word.push_back(where);
    word.back().text = part;
  }
  size_t at = 0;
  for (const Item::Kind kind : {Item::Kind::Host, Item::Kind::Device}) {
    const Item* item = host.find_item(name, kind);
    if (item == nullptr || braces) continue;
    if (overloaded(host, *item))
      host.problem(where, fmt::format("there are several functions '{}'", last_name(item->name)),
                   "give each its own name");
    return call_item(host, *item, templates, has_templates, arguments, where);
  }
  const CType built_in = read_type(word, at, word.size(), host.types).value_or(CType{});
  if (built_in.size > 0 && at == word.size() && arguments.size() <= 1) {
    const HostValue value =
        arguments.empty() ? integer_value(number(0)) : evaluate(host, arguments[0]);
    HostValue out = converted(host, value, built_in, where);
    out.slot = HostValue::kNoSlot;
    return out;
  }
  bool known = true;
  HostValue out = runtime_call(host, name, arguments, where, &known);
  if (known) return out;
  out =
      library_call(host, name, arguments, has_templates ? templates : TokenRange{}, where, &known);
  if (known) return out;
  const std::string library = library_of(name);
  host.problem(
      where,
      library.empty() ? fmt::format("the launcher calls '{}', which is not known here", name)
                      : fmt::format("the launcher calls '{}' of {}", name, library),
      library.empty() ? "the file holds no such function, and the runtime call has no meaning "
                        "in a plan"
                      : "a kernel module holds its own kernels and launches nothing else");
  return unknown_value(fmt::format("the result of '{}'", name), where);
}

HostValue call_lambda(HostState& host, const HostValue& function,
                      const std::vector<TokenRange>& arguments, const cuda_source::Token& where) {
  const std::vector<CParameter> parameters =
      read_parameters(host.codes[function.code], function.first, function.last, host.types);
  const std::vector<HostValue> values = argument_values(host, parameters, arguments, where);
  // The body sees the variables of the place where it was written.
  const auto saved = std::pair(host.scopes, host.frame);
  if (function.scopes) {
    host.scopes = *function.scopes;
    host.scopes[0] = saved.first[0];
    host.frame = function.frame;
  }
  Scope scope;
  for (size_t i = 0; i < parameters.size() && i < values.size(); ++i)
    bind_parameter(host, scope, parameters[i], values[i], where);
  host.scopes.push_back(std::move(scope));
  HostValue out =
      function.body_first < function.body_last
          ? run_body(host, function.code, {function.body_first, function.body_last}, where)
          : HostValue{};
  const Scope globals = host.scopes[0];
  std::tie(host.scopes, host.frame) = saved;
  host.scopes[0] = globals;
  return converted(host, out, function.type, where);
}

}  // namespace kw::cuda_import
