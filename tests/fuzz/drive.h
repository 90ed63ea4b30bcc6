// What the targets share: one function takes any bytes and must neither crash nor believe nonsense.
// Each is built twice. With KW_LIBFUZZER it is a libFuzzer target (make audit). Otherwise it is a
// plain program that mutates a corpus, the same mutants for the same seed:
//   NAME_fuzz CORPUS_FOLDER SEED ITERATIONS
#pragma once

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

namespace kw::fuzz {

/// The target.
void check(const std::string& bytes);
/// Pieces that mean something to the format, so that mutants stay near what is valid.
extern const std::vector<std::string> kPieces;

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "this does not hold: %s\n", what);
  std::abort();
}

inline std::string mutate(std::string text, const std::vector<std::string>& corpus,
                          std::mt19937_64& random) {
  const auto pick = [&](size_t n) { return n == 0 ? 0 : static_cast<size_t>(random() % n); };
  for (size_t edits = 1 + pick(6); edits > 0; --edits) {
    const size_t at = pick(text.size() + 1);
    const std::string& other = corpus[pick(corpus.size())];
    switch (pick(7)) {
      case 0:
        text.insert(at, kPieces[pick(kPieces.size())]);
        break;
      case 1:
        text.erase(at, 1 + pick(20));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 3:
        text.insert(at, other.substr(pick(other.size()), 1 + pick(80)));
        break;
      case 4:
        text.insert(at, text.substr(pick(text.size()), 1 + pick(60)));
        break;
      case 5:
        text.resize(at);
        break;
      default:
        text.replace(at, 1, kPieces[pick(kPieces.size())]);
    }
  }
  return text;
}

inline int run_deterministic(const std::string& folder, uint64_t seed, long iterations) {
  std::vector<std::string> paths, corpus;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    std::ifstream in(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    check(corpus.back());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "there is no file in %s\n", folder.c_str());
    return 2;
  }
  std::mt19937_64 random(seed);
  for (long i = 0; i < iterations; ++i)
    check(mutate(corpus[random() % corpus.size()], corpus, random));
  std::printf("%zu files, %ld mutants\n", corpus.size(), iterations);
  return 0;
}

}  // namespace kw::fuzz

#ifdef KW_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kw::fuzz::check(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
#else
int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER SEED ITERATIONS\n", argv[0]);
    return 2;
  }
  return kw::fuzz::run_deterministic(argv[1], std::strtoull(argv[2], nullptr, 10),
                                     std::strtol(argv[3], nullptr, 10));
}
#endif
