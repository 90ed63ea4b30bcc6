// alu_fuzz: emits the random-operand kernel, or runs it on a device and says what differs from the
// reference.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "isa_runner.h"

namespace {

using kw::alu_fuzz::Batch;

struct Options {
  int sm = 90, ptx = 85, threads = 256;
  uint64_t seed = 1;
  std::string emit;
};

bool write_file(const std::string& path, const void* data, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  return out.good();
}

/// The kernel, its inputs and the expected outputs as files beside each other.
int emit(const Batch& batch, const Options& options) {
  const std::string ptx = batch.ptx(options.ptx, "sm_" + std::to_string(options.sm));
  const auto expected = batch.expected();
  const bool written =
      write_file(options.emit + "/alu_fuzz.ptx", ptx.data(), ptx.size()) &&
      write_file(options.emit + "/inputs.bin", batch.inputs().data(), 8 * batch.inputs().size()) &&
      write_file(options.emit + "/expected.bin", expected.data(), 8 * expected.size());
  if (!written) std::fprintf(stderr, "cannot write to %s\n", options.emit.c_str());
  return written ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Random operands through every ALU instruction form"};
  app.add_option("--sm", options.sm, "target, e.g. 90");
  app.add_option("--ptx", options.ptx, "PTX version times ten, e.g. 85");
  app.add_option("--threads", options.threads, "values per form")->check(CLI::Range(32, 1024));
  app.add_option("--seed", options.seed, "of the random operands");
  app.add_option("--emit", options.emit, "folder for alu_fuzz.ptx, inputs.bin and expected.bin");
  CLI11_PARSE(app, argc, argv);
  const Batch batch(kw::alu_fuzz::cases_for(options.sm, options.ptx), options.threads,
                    options.seed);
  if (!options.emit.empty()) return emit(batch, options);
  return 0;
}
