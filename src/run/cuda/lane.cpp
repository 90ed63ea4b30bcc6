// One subject on the clock. A long call is timed between two events, behind a gate that hides
// launch latency. A call shorter than graph_below_us would be lost in the cost of the events, so
// there one sample is a CUDA graph of many calls. With a cold cache the calls use several buffer
// sets, together more than twice the L2 if memory allows. So no call finds its inputs in the cache.
// Repeating one call on one set would be simpler, but would measure a warm cache. The cost is
// memory for the copies, and a second method: launches that cannot be captured fall back to events.
// Before sampling, calls are repeated until two windows of 6 agree within 1 %.
#include "cuda/lane.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "ports/audit_hash.h"

namespace kw::cuda {
namespace {

using Clock = std::chrono::steady_clock;

// After this number of failures to queue a call behind the gate, the gate is no longer used.
constexpr int kMaxGateFailures = 3;
constexpr size_t kMaxCopies = 100;
// An idle GPU lowers its clock and needs some milliseconds of work to raise it.
constexpr double kLeastWarmSeconds = 0.02;
constexpr int kWarmWindow = 6;
constexpr double kSteady = 0.01;
constexpr int kHostCalls = 15;
constexpr double kHostSeconds = 0.05;
constexpr int kSpanCalls = 15;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

uint64_t bytes_of(const std::vector<DeviceSpan>& spans) {
  uint64_t total = 0;
  for (const DeviceSpan& span : spans) total += span.bytes;
  return total;
}

double middle(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

Lane::Lane(const Context& context, UtilityKernels& utilities, Subject& subject,
           const ports::TimeProtocol& protocol, uint64_t seed, Deadline deadline)
    : context_(context),
      utilities_(utilities),
      subject_(subject),
      protocol_(protocol),
      seed_(seed),
      deadline_(deadline) {}

Lane::~Lane() {
  if (graph_ != nullptr && !context_.lost()) context_.api().graph_exec_destroy(graph_);
}

uint64_t Lane::draw(uint64_t below) { return ports::audit_mix(++draws_, 0, seed_) % below; }

MaybeFault Lane::prepare(double overhead_us) {
  overhead_us_ = overhead_us;
  events_ = std::make_unique<EventPair>(KW_TRY(EventPair::create(context_)));
  KW_TRY(subject_.make_copies(1));
  KW_TRY(list_jobs(1));
  result_.samples.method = "events";
  KW_TRY(warm_up());
  KW_TRY(measure_host());
  if (shortest_us_ >= 0 && shortest_us_ < protocol_.graph_below_us) KW_TRY(build_graph());
  result_.samples.calls_per_sample = calls_;
  result_.samples.buffer_sets = static_cast<int>(copies_);
  result_.samples.overhead_us = overhead_us_ / calls_;
  return Done{};
}

MaybeFault Lane::list_jobs(size_t copies) {
  copies_ = copies;
  const auto& pool = subject_.pool();
  std::vector<Job> poison;
  std::vector<Job> hashes;
  for (size_t c = 0; c < copies; ++c) {
    const CallBuffers& buffers = subject_.buffers(c);
    poison.insert(poison.end(), buffers.poison.begin(), buffers.poison.end());
    for (const DeviceSpan& span : buffers.outputs) hashes.push_back({span.address, 0, span.bytes});
  }
  refills_.clear();
  for (size_t rotation = 0; rotation < pool.size(); ++rotation) {
    std::vector<Job> jobs;
    for (size_t c = 0; c < copies; ++c) {
      const std::vector<DeviceSpan>& to = subject_.buffers(c).inputs;
      const std::vector<DeviceSpan>& from = pool[(c + rotation) % pool.size()];
      for (size_t i = 0; i < to.size(); ++i)
        jobs.push_back({to[i].address, from[i].address, to[i].bytes});
    }
    refills_.push_back(KW_TRY(JobList::create(context_, jobs)));
  }
  poison_ = KW_TRY(JobList::create(context_, poison));
  hashes_ = KW_TRY(JobList::create(context_, hashes));
  if (hashes_.size() > 0) {
    hash_memory_ =
        KW_TRY(DeviceMemory::allocate(context_, hashes_.size() * 8, "hashes of outputs"));
  }
  return Done{};
}

MaybeFault Lane::warm_up() {
  const auto started = Clock::now();
  double before = -1;
  int calls = 0;
  for (;;) {
    double window = -1;
    for (int i = 0; i < kWarmWindow; ++i, ++calls) {
      const double us = KW_TRY(measure());
      if (us >= 0 && (window < 0 || us < window)) window = us;
      if (us >= 0 && (shortest_us_ < 0 || us < shortest_us_)) shortest_us_ = us;
      if (calls + 1 >= std::max(2, protocol_.warmup_calls) &&
          seconds_since(started) > protocol_.warmup_seconds)
        return Done{};
    }
    const bool steady = before > 0 && window > 0 && std::abs(window / before - 1) <= kSteady;
    if (steady && seconds_since(started) >= kLeastWarmSeconds && calls >= protocol_.warmup_calls)
      return Done{};
    before = window;
  }
}

MaybeFault Lane::measure_host() {
  std::vector<double> times;
  const auto all = Clock::now();
  while (times.size() < kHostCalls && (times.empty() || seconds_since(all) < kHostSeconds)) {
    KW_TRY(refill());
    KW_TRY(context_.wait(deadline_, "refilling the inputs of " + name()));
    const auto start = Clock::now();
    KW_TRY(subject_.enqueue(0));
    KW_TRY(context_.wait(deadline_, "running " + name()));
    times.push_back(seconds_since(start) * 1e6);
  }
  result_.samples.host_us = middle(std::move(times));
  return Done{};
}

MaybeFault Lane::measure_span(Cupti& cupti) {
  std::vector<double> spans;
  for (int i = 0; i < kSpanCalls; ++i) {
    KW_TRY(refill());
    if (protocol_.cold_cache) KW_TRY(utilities_.enqueue_sweep());
    KW_TRY(utilities_.enqueue_gate());
    // Only work that is queued from here on gets timestamps, not our own kernels.
    if (!cupti.begin()) return Done{};
    KW_TRY(subject_.enqueue(0));
    utilities_.open_gate();
    KW_TRY(context_.wait(deadline_, "running " + name()));
    if (const auto us = cupti.end()) spans.push_back(*us);
  }
  if (!spans.empty()) result_.samples.span_us = middle(std::move(spans));
  return Done{};
}

MaybeFault Lane::build_graph() {
  size_t calls = static_cast<size_t>(std::max(1, protocol_.graph_copies));
  const CallBuffers& one = subject_.buffers(0);
  const bool in_place = one.in_place();
  // With cold_cache off, the caller needs warm caches: all calls share one set.
  if (protocol_.cold_cache || in_place) {
    const uint64_t touched = std::max<uint64_t>(1, bytes_of(one.inputs) + bytes_of(one.outputs));
    const auto twice = 2 * static_cast<uint64_t>(context_.info().l2_bytes);
    const auto exceeding = std::min<uint64_t>(twice / touched + 1, kMaxCopies);
    calls = std::max(calls, static_cast<size_t>(exceeding));
    const size_t copies = std::min(calls, KW_TRY(subject_.make_copies(calls)));
    if (in_place) calls = copies;
    KW_TRY(list_jobs(copies));
  }
  CuGraph graph = nullptr;
  KW_TRY(context_.check(context_.api().graph_create(&graph, 0), "making a graph"));
  MaybeFault chained = chain_calls(calls, graph);
  CuResult code = kSuccess;
  if (chained) code = context_.api().graph_instantiate(&graph_, graph, 0);
  context_.api().graph_destroy(graph);
  if (!chained && chained.error().context_lost) return chained;
  if (!chained || code != kSuccess) {
    // Some launches cannot be captured. Events are less exact for short calls but always work.
    graph_ = nullptr;
    return list_jobs(1);
  }
  calls_ = static_cast<int>(calls);
  result_.samples.method = "graph";
  KW_TRY(context_.check(context_.api().graph_upload(graph_, context_.stream()),
                        "uploading the graph"));
  KW_TRY(measure());
  return Done{};
}

MaybeFault Lane::chain_calls(size_t calls, CuGraph graph) {
  CuGraphNode last = nullptr;
  for (size_t i = 0; i < calls; ++i) {
    CuGraph child = KW_TRY(subject_.graph(i % copies_));
    CuGraphNode node = nullptr;
    KW_TRY(context_.check(
        context_.api().graph_add_child(&node, graph, &last, last == nullptr ? 0 : 1, child),
        "chaining calls of " + name()));
    last = node;
  }
  return Done{};
}

MaybeFault Lane::refill() {
  rotation_ = draw(refills_.size());
  KW_TRY(utilities_.jobs().copy(refills_[rotation_]));
  return utilities_.jobs().fill(poison_);
}

FaultOr<double> Lane::measure() {
  KW_TRY(refill());
  if (protocol_.cold_cache) KW_TRY(utilities_.enqueue_sweep());
  const bool gated = gave_up_ < kMaxGateFailures && (graph_ != nullptr || subject_.fits_queue());
  if (gated) KW_TRY(utilities_.enqueue_gate());
  KW_TRY(events_->record_start());
  if (graph_ != nullptr) {
    KW_TRY(context_.check(context_.api().graph_launch(graph_, context_.stream()),
                          "launching the graph of " + name()));
  } else {
    KW_TRY(subject_.enqueue(0));
  }
  KW_TRY(events_->record_end());
  if (gated) utilities_.open_gate();
  KW_TRY(context_.wait(deadline_, "timing " + name()));
  if (gated && utilities_.gate_gave_up()) {
    ++gave_up_;
    return -1.0;
  }
  return std::max(0.0, KW_TRY(events_->elapsed()) - overhead_us_) / calls_;
}

FaultOr<bool> Lane::take() {
  pending_us_ = KW_TRY(measure());
  pending_.clear();
  if (protocol_.audit) KW_TRY(hash_outputs());
  return pending_us_ >= 0;
}

MaybeFault Lane::hash_outputs() {
  std::vector<uint64_t> hashes(hashes_.size());
  KW_TRY(utilities_.jobs().hash(hashes_, protocol_.hash_seed, hash_memory_.address()));
  KW_TRY(context_.wait(deadline_, "hashing the outputs of " + name()));
  if (!hashes.empty()) {
    KW_TRY(context_.download(hashes.data(), hash_memory_.address(), hashes.size() * 8,
                             "reading hashes"));
  }
  auto next = hashes.begin();
  for (size_t c = 0; c < copies_; ++c) {
    record::CallAudit audit;
    audit.entry = static_cast<int>((c + rotation_) % subject_.pool().size());
    const auto end = next + static_cast<ptrdiff_t>(subject_.buffers(c).outputs.size());
    audit.hashes = KW_TRY(subject_.all_hashes(c, {next, end}, protocol_.hash_seed));
    next = end;
    pending_.push_back(std::move(audit));
  }
  return Done{};
}

void Lane::keep() {
  const auto index = static_cast<int>(result_.samples.microseconds.size());
  result_.samples.microseconds.push_back(pending_us_);
  accumulated_us_ += pending_us_ * calls_;
  for (record::CallAudit& audit : pending_) {
    audit.sample = index;
    result_.audits.push_back(std::move(audit));
  }
  pending_.clear();
}

MaybeFault Lane::copy_out(const MutableBytes& to, CopiedSlot& slot) {
  const size_t copy = draw(copies_);
  KW_TRY(subject_.copy_out(copy, to));
  slot.sample = static_cast<int>(result_.samples.microseconds.size()) - 1;
  slot.entry = static_cast<int>((copy + rotation_) % subject_.pool().size());
  slot.filled = true;
  return Done{};
}

MaybeFault Lane::finish() {
  std::vector<size_t> entries;
  for (size_t c = 0; c < copies_; ++c) entries.push_back((c + rotation_) % subject_.pool().size());
  result_.findings = KW_TRY(subject_.check(entries, deadline_));
  return Done{};
}

}  // namespace kw::cuda
