// The problem: the recording runtime runs inside a foreign process, which may exit, crash or never
// end. The choice: one state for all functions, never destroyed, and a text that the worker takes
// after every call. A call with more than kMostEvents operations is recorded as a refusal, and the
// process ends. The alternative, writing to a file, is not possible in the sandbox. The cost: the
// recording stays in memory until it is taken, at most kMostText bytes.
#include "host_recording/recorder/state.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "host_recording/recorder/control.h"
#include "host_recording/recorder/world.h"

namespace kw::recorder {
namespace {

constexpr int64_t kMostEvents = 20000;
constexpr size_t kMostText = size_t{64} << 20;

RecordedKernel read_kernel(const char* entry, const long* numbers, int count) {
  RecordedKernel kernel;
  kernel.entry = entry;
  kernel.registers = static_cast<int>(numbers[0]);
  kernel.static_shared = static_cast<int>(numbers[1]);
  kernel.local_bytes = static_cast<int>(numbers[2]);
  kernel.max_threads = static_cast<int>(numbers[3]);
  for (int i = 4; i < count; ++i) kernel.params.push_back(static_cast<size_t>(numbers[i]));
  return kernel;
}

}  // namespace

State& state() {
  static State* const only = new State;  // must outlive every destructor of the program
  return *only;
}

void write_line(const std::string& line) {
  State& s = state();
  if (++s.events > kMostEvents || s.text.size() > kMostText) {
    if (s.events == kMostEvents + 1 || s.text.size() > kMostText) {
      s.text += "refuse more than 20000 operations in one call\n";
      if (s.at_end != nullptr) s.at_end();
      std::_Exit(0);
    }
    return;
  }
  *s.out += line;
  *s.out += '\n';
}

int refuse(const std::string& why) {
  write_line("refuse " + why);
  return fail(kNotSupported);
}

int fail(int code) {
  if (code != kSuccess) state().last_error = code;
  return code;
}

std::string hex(const void* bytes, size_t count) {
  static const char digits[] = "0123456789abcdef";
  if (count == 0) return "-";
  std::string text;
  text.reserve(2 * count);
  for (size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<const unsigned char*>(bytes)[i];
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

uint64_t as_number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

void* new_handle() { return reinterpret_cast<void*>(uint64_t{0x100} + 16 * ++state().handles); }

bool on_device(const void* pointer) {
  const State& s = state();
  auto after = s.device.upper_bound(as_number(pointer));
  if (after == s.device.begin()) return false;
  --after;
  return as_number(pointer) <= after->first + after->second.bytes;
}

void fill_with_noise(void* to, size_t bytes) {
  uint64_t& seed = state().noise;
  for (size_t i = 0; i < bytes; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(seed >> 56);
  }
}

}  // namespace kw::recorder

using kw::recorder::state;

KW_RECORDED void kw_record_kernel(const char* entry, const long* numbers, int count) {
  state().kernels[entry] = kw::recorder::read_kernel(entry, numbers, count);
}

KW_RECORDED void kw_record_alias(const char* name, const char* entry) {
  state().aliases[name] = entry;
}

KW_RECORDED void kw_record_attribute_is(int which, int64_t value) {
  state().attributes[which] = value;
}

KW_RECORDED void kw_record_begin(uint64_t base, uint64_t memory_bytes) {
  kw::recorder::world().ordinary = base == 0;
  state().next = base != 0 ? base : kw::recorder::ordinary_place();
  state().memory_bytes = memory_bytes;
}

KW_RECORDED void kw_record_line(const char* line, uint64_t noise) {
  state().noise = noise;
  state().events = 0;
  state().last_error = kw::recorder::kSuccess;
  if (const char* const what = std::exchange(kw::recorder::world().looked, nullptr))
    kw::recorder::write_line(std::string("refuse it looks at ") + what +
                             ", which are not the same everywhere");
  kw::recorder::write_line(line);
}

KW_RECORDED void kw_record_refuse(const char* why) { kw::recorder::refuse(why); }

KW_RECORDED void kw_record_at_end(void (*call)()) { state().at_end = call; }

KW_RECORDED size_t kw_record_take(char* to, size_t room) {
  std::string& text = state().text;
  const size_t count = text.size() < room ? text.size() : room;
  std::memcpy(to, text.data(), count);
  text.erase(0, count);
  return count;
}

KW_RECORDED int64_t kw_record_attribute(int which) {
  if (const int64_t varied = kw::recorder::varied_attribute(which); varied >= 0) return varied;
  const auto at = state().attributes.find(which);
  return at == state().attributes.end() ? 0 : at->second;
}

KW_RECORDED int64_t kw_record_function(const void* function, int what) {
  const auto at = state().functions.find(function);
  if (at == state().functions.end()) return -1;
  const kw::recorder::RecordedKernel& kernel = *at->second;
  const int64_t values[] = {kernel.registers, kernel.static_shared, kernel.local_bytes,
                            kernel.max_threads};
  return what >= 0 && what < 4 ? values[what] : -1;
}

KW_RECORDED int kw_record_pointer_kind(const void* pointer) {
  if (kw::recorder::on_device(pointer)) return 2;
  return state().host.count(kw::recorder::as_number(pointer)) > 0 ? 1 : 0;
}
