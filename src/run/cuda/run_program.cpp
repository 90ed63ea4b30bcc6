// Runs a program once and checks all that a real GPU allows. The launches run one by one with a
// wait and a guard check after each, so that a fault or an overrun can name its kernel. On one
// stream this order is the same for the kernels as queueing all of them at once. Queueing
// everything would be faster, but a fault would belong to the whole call. The cost is a round trip
// per launch; time spent on checks is not counted. Uploads do not count towards the candidate's
// time limit, and checks have their own limit.
#include "cuda/run_program.h"

#include <fmt/core.h>

#include <chrono>
#include <iterator>

#include "cuda/launch.h"
#include "cuda/storage_layout.h"

namespace kw::cuda {
namespace {

using record::Finding;

// For our own kernels after the candidate's have ended.
constexpr double kCheckSeconds = 60;

std::string running(const kernel::Launch& launch) {
  return fmt::format("running {} (line {})", launch.kernel, launch.line);
}

void append(std::vector<Finding>& to, std::vector<Finding> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// Faults whose code says which rule was broken become findings, as on the virtual GPU.
void note_fault(const Fault& fault, const kernel::Launch& launch, int index,
                ports::RunOutcome& outcome) {
  struct Known {
    CuResult code;
    record::FindingKind kind;
  };
  static constexpr Known kKnown[] = {
      {700, record::FindingKind::InvalidAddress},  // ILLEGAL_ADDRESS
      {710, record::FindingKind::Trap},            // ASSERT
      {716, record::FindingKind::Misaligned},      // MISALIGNED_ADDRESS
      {717, record::FindingKind::InvalidAddress},  // INVALID_ADDRESS_SPACE
  };
  for (const Known& row : kKnown) {
    if (row.code != fault.code) continue;
    Finding finding;
    finding.kind = row.kind;
    finding.message = fault.message;
    finding.kernel = launch.kernel;
    finding.launch = index;
    outcome.findings.push_back(std::move(finding));
  }
}

/// Runs launch by launch with a wait after each, so that a fault or a guard hit can name its
/// kernel. On one stream the kernels see no difference.
MaybeFault run_launches(const Context& context, const std::vector<ReadyLaunch>& launches,
                        BufferSet& buffers, Deadline deadline, ports::RunOutcome& outcome) {
  const auto started = std::chrono::steady_clock::now();
  KW_TRY(buffers.enqueue_zero_fills());
  std::chrono::steady_clock::duration checking{};
  for (size_t i = 0; i < launches.size(); ++i) {
    const kernel::Launch& launch = *launches[i].launch;
    KW_TRY(enqueue_launch(context, *launches[i].function, launch, buffers.addresses()));
    if (MaybeFault done = context.wait(deadline, running(launch)); !done) {
      note_fault(done.error(), launch, static_cast<int>(i), outcome);
      return done;
    }
    const auto pause = std::chrono::steady_clock::now();
    std::vector<Finding> hits = KW_TRY(buffers.check_guards());
    for (Finding& hit : hits) {
      hit.kernel = launch.kernel;
      hit.launch = static_cast<int>(i);
    }
    append(outcome.findings, std::move(hits));
    checking += std::chrono::steady_clock::now() - pause;
  }
  outcome.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started - checking).count();
  return Done{};
}

MaybeFault run_and_check(const Context& context, JobKernels& kernels, LoadedImage& image,
                         const RunRequest& request, ports::RunOutcome& outcome) {
  auto launches = KW_TRY(ready_launches(context, image, *request.program));
  BufferSet buffers = KW_TRY(
      BufferSet::create(context, *request.program, request.options.misalign_bytes, request.seed));
  KW_TRY(buffers.upload(request.inputs));
  // The deadline starts here: copying a large input must not use the kernel's time.
  const Deadline deadline = deadline_in(request.options.timeout_seconds);
  KW_TRY(run_launches(context, launches, buffers, deadline, outcome));
  const Deadline checking = deadline_in(kCheckSeconds);
  append(outcome.findings, KW_TRY(buffers.check_contents(kernels, request.inputs, checking)));
  append(outcome.findings, KW_TRY(image.check_globals()));
  outcome.hashes = KW_TRY(buffers.hash_outputs(kernels, request.options.hash_seed, checking));
  if (!request.options.copy_outputs) return Done{};
  KW_TRY(buffers.download(request.outputs));
  append(outcome.findings, buffers.check_written(request.outputs));
  return Done{};
}

}  // namespace

Status check_program(const kernel::Program& program, const Sources& inputs) {
  if (inputs.size() != program.buffers.size()) {
    return input_error("{} inputs were given for {} buffers", inputs.size(),
                       program.buffers.size());
  }
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const kernel::Buffer& buffer = program.buffers[i];
    if (!buffer.present) continue;
    KW_TRY(check_layout(buffer));
    const bool given = buffer.role == kernel::Role::Input || buffer.role == kernel::Role::Inout;
    if (given && inputs[i].bytes() != dense_bytes(buffer)) {
      return input_error("'{}' needs {} bytes, {} were given", buffer.name, dense_bytes(buffer),
                         inputs[i].bytes());
    }
  }
  for (const kernel::Launch& launch : program.launches) {
    for (const kernel::Param& param : launch.params) {
      if (param.buffer >= static_cast<int>(program.buffers.size())) {
        return input_error("launch of {} names buffer {} of {}", launch.kernel, param.buffer,
                           program.buffers.size());
      }
    }
  }
  return Done{};
}

FaultOr<std::vector<ReadyLaunch>> ready_launches(const Context& context, LoadedImage& image,
                                                 const kernel::Program& program) {
  std::vector<ReadyLaunch> ready;
  for (const kernel::Launch& launch : program.launches) {
    LoadedFunction* function = KW_TRY(image.function(launch.entry));
    KW_TRY(prepare_launch(context, *function, launch));
    ready.push_back({function, &launch});
  }
  return ready;
}

RunReport run_program(const Context& context, JobKernels& kernels, LoadedImage& image,
                      const RunRequest& request) {
  RunReport report;
  MaybeFault done = run_and_check(context, kernels, image, request, report.outcome);
  if (!done) {
    const Fault& fault = done.error();
    report.outcome.status = fault.status;
    report.outcome.message = fault.message;
    report.device_lost = fault.device_lost;
  }
  return report;
}

}  // namespace kw::cuda
