// Recording fakes of the two ports, for tests of the stories: no compiler, no GPU, no files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "exec/compiler.h"
#include "exec/device.h"

namespace kw::engine {

/// Accepts every source. Signatures come from `signature`; `fail` makes it refuse.
class FakeCompiler : public exec::Compiler {
 public:
  std::string signature = "(float const*, float*, int)";
  bool fail = false;
  bool makes_cubins = true;
  exec::KernelResources resources{32, 1024, 0, 0, 0, 0, -1, -1};
  std::vector<exec::CompileRequest> requests;

  std::string name() const override { return "fake 1.0"; }
  Result<exec::CompileOutcome> compile(const exec::CompileRequest& request) override {
    requests.push_back(request);
    if (!makes_cubins && request.image == exec::ImageKind::Cubin)
      return environment_error("no ptxas");
    exec::CompileOutcome outcome;
    if (fail) {
      outcome.failed =
          exec::CompileFailed{"fake 1.0", {{{}, 3, 2, "expected a ';'"}}, "log", false, false};
      return outcome;
    }
    outcome.compiled = exec::Compiled{};
    outcome.compiled->kind = request.image;
    outcome.compiled->target = request.target;
    outcome.compiled->compiler = "fake 1.0";
    outcome.compiled->image = "image";
    for (const std::string& kernel : request.kernels) {
      outcome.compiled->kernels.push_back(
          {kernel, "_Z" + kernel, "void " + kernel + signature, resources});
    }
    return outcome;
  }
};

/// Copies the first input's bytes into every output and says it completed.
class FakeDevice : public exec::Device {
 public:
  exec::DeviceInfo description = make_info();
  std::vector<record::Finding> findings;
  exec::RunStatus status = exec::RunStatus::Completed;
  std::vector<exec::RunOptions> runs;
  std::vector<std::vector<tensor::HostTensor>> inputs_seen;
  std::vector<kernel::Program> programs;
  int loads = 0, timings = 0;

  exec::DeviceInfo info() const override { return description; }
  Result<exec::ImageId> load(const exec::Compiled&) override {
    return static_cast<exec::ImageId>(++loads);
  }
  Result<exec::RunOutcome> run(exec::ImageId, const kernel::Program& program,
                               const exec::InputViews& inputs,
                               const exec::RunOptions& options) override {
    runs.push_back(options);
    inputs_seen.emplace_back();
    for (size_t i = 0; i < inputs.size(); ++i) inputs_seen.back().push_back(inputs[i]);
    programs.push_back(program);
    exec::RunOutcome outcome;
    outcome.status = status;
    outcome.findings = findings;
    for (const kernel::Buffer& buffer : program.buffers) {
      outcome.buffers.push_back({buffer.dtype, buffer.shape, {}});
      if (buffer.role == kernel::Role::Input) continue;
      outcome.buffers.back().data = inputs[0].data;
      outcome.buffers.back().data.resize(static_cast<size_t>(buffer.bytes));
    }
    if (options.counters) outcome.counters.push_back({"k", 1, 32, {}, {}});
    return outcome;
  }
  Result<exec::TimeOutcome> time(const std::vector<exec::TimedProgram>&,
                                 const exec::TimeProtocol&) override {
    ++timings;
    exec::TimeOutcome outcome;
    outcome.results.emplace_back();
    outcome.results[0].samples.method = "events";
    outcome.results[0].samples.microseconds = {10, 11, 12};
    return outcome;
  }
  Status health() override { return Done{}; }

 private:
  static exec::DeviceInfo make_info() {
    exec::DeviceInfo info;
    info.name = "virtual GPU (fake)";
    info.target = "sm_90";
    info.is_virtual = true;
    return info;
  }
};

}  // namespace kw::engine
