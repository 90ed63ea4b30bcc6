// The problem: a launch must be recorded with everything that its plan line needs. The choice:
// record the kernel, the geometry as terms and each argument as tensor, integer, scalar or
// constant. cudaMemset and cudaMemcpy become launches of small added kernels; a first memset to 0
// becomes scratch that starts with zeros. The alternative, plan lines for memory calls, would make
// the plan language larger. The cost: a floating-point argument computed from the shape, or a copy
// from the host, is refused.
#include <fmt/core.h>

#include <algorithm>

#include "cuda_import/host_code_reader.h"

namespace kw::cuda_import {

namespace {

using Kind = HostValue::Kind;

constexpr size_t kMostLaunches = 400;

}  // namespace

// kernel<<<grid, block[, shared[, stream]]>>>(arguments), called at the '<<<'.
void HostCodeReader::launch(const HostValue& kernel, const cuda_source::Token& where) {
  const size_t open = ++at_;
  size_t close = open;
  const auto closes = [&](size_t i) {
    return i + 2 < end_ && token(i).is(">") && token(i + 1).is(">") && token(i + 1).joined &&
           token(i + 2).is(">") && token(i + 2).joined;
  };
  while (close < end_ && !closes(close)) {
    const bool opens = token(close).is("(") || token(close).is("[") || token(close).is("{");
    close = opens ? cuda_source::behind_bracket(codes_[code_], close, end_) : close + 1;
  }
  if (close >= end_ || !token(close + 3).is("(")) {
    problem(where, "this '<<<' has no '>>>(…)'", "");
    at_ = end_;
    return;
  }
  const std::vector<Range> configuration = split({open, close});
  const size_t end = cuda_source::behind_bracket(codes_[code_], close + 3, end_);
  const std::vector<Range> arguments = split({close + 4, end - 1});
  at_ = end;
  if (configuration.size() < 2) {
    problem(where, "a launch needs a grid and a block", "");
    return;
  }
  RecordedLaunch launch;
  const auto extents = [&](size_t i, const char* what) {
    return extents_of(evaluate(configuration[i]), token(configuration[i].first), what);
  };
  launch.grid = extents(0, "this launch's grid");
  launch.block = extents(1, "this launch's block");
  if (configuration.size() > 2) launch.shared = extents(2, "its shared memory").x;
  std::vector<HostValue> values;
  std::vector<cuda_source::Token> places;
  for (const Range& one : arguments) {
    values.push_back(evaluate(one));
    places.push_back(token(one.first));
  }
  record(kernel, std::move(launch), values, places, where);
}

// cudaLaunchKernel(kernel, grid, block, void** arguments, shared, stream)
void HostCodeReader::launch_by_call(const std::vector<Range>& arguments, bool cooperative,
                                    const cuda_source::Token& where) {
  if (arguments.size() < 4) return problem(where, "too few arguments of a launch", "");
  RecordedLaunch launch;
  launch.cooperative = cooperative;
  launch.grid = extents_of(evaluate(arguments[1]), where, "this launch's grid");
  launch.block = extents_of(evaluate(arguments[2]), where, "this launch's block");
  if (arguments.size() > 4)
    launch.shared = extents_of(evaluate(arguments[4]), where, "its shared memory").x;
  const HostValue list = evaluate(arguments[3]);
  if (!list.is(Kind::List))
    return problem(where, "the arguments of this launch are not a list that can be followed",
                   "write 'void* args[] = {&a, &b};' in the same function");
  std::vector<HostValue> values;
  for (const HostValue& one : list.items)
    values.push_back(one.is(Kind::Address) ? target_of(one) : one);
  record(evaluate(arguments[0]), std::move(launch), values,
         std::vector<cuda_source::Token>(values.size(), where), where);
}

void HostCodeReader::record(const HostValue& kernel, RecordedLaunch launch,
                            const std::vector<HostValue>& arguments,
                            const std::vector<cuda_source::Token>& places,
                            const cuda_source::Token& where) {
  if (!kernel.is(Kind::Kernel)) {
    problem(kernel, "what is launched here is not a kernel of this file", where);
    return;
  }
  if (out_.path.launches.size() >= kMostLaunches) {
    problem(where, "too many launches", "");
    broken_ = true;
    return;
  }
  launch.kernel = kernel.text;
  launch.base = kernel.text.substr(0, kernel.text.find('<'));
  launch.line = where.line;
  launch.column = where.column;
  launch.repeat = repeat_;
  const Item* item = find_item(launch.base, Item::Kind::Kernel);
  const std::vector<CParameter> parameters =
      item != nullptr ? source_.parameters(*item) : std::vector<CParameter>{};
  if (item != nullptr && arguments.size() != parameters.size())
    problem(where,
            fmt::format("'{}' takes {} parameters and gets {} arguments", launch.base,
                        parameters.size(), arguments.size()),
            "");
  if (item != nullptr && launch.kernel == launch.base && !item->template_parameters.empty())
    launch.kernel += deduced(*item, parameters, arguments);
  bool fine = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const CParameter* parameter = i < parameters.size() ? &parameters[i] : nullptr;
    const std::string what = fmt::format("argument {} of '{}'", i + 1, launch.base);
    fine = kernel_argument(arguments[i], parameter, places[i], what, launch) && fine;
  }
  if (fine) out_.path.launches.push_back(std::move(launch));
}

