// Requests and outcomes must cross a process boundary and be stored in cache entries. One list of
// fields per type serves both directions, so reader and writer always agree. Numbers take 8 bytes
// and lengths precede content. JSON would be readable, but it would escape every cubin; protobuf
// would be one more dependency.
// The cost: no versions. A reader of another build must refuse the bytes, so the cache key has a
// format number. Lengths are checked before memory is allocated.
#include "compile/wire.h"

#include <bit>
#include <cstring>
#include <optional>
#include <type_traits>

namespace kw::compile {
namespace {

template <typename Archive>
void fields(Archive& a, ports::KernelResources& v) {
  a(v.registers, v.static_shared, v.local_bytes, v.spill_store_bytes, v.spill_load_bytes,
    v.stack_bytes, v.constant_bytes, v.max_threads);
}
template <typename Archive>
void fields(Archive& a, ports::CompiledKernel& v) {
  a(v.expression, v.entry, v.signature, v.resources);
}
template <typename Archive>
void fields(Archive& a, ports::CompileMessage& v) {
  a(v.severity, v.line, v.column, v.text);
}
template <typename Archive>
void fields(Archive& a, ports::Compiled& v) {
  a(v.kind, v.image, v.target, v.compiler, v.kernels, v.messages, v.seconds, v.from_cache);
}
template <typename Archive>
void fields(Archive& a, ports::CompileFailed& v) {
  a(v.compiler, v.messages, v.log, v.timed_out, v.crashed);
}
template <typename Archive>
void fields(Archive& a, ports::CompileOutcome& v) {
  a(v.compiled, v.failed);
}
template <typename Archive>
void fields(Archive& a, ports::CompileRequest& v) {
  a(v.source, v.file_name, v.target, v.image, v.defines, v.kernels, v.include_folders,
    v.timeout_seconds);
}
template <typename Archive, typename A, typename B>
void fields(Archive& a, std::pair<A, B>& v) {
  a(v.first, v.second);
}
template <typename Archive>
void fields(Archive& a, WorkerSetup& v) {
  a(v.library, v.builtins, v.version, v.header_folders, v.readable, v.scratch_folder, v.precompile,
    v.memory_bytes);
}
template <typename Archive>
void fields(Archive& a, WorkerHello& v) {
  a(v.error, v.confined, v.unconfined_reason);
}
template <typename Archive>
void fields(Archive& a, WorkerReply& v) {
  a(v.outcome, v.error, v.wants_rest);
}

class Writer {
 public:
  template <typename... T>
  void operator()(T&... values) {
    (put(values), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <typename T>
  void put(T& value) {
    if constexpr (std::is_same_v<T, double>) {
      number(std::bit_cast<uint64_t>(value));
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      number(static_cast<uint64_t>(value));
    } else {
      fields(*this, value);
    }
  }
  void put(std::string& value) {
    number(value.size());
    bytes_ += value;
  }
  template <typename T>
  void put(std::vector<T>& values) {
    number(values.size());
    for (T& value : values) put(value);
  }
  template <typename T>
  void put(std::optional<T>& value) {
    number(value ? 1 : 0);
    if (value) put(*value);
  }
  void number(uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }

  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <typename... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  bool finished() const { return ok_ && bytes_.empty(); }

 private:
  template <typename T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, double>) {
      value = std::bit_cast<double>(number());
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      value = static_cast<T>(number());
    } else {
      fields(*this, value);
    }
  }
  void get(std::string& value) {
    const uint64_t size = number();
    if (size > bytes_.size()) return fail();
    value.assign(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
  }
  template <typename T>
  void get(std::vector<T>& values) {
    const uint64_t count = number();
    // Every element takes at least eight bytes, so a wrong count cannot cause a large allocation.
    if (count > bytes_.size() / 8) return fail();
    values.resize(count);
    for (T& value : values) get(value);
  }
  template <typename T>
  void get(std::optional<T>& value) {
    value.reset();
    if (number() != 0 && ok_) get(value.emplace());
  }
  uint64_t number() {
    if (bytes_.size() < 8) {
      fail();
      return 0;
    }
    uint64_t value = 0;
    for (int i = 7; i >= 0; --i)
      value = value << 8 | static_cast<uint8_t>(bytes_[static_cast<size_t>(i)]);
    bytes_.remove_prefix(8);
    return value;
  }
  void fail() {
    ok_ = false;
    bytes_ = {};
  }

  std::string_view bytes_;
  bool ok_ = true;
};

template <typename T>
std::string write(T value) {
  Writer writer;
  writer(value);
  return writer.take();
}

template <typename T>
bool read(std::string_view bytes, T* value) {
  Reader reader(bytes);
  reader(*value);
  return reader.finished();
}

}  // namespace

std::string encode(const WorkerSetup& value) { return write(value); }
std::string encode(const WorkerHello& value) { return write(value); }
std::string encode(const WorkerReply& value) { return write(value); }
std::string encode(const ports::CompileRequest& value) { return write(value); }
std::string encode(const ports::CompileOutcome& value) { return write(value); }
bool decode(std::string_view bytes, WorkerSetup* value) { return read(bytes, value); }
bool decode(std::string_view bytes, WorkerHello* value) { return read(bytes, value); }
bool decode(std::string_view bytes, WorkerReply* value) { return read(bytes, value); }
bool decode(std::string_view bytes, ports::CompileRequest* value) { return read(bytes, value); }
bool decode(std::string_view bytes, ports::CompileOutcome* value) { return read(bytes, value); }

}  // namespace kw::compile
