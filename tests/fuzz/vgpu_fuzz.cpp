// Fuzzes the virtual GPU: whatever PTX text it is given, it must refuse it or run it to a verdict
// within its limits, and give the same verdict again, on one host thread or two.
// Plain program: vgpu_fuzz CORPUS_DIR SEED ITERATIONS [KEEP_FILE] (the text being tried is kept in
// KEEP_FILE, for after a crash), or vgpu_fuzz PTX_FILE. With -DKW_LIBFUZZER it is a libFuzzer
// target instead.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ptx/parse.h"
#include "vgpu/virtual_gpu.h"

namespace {

using kw::kernel::Buffer;
using kw::kernel::Launch;
using kw::kernel::Program;
using kw::ports::RunOptions;
using kw::ports::RunOutcome;
using kw::tensor::DType;

constexpr double kMaxCpuSeconds = 30;  // of one run; a normal one takes milliseconds
constexpr long kMaxResidentKiB = 3 << 20;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "vgpu_fuzz: %s\n", what);
  std::abort();
}

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t bits() { return engine_(); }
  size_t below(size_t bound) { return bound == 0 ? 0 : engine_() % bound; }
  bool one_in(size_t n) { return below(n) == 0; }
  template <class List>
  const auto& pick(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::mt19937_64 engine_;
};

uint64_t hash(const std::string& text) {
  uint64_t h = 1469598103934665603u;
  for (const char c : text) h = (h ^ static_cast<uint8_t>(c)) * 1099511628211u;
  return h;
}

struct Case {
  Program program;
  std::vector<kw::tensor::HostTensor> inputs;
};

int add_buffer(Case& c, Random& random) {
  static constexpr kw::kernel::Role kRoles[] = {kw::kernel::Role::Input, kw::kernel::Role::Output,
                                                kw::kernel::Role::Inout, kw::kernel::Role::Inout,
                                                kw::kernel::Role::Scratch};
  static constexpr DType kTypes[] = {DType::Fp32, DType::Int32, DType::Fp16, DType::Uint8,
                                     DType::Fp64};
  static constexpr int64_t kCounts[] = {0, 1, 3, 64, 127, 1024, 4096};
  Buffer buffer;
  buffer.name = "b" + std::to_string(c.program.buffers.size());
  buffer.role = random.pick(kRoles);
  buffer.dtype = random.pick(kTypes);
  buffer.shape = {random.pick(kCounts)};
  buffer.bytes = buffer.shape[0] * kw::tensor::dtype_size(buffer.dtype);
  buffer.fill = random.pick(
      std::array{kw::kernel::Fill::Poison, kw::kernel::Fill::Zero, kw::kernel::Fill::ZeroKept});
  kw::tensor::HostTensor tensor{buffer.dtype, buffer.shape, {}};
  tensor.data.resize(static_cast<size_t>(buffer.bytes));
  const bool small = random.one_in(2);
  for (std::byte& b : tensor.data) b = static_cast<std::byte>(small ? 0 : random.bits());
  c.program.buffers.push_back(std::move(buffer));
  c.inputs.push_back(std::move(tensor));
  return static_cast<int>(c.program.buffers.size()) - 1;
}

std::vector<uint8_t> value_bytes(size_t bytes, Random& random) {
  static constexpr uint64_t kValues[] = {0,          1,          2,          31,     100,
                                         0x3f800000, 0x7fc00000, 0xffffffff, 1 << 20};
  std::vector<uint8_t> result(bytes);
  const uint64_t value = random.one_in(4) ? random.bits() : random.pick(kValues);
  for (size_t i = 0; i < bytes; ++i) result[i] = static_cast<uint8_t>(value >> (i % 8 * 8));
  return result;
}

