// The problem: a launch must be recorded with everything that its plan line needs. The choice:
// record the kernel, the geometry as terms and each argument as tensor, integer, scalar or
// constant. cudaMemset and cudaMemcpy become launches of small added kernels; a first memset to 0
// becomes scratch that starts with zeros. The alternative, plan lines for memory calls, would make
// the plan language larger. The cost: a floating-point argument computed from the shape, or a copy
// from the host, is refused.
#include "cuda_import/reader_launches.h"

#include <fmt/core.h>

#include <algorithm>

#include "cuda_import/reader_expressions.h"

namespace kw::cuda_import {

namespace {

using Kind = HostValue::Kind;

constexpr size_t kMostLaunches = 400;

// For a template, scale<<<…>>>(x, …) means scale<float>; parameters with a default are left out.
std::string deduced(const Item& kernel, const std::vector<CParameter>& parameters,
                    const std::vector<HostValue>& arguments) {
  std::string text;
  for (const std::string& name : kernel.template_parameters) {
    std::string found;
    for (size_t i = 0; i < parameters.size() && i < arguments.size(); ++i) {
      const CType& given = arguments[i].type;
      if (parameters[i].type.base == name && arguments[i].is(Kind::Pointer) && given.known())
        found = given.base;
    }
    if (found.empty()) break;
    text += (text.empty() ? "" : ", ") + found;
  }
  return "<" + text + ">";
}

void note_use(HostState& host, const HostValue& pointer, bool writes) {
  for (const HostValue& one : pointer.items) note_use(host, one, writes);
  if (!pointer.items.empty()) return;
  host.out.used.insert(pointer.text);
  if (writes) host.out.written.insert(pointer.text);
}

bool kernel_argument(HostState& host, HostValue value, const CParameter* parameter,
                     const cuda_source::Token& where, const std::string& what,
                     RecordedLaunch& launch) {
  KernelArgument out;
  const bool floating = parameter != nullptr && parameter->type.pointers == 0 &&
                        parameter->type.dtype && tensor::is_float(*parameter->type.dtype);
  if (value.assumed) value = unknown_value("a number made of the outcome of a call", where);
  const bool whole = value.is(Kind::Integer) || value.is(Kind::Ratio) || value.is(Kind::Real);
  const bool known = value.is(Kind::Real) || (value.is(Kind::Integer) && value.term->constant());
  // A plan refuses integers that do not fit their parameter, and rounds to half types.
  const bool half = floating && value.is(Kind::Real) && parameter->type.size < 4;
  if (whole && parameter != nullptr && parameter->type.pointers == 0 && parameter->type.dtype &&
      !half && (known || value.is(Kind::Ratio)) && !(floating && value.is(Kind::Ratio)))
    value = converted(host, value, parameter->type, where);
  if (value.is(Kind::Pointer) && !value.text.empty()) {
    out.kind = KernelArgument::Kind::Tensor;
    out.name = value.text;
    note_use(host, value, parameter == nullptr || !parameter->type.pointee_const);
  } else if (value.is(Kind::Pointer)) {
    // The launcher itself would fail here, so the module does not support this shape.
    if (host.out.path.conditions.empty())
      host.problem(where, what + " is a pointer to nothing", "allocate it, or pass a buffer");
    host.out.path.refused = true;
    return false;
  } else if (value.is(Kind::Scalar)) {
    out.kind = KernelArgument::Kind::Scalar;
    out.name = value.text;
  } else if (value.is(Kind::Real)) {
    out.kind = KernelArgument::Kind::Real;
    out.real = value.real;
  } else if (floating && (value.is(Kind::Integer) || value.is(Kind::Ratio))) {
    host.problem(where, what + " is computed from the shape, but is floating-point",
                 "pass the integer and convert it in the kernel");
    return false;
  } else if (value.is(Kind::Integer)) {
    out.term = value.term;
  } else {
    host.problem(value, what + " cannot be expressed in a plan", where);
    return false;
  }
  launch.arguments.push_back(std::move(out));
  return true;
}

void record(HostState& host, const HostValue& kernel, RecordedLaunch launch,
            const std::vector<HostValue>& arguments, const std::vector<cuda_source::Token>& places,
            const cuda_source::Token& where) {
  if (!kernel.is(Kind::Kernel)) {
    host.problem(kernel, "what is launched here is not a kernel of this file", where);
    return;
  }
  if (host.out.path.launches.size() >= kMostLaunches) {
    host.problem(where, "too many launches", "");
    host.broken = true;
    return;
  }
  launch.kernel = kernel.text;
  launch.base = kernel.text.substr(0, kernel.text.find('<'));
  launch.line = where.line;
  launch.column = where.column;
  launch.repeat = host.repeat;
  const Item* item = host.find_item(launch.base, Item::Kind::Kernel);
  const std::vector<CParameter> parameters =
      item != nullptr ? host.source.parameters(*item) : std::vector<CParameter>{};
  if (item != nullptr && arguments.size() != parameters.size())
    host.problem(where,
                 fmt::format("'{}' takes {} parameters and gets {} arguments", launch.base,
                             parameters.size(), arguments.size()),
                 "");
  if (item != nullptr && launch.kernel == launch.base && !item->template_parameters.empty())
    launch.kernel += deduced(*item, parameters, arguments);
  bool fine = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const CParameter* parameter = i < parameters.size() ? &parameters[i] : nullptr;
    const std::string what = fmt::format("argument {} of '{}'", i + 1, launch.base);
    fine = kernel_argument(host, arguments[i], parameter, places[i], what, launch) && fine;
  }
  if (fine) host.out.path.launches.push_back(std::move(launch));
}

}  // namespace

