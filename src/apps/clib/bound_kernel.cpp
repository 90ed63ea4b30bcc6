// A program at fixed shapes, run on the caller's own tensors. On a GPU the tensors are used in
// place, and the launches go to the caller's stream. So a call costs only its launches, and CUDA
// graphs can capture it. On the virtual GPU, tensors are copied to dense inputs and back, and every
// access is checked. A call must not trust its tensors: place, dtype, shape, strides and alignment
// are compared with the plan each time, which is cheap. Guards and poison, as in the judge, would
// need copies. The cost: on the GPU a faulty kernel can damage the caller's context.
#include "clib/bound_kernel.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "binding/inputs.h"
#include "clib/shared_context.h"
#include "core/contains.h"
#include "core/json_writer.h"
#include "cuda/launch.h"
#include "cuda/run_program.h"
#include "cuda/storage_layout.h"
#include "os/memory.h"

namespace kw::clib {
namespace {

using kernel::Buffer;
using kernel::Role;

const char* fill_name(kernel::Fill fill) {
  constexpr const char* kNames[] = {"none", "zero", "kept"};
  return kNames[static_cast<size_t>(fill)];
}

Json describe(const Buffer& buffer) {
  JsonWriter v;
  v("name", buffer.name)("role", kernel::role_name(buffer.role));
  v("dtype", tensor::dtype_name(buffer.dtype))("shape", buffer.shape)("strides", buffer.strides);
  v("bytes", buffer.bytes)("align", buffer.align)("fill", fill_name(buffer.fill));
  return v("present", buffer.present).take();
}

bool is_empty(const Buffer& buffer) { return contains(buffer.shape, 0); }

/// Empty outputs need no launch. Outputs computed from empty inputs were never judged, so they are
/// refused.
Status settle_empty(kernel::Program& program) {
  const auto returned = [](const Buffer& buffer) {
    return buffer.role == Role::Output || buffer.role == Role::Inout;
  };
  const bool nothing =
      std::all_of(program.buffers.begin(), program.buffers.end(),
                  [&](const Buffer& buffer) { return !returned(buffer) || is_empty(buffer); });
  if (nothing) program.launches.clear();
  for (const Buffer& buffer : program.buffers) {
    if (nothing || buffer.role == Role::Scratch || !buffer.present || !is_empty(buffer)) continue;
    return input_error("'{}' has no elements; pass a tensor with at least one element",
                       buffer.name);
  }
  return Done{};
}

class CudaPlan : public LaunchPlan {
 public:
  CudaPlan(kernel::Program program, SharedContext& shared)
      : LaunchPlan(std::move(program), shared.context().info(),
                   TensorPlace{true, shared.ordinal()}),
        shared_(shared) {}

  Status prepare(const ports::Compiled& compiled) {
    cuda::LoadedImage* image = KW_TRY(shared_.image(compiled));
    const WithContext here(shared_);
    auto ready = cuda::ready_launches(shared_.context(), *image, program());
    if (!ready) return input_error(ready.error().message);
    launches_ = std::move(ready).value();
    return Done{};
  }

  RunResult run(std::span<const kw_tensor* const> tensors, void* stream) override {
    KW_TRY(check(tensors, true));
    std::vector<cuda::CuDevicePtr> addresses;
    for (const kw_tensor* one : tensors)
      addresses.push_back(one == nullptr ? 0 : reinterpret_cast<uintptr_t>(address_of(*one)));
    const WithContext here(shared_);
    const cuda::MaybeFault done = queue(addresses, static_cast<cuda::CuStream>(stream));
    if (done) return std::string();
    // prepare() has refused bad launches already. The rest is a device that an earlier fault has
    // lost, or that has no memory.
    return environment_error(done.error().message);
  }

 private:
  cuda::MaybeFault queue(const std::vector<cuda::CuDevicePtr>& addresses, cuda::CuStream stream) {
    const cuda::Context& context = shared_.context();
    for (size_t i = 0; i < addresses.size() && !launches_.empty(); ++i) {
      const Buffer& buffer = program().buffers[i];
      if (buffer.fill != kernel::Fill::Zero || buffer.bytes == 0) continue;
      KW_TRY(context.check(
          context.api().fill_bytes(addresses[i], 0, static_cast<size_t>(buffer.bytes), stream),
          "clearing scratch '" + buffer.name + "'"));
    }
    for (const cuda::ReadyLaunch& one : launches_)
      KW_TRY(cuda::enqueue_launch_on(stream, context, *one.function, *one.launch, addresses));
    return Done{};
  }

  SharedContext& shared_;
  std::vector<cuda::ReadyLaunch> launches_;
};

class VirtualPlan : public LaunchPlan {
 public:
  VirtualPlan(kernel::Program program, std::shared_ptr<ports::Device> device)
      : LaunchPlan(std::move(program), device->info(), TensorPlace{}), device_(std::move(device)) {}

