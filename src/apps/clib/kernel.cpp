// A caller from Python has tensors, not dims. So dims are inferred from the shapes, and dims that
// only strides name from the strides; what remains must be passed by name. Then the launch group is
// selected, compiled once per set of defines and target, and turned into a LaunchPlan for these
// shapes. Plans are cheap to run; making one takes a compile the first time. Compiling at open()
// would fail earlier, but the shapes decide which group and which tunables are used. The cost: the
// first call with new shapes may wait for a compiler. One mutex per kernel serialises this.
#include "clib/kernel.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "arch/arch.h"
#include "binding/load.h"
#include "clib/shared_context.h"
#include "core/contains.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "kernel/instantiate.h"
#include "machine/best_image.h"
#include "machine/devices.h"
#include "single_run/run_module.h"

namespace kw::clib {
namespace {

Json shape_json(const std::vector<kernel::Expr>& shape) {
  Json list = Json::array();
  for (const kernel::Expr& extent : shape) list.push(extent.text);
  return list;
}

Json default_json(const kernel::ScalarDecl& scalar) {
  if (scalar.value) return Json(*scalar.value);
  if (scalar.integer) return Json(*scalar.integer);
  return {};
}

/// A list of integers per tensor.
using Lists = std::map<std::string, std::vector<int64_t>>;

std::string log_of(const ports::CompileFailed& failed) {
  for (const ports::CompileMessage& message : failed.messages) {
    if (message.severity == ports::CompileMessage::Severity::Error)
      return fmt::format("the module does not compile: line {}: {}", message.line, message.text);
  }
  return "the module does not compile: " + failed.log.substr(0, 2000);
}

/// Everything that an image depends on besides the module's text.
std::string image_key(const kernel::Selection& selection, const std::string& target,
                      ports::ImageKind kind) {
  std::string key = fmt::format("{} {}", target, static_cast<int>(kind));
  for (const auto& [name, value] : selection.defines) key += fmt::format(" {}={}", name, value);
  return key + "\n" + join(selection.kernels, "\n");
}

}  // namespace

Result<std::unique_ptr<Kernel>> Kernel::open(const Json& options) {
  const std::string name = options["file_name"].as_string();
  kernel::Module module =
      KW_TRY(binding::parse_module(options["text"].as_string(), name.empty() ? "kernel.cu" : name));
  std::unique_ptr<Kernel> made(new Kernel(std::move(module)));
  made->tunes_ = value_of<std::map<std::string, int64_t>>(options["tunes"]);
  made->compiler_ = options["compiler"].as_string();
  made->timeout_seconds_ = options["timeout_seconds"].as_double(60);
  made->describe();
  return made;
}

void Kernel::describe() {
  std::vector<kernel::TensorDecl> tensors = module_.tensors;
  std::erase_if(tensors, [](const auto& decl) { return decl.role == kernel::Role::Scratch; });
  JsonWriter v;
  v("task", module_.task);
  v("tensors", json_list(tensors, [](auto& row, const kernel::TensorDecl& decl) {
      row("name", decl.name)("role", kernel::role_name(decl.role));
      row("dtype", tensor::dtype_name(decl.dtype))("shape", shape_json(decl.shape));
      row("strides", shape_json(decl.strides))("optional", decl.optional)("align", decl.align);
    }));
  v("scalars", json_list(module_.scalars, [](auto& row, const kernel::ScalarDecl& decl) {
      row("name", decl.name)("dtype", tensor::dtype_name(decl.dtype));
      row("default", default_json(decl));
    }));
  description_ = v("dims", module_.dims()).take().dump();
}

/// A dim that only strides name gets its value from the tensors' strides.
Status Kernel::infer_strides(const Json& request, binding::BindingRequest& names) const {
  const std::vector<std::string> dims = module_.dims(names.absent);
  for (const auto& [name, strides] : value_of<Lists>(request["strides"])) {
    const kernel::TensorDecl* decl = module_.find_tensor(name);
    if (decl == nullptr || decl->strides.size() != strides.size()) continue;
    for (size_t i = 0; i < strides.size(); ++i) {
      const kernel::ExprNode& root = decl->strides[i].root();
      const bool free = root.op == kernel::ExprOp::Name && contains(dims, root.name);
      if (free) names.dims.emplace(root.name, strides[i]);
    }
  }
  for (const std::string& dim : dims) {
    if (names.dims.count(dim) != 0) continue;
    return input_error(
        "dim {} of the kernel does not follow from the tensors' shapes; pass it by name", dim);
  }
  return Done{};
}

Result<binding::BindingRequest> Kernel::names(const Json& request) const {
  binding::BindingRequest names;
  names.tunes = tunes_;
  names.dims = value_of<std::map<std::string, int64_t>>(request["dims"]);
  for (const Json& name : request["absent"].items()) names.absent.insert(name.as_string());
  for (const auto& [name, value] : request["scalars"].members())
    names.scalars[name] = value.is_string() ? value.as_string() : value.dump();
  const auto inferred = KW_TRY(kernel::infer_dims(module_, value_of<Lists>(request["shapes"])));
  for (const auto& [name, value] : inferred) {
    const auto [said, fresh] = names.dims.emplace(name, value);
    if (!fresh && said->second != value)
      return input_error("the tensors' shapes give {} = {}, but {} was given", name, value,
                         said->second);
  }
  KW_TRY(infer_strides(request, names));
  return names;
}

Result<std::shared_ptr<ports::Device>> Kernel::virtual_gpu(const std::string& target) {
  std::shared_ptr<ports::Device>& device = virtual_gpus_[target];
  if (device == nullptr) device = KW_TRY(machine::open_device({"vgpu", target, 0, {}}));
  return device;
}

Result<const ports::Compiled*> Kernel::compile(const kernel::Selection& selection,
                                               const kernel::Bindings& bindings,
                                               ports::ImageKind kind, std::string* fault) {
  const std::string key = image_key(selection, bindings.target.name, kind);
  if (const auto found = compiled_.find(key); found != compiled_.end()) return &found->second;
  const ports::CompileRequest request =
      ports::compile_request(module_, selection, bindings.target.name, timeout_seconds_);
  const auto compiler = KW_TRY(machine::open_compiler(compiler_));
  machine::BestImage best(*compiler, kind);
  ports::CompileOutcome outcome = KW_TRY(best.compile(request));
  if (outcome.compiled) return &compiled_.emplace(key, std::move(*outcome.compiled)).first->second;
  *fault = log_of(*outcome.failed);
  return static_cast<const ports::Compiled*>(nullptr);
}

Result<std::unique_ptr<LaunchPlan>> Kernel::plan(const Json& request, std::string* fault) {
  const std::lock_guard lock(mutex_);
  const std::string& where = request["device"].as_string();
  if (where != "cuda" && where != "virtual")
    return input_error("'{}' is neither cuda nor virtual", where);
  const bool cuda = where == "cuda";
  const int ordinal = static_cast<int>(request["ordinal"].as_int());
  std::shared_ptr<ports::Device> device;
  ports::DeviceInfo info;
  if (cuda) {
    const SharedContext* shared = KW_TRY(SharedContext::of(ordinal));
    info = shared->context().info();
  } else {
    device = KW_TRY(virtual_gpu(request["target"].as_string()));
    info = device->info();
  }
  const binding::BindingRequest said = KW_TRY(names(request));
  const arch::Target target = KW_TRY(arch::find_target(info.target));
  const kernel::Bindings bindings = KW_TRY(binding::bind_names(module_, said, {}, target, info));
  const kernel::Selection selection = KW_TRY(kernel::select(module_, bindings));
  const ports::Compiled* image = KW_TRY(compile(selection, bindings, info.image, fault));
  if (image == nullptr) return std::unique_ptr<LaunchPlan>();
  kernel::Program program =
      KW_TRY(kernel::instantiate(module_, bindings, selection, single_run::kernel_infos(*image)));
  return cuda ? make_cuda_plan(std::move(program), *image, ordinal)
              : make_virtual_plan(std::move(program), *image, std::move(device));
}

}  // namespace kw::clib
