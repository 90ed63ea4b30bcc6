// How long one candidate takes to compile: with and without precompiled headers, to PTX and to
// cubin, and how the worker pool scales. Every compile has another value of a tunable, as in a
// search; nothing is cached.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "compile/compile_worker.h"
#include "compile/nvrtc_compiler.h"
#include "compile/search.h"

namespace {

using kw::compile::NvrtcCompiler;
using kw::compile::NvrtcOptions;
using kw::ports::CompileRequest;
using kw::ports::ImageKind;

struct Case {
  const char* name;
  const char* source;
};

constexpr Case kCases[] = {
    {"no header",
     "__global__ void k(float* x, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) x[i] "
     "*= VALUE; }\n"},
    {"cuda_fp16.h",
     "#include <cuda_fp16.h>\n"
     "__global__ void k(__half2* x, int n) { int i = blockIdx.x * 256 + threadIdx.x;\n"
     "  if (i < n) x[i] = __hmul2(x[i], __float2half2_rn(VALUE)); }\n"},
    {"cooperative_groups.h",
     "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
     "namespace cg = cooperative_groups;\n"
     "__global__ void k(float* x, int n) { auto warp = "
     "cg::tiled_partition<32>(cg::this_thread_block());\n"
     "  float sum = cg::reduce(warp, x[threadIdx.x] * VALUE, cg::plus<float>());\n"
     "  if (threadIdx.x == 0) x[0] = sum; }\n"},
    {"cub/block/block_reduce.cuh",
     "#include <cub/block/block_reduce.cuh>\n"
     "__global__ void k(float* x, int n) { using R = cub::BlockReduce<float, 256>;\n"
     "  __shared__ typename R::TempStorage s; float t = R(s).Sum(x[threadIdx.x] * VALUE);\n"
     "  if (threadIdx.x == 0) x[0] = t; }\n"},
};

CompileRequest request_for(const Case& c, ImageKind image, int value) {
  CompileRequest request;
  request.source = c.source;
  request.file_name = "candidate.cu";
  request.target = "sm_90";
  request.image = image;
  request.defines = {{"VALUE", value}};
  request.kernels = {"k"};
  return request;
}

double seconds_of(NvrtcCompiler& compiler, const CompileRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const auto outcome = compiler.compile(request);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome && outcome->compiled ? seconds : -1;
}

void print_latency(const kw::compile::Toolbox& tools) {
  fmt::print("{:<28} {:<6} {:<10} {:>10} {:>10}\n", "headers", "image", "precompile", "first ms",
             "later ms");
  for (const Case& c : kCases) {
    for (const ImageKind image : {ImageKind::Ptx, ImageKind::Cubin}) {
      for (const bool precompile : {false, true}) {
        NvrtcOptions options;
        options.workers = 1;
        options.precompile = precompile;
        NvrtcCompiler compiler(*tools.nvrtc, tools.headers, options);
        const double first = seconds_of(compiler, request_for(c, image, 1));
        std::vector<double> later;
        for (int i = 2; i < 9; ++i) later.push_back(seconds_of(compiler, request_for(c, image, i)));
        std::sort(later.begin(), later.end());
        const auto shown = [](double s) {
          return s < 0 ? std::string("fails") : fmt::format("{:.1f}", s * 1000);
        };
        fmt::print("{:<28} {:<6} {:<10} {:>10} {:>10}\n", c.name,
                   image == ImageKind::Ptx ? "ptx" : "cubin", precompile ? "yes" : "no",
                   shown(first), shown(later[later.size() / 2]));
      }
    }
  }
}

void print_scaling(const kw::compile::Toolbox& tools) {
  constexpr int kCompiles = 64;
  fmt::print("\n{:<28} {:>8} {:>16}\n", "64 fp16 candidates to cubin", "workers", "compiles per s");
  for (const int workers : {1, 2, 4}) {
    NvrtcOptions options;
    options.workers = workers;
    NvrtcCompiler compiler(*tools.nvrtc, tools.headers, options);
    std::atomic<int> next{0};
    const auto work = [&](int count) {
      std::vector<std::thread> threads;
      next = 0;
      for (int t = 0; t < workers; ++t) {
        threads.emplace_back([&, count] {
          for (int i = next++; i < count; i = next++)
            seconds_of(compiler, request_for(kCases[1], ImageKind::Cubin, i));
        });
      }
      for (std::thread& thread : threads) thread.join();
    };
    work(2 * workers);  // starts the workers and fills their precompiled headers
    const auto start = std::chrono::steady_clock::now();
    work(kCompiles);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("{:<28} {:>8} {:>16.1f}\n", "", workers, kCompiles / seconds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == kw::compile::kWorkerCommand) {
    return kw::compile::compile_worker_main();
  }
  kw::compile::SearchOptions search;
  search.programs = false;
  const kw::compile::Toolbox tools = kw::compile::find_tools(search);
  if (!tools.nvrtc) {
    fmt::print("no NVRTC on this machine: nothing to measure\n");
    return 0;
  }
  fmt::print("NVRTC {}, sm_90, {} cores\n\n", tools.nvrtc->version,
             std::thread::hardware_concurrency());
  print_latency(tools);
  print_scaling(tools);
  return 0;
}
