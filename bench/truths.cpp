// Who makes the truths of a suite at its benchmark shapes, and in how many seconds: the CPU, and
// our kernels where there is a GPU (the first time, which compiles them, and then). Tasks as
// arguments; without any, suites/robust.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "compile/compile_worker.h"
#include "gpu/gpu_worker.h"
#include "inputs/families.h"
#include "machine/devices.h"
#include "ports/bound.h"
#include "reference/load_reference.h"
#include "truth/interpreter.h"
#include "verification/verify_tools.h"

namespace {

using Truths = std::vector<kw::ports::Truth>;

struct Timed {
  double seconds = 0;
  kw::Result<Truths> truths;
};

Timed timed(kw::ports::Oracle& oracle, const kw::graph::Graph& graph,
            const std::vector<kw::tensor::HostTensor>& inputs) {
  const auto start = std::chrono::steady_clock::now();
  auto truths = oracle.truth(graph, inputs, {});
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  return {passed.count(), std::move(truths)};
}

// How far the second is from the first in parts of the bound, and how much wider its bound is.
struct Apart {
  double value = 0, narrower = 0, wider = 0;
  int64_t jumps = 0, other_jumps = 0;
};

Apart apart(const Truths& first, const Truths& second) {
  Apart most;
  for (size_t t = 0; t < first.size(); ++t) {
    for (size_t k = 0; k < first[t].value.size(); ++k) {
      const auto at = static_cast<int64_t>(k);
      const double b = kw::ports::bound_at(first[t], at, false);
      const double other = kw::ports::bound_at(second[t], at, false);
      const bool jumps = !first[t].jump.empty() && first[t].jump[k] > 0;
      const bool also = !second[t].jump.empty() && second[t].jump[k] > 0;
      most.jumps += jumps ? 1 : 0;
      most.other_jumps += jumps != also ? 1 : 0;
      if (!(b < INFINITY) || !(b > 0)) continue;
      const double off = std::fabs(first[t].value[k] - second[t].value[k]) / b;
      most.value = std::max(most.value, off);
      most.wider = std::max(most.wider, other / b - 1);
      most.narrower = std::max(most.narrower, 1 - other / b);
    }
  }
  return most;
}

struct Wanted {
  bool quick = false, cpu = true;
  std::vector<std::string> paths;
};

int measure(const std::string& path, const Wanted& wanted, kw::ports::Oracle* kernels) {
  kw::reference::ReferenceRequest request;
  request.path = path;
  const auto task = kw::reference::load_reference(request);
  if (!task) {
    fmt::print("{}: {}\n", path, task.error().message);
    return 1;
  }
  for (const kw::task::Dims& dims : task->benchmark_shapes) {
    const auto graph = task->reference->trace(dims);
    if (!graph) continue;
    for (const std::string& family : kw::inputs::families_for(*task)) {
      const bool usual = &dims == task->benchmark_shapes.data() && family == "normal";
      if (wanted.quick && !usual) continue;
      const auto inputs = kw::inputs::draw_inputs(*task, *graph, dims, family, 1);
      if (!inputs) continue;
      kw::truth::Interpreter interpreter;
      Timed cpu = {0, kw::input_error("not asked for")};
      if (wanted.cpu) cpu = timed(interpreter, *graph, *inputs);
      fmt::print("{:<36} {:<32} {:<8} cpu {:7.2f} s", task->name, kw::task::dims_text(dims), family,
                 cpu.seconds);
      if (kernels != nullptr) {
        const Timed first = timed(*kernels, *graph, *inputs);
        const Timed next = timed(*kernels, *graph, *inputs);
        fmt::print("  first {:6.2f} s  next {:6.2f} s", first.seconds, next.seconds);
        if (cpu.truths && next.truths) {
          const Apart a = apart(*cpu.truths, *next.truths);
          fmt::print("  apart {:.1e} B, bound {:+.1e} {:+.1e}, jumps {} ({} other)", a.value,
                     a.wider, -a.narrower, a.jumps, a.other_jumps);
        }
        fmt::print("  {}", kernels->made_by());
      }
      fmt::print("\n");
      std::fflush(stdout);
    }
  }
  return 0;
}

std::vector<std::string> robust_tasks() {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(KW_SOURCE_DIR) + "/suites/robust"))
    if (entry.is_directory()) paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "worker-gpu") == 0) return kw::gpu::gpu_worker_main();
  if (argc == 2 && std::strcmp(argv[1], "worker-compile") == 0)
    return kw::compile::compile_worker_main();
  Wanted wanted;
  for (const std::string_view word : std::vector<std::string_view>(argv + 1, argv + argc)) {
    if (word == "--quick") {
      wanted.quick = true;
    } else if (word == "--no-cpu") {
      wanted.cpu = false;
    } else {
      wanted.paths.emplace_back(word);
    }
  }
  if (wanted.paths.empty()) wanted.paths = robust_tasks();
  const auto gpu = kw::machine::open_device({"gpu", "", 60, {}});
  const auto compiler = kw::machine::open_compiler("");
  int failed = 0;
  for (const std::string& path : wanted.paths) {
    std::unique_ptr<kw::ports::Oracle> kernels;
    if (gpu && compiler) kernels = kw::verification::open_oracle({compiler->get(), gpu->get(), 0});
    failed |= measure(path, wanted, kernels.get());
  }
  return failed;
}
