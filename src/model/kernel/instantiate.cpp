// A device must run a candidate without knowing the language of plan lines. So this source turns a
// module, its bindings and the compiler's results into a Program: buffers with sizes, launches with
// grids and parameter bytes. Every value is checked here against the kernel's signature and the
// target, because a wrong argument would fault on a GPU. This step is separate from select(),
// because registers and signatures are known only after compiling. The alternative, evaluating on
// the device side, would put the parser into every worker. The cost: a new Program for each shape.
#include "kernel/instantiate.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "kernel/bind.h"
#include "kernel/buffers.h"
#include "kernel/kernel_name.h"
#include "kernel/launch_limits.h"
#include "kernel/signature.h"

namespace kw::kernel {

namespace {

class Instantiator {
 public:
  Instantiator(const Module& module, const Bindings& bindings, const Selection& selection,
               const std::vector<KernelInfo>& kernels)
      : module_(module), bindings_(bindings), selection_(selection) {
    for (const KernelInfo& info : kernels) kernels_.emplace(info.expression, &info);
  }

  Result<Program> run() {
    KW_TRY(check_bindings(module_, bindings_));
    if (selection_.group < 0 || static_cast<size_t>(selection_.group) >= module_.groups.size()) {
      return input_error("the selection does not belong to this module");
    }
    const std::map<std::string, int64_t> tunes(selection_.defines.begin(),
                                               selection_.defines.end());
    scope_ = make_scope(module_, bindings_, KW_TRY(resolve_tunes(module_, tunes)));
    scope_.blocks_per_sm = [this](const std::string& kernel) { return blocks_per_sm(kernel); };
    program_.module_name = module_.file_name;
    for (const TensorDecl& decl : module_.tensors) {
      program_.buffers.push_back(KW_TRY(make_buffer(decl, scope_)));
    }
    const std::vector<Step> steps = KW_TRY(unroll(group(), scope_));
    for (const Step& step : steps) {
      step.enter(scope_);
      std::optional<Launch> launch = KW_TRY(make_launch(*step.launch));
      step.leave(scope_);
      if (launch) program_.launches.push_back(std::move(*launch));
    }
    return std::move(program_);
  }

 private:
  const Group& group() const { return module_.groups[static_cast<size_t>(selection_.group)]; }

  Result<const KernelInfo*> find_info(const LaunchDecl& launch) {
    const std::string expression = KW_TRY(kernel_expression(launch, module_, scope_));
    const auto at = kernels_.find(expression);
    if (at != kernels_.end()) return at->second;
    return input_error("line {}: kernel '{}' was not compiled", launch.line, expression);
  }

  Result<int64_t> blocks_per_sm(const std::string& kernel) {
    const LaunchDecl* found = nullptr;
    for (const LaunchDecl& launch : group().launches) {
      if (!same_kernel(kernel, launch.kernel)) continue;
      if (found != nullptr && found->kernel != launch.kernel) {
        return input_error("blocks_per_sm({}) may mean '{}' or '{}'; write it out", kernel,
                           found->kernel, launch.kernel);
      }
      if (found == nullptr) found = &launch;
    }
    if (found == nullptr)
      return input_error("blocks_per_sm({}): the launches in use do not launch it", kernel);
    const KernelInfo* info = KW_TRY(find_info(*found));
    const LaunchShape shape = KW_TRY(block_shape(*found, scope_));
    return int64_t{resident(*info, shape)};
  }

  int resident(const KernelInfo& info, const LaunchShape& shape) const {
    return arch::resident_blocks(bindings_.target, static_cast<int>(shape.block.count()),
                                 info.registers,
                                 std::max<int64_t>(info.static_shared, 0) + shape.shared_bytes);
  }

