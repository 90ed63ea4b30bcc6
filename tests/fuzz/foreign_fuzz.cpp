// Fuzzes the import of foreign CUDA files: any bytes must give problems that lie inside the text,
// or a module that parses and holds every kernel it launches. Plain program: foreign_fuzz
// CORPUS_DIR SEED ITERATIONS. With -DKW_LIBFUZZER it is a libFuzzer target instead.
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

#include "cuda_import/import.h"
#include "kernel/parse_module.h"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "foreign_fuzz: %s\n", what);
  std::abort();
}

void check(const std::string& text) {
  kw::cuda_import::ImportRequest request;
  request.text = text;
  request.file_name = "fuzz.cu";
  request.task = "fuzz";
  using kw::tensor::DType;
  for (const char* name : {"x", "y", "A", "B", "C", "w", "input", "output"})
    request.given.push_back({name, DType::Fp32, {"N"}});
  const kw::cuda_import::Imported imported = kw::cuda_import::import_launcher(request);
  require(imported.module.empty() == !imported.problems.empty(), "a module or problems");
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  for (const kw::cuda_source::Diagnostic& one : imported.problems) {
    require(one.line >= 0 && one.line <= lines && one.column >= 0 && one.length >= 1,
            "a place inside the text");
    require(!one.message.empty(), "a problem says something");
  }
  kw::cuda_source::render_diagnostics(imported.problems, text, "fuzz.cu");
  if (imported.problems.empty())
    require(kw::kernel::parse(imported.module, "out.cu").module.has_value(),
            "a module that parses");
}

const std::vector<std::string> kPieces = {"<<<",
                                          ">>>",
                                          "(",
                                          ")",
                                          "{",
                                          "}",
                                          "[",
                                          "]",
                                          ";",
                                          ",",
                                          "if (",
                                          "else ",
                                          "for (",
                                          "while (",
                                          "do {",
                                          "switch (",
                                          "case ",
                                          "return ",
                                          "dim3 ",
                                          "int ",
                                          "float* ",
                                          "const ",
                                          "&",
                                          "*",
                                          "sizeof(",
                                          "?",
                                          ":",
                                          "::",
                                          "template <",
                                          "<",
                                          ">",
                                          "extern \"C\" ",
                                          "__global__ ",
                                          "void ",
                                          "cudaMalloc(",
                                          "cudaMemset(",
                                          "#define Q(a) a a\n",
                                          "Q(",
                                          "0",
                                          "1 << 40",
                                          "N",
                                          "x",
                                          "y",
                                          "++",
                                          "+=",
                                          "[](int a) { return a; }",
                                          "\n",
                                          "\"",
                                          "'",
                                          "/*",
                                          "static_cast<int>(",
                                          "using T = ",
                                          "enum { E = ",
                                          "namespace n {",
                                          "auto ",
                                          "nullptr",
                                          "\\\n",
                                          "\xff"};

std::string mutate(std::string text, const std::vector<std::string>& corpus,
                   std::mt19937_64& random) {
  const auto pick = [&](size_t n) { return n == 0 ? 0 : static_cast<size_t>(random() % n); };
  for (size_t edits = 1 + pick(6); edits > 0; --edits) {
    const size_t at = pick(text.size() + 1);
    switch (pick(5)) {
      case 0:
        text.insert(at, kPieces[pick(kPieces.size())]);
        break;
      case 1:
        text.erase(at, 1 + pick(12));
        break;
      case 2: {
        const std::string& other = corpus[pick(corpus.size())];
        text.insert(at, other.substr(pick(other.size()), 1 + pick(60)));
        break;
      }
      case 3: {
        const size_t from = pick(text.size());
        text.insert(at, text.substr(from, 1 + pick(40)));
        break;
      }
      default:
        if (at < text.size()) text[at] = static_cast<char>(random());
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
    std::fprintf(stderr, "foreign_fuzz: no .cu file in %s\n", folder.c_str());
    return 2;
  }
  for (const char* deep : {"(", "{", "if (x) ", "-", "a<", "[", "f(", "0 ? 0 : ", "do "}) {
    std::string text = "__global__ void k(float* y);\nextern \"C\" void solve(float* y) { ";
    for (int i = 0; i < 20000; ++i) text += deep;
    check(text + " k<<<1, 1>>>(y); }");
  }
  std::mt19937_64 random(seed);
  for (long i = 0; i < iterations; ++i)
    check(mutate(corpus[random() % corpus.size()], corpus, random));
  std::printf("foreign_fuzz: %zu files, %ld mutants\n", corpus.size(), iterations);
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
    std::fprintf(stderr, "usage: foreign_fuzz CORPUS_DIR SEED ITERATIONS\n");
    return 2;
  }
  return run_deterministic(argv[1], std::strtoull(argv[2], nullptr, 10),
                           std::strtol(argv[3], nullptr, 10));
}
#endif