// kernel<<<grid, block[, shared[, stream]]>>>(arguments), called at the '<<<'.
void launch(HostState& host, const HostValue& kernel, const cuda_source::Token& where) {
  const size_t open = ++host.at;
  size_t close = open;
  const auto closes = [&](size_t i) {
    return i + 2 < host.end && host.token(i).is(">") && host.token(i + 1).is(">") &&
           host.token(i + 1).joined && host.token(i + 2).is(">") && host.token(i + 2).joined;
  };
  while (close < host.end && !closes(close)) {
    const bool opens =
        host.token(close).is("(") || host.token(close).is("[") || host.token(close).is("{");
    close = opens ? host.behind(close) : close + 1;
  }
  if (close >= host.end || !host.token(close + 3).is("(")) {
    host.problem(where, "this '<<<' has no '>>>(…)'", "");
    host.at = host.end;
    return;
  }
  const std::vector<TokenRange> configuration = host.split({open, close});
  const size_t end = host.behind(close + 3);
  const std::vector<TokenRange> arguments = host.split({close + 4, end - 1});
  host.at = end;
  if (configuration.size() < 2) {
    host.problem(where, "a launch needs a grid and a block", "");
    return;
  }
  RecordedLaunch launch;
  const auto extents = [&](size_t i, const char* what) {
    return extents_of(host, evaluate(host, configuration[i]), host.token(configuration[i].first),
                      what);
  };
  launch.grid = extents(0, "this launch's grid");
  launch.block = extents(1, "this launch's block");
  if (configuration.size() > 2) launch.shared = extents(2, "its shared memory").x;
  std::vector<HostValue> values;
  std::vector<cuda_source::Token> places;
  for (const TokenRange& one : arguments) {
    values.push_back(evaluate(host, one));
    places.push_back(host.token(one.first));
  }
  record(host, kernel, std::move(launch), values, places, where);
}

