// alu_fuzz: random operands through every ALU instruction form, as kernels on a device, judged by
// the exact reference. Also writes kernel, inputs and expected outputs to files. Exits with 0 when
// all agree, 1 when not, 77 without a GPU.
#include <fmt/core.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "core/text.h"
#include "device_runner.h"
#include "gpu/gpu_worker.h"
#include "machine/devices.h"

namespace kw::alu_fuzz {
namespace {

constexpr int kSkipped = 77;
constexpr size_t kFormsPerKernel =
    250;  // the driver compiles a kernel of this size in a second or two

struct Options {
  int sm = 90, ptx = 83, threads = 256, rounds = 1;
  uint64_t seed = 1;
  std::string device = "vgpu", emit;
  bool strict = false;
  std::string target() const { return "sm_" + std::to_string(sm); }
};

constexpr const char* kUsage =
    "usage: alu_fuzz [--device vgpu|gpu] [--sm 90] [--ptx 83] [--threads 32..1024] [--rounds N]\n"
    "                [--seed N] [--strict] [--emit FOLDER]\n"
    "  --strict  also judge results the ISA leaves open, against our choice\n"
    "  --emit    write alu_fuzz.ptx, inputs.bin and expected.bin there instead of running\n";

bool read_options(const std::vector<std::string>& words, Options& options) {
  int64_t sm = options.sm, ptx = options.ptx, threads = options.threads, rounds = options.rounds,
          seed = 1;
  const std::map<std::string, int64_t*> numbers = {{"--sm", &sm},
                                                   {"--ptx", &ptx},
                                                   {"--threads", &threads},
                                                   {"--rounds", &rounds},
                                                   {"--seed", &seed}};
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--strict") {
      options.strict = true;
      continue;
    }
    if (i + 1 == words.size()) return false;
    const std::string &name = words[i], &value = words[++i];
    const auto number = numbers.find(name);
    if (number != numbers.end()) {
      const auto parsed = parse_int(value);
      if (!parsed) return false;
      *number->second = *parsed;
    } else if (name == "--device" || name == "--emit") {
      (name == "--emit" ? options.emit : options.device) = value;
    } else {
      return false;
    }
  }
  options.sm = static_cast<int>(sm), options.ptx = static_cast<int>(ptx);
  options.threads = static_cast<int>(threads), options.rounds = static_cast<int>(rounds);
  options.seed = static_cast<uint64_t>(seed);
  return threads >= 32 && threads <= 1024;
}

bool write_file(const std::string& path, const void* data, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  return out.good();
}

/// The kernel, its inputs and the expected outputs as files beside each other.
int emit(const Options& options) {
  const Batch batch(cases_for(options.sm, options.ptx), options.threads, options.seed);
  const std::string ptx = batch.ptx(options.ptx, options.target());
  const auto expected = batch.expected();
  const bool written =
      write_file(options.emit + "/alu_fuzz.ptx", ptx.data(), ptx.size()) &&
      write_file(options.emit + "/inputs.bin", batch.inputs().data(), 8 * batch.inputs().size()) &&
      write_file(options.emit + "/expected.bin", expected.data(), 8 * expected.size());
  if (!written) fmt::print(stderr, "cannot write to {}\n", options.emit);
  return written ? 0 : 3;
}

struct Total {
  int64_t checked = 0, undefined = 0, wrong = 0, failed_kernels = 0;
};

void run_part(const Options& options, ports::Device& device, std::vector<Case> cases, uint64_t seed,
              Total& total) {
  const Batch batch(std::move(cases), options.threads, seed);
  const auto outputs = run_on_device(batch, device, options.ptx, options.target());
  if (!outputs) {
    fmt::print("kernel of {} forms from {} on: {}\n", batch.cases().size(), batch.cases()[0].text,
               outputs.error().message);
    ++total.failed_kernels;
    return;
  }
  const Judgement judgement = batch.judge(*outputs, options.strict);
  total.checked += judgement.checked;
  total.undefined += judgement.undefined;
  total.wrong += judgement.wrong;
  for (const Mismatch& mismatch : judgement.first) fmt::print("{}\n", mismatch.what);
}

int run(const Options& options) {
  machine::DeviceRequest request;
  request.kind = options.device;
  request.target = options.target();
  const auto device = machine::open_device(request);
  if (!device) {
    fmt::print("no device: {}\n", device.error().message);
    return kSkipped;
  }
  const std::vector<Case> cases = cases_for(options.sm, options.ptx);
  Total total;
  for (int round = 0; round < options.rounds; ++round)
    for (size_t at = 0; at < cases.size(); at += kFormsPerKernel) {
      const size_t end = std::min(cases.size(), at + kFormsPerKernel);
      const auto first = cases.begin() + static_cast<std::ptrdiff_t>(at);
      run_part(options, **device, {first, cases.begin() + static_cast<std::ptrdiff_t>(end)},
               options.seed + static_cast<uint64_t>(round), total);
    }
  fmt::print(
      "{}: {} forms, {} results compared, {} left open by the ISA, {} wrong, {} kernels failed\n",
      (*device)->info().name, cases.size(), total.checked, total.undefined, total.wrong,
      total.failed_kernels);
  return total.wrong == 0 && total.failed_kernels == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kw::alu_fuzz

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "worker-gpu") return kw::gpu::gpu_worker_main();
  kw::alu_fuzz::Options options;
  if (!kw::alu_fuzz::read_options(words, options)) {
    std::fputs(kw::alu_fuzz::kUsage, stderr);
    return 2;
  }
  return options.emit.empty() ? kw::alu_fuzz::run(options) : kw::alu_fuzz::emit(options);
}