void add_launch(Case& c, const kw::ptx::Function& entry, Random& random) {
  static constexpr uint32_t kThreads[] = {1, 2, 7, 31, 32, 33, 64, 96, 128};
  static constexpr int64_t kShared[] = {0, 0, 4, 100, 1024, 16384, 200000, int64_t{1} << 40};
  Launch launch;
  launch.kernel = launch.entry = entry.name;
  launch.grid.x = 1 + static_cast<uint32_t>(random.below(4));
  launch.block.x = random.pick(kThreads);
  if (entry.required_threads[0] > 0 && entry.required_threads[0] <= 256)
    launch.block.x = static_cast<uint32_t>(entry.required_threads[0]);
  if (random.one_in(8)) launch.block = {7, 3, 2};
  launch.shared_bytes = random.pick(kShared);
  launch.cooperative = random.one_in(8);
  for (const kw::ptx::Variable& param : entry.params) {
    kw::kernel::Param value;
    value.name = param.name;
    if (param.bytes == 8 && !random.one_in(8)) {
      value.buffer = add_buffer(c, random);
    } else {
      value.bytes =
          value_bytes(static_cast<size_t>(std::min<int64_t>(param.bytes, 1 << 16)), random);
    }
    launch.params.push_back(std::move(value));
  }
  c.program.launches.push_back(std::move(launch));
}

std::string describe(const RunOutcome& outcome) {
  std::string text = kw::ports::run_status_name(outcome.status);
  text += outcome.message + outcome.printed;
  for (const auto& finding : outcome.findings) text += kw::record::to_json(finding).dump() + "\n";
  for (const auto& counters : outcome.counters) text += kw::record::to_json(counters).dump() + "\n";
  for (const auto& buffer : outcome.buffers)
    text.append(reinterpret_cast<const char*>(buffer.data.data()), buffer.data.size());
  return text;
}

std::string run_once(kw::vgpu::VirtualGpu& gpu, kw::ports::ImageId image, const Case& c,
                     const RunOptions& options) {
  const std::clock_t start = std::clock();
  const auto outcome = gpu.run(image, c.program, c.inputs, options);
  require(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < kMaxCpuSeconds,
          "a run takes too long");
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  require(usage.ru_maxrss < kMaxResidentKiB, "a run takes too much memory");
  if (!outcome) {
    require(!outcome.error().message.empty(), "an Error says something");
    return outcome.error().message;
  }
  require(outcome->status == kw::ports::RunStatus::Completed || !outcome->message.empty(),
          "a run that did not complete says why");
  require(outcome->printed.size() < 2 << 20, "printf output is bounded");
  require(outcome->findings.size() <= 100, "findings are bounded");
  return describe(*outcome);
}

void run_entry(kw::vgpu::VirtualGpu& gpu, kw::ports::ImageId image, const kw::ptx::Function& entry,
               Random& random) {
  Case c;
  c.program.module_name = "fuzz.cu";
  for (size_t launches = random.one_in(4) ? 2 : 1; launches > 0; --launches)
    add_launch(c, entry, random);
  RunOptions options;
  options.max_warp_instructions = 200 + random.below(6000);
  options.timeout_seconds = 3600;  // the budget ends it, the same way every time
  options.check_order = random.one_in(4);
  options.schedule_seed = random.one_in(2) ? random.bits() | 1 : 0;
  options.counters = options.schedule_seed == 0 || random.one_in(4);  // such runs can be repeated
  options.threads = 1;
  const std::string first = run_once(gpu, image, c, options);
  require(run_once(gpu, image, c, options) == first, "two runs differ");
  options.threads = 2;
  require(run_once(gpu, image, c, options) == first, "one and two host threads differ");
}

