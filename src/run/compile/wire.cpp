// Requests and outcomes must cross a process boundary and be stored in cache entries. One list of
// fields per type serves both directions, so reader and writer always agree. Numbers take 8 bytes
// and lengths precede content. JSON would be readable, but it would escape every cubin; protobuf
// would be one more dependency.
// The cost: no versions. A reader of another build must refuse the bytes, so the cache key has a
// format number. Lengths are checked before memory is allocated.
#include "compile/wire.h"

#include "core/bytes.h"

namespace kw::compile {
namespace {

/// The format of these bytes (core/bytes.h).
struct Wire {
  static constexpr bool kWide = true;
};

void fields(auto& v, ports::KernelResources& r) {
  v(r.registers, r.static_shared, r.local_bytes, r.spill_store_bytes, r.spill_load_bytes,
    r.stack_bytes, r.constant_bytes, r.max_threads);
}
void fields(auto& v, ports::CompiledKernel& r) {
  v(r.expression, r.entry, r.signature, r.resources);
}
void fields(auto& v, ports::CompileMessage& r) { v(r.severity, r.line, r.column, r.text); }
void fields(auto& v, ports::Compiled& r) {
  v(r.kind, r.image, r.target, r.compiler, r.kernels, r.messages, r.seconds, r.from_cache);
}
void fields(auto& v, ports::CompileFailed& r) {
  v(r.compiler, r.messages, r.log, r.timed_out, r.crashed);
}
void fields(auto& v, ports::CompileOutcome& r) { v(r.compiled, r.failed); }
void fields(auto& v, ports::CompileRequest& r) {
  v(r.source, r.file_name, r.target, r.image, r.defines, r.kernels, r.include_folders,
    r.timeout_seconds);
}
void fields(auto& v, WorkerSetup& r) {
  v(r.library, r.builtins, r.version, r.header_folders, r.scratch_folder, r.precompile,
    r.memory_bytes);
}
void fields(auto& v, WorkerHello& r) { v(r.error); }
void fields(auto& v, WorkerReply& r) { v(r.outcome, r.error, r.wants_rest); }

}  // namespace

std::string encode(const WorkerSetup& value) { return record_bytes<Wire>(value); }
std::string encode(const WorkerHello& value) { return record_bytes<Wire>(value); }
std::string encode(const WorkerReply& value) { return record_bytes<Wire>(value); }
std::string encode(const ports::CompileRequest& value) { return record_bytes<Wire>(value); }
std::string encode(const ports::CompileOutcome& value) { return record_bytes<Wire>(value); }
bool decode(std::string_view bytes, WorkerSetup* value) { return read_bytes<Wire>(bytes, *value); }
bool decode(std::string_view bytes, WorkerHello* value) { return read_bytes<Wire>(bytes, *value); }
bool decode(std::string_view bytes, WorkerReply* value) { return read_bytes<Wire>(bytes, *value); }
bool decode(std::string_view bytes, ports::CompileRequest* value) {
  return read_bytes<Wire>(bytes, *value);
}
bool decode(std::string_view bytes, ports::CompileOutcome* value) {
  return read_bytes<Wire>(bytes, *value);
}

}  // namespace kw::compile