// For a template, scale<<<…>>>(x, …) means scale<float>; parameters with a default are left out.
std::string HostCodeReader::deduced(const Item& kernel, const std::vector<CParameter>& parameters,
                                    const std::vector<HostValue>& arguments) const {
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

bool HostCodeReader::kernel_argument(const HostValue& value, const CParameter* parameter,
                                     const cuda_source::Token& where, const std::string& what,
                                     RecordedLaunch& launch) {
  KernelArgument out;
  const bool floating = parameter != nullptr && parameter->type.pointers == 0 &&
                        parameter->type.dtype && tensor::is_float(*parameter->type.dtype);
  const auto constant = [](const TermRef& term) { return term ? term->constant() : std::nullopt; };
  if (value.is(Kind::Pointer) && !value.text.empty()) {
    out.kind = KernelArgument::Kind::Tensor;
    out.name = value.text;
    note_use(value, parameter == nullptr || !parameter->type.pointee_const);
  } else if (value.is(Kind::Pointer)) {
    // The launcher itself would fail here, so the module does not support this shape.
    if (out_.path.conditions.empty())
      problem(where, what + " is a pointer to nothing", "allocate it, or pass a buffer");
    out_.path.refused = true;
    return false;
  } else if (value.is(Kind::Scalar)) {
    out.kind = KernelArgument::Kind::Scalar;
    out.name = value.text;
  } else if (value.is(Kind::Real) || (floating && constant(value.term) &&
                                      (value.is(Kind::Integer) || constant(value.denominator)))) {
    out.kind = KernelArgument::Kind::Real;
    const double bottom =
        value.is(Kind::Ratio) ? static_cast<double>(*value.denominator->constant()) : 1;
    out.real =
        value.is(Kind::Real) ? value.real : static_cast<double>(*value.term->constant()) / bottom;
    if (parameter != nullptr && parameter->type.dtype && !floating) {
      out.kind = KernelArgument::Kind::Integer;
      out.term = number(static_cast<int64_t>(out.real));
    }
  } else if (floating && (value.is(Kind::Integer) || value.is(Kind::Ratio))) {
    problem(where, what + " is computed from the shape, but is floating-point",
            "pass the integer and convert it in the kernel");
    return false;
  } else if (value.is(Kind::Integer)) {
    out.term = value.term;
  } else if (value.is(Kind::Ratio)) {
    out.term = make_term(TermOp::Divide, {value.term, value.denominator});
  } else {
    problem(value, what + " cannot be said", where);
    return false;
  }
  launch.arguments.push_back(std::move(out));
  return true;
}

void HostCodeReader::allocate(const std::vector<Range>& arguments,
                              const cuda_source::Token& where) {
  if (arguments.size() < 2) return problem(where, "too few arguments", "");
  const HostValue address = evaluate(arguments[0]);
  const HostValue bytes =
      converted(evaluate(arguments[1]), CType{"long", tensor::DType::Int64, 8}, where);
  if (!address.is(Kind::Address) || address.slot >= slots_.size())
    return problem(where, "memory is allocated for no variable", "pass '&pointer'");
  if (!bytes.is(Kind::Integer)) return problem(bytes, "the size of this memory", where);
  if (repeat_ >= 0) return problem(where, "memory is allocated inside a loop of launches", "");
  Slot& slot = slots_[address.slot];
  RecordedScratch scratch;
  scratch.name = slot.name;
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(out_.path.scratch,
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
  out_.path.scratch.push_back(std::move(scratch));
}

void HostCodeReader::set_memory(const std::vector<Range>& arguments,
                                const cuda_source::Token& where) {
  if (arguments.size() < 3) return problem(where, "too few arguments", "");
  const HostValue target = evaluate(arguments[0]), value = evaluate(arguments[1]);
  const HostValue bytes =
      converted(evaluate(arguments[2]), CType{"long", tensor::DType::Int64, 8}, where);
  if (!target.is(Kind::Pointer) || target.text.empty())
    return problem(target, "cudaMemset does not get a buffer", where);
  if (!value.is(Kind::Integer) || !value.term->constant())
    return problem(value, "the value of cudaMemset is not a constant", where);
  if (!bytes.is(Kind::Integer)) return problem(bytes, "the size of this cudaMemset", where);
  const auto scratch = std::ranges::find(out_.path.scratch, target.text, &RecordedScratch::name);
  const bool early = std::ranges::none_of(out_.path.launches, [&](const RecordedLaunch& one) {
    return std::ranges::any_of(one.arguments,
                               [&](const KernelArgument& arg) { return arg.name == target.text; });
  });
  if (scratch != out_.path.scratch.end() && early && repeat_ < 0 && value.term->constant() == 0) {
    scratch->zero = true;
    return;
  }
  note_use(target, true);
  KernelArgument to{KernelArgument::Kind::Tensor, target.text, nullptr, 0};
  KernelArgument byte{KernelArgument::Kind::Integer, "", value.term, 0};
  bytes_launch(kSetBytes, {to, byte}, bytes.term, where);
}

void HostCodeReader::copy_memory(const std::vector<Range>& arguments,
                                 const cuda_source::Token& where) {
  if (arguments.size() < 4) return problem(where, "too few arguments", "");
  const HostValue to = evaluate(arguments[0]), from = evaluate(arguments[1]);
  const HostValue bytes =
      converted(evaluate(arguments[2]), CType{"long", tensor::DType::Int64, 8}, where);
  const std::string kind = evaluate(arguments[3]).text;
  if (kind != "cudaMemcpyDeviceToDevice" || !to.is(Kind::Pointer) || !from.is(Kind::Pointer) ||
      to.text.empty() || from.text.empty())
    return problem(where, "memory is copied between host and device",
                   "a kernel module has no host memory: compute it in a kernel");
  if (!bytes.is(Kind::Integer)) return problem(bytes, "the size of this cudaMemcpy", where);
  note_use(to, true);
  note_use(from, false);
  KernelArgument source{KernelArgument::Kind::Tensor, from.text, nullptr, 0};
  KernelArgument target{KernelArgument::Kind::Tensor, to.text, nullptr, 0};
  bytes_launch(kCopyBytes, {target, source}, bytes.term, where);
}

void HostCodeReader::bytes_launch(const char* kernel, const std::vector<KernelArgument>& arguments,
                                  const TermRef& bytes, const cuda_source::Token& where) {
  RecordedLaunch launch = bytes_launch_of(kernel, arguments, bytes);
  launch.line = where.line;
  launch.column = where.column;
  launch.repeat = repeat_;
  out_.path.launches.push_back(std::move(launch));
}

void HostCodeReader::note_use(const HostValue& pointer, bool writes) {
  for (const HostValue& one : pointer.items) note_use(one, writes);
  if (!pointer.items.empty()) return;
  out_.used.insert(pointer.text);
  if (writes) out_.written.insert(pointer.text);
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
