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
#include "cuda_import/reader_expressions.h"
#include "cuda_import/reader_launches.h"
#include "cuda_import/reader_statements.h"

namespace kw::cuda_import {

namespace {

using Kind = HostValue::Kind;

constexpr int kMostCalls = 24;

/// Calls that change no result here: the engine itself synchronises, frees and reports.
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

HostValue library_call(HostState& host, const std::string& name,
                       const std::vector<TokenRange>& arguments, const cuda_source::Token& where,
                       bool* known) {
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
    host.assign(a.slot, -1, b, where);
    host.assign(b.slot, -1, a, where);
    return {};
  }
  static const std::set<std::string> kUp = {"ceil", "ceilf"}, kDown = {"floor", "floorf"};
  if ((kUp.count(base) || kDown.count(base)) && arguments.size() == 1)
    return rounded(evaluate(host, arguments[0]), kUp.count(base) > 0, where);
  const bool smaller = base == "min", larger = base == "max";
  if ((smaller || larger) && arguments.size() == 2) {
    const HostValue a = evaluate(host, arguments[0]), b = evaluate(host, arguments[1]);
    if (a.is(Kind::Integer) && b.is(Kind::Integer))
      return integer_value(make_term(smaller ? TermOp::Min : TermOp::Max, {a.term, b.term}));
    return unknown_value("min and max of things that are not integers here", where);
  }
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
  if (!address.is(Kind::Address)) {
    host.problem(where, "a runtime call writes to no variable", "");
    return;
  }
  host.assign(address.slot, -1, std::move(value), where);
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
  if (std::ranges::count(kDropped, name) > 0 || name.starts_with("cudaEvent")) return status();
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
    const std::string what = argument(1).text;
    const char* symbol = what == "cudaDevAttrMultiProcessorCount"            ? "SMS"
                         : what == "cudaDevAttrL2CacheSize"                  ? "L2_BYTES"
                         : what == "cudaDevAttrMaxSharedMemoryPerBlockOptin" ? "SMEM_MAX"
                                                                             : nullptr;
    set_by_address(host, argument(0),
                   symbol != nullptr
                       ? integer_value(named(symbol))
                       : unknown_value(fmt::format("plans do not know '{}'", what), where),
                   where);
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

HostValue call_item(HostState& host, const Item& item, TokenRange templates, bool has_templates,
                    const std::vector<TokenRange>& arguments, const cuda_source::Token& where) {
  const std::vector<CParameter> parameters = host.source.parameters(item);
  const TypeNames saved_types = host.types;
  Scope scope;
  const auto bind = [&](const std::string& name, const CType& type, HostValue value) {
    if (type.reference && value.slot < host.slots.size() && value.member < 0 &&
        !value.is(Kind::Address)) {
      scope[name] = value.slot;
      return;
    }
    value = converted(value, type, where);
    if (!value.is(Kind::Address)) value.slot = HostValue::kNoSlot;
    host.slots.push_back({std::move(value), name, type});
    scope[name] = host.slots.size() - 1;
  };
  const std::vector<TokenRange> given =
      has_templates ? host.split(templates) : std::vector<TokenRange>{};
  for (size_t i = 0; i < given.size() && i < item.template_parameters.size(); ++i) {
    size_t at = given[i].first;
    const auto type = read_type(host.tokens(), at, given[i].last, host.types);
    const bool is_type = type && at == given[i].last && type->known();
    if (is_type)
      host.types[item.template_parameters[i]] = *type;
    else
      bind(item.template_parameters[i], {}, evaluate(host, given[i]));
  }
  for (size_t i = 0; i < parameters.size() && i < arguments.size(); ++i) {
    HostValue value = evaluate(host, arguments[i]);
    const std::string& base = parameters[i].type.base;
    const bool open = contains(item.template_parameters, base) && host.types.count(base) == 0;
    if (open && value.is(Kind::Pointer) && value.type.dtype) {
      CType element = value.type;
      element.pointers = 0;
      element.pointee_const = false;
      host.types[base] = element;
    }
    bind(parameters[i].name, parameters[i].type, std::move(value));
  }
  const size_t saved_frame = host.frame;
  host.frame = host.scopes.size();
  host.scopes.push_back(std::move(scope));
  const size_t code = host.code_of(item.body_first, item.body_last);
  HostValue out = run_body(host, code, {}, where);
  host.scopes.pop_back();
  host.frame = saved_frame;
  host.types = saved_types;
  return out;
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
  std::vector<cuda_source::Token> word(1, where);
  word[0].text = name;
  size_t at = 0;
  for (const Item::Kind kind : {Item::Kind::Host, Item::Kind::Device}) {
    const Item* item = host.find_item(name, kind);
    if (item == nullptr || braces) continue;
    if (overloaded(host, *item))
      host.problem(where, fmt::format("there are several functions '{}'", last_name(item->name)),
                   "give each its own name");
    return call_item(host, *item, templates, has_templates, arguments, where);
  }
  const CType built_in = read_type(word, at, 1, host.types).value_or(CType{});
  const bool is_cast = built_in.size > 0 || name.find(' ') != std::string::npos;
  if (is_cast && arguments.size() == 1) {
    const bool wide = name.find(' ') != std::string::npos || name == "long" || name == "unsigned";
    const CType integer = {"long", tensor::DType::Int64, 8};
    return converted(evaluate(host, arguments[0]), wide ? integer : built_in, where);
  }
  bool known = true;
  HostValue out = runtime_call(host, name, arguments, where, &known);
  if (known) return out;
  out = library_call(host, name, arguments, where, &known);
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
  std::vector<HostValue> values;
  for (const TokenRange& one : arguments) values.push_back(evaluate(host, one));
  host.scopes.emplace_back();
  for (size_t i = 0; i < parameters.size() && i < values.size(); ++i) {
    if (!values[i].is(Kind::Address)) values[i].slot = HostValue::kNoSlot;
    host.declare(parameters[i].name, parameters[i].type, values[i]);
  }
  HostValue out =
      function.body_first < function.body_last
          ? run_body(host, function.code, {function.body_first, function.body_last}, where)
          : HostValue{};
  host.scopes.pop_back();
  return out;
}

}  // namespace kw::cuda_import
