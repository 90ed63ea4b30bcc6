// The problem: a recording from foreign code contains addresses that differ in every process and
// call. The choice: replace each address in parameters by a tensor or scratch number and an offset,
// then compare calls. A shape is accepted only if all calls in all processes did the same. The
// alternative, trusting kernel signatures for the places of pointers, fails for structs. The cost:
// any 8 bytes that look like an address count as one; different base addresses per process show
// such a mistake. The text is not trusted: a line that does not parse makes the whole recording
// invalid.
#include "host_recording/recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/ascii.h"
#include "core/contains.h"
#include "core/text.h"

namespace kw::host_recording {
namespace {

constexpr uint64_t kSlack = uint64_t{1} << 19;  // pointers slightly outside belong to it too
constexpr size_t kMostParams = 4096;
constexpr uint64_t kMostDims = 8;

/// A move that converts types: 256 + 16 FROM + TO, by PyTorch's numbers.
bool is_conversion(uint64_t element) {
  const auto known = [](uint64_t type) { return type <= 7 || type == 11 || type == 15; };
  return element >= 256 && element < 512 && known(element / 16 % 16) && known(element % 16);
}

std::optional<uint64_t> number(std::string_view word) {
  if (word.empty() || word.size() > 20) return std::nullopt;
  uint64_t value = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return std::nullopt;
    if (__builtin_mul_overflow(value, uint64_t{10}, &value) ||
        __builtin_add_overflow(value, static_cast<uint64_t>(c - '0'), &value))
      return std::nullopt;
  }
  return value;
}

std::optional<std::vector<uint8_t>> bytes_of(std::string_view word) {
  std::vector<uint8_t> out;
  if (word == "-") return out;
  if (word.size() % 2 != 0) return std::nullopt;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  for (size_t i = 0; i < word.size(); i += 2) {
    if (digit(word[i]) < 0 || digit(word[i + 1]) < 0) return std::nullopt;
    out.push_back(static_cast<uint8_t>(digit(word[i]) * 16 + digit(word[i + 1])));
  }
  return out;
}

bool is_symbol(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return is_name_char(c) || c == '$';
  });
}

struct Memory {
  uint64_t bytes = 0;
  int tensor = -1;
  int call = 0;  // for a tensor
  bool freed = false;
};

class Reader {
 public:
  Reader(std::string_view text, const ParamReads& reads)
      : lines_(split_lines(text)), reads_(reads) {}

  Result<std::vector<CaseRecord>> run() {
    if (lines_.empty() || lines_[0] != "kernelwright recording 1")
      return input_error("the confined process did not write a recording");
    for (size_t i = 1; i < lines_.size(); ++i) {
      if (lines_[i].empty()) continue;
      words_ = split_words(lines_[i]);
      at_ = 1;
      good_ = true;
      line(words_.empty() ? "" : words_[0], lines_[i]);
      if (!good_) return input_error("the recording is damaged in line {}", i + 1);
    }
    return std::move(cases_);
  }

 private:
  static std::vector<std::string_view> split_words(std::string_view line) {
    std::vector<std::string_view> words;
    for (size_t begin = 0; begin < line.size();) {
      const size_t end = std::min(line.find(' ', begin), line.size());
      words.push_back(line.substr(begin, end - begin));
      begin = end + 1;
    }
    return words;
  }

  std::string_view word() {
    if (at_ < words_.size()) return words_[at_++];
    good_ = false;
    return "";
  }
  uint64_t take() {
    const std::optional<uint64_t> value = number(word());
    if (!value) good_ = false;
    return value.value_or(0);
  }
  uint32_t take_small() {
    const uint64_t value = take();
    if (value > UINT32_MAX) good_ = false;
    return static_cast<uint32_t>(value);
  }
  kernel::Dim3 take_dims() {
    kernel::Dim3 dims;
    dims.x = take_small();
    dims.y = take_small();
    dims.z = take_small();
    return dims;
  }
  std::vector<uint8_t> take_bytes() {
    auto bytes = bytes_of(word());
    if (!bytes) good_ = false;
    return bytes ? std::move(*bytes) : std::vector<uint8_t>();
  }

  RecordedCall& call() { return cases_[at_case_].calls.back(); }

  void begin_call() {
    ++calls_;
    cases_[at_case_].calls.emplace_back();
    scratch_of_.clear();
    streams_ = {{0, 0}};
  }

