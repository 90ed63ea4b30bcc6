// A module is written for any dims, but a launch needs numbers. This source checks the values that
// the caller gives and puts them into one Scope: dims, tunables, integer scalars, numbers of the
// device. select() and instantiate() both use it, before and after compiling, so that both see the
// same values. Lets are not evaluated here: the Scope evaluates them when needed, because some
// depend on blocks_per_sm(). Repeats are unrolled into a list of steps, which is simpler than loops
// in a Program. The cost: a repeat is limited to kMaxRepeat iterations.
#include "kernel/bind.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/contains.h"
#include "core/text.h"
#include "kernel/kernel_name.h"
#include "kernel/plan_names.h"

namespace kw::kernel {

namespace {

std::string list_or_none(const std::vector<std::string>& names) {
  return names.empty() ? "none" : join(names, ", ");
}

Status check_dims(const Module& module, const Bindings& bindings) {
  const std::vector<std::string> dims = module.dims();
  for (const auto& [name, value] : bindings.dims) {
    if (!contains(dims, name)) {
      return input_error("the module has no dim '{}'{}; its dims are: {}", name,
                         did_you_mean(name, dims), list_or_none(dims));
    }
    if (value < 0) return input_error("dim {} = {} is negative", name, value);
    if (value > kMaxDim) return input_error("dim {} = {} is above 2^40 ({})", name, value, kMaxDim);
  }
  std::vector<std::string> missing;
  for (const std::string& name : module.dims(bindings.absent)) {
    if (bindings.dims.count(name) == 0) missing.push_back(name);
  }
  if (missing.empty()) return Done{};
  return input_error("no value for dim{} {}", missing.size() == 1 ? "" : "s", join(missing, ", "));
}

Status check_scalars(const Module& module, const Bindings& bindings) {
  std::vector<std::string> names;
  for (const ScalarDecl& decl : module.scalars) names.push_back(decl.name);
  const auto check_known = [&](const std::string& name, bool floating) -> Status {
    const ScalarDecl* decl = module.find_scalar(name);
    if (decl == nullptr) {
      return input_error("the module has no scalar '{}'{}; its scalars are: {}", name,
                         did_you_mean(name, names), list_or_none(names));
    }
    if (tensor::is_float(decl->dtype) == floating) return Done{};
    return input_error("scalar '{}' is {}, not {}", name, tensor::dtype_name(decl->dtype),
                       floating ? "a floating number" : "an integer");
  };
  for (const auto& [name, value] : bindings.scalars) KW_TRY(check_known(name, true));
  for (const auto& [name, value] : bindings.integer_scalars) {
    KW_TRY(check_known(name, false));
    const tensor::DType type = module.find_scalar(name)->dtype;
    const auto [low, high] = integer_range(type);
    if (value < low || value > high) {
      return input_error("scalar {} = {} does not fit {} ({} … {})", name, value,
                         tensor::dtype_name(type), low, high);
    }
  }
  for (const ScalarDecl& decl : module.scalars) {
    const bool given = tensor::is_float(decl.dtype)
                           ? decl.value || bindings.scalars.count(decl.name) != 0
                           : decl.integer || bindings.integer_scalars.count(decl.name) != 0;
    if (!given) return input_error("no value for scalar '{}', which has no default", decl.name);
  }
  return Done{};
}

Status check_absent(const Module& module, const Bindings& bindings) {
  for (const std::string& name : bindings.absent) {
    const TensorDecl* decl = module.find_tensor(name);
    if (decl == nullptr || !decl->optional)
      return input_error("'{}' is not an optional input of the module", name);
  }
  return Done{};
}

}  // namespace

Status check_bindings(const Module& module, const Bindings& bindings) {
  KW_TRY(check_absent(module, bindings));
  KW_TRY(check_dims(module, bindings));
  return check_scalars(module, bindings);
}

Scope make_scope(const Module& module, const Bindings& bindings,
                 const std::map<std::string, int64_t>& tunes) {
  Scope scope;
  scope.values = bindings.dims;
  scope.values.insert(tunes.begin(), tunes.end());
  for (const ScalarDecl& decl : module.scalars) {
    if (tensor::is_float(decl.dtype)) continue;
    const auto given = bindings.integer_scalars.find(decl.name);
    scope.values[decl.name] =
        given != bindings.integer_scalars.end() ? given->second : decl.integer.value_or(0);
  }
  scope.values["SMS"] = bindings.sms > 0 ? bindings.sms : bindings.target.default_sms;
  scope.values["L2_BYTES"] =
      bindings.l2_bytes > 0 ? bindings.l2_bytes : bindings.target.default_l2_bytes;
  scope.values["SMEM_MAX"] = bindings.target.shared_per_block_optin;
  for (const LetDecl& decl : module.lets) scope.lets[decl.name] = &decl.value;
  scope.absent = bindings.absent;
  return scope;
}

void Step::enter(Scope& scope) const {
  if (repeat != nullptr) scope.values[repeat->name] = iteration;
}
void Step::leave(Scope& scope) const {
  if (repeat != nullptr) scope.values.erase(repeat->name);
}

Result<std::vector<Step>> unroll(const Group& group, const Scope& scope) {
  std::vector<Step> steps;
  for (size_t i = 0; i < group.launches.size();) {
    const int index = group.launches[i].repeat;
    if (index < 0) {
      steps.push_back({&group.launches[i++], nullptr, 0});
      continue;
    }
    size_t end = i;
    while (end < group.launches.size() && group.launches[end].repeat == index) ++end;
    const RepeatDecl& repeat = group.repeats[static_cast<size_t>(index)];
    const int64_t first = KW_TRY(evaluate(repeat.begin, scope));
    const int64_t last = KW_TRY(evaluate(repeat.end, scope));
    int64_t count = 0;
    if (last > first && (__builtin_sub_overflow(last, first, &count) || count > kMaxRepeat)) {
      return input_error("line {}: 'repeat {} in {}..{}' means {}..{}; at most {} repetitions",
                         repeat.line, repeat.name, repeat.begin.text, repeat.end.text, first, last,
                         kMaxRepeat);
    }
    for (int64_t p = first; p < last; ++p) {
      for (size_t k = i; k < end; ++k) steps.push_back({&group.launches[k], &repeat, p});
    }
    i = end;
  }
  return steps;
}

Result<std::string> kernel_expression(const LaunchDecl& launch, const Module& module,
                                      const Scope& scope) {
  std::optional<Error> failure;
  std::string text =
      substitute(launch.kernel, [&](const std::string& name) -> std::optional<std::string> {
        const bool known = scope.values.count(name) != 0 || module.find_let(name) != nullptr;
        if (!known || failure) return std::nullopt;
        Result<int64_t> value = evaluate_name(name, scope, launch.line);
        if (!value) {
          failure = std::move(value).error();
          return std::nullopt;
        }
        return *value < 0 ? fmt::format("({})", *value) : std::to_string(*value);
      });
  if (failure) return *failure;
  return text;
}

Result<std::vector<std::string>> kernels_of(const Module& module, const Group& group,
                                            Scope& scope) {
  const std::vector<Step> steps = KW_TRY(unroll(group, scope));
  std::vector<std::string> kernels;
  std::set<std::string> seen;
  for (const Step& step : steps) {
    step.enter(scope);
    const Result<std::string> kernel = kernel_expression(*step.launch, module, scope);
    step.leave(scope);
    if (!kernel) return kernel.error();
    if (seen.insert(*kernel).second) kernels.push_back(*kernel);
  }
  return kernels;
}

}  // namespace kw::kernel