  // Not set when the grid is empty because some dim is 0.
  Result<std::optional<Launch>> make_launch(const LaunchDecl& decl) {
    const KernelInfo* info = KW_TRY(find_info(decl));
    LaunchShape shape = KW_TRY(block_shape(decl, scope_));
    const bool empty_input =
        std::ranges::any_of(bindings_.dims, [](const auto& dim) { return dim.second == 0; });
    const bool nothing_to_do = KW_TRY(grid_shape(decl, scope_, empty_input, shape));
    if (nothing_to_do) return std::optional<Launch>();
    KW_TRY(check_resources(decl, *info, bindings_.target, shape));
    if (decl.cooperative) KW_TRY(check_cooperative(decl, *info, shape));
    Launch launch;
    launch.kernel = info->expression;
    launch.entry = info->entry;
    launch.grid = shape.grid;
    launch.block = shape.block;
    launch.cluster = shape.cluster;
    launch.shared_bytes = shape.shared_bytes;
    launch.cooperative = decl.cooperative;
    launch.pdl = decl.pdl;
    launch.line = decl.line;
    launch.params = KW_TRY(make_params(decl, *info));
    return std::optional<Launch>(std::move(launch));
  }

  Status check_cooperative(const LaunchDecl& decl, const KernelInfo& info,
                           const LaunchShape& shape) {
    const int64_t sms = scope_.values.at("SMS");
    const int64_t room = sms * resident(info, shape);
    if (shape.grid.count() <= static_cast<uint64_t>(room)) return Done{};
    return input_error(
        "line {}: a cooperative launch needs all its {} blocks on the device at once, but only {} "
        "fit ({} on each of {} SMs); use min(…, SMS * blocks_per_sm({}))",
        decl.line, shape.grid.count(), room, resident(info, shape), sms, base_name(decl.kernel));
  }

  Result<std::vector<Param>> recorded_params(const LaunchDecl& decl) const {
    std::vector<Param> params;
    for (const RecordedParam& one : decl.params) {
      Param param;
      param.bytes = one.bytes;
      param.name = fmt::format("parameter {}", params.size() + 1);
      for (const RecordedParam::Pointer& pointer : one.pointers) {
        const auto at = std::ranges::find(program_.buffers, pointer.tensor, &Buffer::name);
        param.patches.push_back(
            {pointer.at, static_cast<int>(at - program_.buffers.begin()), pointer.add});
      }
      // A parameter that is exactly one pointer becomes a plain buffer parameter, which every
      // device knows.
      if (param.bytes.size() == 8 && param.patches.size() == 1 && param.patches[0].add == 0) {
        param.buffer = param.patches[0].buffer;
        param.patches.clear();
        param.bytes.clear();
      }
      params.push_back(std::move(param));
    }
    return params;
  }

  Result<std::vector<Param>> make_params(const LaunchDecl& decl, const KernelInfo& info) {
    if (!module_.recorded.empty()) return recorded_params(decl);
    const std::vector<ParamType> types = KW_TRY(parse_signature(info.signature));
    if (types.size() != decl.args.size()) {
      std::vector<std::string> wanted, given;
      for (const ParamType& type : types) wanted.push_back(type.text);
      for (const Expr& arg : decl.args) given.push_back(arg.text);
      return input_error("line {}: '{}' takes {} parameter{} ({}), but args(…) gives {} ({})",
                         decl.line, decl.kernel, types.size(), types.size() == 1 ? "" : "s",
                         join(wanted, ", "), given.size(), join(given, ", "));
    }
    std::vector<Param> params;
    for (size_t i = 0; i < types.size(); ++i) {
      Result<Param> param = make_param(decl.args[i], types[i]);
      if (!param) {
        return input_error("line {}: argument {} of '{}': '{}' {}", decl.line, i + 1, decl.kernel,
                           decl.args[i].text, param.error().message);
      }
      params.push_back(std::move(*param));
    }
    return params;
  }