  void line(std::string_view kind, std::string_view whole) {
    if (kind == "case") {
      const auto number = static_cast<int64_t>(take());
      at_case_ = static_cast<size_t>(std::ranges::find(cases_, number, &CaseRecord::number) -
                                     cases_.begin());
      if (at_case_ == cases_.size()) cases_.push_back({number, {}});
      return;
    }
    if (kind == "alloc") return add_memory(-1);
    if (kind == "tensor") return add_memory(static_cast<int>(take_small() & 0xffff));
    if (kind == "free") return free_memory();
    if (kind == "host") {
      const uint64_t address = take();
      host_[address] = take();
      return;
    }
    const bool outside = cases_.empty() || cases_[at_case_].calls.empty();
    if (kind == "refuse" && outside) {
      early_.emplace_back(whole.substr(7));
      return;
    }
    if (cases_.empty()) {
      good_ = kind == "symbol";  // data from constructors is lost before the first call
      if (good_) early_.emplace_back("a device variable is set before the launcher is called");
      return;
    }
    if (kind == "call") {
      begin_call();
      call().refusals = early_;
      return;
    }
    if (outside) {
      good_ = false;
      return;
    }
    in_call(kind, whole);
  }

  void in_call(std::string_view kind, std::string_view whole) {
    if (kind == "launch") return launch();
    if (kind == "fill") return numbered(RecordedStep::Kind::Fill, 1, 5);
    if (kind == "copy") return numbered(RecordedStep::Kind::Copy, 2, 4);
    if (kind == "move") return move();
    if (kind == "upload" || kind == "symbol") return from_host(kind == "symbol");
    if (kind == "download") {
      ++call().downloads;
    } else if (kind == "refuse" && whole.size() > 7) {
      call().refusals.emplace_back(whole.substr(7));
    } else if (kind == "result") {
      result();
    } else if (kind == "failed") {
      word();
      call().failures.emplace_back(word());
    } else if (kind == "end") {
      call().finished = true;
    } else {
      good_ = false;
    }
  }

  void add_memory(int tensor) {
    const uint64_t address = take();
    Memory memory;
    memory.bytes = take();
    memory.tensor = tensor;
    memory.call = calls_ + 1;  // tensors precede their call
    // A real device reuses addresses; the old memory there no longer exists.
    for (auto old = memory_.lower_bound(address);
         old != memory_.end() && old->first - address < std::max<uint64_t>(memory.bytes, 1);)
      old = memory_.erase(old);
    memory_[address] = memory;
  }

  void free_memory() {
    const auto at = memory_.find(take());
    if (at == memory_.end())
      good_ = false;
    else
      at->second.freed = true;
  }

  /// The memory that an address belongs to; end() if it is not a device address.
  std::map<uint64_t, Memory>::iterator home_of(uint64_t value) {
    auto after = memory_.upper_bound(value);
    if (after != memory_.begin()) {
      const auto before = std::prev(after);
      if (value <= before->first + before->second.bytes + kSlack) return before;
    }
    if (after != memory_.end() && after->first - value < kSlack) return after;
    return memory_.end();
  }

  bool on_host(uint64_t value) const {
    auto after = host_.upper_bound(value);
    if (after == host_.begin()) return false;
    --after;
    return value < after->first + std::max<uint64_t>(after->second, 1);
  }

  void refuse(std::string why) {
    if (!contains(call().refusals, why)) call().refusals.push_back(std::move(why));
  }

  Pointer pointer_to(uint64_t value, std::map<uint64_t, Memory>::iterator home) {
    Pointer pointer;
    pointer.add = static_cast<int64_t>(value - home->first);
    const Memory& memory = home->second;
    if (memory.freed) refuse("memory is used after it was freed");
    if (memory.tensor >= 0) {
      pointer.tensor = memory.tensor;
      if (memory.call != calls_) refuse("a tensor of an earlier call is used again");
      return pointer;
    }
    const auto [at, fresh] =
        scratch_of_.emplace(home->first, static_cast<int>(call().scratch.size()));
    if (fresh) call().scratch.push_back(memory.bytes);
    pointer.scratch = at->second;
    return pointer;
  }

  // Addresses are recognised by value. Each process places them in its own range, far from usual
  // numbers, so that a mistake shows as a difference.
  Param relocate(std::vector<uint8_t> bytes) {
    Param param;
    param.bytes = std::move(bytes);
    for (uint32_t at = 0; at + 8 <= param.bytes.size(); at += 4) {
      uint64_t value = 0;
      for (int i = 7; i >= 0; --i) value = value << 8 | param.bytes[at + static_cast<uint32_t>(i)];
      if (on_host(value)) refuse("a kernel is given host memory");
      const auto home = home_of(value);
      if (value == 0 || home == memory_.end()) continue;
      Pointer pointer = pointer_to(value, home);
      pointer.at = at;
      param.pointers.push_back(pointer);
      std::fill_n(param.bytes.begin() + at, 8, uint8_t{0});
      at += 4;
    }
    return param;
  }