  Status prepare(const ports::Compiled& compiled) {
    KW_TRY(binding::check_memory(program(), os::available_memory(), 3, "this machine's memory"));
    image_ = KW_TRY(device_->load(compiled));
    return Done{};
  }

  RunResult run(std::span<const kw_tensor* const> tensors, void*) override {
    KW_TRY(check(tensors, false));
    if (program().launches.empty()) return std::string();
    std::vector<tensor::HostTensor> inputs;
    for (size_t i = 0; i < tensors.size(); ++i)
      inputs.push_back(taken(program().buffers[i], tensors[i]));
    const std::lock_guard lock(mutex_);
    ports::RunOutcome outcome = KW_TRY(device_->run(image_, program(), inputs, {}));
    if (std::string fault = fault_of(outcome); !fault.empty()) return fault;
    for (size_t i = 0; i < tensors.size(); ++i) give(outcome.buffers[i], i, tensors[i]);
    device_->recycle(std::move(outcome.buffers));
    return std::string();
  }

 private:
  static tensor::HostTensor taken(const Buffer& buffer, const kw_tensor* given) {
    tensor::HostTensor made{buffer.dtype, buffer.shape, {}};
    const bool read = buffer.role == Role::Input || buffer.role == Role::Inout;
    if (!read || given == nullptr) return made;
    made.data.resize(cuda::dense_bytes(buffer));
    const std::span storage(address_of(*given), static_cast<size_t>(buffer.bytes));
    cuda::gather(buffer, storage,
                 std::as_writable_bytes(std::span(made.data.data(), made.data.size())));
    return made;
  }

  void give(const tensor::HostTensor& made, size_t index, const kw_tensor* to) const {
    const Buffer& buffer = program().buffers[index];
    if ((buffer.role != Role::Output && buffer.role != Role::Inout) || to == nullptr) return;
    cuda::scatter(buffer, std::as_bytes(std::span(made.data.data(), made.data.size())),
                  std::span(address_of(*to), static_cast<size_t>(buffer.bytes)));
  }

  static std::string fault_of(const ports::RunOutcome& outcome) {
    for (const record::Finding& finding : outcome.findings) {
      if (finding.certainty != record::Certainty::Certain) continue;
      return fmt::format("{}: {}{}", record::finding_name(finding.kind), finding.message,
                         finding.at.line > 0 ? fmt::format(" (line {})", finding.at.line) : "");
    }
    if (outcome.status == ports::RunStatus::Completed) return "";
    return fmt::format("{}: {}", ports::run_status_name(outcome.status), outcome.message);
  }

  std::shared_ptr<ports::Device> device_;
  ports::ImageId image_ = 0;
  std::mutex mutex_;
};

}  // namespace

LaunchPlan::LaunchPlan(kernel::Program program, const ports::DeviceInfo& device, TensorPlace place)
    : program_(std::move(program)), place_(place) {
  Json buffers = Json::array();
  for (const Buffer& buffer : program_.buffers) buffers.push(describe(buffer));
  Json json = Json::object();
  json.set("buffers", std::move(buffers)).set("launches", program_.launches.size());
  description_ = json.set("device", device.name).set("target", device.target).dump();
}

Status LaunchPlan::check(std::span<const kw_tensor* const> tensors, bool needs_scratch) const {
  const std::vector<Buffer>& buffers = program_.buffers;
  if (tensors.size() != buffers.size()) {
    return input_error("{} tensors were given for {} buffers", tensors.size(), buffers.size());
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    const bool scratch = buffers[i].role == Role::Scratch;
    if (!buffers[i].present || (scratch && (!needs_scratch || buffers[i].bytes == 0))) continue;
    if (tensors[i] == nullptr) return input_error("'{}' was not given", buffers[i].name);
    KW_TRY(scratch ? check_scratch(buffers[i], *tensors[i], place_)
                   : check_tensor(buffers[i], *tensors[i], place_));
  }
  return Done{};
}

Result<std::unique_ptr<LaunchPlan>> make_cuda_plan(kernel::Program program,
                                                   const ports::Compiled& image, int ordinal) {
  KW_TRY(settle_empty(program));
  SharedContext* shared = KW_TRY(SharedContext::of(ordinal));
  auto plan = std::make_unique<CudaPlan>(std::move(program), *shared);
  KW_TRY(plan->prepare(image));
  return std::unique_ptr<LaunchPlan>(std::move(plan));
}

Result<std::unique_ptr<LaunchPlan>> make_virtual_plan(kernel::Program program,
                                                      const ports::Compiled& image,
                                                      std::shared_ptr<ports::Device> device) {
  KW_TRY(settle_empty(program));
  auto plan = std::make_unique<VirtualPlan>(std::move(program), std::move(device));
  KW_TRY(plan->prepare(image));
  return std::unique_ptr<LaunchPlan>(std::move(plan));
}

}  // namespace kw::clib