// Everything about the case but the text comes from the text itself, so that it alone reproduces.
bool check(const std::string& text) {
  static constexpr const char* kTargets[] = {"sm_90", "sm_80", "sm_100"};
  Random random(hash(text));
  const auto gpu = kw::vgpu::VirtualGpu::open(random.pick(kTargets));
  require(gpu.has_value(), "the virtual GPU opens");
  kw::ports::Compiled compiled;
  compiled.image = text;
  const auto image = (*gpu)->load(compiled);
  if (!image) {
    require(!image.error().message.empty(), "an Error says something");
    return false;
  }
  const auto module = kw::ptx::parse(text);
  require(module.has_value(), "what loads also parses");
  std::vector<const kw::ptx::Function*> entries;
  for (const auto& function : module->functions) {
    if (function.is_entry && !function.is_declaration) entries.push_back(&function);
  }
  for (size_t runs = std::min<size_t>(entries.size(), 3); runs > 0; --runs)
    run_entry(**gpu, *image, *random.pick(entries), random);
  return true;
}

#ifndef KW_LIBFUZZER

using Lines = std::vector<std::string>;

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// A register, label, number or name, or one ".modifier" of an opcode.
struct Token {
  size_t line = 0, at = 0, length = 0;
  char kind = 0;  // first character; digits count as '0', letters as 'a'
  std::string text;
};

std::vector<Token> tokens_of(const Lines& lines) {
  std::vector<Token> all;
  for (size_t l = 0; l < lines.size(); ++l) {
    const std::string& line = lines[l];
    if (line.rfind("//", 0) == 0) continue;
    for (size_t i = 0; i < line.size();) {
      const bool starts = word_char(line[i]) || std::strchr("%$.", line[i]) != nullptr;
      if (!starts || line[i] == 0) {
        ++i;
        continue;
      }
      size_t end = i + 1;
      while (end < line.size() && word_char(line[end])) ++end;
      char kind = line[i];
      if (std::isdigit(static_cast<unsigned char>(kind))) kind = '0';
      if (word_char(kind) && kind != '0') kind = 'a';
      all.push_back({l, i, end - i, kind, line.substr(i, end - i)});
      i = end;
    }
  }
  return all;
}

constexpr const char* kNumbers[] = {"0",
                                    "1",
                                    "-1",
                                    "2",
                                    "3",
                                    "7",
                                    "16",
                                    "31",
                                    "32",
                                    "33",
                                    "64",
                                    "127",
                                    "255",
                                    "4096",
                                    "65535",
                                    "65536",
                                    "1048576",
                                    "268435455",
                                    "1073741824",
                                    "2147483647",
                                    "-2147483648",
                                    "4294967295",
                                    "4294967296",
                                    "9223372036854775807",
                                    "18446744073709551615",
                                    "0f7F800000",
                                    "0f7FC00000",
                                    "0d7FF0000000000000"};
constexpr const char* kModifiers[] = {
    ".u8",     ".s8",     ".b8",    ".u16",    ".s16",     ".b16",      ".u32",     ".s32",
    ".b32",    ".u64",    ".s64",   ".b64",    ".b128",    ".f16",      ".f16x2",   ".bf16",
    ".f32",    ".f64",    ".pred",  ".v2",     ".v4",      ".v8",       ".global",  ".shared",
    ".local",  ".param",  ".const", ".sync",   ".aligned", ".volatile", ".relaxed", ".acquire",
    ".gpu",    ".cta",    ".lo",    ".hi",     ".wide",    ".sat",      ".ftz",     ".rn",
    ".rz",     ".rzi",    ".rpi",   ".approx", ".cc",      ".uni",      ".add",     ".cas",
    ".exch",   ".inc",    ".popc",  ".or",     ".up",      ".idx",      ".any",     ".all",
    ".ballot", ".arrive", ".red",   ".nc",     ".wrap",    ".row",      ".col",     ".m16n16k16"};
