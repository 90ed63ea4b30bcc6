// A kernel module's program as the clock times it. A candidate could remember an address or a
// result and skip its work. So every copy of a call has its own buffers at shifted addresses, and
// inputs change between samples. Inputs that the worker keeps on the device are used in place; only
// others are copied into the pool.
// A single set of buffers would need less memory, but could be recognised and would stay in the L2.
// Copies take at most half of the free memory. Strided outputs are hashed on the host, so such a
// program gets at most 10 copies.
#include "cuda/program_subject.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cuda/launch.h"

namespace kw::cuda {
namespace {

using kernel::Buffer;
using kernel::Role;

// Every copy has other addresses. Multiples of this keep any alignment that a module may need.
constexpr uint64_t kShiftStep = 4096;
constexpr uint64_t kShifts = 16;
// Outputs that are not dense are hashed on the host: with many sets this would take too long.
constexpr size_t kMaxStridedCopies = 10;
// The device's queue of pending launches holds about a thousand.
constexpr size_t kMaxQueuedLaunches = 256;

}  // namespace

ProgramSubject::ProgramSubject(const Context& context, JobKernels& kernels, LoadedImage& image,
                               const kernel::Program& program, const std::vector<Sources>& pool,
                               uint64_t seed)
    : context_(context),
      kernels_(kernels),
      image_(image),
      program_(program),
      given_(pool),
      seed_(seed) {}

ProgramSubject::~ProgramSubject() {
  if (context_.lost()) return;
  for (const Copy& copy : copies_) {
    if (copy.graph != nullptr) context_.api().graph_destroy(copy.graph);
  }
}

MaybeFault ProgramSubject::prepare() {
  launches_ = KW_TRY(ready_launches(context_, image_, program_));
  KW_TRY(add_copy());
  for (const Sources& sources : given_) {
    const size_t before = owned_.size();
    MaybeFault added = add_entry(sources);
    if (added) continue;
    // One entry is enough; more are better.
    if (added.error().status != ports::RunStatus::OutOfMemory || spans_.empty()) return added;
    owned_.resize(before);
    break;
  }
  return Done{};
}

MaybeFault ProgramSubject::add_entry(const Sources& sources) {
  std::vector<DeviceSpan> entry;
  BufferSet& shape = copies_[0].set;
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    if (!is_given(program_.buffers[i])) continue;
    if (shape.is_plain(i) && sources[i].device.address != 0) {
      entry.push_back(sources[i].device);
      continue;
    }
    const auto bytes = static_cast<uint64_t>(program_.buffers[i].bytes);
    owned_.push_back(KW_TRY(DeviceMemory::allocate(context_, bytes, "the pool of inputs")));
    entry.push_back({owned_.back().address(), bytes});
  }
  // Only the buffers can spread contents over strides: fill them first, then copy into the pool.
  KW_TRY(shape.upload(sources));
  size_t at = 0;
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    if (!is_given(program_.buffers[i])) continue;
    const DeviceSpan& to = entry[at++];
    if (to.address == sources[i].device.address) continue;
    KW_TRY(context_.check(context_.api().copy_on_device(to.address, shape.span(i).address, to.bytes,
                                                        context_.stream()),
                          "filling the pool of inputs"));
  }
  spans_.push_back(std::move(entry));
  return Done{};
}

MaybeFault ProgramSubject::add_copy() {
  const uint64_t number = copies_.size();
  const auto shift = static_cast<int>((seed_ * 7 + number * 5) % kShifts * kShiftStep);
  Copy copy{KW_TRY(BufferSet::create(context_, program_, shift, seed_ + number)), {}, nullptr};
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    const Buffer& buffer = program_.buffers[i];
    const DeviceSpan span = copy.set.span(i);
    if (is_given(buffer)) copy.buffers.inputs.push_back(span);
    if (!is_returned(buffer)) continue;
    if (copy.set.is_plain(i)) {
      copy.buffers.outputs.push_back(span);
    } else {
      strided_outputs_ = true;
      if (buffer.role == Role::Inout) copy.buffers.strided_in_place = true;
    }
    if (buffer.role == Role::Output)
      copy.buffers.poison.push_back({span.address, copy.set.pattern(i), span.bytes});
  }
  copies_.push_back(std::move(copy));
  return Done{};
}

FaultOr<size_t> ProgramSubject::make_copies(size_t wanted) {
  const uint64_t each = copies_[0].set.storage_bytes() +
                        (2 * kGuardBytes + kShifts * kShiftStep) * program_.buffers.size();
  const uint64_t room = context_.free_bytes() / 2;
  size_t most = each == 0 ? wanted : copies_.size() + static_cast<size_t>(room / each);
  if (strided_outputs_) most = std::min(most, kMaxStridedCopies);
  while (copies_.size() < std::min(wanted, most)) {
    MaybeFault added = add_copy();
    if (!added && added.error().status == ports::RunStatus::OutOfMemory) break;
    if (!added) return std::move(added).error();
  }
  return copies_.size();
}

MaybeFault ProgramSubject::enqueue(size_t copy) {
  KW_TRY(copies_[copy].set.enqueue_zero_fills());
  for (const ReadyLaunch& ready : launches_) {
    KW_TRY(enqueue_launch(context_, *ready.function, *ready.launch, copies_[copy].set.addresses()));
  }
  return Done{};
}

bool ProgramSubject::fits_queue() const { return launches_.size() <= kMaxQueuedLaunches; }

FaultOr<CuGraph> ProgramSubject::graph(size_t copy) {
  CuGraph& graph = copies_[copy].graph;
  if (graph != nullptr) return graph;
  KW_TRY(context_.check(context_.api().capture_begin(context_.stream(), kCaptureThreadLocal),
                        "capturing a call"));
  MaybeFault queued = enqueue(copy);
  // The capture must be ended, even if queueing failed.
  MaybeFault ended =
      context_.check(context_.api().capture_end(context_.stream(), &graph), "capturing a call");
  KW_TRY(std::move(queued));
  KW_TRY(std::move(ended));
  return graph;
}

FaultOr<std::vector<uint64_t>> ProgramSubject::all_hashes(size_t copy, std::vector<uint64_t> dense,
                                                          uint64_t seed) {
  if (!strided_outputs_) return dense;
  const std::vector<uint64_t> all =
      KW_TRY(copies_[copy].set.hash_outputs(kernels_, seed, deadline_in(60)));
  std::vector<uint64_t> returned;
  for (size_t i = 0; i < all.size(); ++i) {
    if (is_returned(program_.buffers[i])) returned.push_back(all[i]);
  }
  return returned;
}

MaybeFault ProgramSubject::copy_out(size_t copy, const MutableBytes& to) {
  return copies_[copy].set.download(to);
}

FaultOr<std::vector<record::Finding>> ProgramSubject::check(const std::vector<size_t>& entries,
                                                            const Deadline& deadline) {
  std::vector<record::Finding> findings;
  const auto append = [&](std::vector<record::Finding> more) {
    std::move(more.begin(), more.end(), std::back_inserter(findings));
  };
  for (size_t i = 0; i < copies_.size() && findings.empty(); ++i) {
    append(KW_TRY(copies_[i].set.check_guards()));
    if (i < entries.size()) {
      append(KW_TRY(copies_[i].set.check_contents(kernels_, given_[entries[i]], deadline)));
    }
  }
  append(KW_TRY(image_.check_globals()));
  return findings;
}

}  // namespace kw::cuda