  std::vector<uint8_t> without_padding(const std::string& entry, size_t param,
                                       std::vector<uint8_t> bytes) const {
    const auto kernel = reads_.find(entry);
    if (kernel == reads_.end() || param >= kernel->second.size()) return bytes;
    const std::vector<bool>& reads = kernel->second[param];
    for (size_t i = 0; i < std::min(bytes.size(), reads.size()); ++i) {
      if (!reads[i]) bytes[i] = 0;
    }
    return bytes;
  }

  Param address() {
    const uint64_t value = take();
    std::vector<uint8_t> bytes;
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
    Param param = relocate(std::move(bytes));
    if (param.pointers.empty()) good_ = false;
    return param;
  }

  /// Memory that the call allocated and returned becomes one of the task's tensors.
  void result() {
    const auto tensor = static_cast<int>(take_small() & 0xffff);
    const uint64_t address = take(), bytes = take();
    const auto home = memory_.find(address);
    if (home == memory_.end()) return refuse("its result is a part of something else");
    if (home->second.tensor >= 0) return refuse("its result is one of its inputs");
    if (home->second.bytes != std::max<uint64_t>(bytes, 1))
      return refuse("its result is a part of something else");
    const auto at = scratch_of_.find(address);
    if (at == scratch_of_.end()) return;  // no step writes it; the judge will find it wrong
    const int index = at->second;
    for (RecordedStep& step : call().steps) {
      for (Param& param : step.params) {
        for (Pointer& pointer : param.pointers) {
          if (pointer.scratch == index) {
            pointer.scratch = -1;
            pointer.tensor = tensor;
          } else if (pointer.scratch > index) {
            --pointer.scratch;
          }
        }
      }
    }
    call().scratch.erase(call().scratch.begin() + index);
    scratch_of_.erase(at);
    for (auto& [other, number_of_it] : scratch_of_) number_of_it -= number_of_it > index ? 1 : 0;
  }

  void take_stream(RecordedStep& step) {
    const auto [at, fresh] = streams_.emplace(take(), static_cast<int>(streams_.size()));
    step.stream = at->second;
    if (fresh) call().streams = static_cast<int>(streams_.size());
  }

  void launch() {
    RecordedStep step;
    step.name = std::string(word());
    good_ = good_ && is_symbol(step.name);
    step.grid = take_dims();
    step.block = take_dims();
    step.shared = take_small();
    step.cluster = take_dims();
    step.cooperative = take() != 0;
    take_stream(step);
    const uint64_t count = take();
    good_ = good_ && count <= kMostParams;
    for (uint64_t i = 0; i < count && good_; ++i)
      step.params.push_back(relocate(without_padding(step.name, i, take_bytes())));
    call().steps.push_back(std::move(step));
  }

  void numbered(RecordedStep::Kind kind, int addresses, int numbers) {
    RecordedStep step;
    step.kind = kind;
    for (int i = 0; i < addresses && good_; ++i) step.params.push_back(address());
    for (int i = 0; i < numbers && good_; ++i) step.numbers.push_back(take());
    take_stream(step);
    call().steps.push_back(std::move(step));
  }

  void move() {
    RecordedStep step;
    step.kind = RecordedStep::Kind::Move;
    for (int i = 0; i < 2 && good_; ++i) step.params.push_back(address());
    step.numbers.push_back(take());
    const uint64_t element = step.numbers[0], rank = take();
    good_ =
        good_ && rank <= kMostDims &&
        (element == 1 || element == 2 || element == 4 || element == 8 || is_conversion(element));
    for (uint64_t i = 0; i < 3 * rank && good_; ++i) step.numbers.push_back(take());
    take_stream(step);
    call().steps.push_back(std::move(step));
  }

  void from_host(bool symbol) {
    RecordedStep step;
    step.kind = symbol ? RecordedStep::Kind::Symbol : RecordedStep::Kind::Upload;
    if (symbol) {
      step.name = std::string(word());
      good_ = good_ && is_symbol(step.name);
      step.numbers.push_back(take());
    } else {
      step.params.push_back(address());
    }
    step.data = take_bytes();
    if (!symbol) {
      take_stream(step);
      if (!relocate(step.data).pointers.empty()) refuse("a table of pointers made on the host");
    }
    call().steps.push_back(std::move(step));
  }

  std::vector<std::string_view> lines_, words_;
  const ParamReads& reads_;
  size_t at_ = 0;
  bool good_ = true;
  int calls_ = 0;
  std::vector<CaseRecord> cases_;
  size_t at_case_ = 0;
  std::map<uint64_t, Memory> memory_;
  std::map<uint64_t, uint64_t> host_;
  std::map<uint64_t, int> scratch_of_, streams_;
  std::vector<std::string> early_;
};

}  // namespace

Result<std::vector<CaseRecord>> read_recording(std::string_view text, const ParamReads& reads) {
  return Reader(text, reads).run();
}

}  // namespace kw::host_recording
