#include "binding/bind.h"

#include "core/text.h"

namespace kw::binding {

namespace {

Status bind_scalar(const kernel::Module& module, const std::string& name, const std::string& text,
                   kernel::Bindings* bindings) {
  const kernel::ScalarDecl* decl = module.find_scalar(name);
  if (decl == nullptr) {
    std::vector<std::string> names;
    for (const kernel::ScalarDecl& scalar : module.scalars) names.push_back(scalar.name);
    return input_error("--scalar {}: the module has no such scalar{}; {}", name,
                       did_you_mean(name, names),
                       names.empty() ? "it has none" : "it has " + join(names, ", "));
  }
  if (tensor::is_float(decl->dtype)) {
    const auto value = parse_double(text);
    if (!value) return input_error("--scalar {}: '{}' is not a number", name, text);
    bindings->scalars[name] = *value;
    return Done{};
  }
  const bool word = decl->dtype == tensor::DType::Bool && (text == "true" || text == "false");
  const auto value = word ? std::optional<int64_t>(text == "true" ? 1 : 0) : parse_int(text);
  if (!value) {
    return input_error(
        "--scalar {}: '{}' is not {}", name, text,
        decl->dtype == tensor::DType::Bool ? "a truth value (true, false, 1, 0)" : "an integer");
  }
  bindings->integer_scalars[name] = *value;
  return Done{};
}

Status check_absent(const kernel::Module& module, const std::set<std::string>& absent) {
  for (const std::string& name : absent) {
    const kernel::TensorDecl* decl = module.find_tensor(name);
    if (decl != nullptr && decl->optional) continue;
    std::vector<std::string> optional;
    for (const kernel::TensorDecl& tensor : module.tensors) {
      if (tensor.optional) optional.push_back(tensor.name);
    }
    return input_error(
        "--absent {}: not an optional input; {}", name,
        optional.empty() ? "the module has none" : "optional are " + join(optional, ", "));
  }
  return Done{};
}

Status merge_dims(const kernel::Module& module, const NamedTensors& files,
                  kernel::Bindings* bindings) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& [name, tensor] : files) shapes[name] = tensor.shape;
  if (shapes.empty()) return Done{};
  const std::map<std::string, int64_t> inferred = KW_TRY(kernel::infer_dims(module, shapes));
  for (const auto& [name, value] : inferred) {
    const auto [said, fresh] = bindings->dims.emplace(name, value);
    if (!fresh && said->second != value) {
      return input_error("--dim {}={} disagrees with the input files, which make it {}", name,
                         said->second, value);
    }
  }
  return Done{};
}

}  // namespace

Result<kernel::Bindings> bind_names(const kernel::Module& module, const BindingRequest& request,
                                    const NamedTensors& files, const arch::Target& target,
                                    const ports::DeviceInfo& device) {
  kernel::Bindings bindings;
  bindings.dims = request.dims;
  bindings.tunes = request.tunes;
  bindings.absent = request.absent;
  bindings.target = target;
  bindings.sms = device.sms;
  bindings.l2_bytes = device.l2_bytes;
  KW_TRY(check_absent(module, request.absent));
  for (const auto& [name, text] : request.scalars)
    KW_TRY(bind_scalar(module, name, text, &bindings));
  KW_TRY(merge_dims(module, files, &bindings));
  return bindings;
}

}  // namespace kw::binding
