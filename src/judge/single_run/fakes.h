// Recording fakes of the two ports for tests: no compiler, no GPU, no files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ports/compiler.h"
#include "ports/device.h"

namespace kw::single_run {

/// Accepts every source. `signature` gives the signatures; `fail` makes it refuse.
class FakeCompiler : public ports::Compiler {
 public:
  std::string signature = "(float const*, float*, int)";
  bool fail = false;
  bool makes_cubins = true;
  ports::KernelResources resources{32, 1024, 0, 0, 0, 0, -1, -1};
  std::vector<ports::CompileRequest> requests;

  std::string name() const override { return "fake 1.0"; }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override {
    requests.push_back(request);
    if (!makes_cubins && request.image == ports::ImageKind::Cubin)
      return environment_error("no ptxas");
    ports::CompileOutcome outcome;
    if (fail) {
      outcome.failed =
          ports::CompileFailed{"fake 1.0", {{{}, 3, 2, "expected a ';'"}}, "log", false, false};
      return outcome;
    }
    outcome.compiled = ports::Compiled{};
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

/// Copies the first input's bytes into every output and reports completion.
class FakeDevice : public ports::Device {
 public:
  ports::DeviceInfo description = make_info();
  std::vector<record::Finding> findings;
  ports::RunStatus status = ports::RunStatus::Completed;
  std::vector<ports::RunOptions> runs;
  std::vector<std::vector<tensor::HostTensor>> inputs_seen;
  std::vector<kernel::Program> programs;
  int loads = 0, timings = 0;

  ports::DeviceInfo info() const override { return description; }
  Result<ports::ImageId> load(const ports::Compiled&) override {
    return static_cast<ports::ImageId>(++loads);
  }
  Result<ports::RunOutcome> run(ports::ImageId, const kernel::Program& program,
                                const ports::InputViews& inputs,
                                const ports::RunOptions& options) override {
    runs.push_back(options);
    inputs_seen.emplace_back();
    for (size_t i = 0; i < inputs.size(); ++i) inputs_seen.back().push_back(inputs[i]);
    programs.push_back(program);
    ports::RunOutcome outcome;
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
  Result<ports::TimeOutcome> time(const std::vector<ports::TimedProgram>&,
                                  const ports::TimeProtocol&) override {
    ++timings;
    ports::TimeOutcome outcome;
    outcome.results.emplace_back();
    outcome.results[0].samples.method = "events";
    outcome.results[0].samples.microseconds = {10, 11, 12};
    return outcome;
  }
  Status health() override { return Done{}; }

 private:
  static ports::DeviceInfo make_info() {
    ports::DeviceInfo info;
    info.name = "virtual GPU (fake)";
    info.target = "sm_90";
    info.is_virtual = true;
    return info;
  }
};

}  // namespace kw::single_run