constexpr const char* kOpcodes[] = {
    "mov",   "add",  "sub",      "mul",  "mad",   "fma",   "div",       "rem",    "min",  "max",
    "abs",   "neg",  "and",      "or",   "xor",   "not",   "shl",       "shr",    "shf",  "prmt",
    "bfe",   "bfi",  "bfind",    "clz",  "popc",  "brev",  "fns",       "set",    "setp", "selp",
    "slct",  "cvt",  "rcp",      "sqrt", "ex2",   "lg2",   "sin",       "ld",     "st",   "atom",
    "red",   "shfl", "vote",     "bar",  "bra",   "ret",   "exit",      "call",   "addc", "madc",
    "dp4a",  "sad",  "copysign", "tanh", "ldu",   "cvta",  "brx",       "cp",     "lop3", "match",
    "elect", "trap", "testp",    "bmsk", "szext", "mul24", "vabsdiff4", "barrier"};
constexpr const char* kLines[] = {
    "bra $L_spin;",
    "$L_fuzz: bra $L_fuzz;",
    "bar.sync 0;",
    "@%p1 bar.sync 1;",
    "bar.sync %r1, %r2;",
    "barrier.sync 15, 32;",
    "exit;",
    "@%p1 ret;",
    "trap;",
    "ld.global.u32 %r1, [%rd1+4294967295];",
    "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r5];",
    "st.local.u64 [%rd1], %rd2;",
    "ld.v2.u64 {%rd1, %rd2}, [%rd3+1];",
    "st.u8 [%rd1+-1], %r1;",
    "atom.add.u64 %rd1, [%rd2], %rd3;",
    "atom.shared.add.f32 %f1, [%r1], %f2;",
    "shfl.sync.idx.b32 %r1, %r2, %r3, %r4, %r5;",
    "@%p1 shfl.sync.down.b32 %r1|%p2, %r2, 1, 31, 65535;",
    "cp.async.ca.shared.global [%r1], [%rd1], 4, %r2;",
    "cp.async.wait_all;",
    "div.s32 %r1, %r2, %r3;",
    "div.s64 %rd1, %rd2, %rd3;",
    "cvt.rzi.s64.f32 %rd1, %f1;",
    "brx.idx %r1, $L_targets;",
    "call (b), square, (a);",
    "call %rd1, $L_prototype;",
    ".local .align 16 .b8 big[1048576];",
    ".shared .align 16 .b8 wide[65536];",
    ".reg .b32 %r<4194304>;",
    "mov.u32 %r1, %clock;",
    "nanosleep.u32 1000000;",
    "membar.gl;",
};

class Mutator {
 public:
  Mutator(const std::vector<Lines>& seeds, uint64_t seed) : seeds_(seeds), random_(seed) {}

  std::string next() {
    lines_ = random_.pick(seeds_);
    for (size_t i = 1 + random_.below(random_.one_in(3) ? 12 : 3); i > 0; --i) mutate();
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  // The lines before the first body hold .version and .target; leaving them alone keeps most
  // mutants loadable.
  size_t some_line() {
    const size_t head = std::min<size_t>(3, lines_.size());
    return head + random_.below(lines_.size() - head);
  }
  std::string& line() { return lines_[some_line()]; }

  void mutate() {
    if (lines_.size() < 5) return;
    const size_t at = some_line();
    const auto place = lines_.begin() + static_cast<ptrdiff_t>(at);
    switch (random_.below(12)) {
      case 0:
        lines_.erase(place);
        break;
      case 1:
        lines_.insert(place, std::string(line()));
        break;
      case 2:
        std::swap(lines_[at], line());
        break;
      case 3: {
        const Lines& other = random_.pick(seeds_);
        lines_.insert(place, other[random_.below(other.size())]);
        break;
      }
      case 4:
        lines_.insert(place, random_.pick(kLines));
        break;
      case 5:
        guard(lines_[at]);
        break;
      default:
        exchange_token();
    }
  }

  void guard(std::string& text) {
    if (text.empty() || text[0] == '.' || text[0] == '{' || text[0] == '}') return;
    if (text[0] == '@')
      text.erase(0, text.find(' ') + 1);
    else
      text.insert(0, random_.one_in(2) ? "@%p1 " : "@!%p2 ");
  }

  // Exchanges a token for another of its kind: registers for registers, labels for labels …
  void exchange_token() {
    const std::vector<Token> all = tokens_of(lines_);
    if (all.empty()) return;
    const Token& token = all[random_.below(all.size())];
    if (token.line < 3) return;
    lines_[token.line].replace(token.at, token.length, replacement(token, all));
  }

  std::string replacement(const Token& token, const std::vector<Token>& all) {
    const bool opcode = token.kind == 'a' && token.at + token.length < lines_[token.line].size() &&
                        lines_[token.line][token.at + token.length] == '.';
    if (token.kind == '0' && !random_.one_in(4)) return random_.pick(kNumbers);
    if (token.kind == '.' && !random_.one_in(4)) return random_.pick(kModifiers);
    if (opcode && !random_.one_in(4)) return random_.pick(kOpcodes);
    const bool same_class = !random_.one_in(6);
    for (int tries = 0; tries < 40; ++tries) {
      const Token& other = all[random_.below(all.size())];
      const bool alike = other.kind == token.kind &&
                         (!same_class || token.kind != '%' || other.text[1] == token.text[1]);
      if (alike) return other.text;
    }
    return token.text;
  }

  const std::vector<Lines>& seeds_;
  Random random_;
  Lines lines_;
};

Lines split_lines(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const size_t start = line.find_first_not_of(" \t");
    const bool noise = start == std::string::npos || line.compare(start, 2, "//") == 0 ||
                       line.compare(start, 4, ".loc") == 0;
    if (!noise) lines.push_back(line.substr(start));
  }
  return lines;
}

