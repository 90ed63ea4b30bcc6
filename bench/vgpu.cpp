// How fast the virtual GPU runs kernels of the usual kinds, with all checks on, beside a memcpy
// yardstick. Reported per kernel: time, and lane instructions per second: of CPU time for one host
// thread, of the wall clock for two.
#include <benchmark/benchmark.h>

#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "vgpu/virtual_gpu.h"

namespace {

namespace ports = kw::ports;
namespace kernel = kw::kernel;
namespace tensor = kw::tensor;
namespace record = kw::record;
namespace vgpu = kw::vgpu;

std::string ptx_text() {
  std::ifstream file(KW_SOURCE_DIR "/tests/ptx/kernels.nvcc_sm_80.ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Job {
  kernel::Program program;
  std::vector<tensor::HostTensor> inputs;

  int add(const char* name, kernel::Role role, tensor::DType dtype, int64_t count) {
    kernel::Buffer b;
    b.name = name;
    b.role = role;
    b.dtype = dtype;
    b.shape = {count};
    b.bytes = count * tensor::dtype_size(dtype);
    program.buffers.push_back(b);
    tensor::HostTensor t{dtype, b.shape, {}};
    if (role == kernel::Role::Input || role == kernel::Role::Inout) {
      t.data.resize(static_cast<size_t>(b.bytes));
      uint32_t state = 12345;
      for (int64_t i = 0; i < count && dtype == tensor::DType::Fp32; ++i) {
        state = state * 1664525u + 1013904223u;
        const float v = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
        std::memcpy(&t.data[static_cast<size_t>(i) * 4], &v, 4);
      }
      for (int64_t i = 0; i < b.bytes && dtype == tensor::DType::Uint8; ++i) {
        state = state * 1664525u + 1013904223u;
        t.data[static_cast<size_t>(i)] = static_cast<std::byte>(state >> 24);
      }
    }
    inputs.push_back(std::move(t));
    return static_cast<int>(program.buffers.size()) - 1;
  }
  kernel::Launch& launch(const char* entry, kernel::Dim3 grid, kernel::Dim3 block) {
    kernel::Launch l;
    l.kernel = l.entry = entry;
    l.grid = grid;
    l.block = block;
    program.launches.push_back(l);
    return program.launches.back();
  }
};

kernel::Param pointer(int buffer) { return {buffer, {}, "buffer"}; }
template <class T>
kernel::Param value(T v) {
  kernel::Param p{-1, std::vector<uint8_t>(sizeof v), "value"};
  std::memcpy(p.bytes.data(), &v, sizeof v);
  return p;
}

constexpr auto kFp32 = tensor::DType::Fp32;
constexpr auto kIn = kernel::Role::Input;
constexpr auto kOut = kernel::Role::Output;

Job axpb() {
  Job job;
  const int x = job.add("x", kIn, kFp32, 1 << 20), y = job.add("y", kOut, kFp32, 1 << 20);
  job.launch("axpb4", {256}, {256}).params = {pointer(x), pointer(y), value(1 << 18), value(2.0f),
                                              value(1.0f)};
  return job;
}
Job gelu() {
  Job job;
  const int x = job.add("x", kIn, kFp32, 1 << 20), y = job.add("y", kOut, kFp32, 1 << 20);
  job.launch("gelu", {4096}, {256}).params = {pointer(x), pointer(y), value(1 << 20)};
  return job;
}
Job layernorm() {
  Job job;
  const int64_t rows = 4096, d = 1024;
  const int x = job.add("x", kIn, kFp32, rows * d), g = job.add("gamma", kIn, kFp32, d),
            b = job.add("beta", kIn, kFp32, d), y = job.add("y", kOut, kFp32, rows * d);
  job.launch("layernorm", {4096}, {256}).params = {pointer(x), pointer(g),  pointer(b),
                                                   pointer(y), value(1024), value(1e-5f)};
  return job;
}
Job softmax() {
  Job job;
  const int64_t rows = 4096, d = 1024;
  const int x = job.add("x", kIn, kFp32, rows * d), y = job.add("y", kOut, kFp32, rows * d);
  kernel::Launch& launch = job.launch("softmax", {4096}, {256});
  launch.shared_bytes = 2048;
  launch.params = {pointer(x), pointer(y), value(1024)};
  return job;
}
Job matmul() {
  Job job;
  const int64_t n = 512;
  const int a = job.add("a", kIn, kFp32, n * n), b = job.add("b", kIn, kFp32, n * n),
            c = job.add("c", kOut, kFp32, n * n);
  job.launch("matmul", {32, 32}, {16, 16}).params = {pointer(a), pointer(b), pointer(c),
                                                     value(512)};
  return job;
}
Job histogram() {
  Job job;
  const int x = job.add("x", kIn, tensor::DType::Uint8, 1 << 20);
  const int bins = job.add("bins", kernel::Role::Inout, tensor::DType::Uint32, 256);
  job.launch("histogram", {64}, {256}).params = {pointer(x), pointer(bins), value(1 << 20)};
  return job;
}
Job scan() {
  Job job;
  const int x = job.add("x", kIn, tensor::DType::Int32, 1 << 20),
            y = job.add("y", kOut, tensor::DType::Int32, 1 << 20);
  job.launch("scan", {1024}, {1024}).params = {pointer(x), pointer(y), value(1 << 20)};
  return job;
}
Job transpose() {
  Job job;
  const int x = job.add("x", kIn, kFp32, 1 << 20), y = job.add("y", kOut, kFp32, 1 << 20);
  job.launch("transpose", {32, 32}, {32, 8}).params = {pointer(x), pointer(y), value(1024),
                                                       value(1024)};
  return job;
}
Job tiny() {
  Job job;
  const int x = job.add("x", kIn, kFp32, 1024), y = job.add("y", kOut, kFp32, 1024);
  job.launch("gelu", {4}, {256}).params = {pointer(x), pointer(y), value(1024)};
  return job;
}

struct Device {
  std::unique_ptr<vgpu::VirtualGpu> gpu = vgpu::VirtualGpu::open("sm_90").value();
  ports::ImageId image = 0;
  Device() {
    ports::Compiled compiled;
    compiled.image = ptx_text();
    image = gpu->load(compiled).value();
  }
};

Device& device() {
  static Device opened;
  return opened;
}

// Work is measured once, by counting.
record::CounterValues count(const Job& job) {
  ports::RunOptions options;
  options.counters = true;
  return device()
      .gpu->run(device().image, job.program, job.inputs, options)
      .value()
      .counters[0]
      .total;
}

// Every benchmark reports the same counters: the CSV format aborts on one that the first lacks.
void report_work(benchmark::State& state, const record::CounterValues& work) {
  state.counters["lanes/s"] = benchmark::Counter(
      static_cast<double>(work.lane_total) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
  state.counters["warp_insts"] = static_cast<double>(work.warp_total);
}

void run(benchmark::State& state, const Job& job, const record::CounterValues& work) {
  ports::RunOptions options;
  options.counters = state.range(1) != 0;
  options.threads = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const auto outcome =
        device().gpu->run(device().image, job.program, job.inputs, options).value();
    if (!outcome.findings.empty()) {
      state.SkipWithError(outcome.findings[0].message.c_str());
      break;
    }
  }
  report_work(state, work);
}

void yardstick(benchmark::State& state) {
  std::vector<char> from(16 << 20, 1), to(16 << 20, 2);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * (16 << 20));
  report_work(state, {});
}

// The text with one of its kernels only.
std::string one_kernel(const std::string& name) {
  const std::string text = ptx_text();
  const size_t header = text.find(".visible .entry");
  const size_t begin = text.find(".visible .entry " + name + "(");
  return text.substr(0, header) + text.substr(begin, text.find("\n}\n", begin) + 3 - begin);
}

void parse_and_run(benchmark::State& state, const std::string& text) {
  const Job job = tiny();
  const record::CounterValues work = count(job);
  for (auto _ : state) {
    auto gpu = vgpu::VirtualGpu::open("sm_90").value();
    ports::Compiled compiled;
    compiled.image = text;
    const auto image = gpu->load(compiled).value();
    ports::RunOptions options;
    options.threads = 1;
    benchmark::DoNotOptimize(gpu->run(image, job.program, job.inputs, options).value().status);
  }
  report_work(state, work);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("memcpy_16MiB", yardstick)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("load_and_run_small_kernel", parse_and_run, one_kernel("gelu"))
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("load_9_kernels_and_run_one", parse_and_run, ptx_text())
      ->Unit(benchmark::kMillisecond);
  const std::pair<const char*, Job (*)()> kJobs[] = {{"axpb_float4_1M", axpb},
                                                     {"gelu_1M", gelu},
                                                     {"layernorm_4096x1024", layernorm},
                                                     {"softmax_4096x1024", softmax},
                                                     {"matmul_512", matmul},
                                                     {"histogram_1M", histogram},
                                                     {"scan_1M", scan},
                                                     {"transpose_1024", transpose}};
  for (const auto& [name, make] : kJobs) {
    const Job job = make();
    const record::CounterValues work = count(job);
    const auto measure = [job, work](benchmark::State& s) { run(s, job, work); };
    benchmark::RegisterBenchmark(name, measure)
        ->ArgNames({"threads", "counters"})
        ->Args({1, 0})
        ->Args({1, 1})
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(name, measure)
        ->ArgNames({"threads", "counters"})
        ->Args({2, 0})
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
