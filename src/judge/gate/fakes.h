// Fakes for tests of the judge, without compiler, GPU, Python or oracle. The task is y = 2 x + 1,
// and the test supplies the function that "runs".
#pragma once

#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "inputs/fake_task.h"
#include "kernel/select.h"
#include "ports/audit_hash.h"
#include "ports/compiler.h"
#include "ports/device.h"
#include "ports/oracle.h"
#include "task/task.h"
#include "tensor/convert.h"

namespace kw::gate {

using inputs::fake_task;
using inputs::FakeReference;

/// A kernel module for fake_task(); its device code is never run.
inline constexpr char kTwice[] =
    "//! kernelwright 1\n"
    "//! task twice\n"
    "//! input x: fp32[B, D]\n"
    "//! output y: fp32[B, D]\n"
    "//! launch twice grid(B) block(64) args(x, y, D)\n"
    "__global__ void twice(const float* x, float* y, int d) {}\n";

/// Bindings for a target with an H100's limits.
inline kernel::Bindings fake_bindings() {
  kernel::Bindings fixed;
  fixed.target = {"sm_90", 9, 0, false, 132, 50 << 20, 49152, 232448, 233472, 65536, 2048, 32};
  return fixed;
}

/// The truth of 2 x + 1.
class FakeOracle : public ports::Oracle {
 public:
  int truths = 0;
  bool vague = false;  // allow errors as large as the values

  Result<std::vector<ports::Truth>> truth(const graph::Graph& graph,
                                          const std::vector<tensor::HostTensor>& inputs,
                                          const ports::TruthOptions&) override {
    ++truths;
    ports::Truth y;
    y.name = graph.outputs[0].name;
    y.shape = inputs[0].shape;
    y.value.resize(static_cast<size_t>(tensor::value_count(inputs[0])));
    tensor::load_values(inputs[0], 0, y.value);
    y.a.resize(y.value.size());
    const double unit = vague ? 1 : 0x1p-23;
    double* const values = y.value.data();  // raw pointers: tests run unoptimised
    float* const bounds = y.a.data();
    for (size_t i = 0, count = y.value.size(); i < count; ++i) {
      bounds[i] = static_cast<float>(unit * (2 * std::fabs(values[i]) + 1));
      values[i] = 2 * values[i] + 1;
    }
    std::vector<ports::Truth> all;
    all.push_back(std::move(y));
    return all;
  }
  Result<std::vector<tensor::HostTensor>> op_by_op(const graph::Graph&,
                                                   const std::vector<tensor::HostTensor>& inputs,
                                                   const ports::TruthOptions&) override {
    return inputs;
  }
};

class FakeCompiler : public ports::Compiler {
 public:
  bool fail = false;
  std::string ptx;                // the text of PTX images
  std::atomic<int> compiles = 0;  // the gate builds both images at the same time

  std::string name() const override { return "fake 1.0"; }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override {
    ++compiles;
    ports::CompileOutcome outcome;
    if (fail) {
      outcome.failed =
          ports::CompileFailed{"fake 1.0",
                               {{ports::CompileMessage::Severity::Error, 3, 2, "expected a ';'"}},
                               "",
                               false,
                               false};
      return outcome;
    }
    outcome.compiled = ports::Compiled{};
    outcome.compiled->compiler = "fake 1.0";
    outcome.compiled->kind = request.image;
    if (request.image == ports::ImageKind::Ptx) outcome.compiled->image = ptx;
    for (const std::string& kernel : request.kernels)
      outcome.compiled->kernels.push_back(
          {kernel, kernel, "void " + kernel + "(float const*, float*, int)", {}});
    return outcome;
  }
};

/// Computes 2 x + `plus` of the first input's elements, or `kernel` if set, or returns the outcome
/// that the test set.
class FakeDevice : public ports::Device {
 public:
  using Kernel = std::function<double(double x, int64_t index, int64_t count)>;

  explicit FakeDevice(bool is_virtual) : is_virtual_(is_virtual) {}

  Kernel kernel;
  double plus = 1;
  /// Called before each run; a returned outcome replaces the computed one.
  std::function<std::optional<ports::RunOutcome>(const kernel::Program&, const ports::RunOptions&)>
      instead;
  std::vector<record::Finding> findings;  // added to every computed run
  bool loads = true;
  bool healthy = true;
  int runs = 0, health_checks = 0;
  std::vector<ports::RunOptions> options;

  ports::DeviceInfo info() const override {
    ports::DeviceInfo info;
    info.name = is_virtual_ ? "fake virtual GPU" : "fake GPU";
    info.target = "sm_90";
    info.is_virtual = is_virtual_;
    info.image = is_virtual_ ? ports::ImageKind::Ptx : ports::ImageKind::Cubin;
    return info;
  }
  Result<ports::ImageId> load(const ports::Compiled&) override {
    if (!loads) return input_error("unsupported instruction 'frobnicate'");
    return ports::ImageId{1};
  }
  Result<ports::RunOutcome> run(ports::ImageId, const kernel::Program& program,
                                const ports::InputViews& inputs,
                                const ports::RunOptions& asked) override {
    ++runs;
    options.push_back(asked);
    if (instead) {
      if (auto outcome = instead(program, asked)) return std::move(*outcome);
    }
    ports::RunOutcome outcome;
    outcome.findings = findings;
    std::vector<double> values(static_cast<size_t>(tensor::value_count(inputs[0])));
    tensor::load_values(inputs[0], 0, values);
    const auto count = static_cast<int64_t>(values.size());
    double* const value = values.data();
    if (kernel) {
      for (int64_t i = 0; i < count; ++i) value[i] = kernel(value[i], i, count);
    } else {
      for (int64_t i = 0; i < count; ++i) value[i] = 2 * value[i] + plus;
    }
    for (const kernel::Buffer& buffer : program.buffers) {
      outcome.buffers.push_back({buffer.dtype, buffer.shape, {}});
      if (!is_virtual_) outcome.hashes.push_back(0);
      if (buffer.role == kernel::Role::Input) continue;
      outcome.buffers.back().data.resize(static_cast<size_t>(buffer.bytes));
      tensor::store_floats(outcome.buffers.back(), 0, values);
      if (!is_virtual_)
        outcome.hashes.back() = ports::audit_hash(outcome.buffers.back().data, asked.hash_seed);
    }
    if (!is_virtual_ && !asked.copy_outputs) outcome.buffers.clear();
    return outcome;
  }
  Result<ports::TimeOutcome> time(const std::vector<ports::TimedProgram>&,
                                  const ports::TimeProtocol&) override {
    return environment_error("no clock");
  }
  Status health() override {
    ++health_checks;
    if (!healthy) return environment_error("the device is lost");
    return Done{};
  }

 private:
  bool is_virtual_;
};

}  // namespace kw::gate