// One seed per kernel: small texts are tried faster and mutate more meaningfully.
void add_seeds(const std::string& text, std::vector<Lines>& seeds) {
  const Lines lines = split_lines(text);
  Lines common;
  std::vector<Lines> entries;
  bool inside = false;
  for (const std::string& line : lines) {
    if (line.rfind(".section", 0) == 0) break;
    if (!inside && line.find(".entry") != std::string::npos) {
      inside = true;
      entries.emplace_back();
    }
    (inside ? entries.back() : common).push_back(line);
    if (line == "}" && inside)
      inside = std::count(entries.back().begin(), entries.back().end(), "{") !=
               std::count(entries.back().begin(), entries.back().end(), "}");
  }
  for (const Lines& entry : entries) {
    if (entry.size() > 600) continue;
    seeds.push_back(common);
    seeds.back().insert(seeds.back().end(), entry.begin(), entry.end());
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

int run_deterministic(const std::string& folder, uint64_t seed, long iterations,
                      const char* keep_file) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Lines> seeds;
  for (const auto& path : paths) add_seeds(read_file(path), seeds);
  require(!seeds.empty(), "no kernel in the corpus folder");
  Mutator mutator(seeds, seed);
  long loaded = 0;
  for (long i = 0; i < iterations; ++i) {
    const std::string text = mutator.next();
    if (keep_file != nullptr) std::ofstream(keep_file, std::ios::binary) << text;
    loaded += check(text) ? 1 : 0;
  }
  std::printf("vgpu_fuzz: %zu kernels, %ld mutants, %ld of them ran\n", seeds.size(), iterations,
              loaded);
  require(iterations < 1000 || loaded > iterations / 20, "too few mutants run to mean anything");
  return 0;
}

#endif

}  // namespace

#ifdef KW_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
#else
int main(int argc, char** argv) {
  if (argc == 2) {
    std::printf("vgpu_fuzz: %s\n", check(read_file(argv[1])) ? "ran" : "refused");
    return 0;
  }
  if (argc != 4 && argc != 5) {
    std::fprintf(stderr, "usage: vgpu_fuzz CORPUS_DIR SEED ITERATIONS [KEEP_FILE]\n");
    return 2;
  }
  return run_deterministic(argv[1], std::strtoull(argv[2], nullptr, 10),
                           std::strtol(argv[3], nullptr, 10), argc == 5 ? argv[4] : nullptr);
}
#endif
