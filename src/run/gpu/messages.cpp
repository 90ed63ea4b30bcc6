// The engine and its GPU worker exchange nested structures, and the worker may be corrupted by a
// candidate. So each field is written by hand with Writer and read by Reader, which rejects bad
// lengths and enum values. A generated format such as protobuf would add a dependency and a build
// step.
// The cost: every field appears twice and the two must agree. put() and get…() stand together, in
// the same order of fields. kProtocol rises with every change, so that a worker of another build is
// refused.
#include "gpu/messages.h"

#include "gpu/wire.h"

namespace kw::gpu {
namespace {

using kernel::Dim3;
using ports::RunOutcome;
using ports::TimeOutcome;
using record::Finding;

// put() and get…() of a type stand together, with the same order of fields.

void put(ByteWriter& w, const Dim3& d) {
  w.number(d.x);
  w.number(d.y);
  w.number(d.z);
}
Dim3 get_dim(Reader& r) {
  Dim3 d;
  d.x = r.number<uint32_t>();
  d.y = r.number<uint32_t>();
  d.z = r.number<uint32_t>();
  return d;
}

void put(ByteWriter& w, const kernel::Buffer& b) {
  w.text(b.name);
  w.number(b.role);
  w.number(b.dtype);
  w.numbers(b.shape);
  w.numbers(b.strides);
  w.number(b.bytes);
  w.number(b.align);
  w.number(b.fill);
  w.number<uint8_t>(b.present);
}
kernel::Buffer get_buffer(Reader& r) {
  kernel::Buffer b;
  b.name = r.text();
  b.role = r.choice(kernel::Role::Scratch);
  b.dtype = r.choice(tensor::DType::Bool);
  b.shape = r.numbers<int64_t>();
  b.strides = r.numbers<int64_t>();
  b.bytes = r.number<int64_t>();
  b.align = r.number<int64_t>();
  b.fill = r.choice(kernel::Fill::ZeroKept);
  b.present = r.flag();
  return b;
}

void put(ByteWriter& w, const kernel::Launch& l) {
  w.text(l.kernel);
  w.text(l.entry);
  put(w, l.grid);
  put(w, l.block);
  put(w, l.cluster);
  w.number(l.shared_bytes);
  w.number<uint8_t>(l.cooperative);
  w.number<uint8_t>(l.pdl);
  w.number<int32_t>(l.line);
  w.list(l.params, [&](const kernel::Param& p) {
    w.number<int32_t>(p.buffer);
    w.numbers(p.bytes);
    w.text(p.name);
    w.list(p.patches, [&](const kernel::Patch& patch) {
      w.number<uint32_t>(patch.at);
      w.number<int32_t>(patch.buffer);
      w.number<int64_t>(patch.add);
    });
  });
}
kernel::Launch get_launch(Reader& r) {
  kernel::Launch l;
  l.kernel = r.text();
  l.entry = r.text();
  l.grid = get_dim(r);
  l.block = get_dim(r);
  l.cluster = get_dim(r);
  l.shared_bytes = r.number<int64_t>();
  l.cooperative = r.flag();
  l.pdl = r.flag();
  l.line = r.number<int32_t>();
  l.params = r.list([&] {
    kernel::Param p;
    p.buffer = r.number<int32_t>();
    p.bytes = r.numbers<uint8_t>();
    p.name = r.text();
    p.patches = r.list([&] {
      kernel::Patch patch;
      patch.at = r.number<uint32_t>();
      patch.buffer = r.number<int32_t>();
      patch.add = r.number<int64_t>();
      return patch;
    });
    return p;
  });
  return l;
}

void put(ByteWriter& w, const std::vector<Range>& ranges) {
  w.list(ranges, [&](const Range& range) {
    w.number(range.offset);
    w.number(range.bytes);
  });
}
std::vector<Range> get_ranges(Reader& r) {
  return r.list([&] {
    Range range;
    range.offset = r.number<uint64_t>();
    range.bytes = r.number<uint64_t>();
    return range;
  });
}

void put(ByteWriter& w, const std::vector<InputRef>& refs) {
  w.list(refs, [&](const InputRef& ref) {
    w.number(ref.key);
    w.number(ref.range.offset);
    w.number(ref.range.bytes);
  });
}
std::vector<InputRef> get_refs(Reader& r) {
  return r.list([&] {
    InputRef ref;
    ref.key = r.number<InputKey>();
    ref.range.offset = r.number<uint64_t>();
    ref.range.bytes = r.number<uint64_t>();
    return ref;
  });
}

void put(ByteWriter& w, const ProgramMessage& m) {
  w.number(m.image);
  w.text(m.program.module_name);
  w.list(m.program.buffers, [&](const kernel::Buffer& b) { put(w, b); });
  w.list(m.program.launches, [&](const kernel::Launch& l) { put(w, l); });
  w.list(m.pool, [&](const std::vector<InputRef>& refs) { put(w, refs); });
  w.list(m.outputs, [&](const std::vector<Range>& ranges) { put(w, ranges); });
}
ProgramMessage get_program(Reader& r) {
  ProgramMessage m;
  m.image = r.number<ports::ImageId>();
  m.program.module_name = r.text();
  m.program.buffers = r.list([&] { return get_buffer(r); });
  m.program.launches = r.list([&] { return get_launch(r); });
  m.pool = r.list([&] { return get_refs(r); });
  m.outputs = r.list([&] { return get_ranges(r); });
  return m;
}

// Only the run options that a real GPU uses are sent.
void put(ByteWriter& w, const ports::RunOptions& o) {
  w.number(o.timeout_seconds);
  w.number<int32_t>(o.misalign_bytes);
  w.number<uint8_t>(o.copy_outputs);
  w.number(o.hash_seed);
}
ports::RunOptions get_run_options(Reader& r) {
  ports::RunOptions o;
  o.timeout_seconds = r.number<double>();
  o.misalign_bytes = r.number<int32_t>();
  o.copy_outputs = r.flag();
  o.hash_seed = r.number<uint64_t>();
  return o;
}

void put(ByteWriter& w, const ports::TimeProtocol& p) {
  w.number<int32_t>(p.warmup_calls);
  w.number(p.warmup_seconds);
  w.number<int32_t>(p.max_samples);
  w.number(p.max_seconds);
  w.number<uint8_t>(p.cold_cache);
  w.number<int32_t>(p.graph_copies);
  w.number(p.graph_below_us);
  w.number(p.timeout_seconds);
  w.number<uint8_t>(p.audit);
  w.number<int32_t>(p.copies_out);
  w.number(p.seed);
  w.number(p.hash_seed);
  w.number<uint8_t>(p.span);
}
ports::TimeProtocol get_protocol(Reader& r) {
  ports::TimeProtocol p;
  p.warmup_calls = r.number<int32_t>();
  p.warmup_seconds = r.number<double>();
  p.max_samples = r.number<int32_t>();
  p.max_seconds = r.number<double>();
  p.cold_cache = r.flag();
  p.graph_copies = r.number<int32_t>();
  p.graph_below_us = r.number<double>();
  p.timeout_seconds = r.number<double>();
  p.audit = r.flag();
  p.copies_out = r.number<int32_t>();
  p.seed = r.number<uint64_t>();
  p.hash_seed = r.number<uint64_t>();
  p.span = r.flag();
  return p;
}

void put(ByteWriter& w, const ports::DeviceInfo& i) {
  w.text(i.name);
  w.text(i.target);
  w.number<int32_t>(i.sms);
  w.number(i.l2_bytes);
  w.number(i.shared_per_block_optin);
  w.number(i.memory_bytes);
  w.number<int32_t>(i.sm_clock_mhz);
  w.number<int32_t>(i.memory_clock_mhz);
  w.number(i.dram_gbps);
  w.text(i.uuid);
  w.text(i.driver);
  w.number(i.image);
}
ports::DeviceInfo get_info(Reader& r) {
  ports::DeviceInfo i;
  i.name = r.text();
  i.target = r.text();
  i.sms = r.number<int32_t>();
  i.l2_bytes = r.number<int64_t>();
  i.shared_per_block_optin = r.number<int64_t>();
  i.memory_bytes = r.number<int64_t>();
  i.sm_clock_mhz = r.number<int32_t>();
  i.memory_clock_mhz = r.number<int32_t>();
  i.dram_gbps = r.number<double>();
  i.uuid = r.text();
  i.driver = r.text();
  i.image = r.choice(ports::ImageKind::Cubin);
  return i;
}

// Only what a real GPU can know of a finding is sent: no threads, no second place.
void put(ByteWriter& w, const Finding& f) {
  w.number(f.kind);
  w.number(f.certainty);
  w.text(f.message);
  w.text(f.kernel);
  w.number<int32_t>(f.launch);
  w.text(f.at.file);
  w.number<int32_t>(f.at.line);
  w.text(f.buffer);
  w.number(f.element);
  w.number(f.count);
}
Finding get_finding(Reader& r) {
  Finding f;
  f.kind = r.choice(record::FindingKind::StateAcrossCalls);
  f.certainty = r.choice(record::Certainty::Warning);
  f.message = r.text();
  f.kernel = r.text();
  f.launch = r.number<int32_t>();
  f.at.file = r.text();
  f.at.line = r.number<int32_t>();
  f.buffer = r.text();
  f.element = r.number<int64_t>();
  f.count = r.number<int64_t>();
  return f;
}

void put(ByteWriter& w, const RunOutcome& o) {
  w.number(o.status);
  w.text(o.message);
  w.numbers(o.hashes);
  w.list(o.findings, [&](const Finding& f) { put(w, f); });
  w.text(o.printed);
  w.number(o.seconds);
}
RunOutcome get_run(Reader& r) {
  RunOutcome o;
  o.status = r.choice(ports::RunStatus::Refused);
  o.message = r.text();
  o.hashes = r.numbers<uint64_t>();
  o.findings = r.list([&] { return get_finding(r); });
  o.printed = r.text();
  o.seconds = r.number<double>();
  return o;
}

void put(ByteWriter& w, const record::TimingSamples& s) {
  w.text(s.method);
  w.numbers(s.microseconds);
  w.number<int32_t>(s.calls_per_sample);
  w.number<int32_t>(s.buffer_sets);
  w.number(s.overhead_us);
  w.number(s.host_us);
  w.number(s.span_us);
  w.number(s.discarded);
  w.number<uint8_t>(s.clocks_low);
  w.number<int32_t>(s.sm_clock_mhz);
  w.number<int32_t>(s.temperature_c);
  w.number<int32_t>(s.power_w);
}
record::TimingSamples get_samples(Reader& r) {
  record::TimingSamples s;
  s.method = r.text();
  s.microseconds = r.numbers<double>();
  s.calls_per_sample = r.number<int32_t>();
  s.buffer_sets = r.number<int32_t>();
  s.overhead_us = r.number<double>();
  s.host_us = r.number<double>();
  s.span_us = r.number<double>();
  s.discarded = r.number<int64_t>();
  s.clocks_low = r.flag();
  s.sm_clock_mhz = r.number<int32_t>();
  s.temperature_c = r.number<int32_t>();
  s.power_w = r.number<int32_t>();
  return s;
}

void put(ByteWriter& w, const ports::TimedResult& t) {
  put(w, t.samples);
  w.list(t.audits, [&](const record::CallAudit& a) {
    w.number<int32_t>(a.sample);
    w.number<int32_t>(a.entry);
    w.numbers(a.hashes);
  });
  w.list(t.copied, [&](const ports::CopiedCall& c) {
    w.number<int32_t>(c.sample);
    w.number<int32_t>(c.entry);
  });
  w.list(t.findings, [&](const Finding& f) { put(w, f); });
}
ports::TimedResult get_result(Reader& r) {
  ports::TimedResult t;
  t.samples = get_samples(r);
  t.audits = r.list([&] {
    record::CallAudit a;
    a.sample = r.number<int32_t>();
    a.entry = r.number<int32_t>();
    a.hashes = r.numbers<uint64_t>();
    return a;
  });
  t.copied = r.list([&] {
    ports::CopiedCall c;
    c.sample = r.number<int32_t>();
    c.entry = r.number<int32_t>();
    return c;
  });
  t.findings = r.list([&] { return get_finding(r); });
  return t;
}

void put(ByteWriter& w, const TimeOutcome& o) {
  w.number(o.status);
  w.text(o.message);
  w.list(o.results, [&](const ports::TimedResult& t) { put(w, t); });
}
TimeOutcome get_time(Reader& r) {
  TimeOutcome o;
  o.status = r.choice(ports::RunStatus::Refused);
  o.message = r.text();
  o.results = r.list([&] { return get_result(r); });
  return o;
}

}  // namespace

std::string encode(const Request& request) {
  ByteWriter w;
  w.number(request.verb);
  w.number(request.protocol);
  w.number(request.ordinal);
  w.number(request.arena_bytes);
  w.number(request.image);
  w.number(request.kind);
  w.text(request.bytes);
  w.numbers(request.drops);
  w.list(request.uploads, [&](const Upload& u) {
    w.number(u.key);
    w.number(u.range.offset);
    w.number(u.range.bytes);
  });
  w.list(request.programs, [&](const ProgramMessage& m) { put(w, m); });
  put(w, request.options);
  w.number(request.seed);
  put(w, request.protocol_options);
  return w.take();
}

Result<Request> decode_request(std::string_view frame) {
  Reader r(frame);
  Request request;
  request.verb = r.choice(Verb::Calibrate);
  request.protocol = r.number<uint32_t>();
  request.ordinal = r.number<int32_t>();
  request.arena_bytes = r.number<uint64_t>();
  request.image = r.number<ports::ImageId>();
  request.kind = r.choice(ports::ImageKind::Cubin);
  request.bytes = r.text();
  request.drops = r.numbers<InputKey>();
  request.uploads = r.list([&] {
    Upload u;
    u.key = r.number<InputKey>();
    u.range.offset = r.number<uint64_t>();
    u.range.bytes = r.number<uint64_t>();
    return u;
  });
  request.programs = r.list([&] { return get_program(r); });
  request.options = get_run_options(r);
  request.seed = r.number<uint64_t>();
  request.protocol_options = get_protocol(r);
  if (!r.finished()) return Error{Blame::Bug, "a request to the GPU worker could not be read"};
  return request;
}

std::string encode(const Reply& reply) {
  ByteWriter w;
  w.text(reply.error);
  w.number<uint8_t>(static_cast<uint8_t>(reply.blame));
  w.number<uint8_t>(reply.context_lost);
  put(w, reply.info);
  put(w, reply.run);
  put(w, reply.time);
  w.list(reply.slots, [&](const std::vector<int32_t>& slots) { w.numbers(slots); });
  w.text(reply.calibration);
  w.numbers(reply.lost);
  return w.take();
}

Result<Reply> decode_reply(std::string_view frame) {
  Reader r(frame);
  Reply reply;
  reply.error = r.text();
  const auto blame = r.number<uint8_t>();
  reply.blame = blame == 0 ? Blame::Input : blame == 1 ? Blame::Environment : Blame::Bug;
  reply.context_lost = r.flag();
  reply.info = get_info(r);
  reply.run = get_run(r);
  reply.time = get_time(r);
  reply.slots = r.list([&] { return r.numbers<int32_t>(); });
  reply.calibration = r.text();
  reply.lost = r.numbers<InputKey>();
  if (!r.finished()) return Error{Blame::Bug, "a reply of the GPU worker could not be read"};
  return reply;
}

}  // namespace kw::gpu