// cudaLaunchKernel(kernel, grid, block, void** arguments, shared, stream)
void launch_by_call(HostState& host, const std::vector<TokenRange>& arguments, bool cooperative,
                    const cuda_source::Token& where) {
  if (arguments.size() < 4) return host.problem(where, "too few arguments of a launch", "");
  RecordedLaunch launch;
  launch.cooperative = cooperative;
  launch.grid = extents_of(host, evaluate(host, arguments[1]), where, "this launch's grid");
  launch.block = extents_of(host, evaluate(host, arguments[2]), where, "this launch's block");
  if (arguments.size() > 4)
    launch.shared = extents_of(host, evaluate(host, arguments[4]), where, "its shared memory").x;
  const HostValue list = evaluate(host, arguments[3]);
  if (!list.is(Kind::List))
    return host.problem(where, "the arguments of this launch are not a list that can be followed",
                        "write 'void* args[] = {&a, &b};' in the same function");
  std::vector<HostValue> values;
  const HostValue kernel = evaluate(host, arguments[0]);
  const Item* item =
      host.find_item(kernel.text.substr(0, kernel.text.find('<')), Item::Kind::Kernel);
  const std::vector<CParameter> parameters =
      item != nullptr ? host.source.parameters(*item) : std::vector<CParameter>{};
  for (size_t i = 0; i < list.items.size(); ++i) {
    const HostValue& one = list.items[i];
    if (!one.is(Kind::Address) || one.slot >= host.slots.size())
      return host.problem(where, "an argument of this launch is not the address of a variable", "");
    // The launch reads as many bytes as the parameter has.
    const CType own = host.slots[one.slot].type;
    const CType wanted = i < parameters.size() ? parameters[i].type : own;
    const bool typed = own.pointers == 0 && wanted.pointers == 0 && own.dtype && wanted.dtype;
    if (own.pointers != wanted.pointers || (typed && own.dtype != wanted.dtype))
      return host.problem(where, "an argument of this launch has another type than its parameter",
                          "");
    values.push_back(host.target_of(one));
  }
  record(host, kernel, std::move(launch), values,
         std::vector<cuda_source::Token>(values.size(), where), where);
}

namespace {

void bytes_launch(HostState& host, const char* kernel, const std::vector<KernelArgument>& arguments,
                  const TermRef& bytes, const cuda_source::Token& where) {
  RecordedLaunch launch = bytes_launch_of(kernel, arguments, bytes);
  launch.line = where.line;
  launch.column = where.column;
  launch.repeat = host.repeat;
  host.out.path.launches.push_back(std::move(launch));
}

}  // namespace

/// A size, as size_t.
static HostValue byte_count(HostState& host, TokenRange range, const cuda_source::Token& where) {
  HostValue out = converted(host, evaluate(host, range),
                            CType{"unsigned long", tensor::DType::Uint64, 8}, where);
  if (out.assumed) out = unknown_value("a number made of the outcome of a call", where);
  return out;
}

void allocate(HostState& host, const std::vector<TokenRange>& arguments,
              const cuda_source::Token& where) {
  if (arguments.size() < 2) return host.problem(where, "too few arguments", "");
  const HostValue address = evaluate(host, arguments[0]);
  const HostValue bytes = byte_count(host, arguments[1], where);
  if (!address.is(Kind::Address) || address.slot >= host.slots.size())
    return host.problem(where, "memory is allocated for no variable", "pass '&pointer'");
  host.changed = std::min(host.changed, address.slot);
  if (!bytes.is(Kind::Integer)) return host.problem(bytes, "the size of this memory", where);
  if (host.repeat >= 0)
    return host.problem(where, "memory is allocated inside a loop of launches", "");
  Slot& slot = host.slots[address.slot];
  RecordedScratch scratch;
  scratch.name = slot.name;
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(host.out.path.scratch,
                               [&](const RecordedScratch& one) { return one.name == name; });
  };
  for (int i = 2; taken(scratch.name); ++i) scratch.name = fmt::format("{}_{}", slot.name, i);
  const bool typed = slot.type.dtype && slot.type.pointers == 1;
  scratch.dtype = typed ? *slot.type.dtype : tensor::DType::Uint8;
  const int64_t size = tensor::dtype_size(scratch.dtype);
  scratch.count =
      divided(bytes.term, size).value_or(make_term(TermOp::CeilDiv, {bytes.term, number(size)}));
  slot.value = {};
  slot.value.kind = Kind::Pointer;
  slot.value.text = scratch.name;
  slot.value.type = slot.type;
  host.out.path.scratch.push_back(std::move(scratch));
}

