// Kernelwright and its GPU worker exchange nested structures, and the worker may be corrupted by a
// candidate. So one list of members per type serves both directions (core/bytes.h), and the reader
// rejects bad lengths and enum values. A generated format such as protobuf would add a dependency
// and a build step.
// The cost: the order of members is the format. kProtocol rises with every change, so that a worker
// of another build is refused.
#include "gpu/messages.h"

#include "core/bytes.h"

namespace kw::gpu {
namespace {

/// The format of these bytes.
struct Frame {
  static constexpr bool kWide = false;
};

void fields(auto& v, kernel::Dim3& d) { v(d.x, d.y, d.z); }

void fields(auto& v, kernel::Buffer& b) {
  v(b.name, up_to(b.role, kernel::Role::Scratch), up_to(b.dtype, tensor::DType::Bool), b.shape,
    b.strides, b.bytes, b.align, up_to(b.fill, kernel::Fill::ZeroKept), b.present);
}

void fields(auto& v, kernel::Patch& p) { v(p.at, p.buffer, p.add); }

void fields(auto& v, kernel::Param& p) { v(p.buffer, p.bytes, p.name, p.patches); }

void fields(auto& v, kernel::Launch& l) {
  v(l.kernel, l.entry, l.grid, l.block, l.cluster, l.shared_bytes, l.cooperative, l.pdl, l.line,
    l.params);
}

void fields(auto& v, Range& r) { v(r.offset, r.bytes); }

void fields(auto& v, InputRef& r) { v(r.key, r.range); }

void fields(auto& v, Upload& u) { v(u.key, u.range); }

void fields(auto& v, ProgramMessage& m) {
  v(m.image, m.program.module_name, m.program.buffers, m.program.launches, m.pool, m.outputs);
}

// Only the run options that a real GPU uses are sent.
void fields(auto& v, ports::RunOptions& o) {
  v(o.timeout_seconds, o.misalign_bytes, o.copy_outputs, o.hash_seed);
}

void fields(auto& v, ports::TimeProtocol& p) {
  v(p.warmup_calls, p.warmup_seconds, p.max_samples, p.max_seconds, p.cold_cache, p.graph_copies,
    p.graph_below_us, p.timeout_seconds, p.audit, p.copies_out, p.seed, p.hash_seed, p.span);
}

void fields(auto& v, ports::DeviceInfo& i) {
  v(i.name, i.target, i.sms, i.l2_bytes, i.shared_per_block_optin, i.memory_bytes, i.sm_clock_mhz,
    i.memory_clock_mhz, i.dram_gbps, i.uuid, i.driver, up_to(i.image, ports::ImageKind::Cubin));
}

// Only what a real GPU can know of a finding is sent: no threads, no second place.
void fields(auto& v, record::Finding& f) {
  v(up_to(f.kind, record::FindingKind::StateAcrossCalls),
    up_to(f.certainty, record::Certainty::Warning), f.message, f.kernel, f.launch, f.at.file,
    f.at.line, f.buffer, f.element, f.count);
}

void fields(auto& v, ports::RunOutcome& o) {
  v(up_to(o.status, ports::RunStatus::Refused), o.message, o.hashes, o.findings, o.printed,
    o.seconds);
}

void fields(auto& v, record::TimingSamples& s) {
  v(s.method, s.microseconds, s.calls_per_sample, s.buffer_sets, s.overhead_us, s.host_us,
    s.span_us, s.discarded, s.clocks_low, s.sm_clock_mhz, s.temperature_c, s.power_w);
}

void fields(auto& v, record::CallAudit& a) { v(a.sample, a.entry, a.hashes); }

void fields(auto& v, ports::CopiedCall& c) { v(c.sample, c.entry); }

void fields(auto& v, ports::TimedResult& t) { v(t.samples, t.audits, t.copied, t.findings); }

void fields(auto& v, ports::TimeOutcome& o) {
  v(up_to(o.status, ports::RunStatus::Refused), o.message, o.results);
}

void fields(auto& v, Request& r) {
  v(up_to(r.verb, Verb::Calibrate), r.protocol, r.ordinal, r.arena_bytes, r.image,
    up_to(r.kind, ports::ImageKind::Cubin), r.bytes, r.drops, r.uploads, r.programs, r.options,
    r.seed, r.protocol_options);
}

void fields(auto& v, Reply& r) {
  v(r.error, up_to(r.blame, Blame::Bug), r.context_lost, r.info, r.run, r.time, r.slots,
    r.calibration, r.lost);
}

template <class Message>
Result<Message> decoded(std::string_view frame, const char* refusal) {
  Message message;
  if (!read_bytes<Frame>(frame, message)) return Error{Blame::Bug, refusal};
  return message;
}

}  // namespace

std::string encode(const Request& request) { return record_bytes<Frame>(request); }
std::string encode(const Reply& reply) { return record_bytes<Frame>(reply); }

Result<Request> decode_request(std::string_view frame) {
  return decoded<Request>(frame, "the GPU worker received an invalid request");
}

Result<Reply> decode_reply(std::string_view frame) {
  return decoded<Reply>(frame, "the GPU worker sent an invalid reply");
}

}  // namespace kw::gpu
