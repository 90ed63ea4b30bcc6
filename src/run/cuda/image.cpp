#include "cuda/image.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "ports/image_pack.h"

namespace kw::cuda {
namespace {

constexpr size_t kLogBytes = 16384;
// Above this, comparing a module's globals after every call costs too much.
constexpr size_t kMaxGlobalBytes = size_t{64} << 20;

int function_attribute(const Context& context, int attribute, CuFunction function) {
  int value = 0;
  return context.api().function_attribute(&value, attribute, function) == kSuccess ? value : 0;
}

void read_parameters(const Context& context, LoadedFunction& function) {
  if (context.api().function_parameter == nullptr) return;
  size_t offset = 0;
  size_t bytes = 0;
  // The driver returns "invalid value" for the first index past the last parameter.
  while (context.api().function_parameter(function.handle, function.param_bytes.size(), &offset,
                                          &bytes) == kSuccess) {
    function.param_bytes.push_back(bytes);
  }
  function.params_known = true;
}

size_t first_difference(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
}

}  // namespace

Result<std::unique_ptr<LoadedImage>> LoadedImage::load(const Context& context,
                                                       ports::ImageKind kind,
                                                       std::string_view image) {
  std::unique_ptr<LoadedImage> loaded(new LoadedImage(context));
  const std::vector<std::string_view> images = ports::images_in(image);
  if (images.empty()) return input_error("the pack of images is damaged");
  for (const std::string_view one : images) KW_TRY(loaded->add_module(kind, one));
  return loaded;
}

Status LoadedImage::add_module(ports::ImageKind kind, std::string_view image) {
  KW_TRY(check_image(kind, image));
  std::string text(image);  // PTX must end in a NUL
  std::string info(kLogBytes, '\0');
  std::string errors(kLogBytes, '\0');
  auto size_value = [](size_t value) { return reinterpret_cast<void*>(value); };
  int options[] = {kJitInfoLog, kJitInfoLogBytes, kJitErrorLog, kJitErrorLogBytes, kJitLineInfo};
  void* values[] = {info.data(), size_value(info.size()), errors.data(), size_value(errors.size()),
                    size_value(1)};
  // A cubin is not compiled: the last option, line info, is for PTX only.
  const unsigned count = kind == ports::ImageKind::Ptx ? 5 : 4;
  CuModule module = nullptr;
  CuResult code = context_.api().module_load(&module, text.c_str(), count, options, values);
  if (code != kSuccess) {
    Fault fault = context_.check(code, "loading the image").error();
    std::string log(trim(errors.c_str()));
    if (!log.empty()) fault.message += "\n" + log;
    if (fault.device_lost) return environment_error(fault.message);
    return input_error(fault.message);
  }
  modules_.push_back(module);
  remember_globals(module,
                   kind == ports::ImageKind::Ptx ? ptx_globals(image) : cubin_globals(image));
  return Done{};
}

LoadedImage::~LoadedImage() {
  if (context_.lost()) return;
  for (CuModule module : modules_) context_.api().module_unload(module);
}

FaultOr<LoadedFunction*> LoadedImage::function(const std::string& entry) {
  if (auto known = functions_.find(entry); known != functions_.end()) return &known->second;
  LoadedFunction function;
  function.entry = entry;
  CuResult code = kSuccess;
  for (CuModule module : modules_) {
    code = context_.api().module_function(&function.handle, module, entry.c_str());
    if (code == kSuccess) break;
  }
  KW_TRY(context_.check(code, fmt::format("looking up the kernel '{}' in the image", entry)));
  function.max_threads = function_attribute(context_, kFuncMaxThreads, function.handle);
  function.registers = function_attribute(context_, kFuncRegisters, function.handle);
  function.static_shared = function_attribute(context_, kFuncStaticShared, function.handle);
  function.local_bytes = function_attribute(context_, kFuncLocalBytes, function.handle);
  function.max_dynamic_shared =
      function_attribute(context_, kFuncMaxDynamicShared, function.handle);
  read_parameters(context_, function);
  return &functions_.emplace(entry, std::move(function)).first->second;
}

void LoadedImage::remember_globals(CuModule module, const std::vector<std::string>& names) {
  size_t total = 0;
  for (const std::string& name : names) {
    Global global;
    global.name = name;
    size_t bytes = 0;
    // The driver does not export some names (string literals, file-local symbols): they are not
    // found.
    if (context_.api().module_global(&global.address, &bytes, module, name.c_str()) != kSuccess)
      continue;
    total += bytes;
    if (total > kMaxGlobalBytes) break;
    global.initial.resize(bytes);
    if (!context_.download(global.initial.data(), global.address, bytes, "reading a global"))
      continue;
    globals_.push_back(std::move(global));
  }
}

FaultOr<std::vector<record::Finding>> LoadedImage::check_globals() {
  std::vector<record::Finding> findings;
  std::string now;
  for (const Global& global : globals_) {
    now.resize(global.initial.size());
    KW_TRY(context_.download(now.data(), global.address, now.size(),
                             "reading back the global '" + global.name + "'"));
    if (now == global.initial) continue;
    record::Finding finding;
    finding.kind = record::FindingKind::StateAcrossCalls;
    finding.buffer = global.name;
    finding.message = fmt::format(
        "the module's global variable '{}' was changed by the call, first at byte {} of {}",
        global.name, first_difference(now, global.initial), now.size());
    findings.push_back(std::move(finding));
    KW_TRY(context_.upload(global.address, global.initial.data(), global.initial.size(),
                           "restoring the global '" + global.name + "'"));
  }
  return findings;
}

}  // namespace kw::cuda