void set_memory(HostState& host, const std::vector<TokenRange>& arguments,
                const cuda_source::Token& where) {
  if (arguments.size() < 3) return host.problem(where, "too few arguments", "");
  const HostValue target = evaluate(host, arguments[0]), value = evaluate(host, arguments[1]);
  const HostValue bytes = byte_count(host, arguments[2], where);
  if (!target.is(Kind::Pointer) || target.text.empty())
    return host.problem(target, "cudaMemset does not get a buffer", where);
  if (!value.is(Kind::Integer) || !value.term->constant() || value.assumed)
    return host.problem(value, "the value of cudaMemset is not a constant", where);
  if (!bytes.is(Kind::Integer)) return host.problem(bytes, "the size of this cudaMemset", where);
  const auto scratch =
      std::ranges::find(host.out.path.scratch, target.text, &RecordedScratch::name);
  const bool early = std::ranges::none_of(host.out.path.launches, [&](const RecordedLaunch& one) {
    return std::ranges::any_of(one.arguments,
                               [&](const KernelArgument& arg) { return arg.name == target.text; });
  });
  if (scratch != host.out.path.scratch.end() && early && host.repeat < 0 &&
      value.term->constant() == 0) {
    scratch->zero = true;
    return;
  }
  note_use(host, target, true);
  KernelArgument to{KernelArgument::Kind::Tensor, target.text, nullptr, 0};
  KernelArgument byte{KernelArgument::Kind::Integer, "", value.term, 0};
  bytes_launch(host, kSetBytes, {to, byte}, bytes.term, where);
}

void copy_memory(HostState& host, const std::vector<TokenRange>& arguments,
                 const cuda_source::Token& where) {
  if (arguments.size() < 4) return host.problem(where, "too few arguments", "");
  const HostValue to = evaluate(host, arguments[0]), from = evaluate(host, arguments[1]);
  const HostValue bytes = byte_count(host, arguments[2], where);
  const std::string kind = evaluate(host, arguments[3]).text;
  if (kind != "cudaMemcpyDeviceToDevice" || !to.is(Kind::Pointer) || !from.is(Kind::Pointer) ||
      to.text.empty() || from.text.empty())
    return host.problem(where, "memory is copied between host and device",
                        "a kernel module has no host memory: compute it in a kernel");
  if (!bytes.is(Kind::Integer)) return host.problem(bytes, "the size of this cudaMemcpy", where);
  note_use(host, to, true);
  note_use(host, from, false);
  KernelArgument source{KernelArgument::Kind::Tensor, from.text, nullptr, 0};
  KernelArgument target{KernelArgument::Kind::Tensor, to.text, nullptr, 0};
  bytes_launch(host, kCopyBytes, {target, source}, bytes.term, where);
}

RecordedLaunch bytes_launch_of(const char* kernel, std::vector<KernelArgument> arguments,
                               const TermRef& bytes) {
  RecordedLaunch launch;
  launch.kernel = launch.base = kernel;
  launch.arguments = std::move(arguments);
  launch.arguments.push_back({KernelArgument::Kind::Integer, "", bytes, 0});
  launch.block.x = number(256);
  const TermRef blocks = make_term(TermOp::CeilDiv, {bytes, number(4096)});
  launch.grid.x =
      make_term(TermOp::Min, {make_term(TermOp::Max, {blocks, number(1)}), number(1024)});
  return launch;
}

}  // namespace kw::cuda_import