  Result<Param> make_param(const Expr& arg, const ParamType& type) {
    Param param;
    param.name = arg.text;
    const std::optional<std::string> tensor = KW_TRY(tensor_of(arg));
    if (tensor) {
      const auto at = std::ranges::find(program_.buffers, *tensor, &Buffer::name);
      param.buffer = static_cast<int>(at - program_.buffers.begin());
      const std::string problem = pointer_mismatch(type, *at);
      if (!problem.empty()) return input_error(problem);
      return param;
    }
    const ScalarDecl* scalar =
        arg.root().op == ExprOp::Name ? module_.find_scalar(arg.root().name) : nullptr;
    if (scalar != nullptr) {
      param.bytes =
          KW_TRY(encode_scalar(type, *scalar, floating_value(*scalar), integer_value(*scalar)));
      return param;
    }
    const NumberDecl* number =
        arg.root().op == ExprOp::Name ? module_.find_number(arg.root().name) : nullptr;
    if (number != nullptr) {
      param.bytes = KW_TRY(encode_number(type, *number));
      return param;
    }
    Result<int64_t> value = evaluate(arg, scope_);
    if (!value) return input_error("has no value: " + value.error().message);
    Result<std::vector<uint8_t>> bytes = encode_integer(type, *value);
    if (!bytes) {
      const std::string values = arg.root().op == ExprOp::Name ? "" : values_of(arg, scope_);
      return input_error(bytes.error().message + (values.empty() ? "" : " (" + values + ")"));
    }
    param.bytes = std::move(*bytes);
    return param;
  }

  Result<std::vector<uint8_t>> encode_number(const ParamType& type, const NumberDecl& number) {
    std::map<std::string, double> floats;
    for (const ScalarDecl& scalar : module_.scalars) {
      if (tensor::is_float(scalar.dtype)) floats[scalar.name] = floating_value(scalar);
    }
    Result<double> value = evaluate(number.value, scope_, floats);
    if (!value) return input_error("has no value: " + value.error().message);
    const bool whole = !tensor::is_float(number.dtype);
    if (whole && !(std::fabs(*value) < 0x1p62))
      return input_error("is {}, which does not fit {}", *value, tensor::dtype_name(number.dtype));
    ScalarDecl form;
    form.dtype = number.dtype;
    return encode_scalar(type, form, *value, whole ? static_cast<int64_t>(*value) : 0);
  }

  // The tensor that an argument names, directly or through pick().
  Result<std::optional<std::string>> tensor_of(const Expr& arg) {
    const ExprNode* node = &arg.root();
    if (node->op == ExprOp::Pick && names_tensor(arg, node->children[1])) {
      Expr index = arg;
      index.nodes.resize(static_cast<size_t>(node->children[0]) + 1);
      const int64_t chosen = KW_TRY(evaluate(index, scope_));
      if (chosen < 0 || chosen + 1 >= static_cast<int64_t>(node->children.size())) {
        return input_error("has {} values; index {} is out of range", node->children.size() - 1,
                           chosen);
      }
      node = &arg.nodes[static_cast<size_t>(node->children[static_cast<size_t>(chosen) + 1])];
    }
    if (node->op != ExprOp::Name || module_.find_tensor(node->name) == nullptr) {
      return std::optional<std::string>();
    }
    return std::optional<std::string>(node->name);
  }

  bool names_tensor(const Expr& arg, int index) const {
    const ExprNode& node = arg.nodes[static_cast<size_t>(index)];
    return node.op == ExprOp::Name && module_.find_tensor(node.name) != nullptr;
  }

  double floating_value(const ScalarDecl& scalar) const {
    const auto given = bindings_.scalars.find(scalar.name);
    return given != bindings_.scalars.end() ? given->second : scalar.value.value_or(0);
  }
  int64_t integer_value(const ScalarDecl& scalar) const {
    const auto given = bindings_.integer_scalars.find(scalar.name);
    return given != bindings_.integer_scalars.end() ? given->second : scalar.integer.value_or(0);
  }

  const Module& module_;
  const Bindings& bindings_;
  const Selection& selection_;
  std::map<std::string, const KernelInfo*> kernels_;  // by expression
  Scope scope_;
  Program program_;
};

}  // namespace

Result<Program> instantiate(const Module& module, const Bindings& bindings,
                            const Selection& selection, const std::vector<KernelInfo>& kernels) {
  return Instantiator(module, bindings, selection, kernels).run();
}

}  // namespace kw::kernel
