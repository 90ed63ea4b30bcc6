// Fuzzes the kernel module's parser: any bytes must give diagnostics that lie inside the text, or a
// module that prints back byte for byte and survives select and instantiate with awkward values.
// Plain program: kernel_parse_fuzz CORPUS_DIR SEED ITERATIONS. With -DKW_LIBFUZZER it is a
// libFuzzer target instead.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "arch/arch.h"
#include "kernel/inject.h"
#include "kernel/instantiate.h"
#include "kernel/parse_module.h"
#include "kernel/select.h"

namespace {

using kw::cuda_source::Diagnostic;
using kw::kernel::Bindings;
using kw::kernel::Group;
using kw::kernel::InjectionPoint;
using kw::kernel::KernelInfo;
using kw::kernel::Launch;
using kw::kernel::LaunchDecl;
using kw::kernel::Module;
using kw::kernel::Param;
using kw::kernel::ParseOutcome;
using kw::kernel::ScalarDecl;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "kernel_parse_fuzz: %s\n", what);
  std::abort();
}

// A signature with one plausible parameter per argument, so that the encoders are reached.
std::string guess_signature(const Module& module, const LaunchDecl& launch) {
  std::string signature = "void k(";
  for (size_t i = 0; i < launch.args.size(); ++i) {
    if (i > 0) signature += ", ";
    const bool tensor = module.find_tensor(launch.args[i].root().name) != nullptr;
    signature += tensor ? "void const*" : (i % 2 == 0 ? "int" : "unsigned long");
  }
  return signature + ")";
}

void bind_and_run(const Module& module, int64_t dim) {
  Bindings bindings;
  bindings.target = *kw::arch::find_target("sm_90");
  for (const std::string& name : module.dims()) bindings.dims[name] = dim;
  for (const ScalarDecl& scalar : module.scalars) {
    if (kw::tensor::is_float(scalar.dtype)) {
      bindings.scalars[scalar.name] = 0.5;
    } else {
      bindings.integer_scalars[scalar.name] = 1;
    }
  }
  const auto selection = kw::kernel::select(module, bindings);
  if (!selection) {
    require(!selection.error().message.empty(), "an Error says something");
    return;
  }
  std::vector<KernelInfo> kernels;
  const Group& group = module.groups[static_cast<size_t>(selection->group)];
  for (size_t i = 0; i < selection->kernels.size(); ++i) {
    const LaunchDecl& launch = group.launches[std::min(i, group.launches.size() - 1)];
    kernels.push_back({selection->kernels[i], "entry", guess_signature(module, launch), 32, 0, -1});
  }
  const auto program = kw::kernel::instantiate(module, bindings, *selection, kernels);
  if (!program) return;
  for (const Launch& launch : program->launches) {
    require(launch.grid.count() > 0 && launch.block.count() > 0, "no empty launch");
    for (const Param& param : launch.params) {
      require(param.buffer < static_cast<int>(program->buffers.size()), "buffer index");
      require((param.buffer >= 0) == param.bytes.empty(), "a pointer or bytes");
    }
  }
}

void check(const std::string& text) {
  const ParseOutcome outcome = kw::kernel::parse(text, "fuzz.cu");
  require(outcome.module.has_value() == outcome.diagnostics.empty(), "a module or diagnostics");
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  for (const Diagnostic& d : outcome.diagnostics) {
    require(d.line >= 0 && d.line <= lines && d.column >= 0 && d.length >= 1,
            "a place inside the text");
    require(!d.message.empty(), "a diagnostic says something");
  }
  kw::cuda_source::render_diagnostics(outcome.diagnostics, text, "fuzz.cu");
  const InjectionPoint point = kw::kernel::find_injection(text);
  require(point.offset <= text.size(), "the injection point lies inside the text");
  require(kw::kernel::inject_defines(text, {{"VEC", -1}}, true, "fuzz.cu").size() > text.size(),
          "injection adds");
  if (!outcome.module) return;
  require(kw::kernel::print(*outcome.module) == text, "prints back byte for byte");
  kw::kernel::tune_space(*outcome.module, 50);
  for (const int64_t dim : {int64_t{0}, int64_t{1}, int64_t{7}, int64_t{4096}, int64_t{1} << 40}) {
    bind_and_run(*outcome.module, dim);
  }
}

// Pieces that mean something to the grammar, so that mutants stay near valid modules.
const std::vector<std::string> kPieces = {"//! ",
                                          "launch ",
                                          "input ",
                                          "tune ",
                                          "when ",
                                          "let ",
                                          "repeat p in 0..",
                                          "end",
                                          "N",
                                          "VEC",
                                          "(",
                                          ")",
                                          "[",
                                          "]",
                                          "<",
                                          ">",
                                          ",",
                                          "..",
                                          "0",
                                          "-1",
                                          "/",
                                          "%",
                                          "pick(",
                                          "min(",
                                          "has(",
                                          "SMS",
                                          "\n",
                                          "\\\n",
                                          "#include <cuda_fp16.h>\n",
                                          "\"",
                                          "/*",
                                          "*/",
                                          "R\"(",
                                          "?",
                                          "strides(",
                                          "align 4",
                                          "= 0 kept",
                                          "blocks_per_sm(",
                                          "9223372036854775807",
                                          "cluster(2)",
                                          "\r",
                                          "\xff"};

std::string mutate(std::string text, const std::vector<std::string>& corpus,
                   std::mt19937_64& random) {
  const auto pick = [&](size_t n) { return n == 0 ? 0 : static_cast<size_t>(random() % n); };
  for (size_t edits = 1 + pick(6); edits > 0; --edits) {
    const size_t at = pick(text.size() + 1);
    switch (pick(6)) {
      case 0:
        text.insert(at, kPieces[pick(kPieces.size())]);
        break;
      case 1:
        text.erase(at, 1 + pick(12));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 3: {
        const std::string& other = corpus[pick(corpus.size())];
        text.insert(at, other.substr(pick(other.size()), 1 + pick(60)));
        break;
      }
      case 4: {
        const size_t from = pick(text.size());
        text.insert(at, text.substr(from, 1 + pick(40)));
        break;
      }
      default:
        text.replace(at, 1, kPieces[pick(kPieces.size())]);
    }
  }
  return text;
}

[[maybe_unused]] int run_deterministic(const std::string& folder, uint64_t seed, long iterations) {
  std::vector<std::string> paths, corpus;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".cu") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    std::ifstream in(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    check(corpus.back());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "kernel_parse_fuzz: no .cu file in %s\n", folder.c_str());
    return 2;
  }
  std::mt19937_64 random(seed);
  for (long i = 0; i < iterations; ++i) {
    check(mutate(corpus[random() % corpus.size()], corpus, random));
  }
  std::printf("kernel_parse_fuzz: %zu files, %ld mutants\n", corpus.size(), iterations);
  return 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

#ifndef KW_LIBFUZZER
int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: kernel_parse_fuzz CORPUS_DIR SEED ITERATIONS\n");
    return 2;
  }
  return run_deterministic(argv[1], std::strtoull(argv[2], nullptr, 10),
                           std::strtol(argv[3], nullptr, 10));
}
#endif
