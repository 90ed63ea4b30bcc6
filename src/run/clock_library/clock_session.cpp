#include "clock_library/clock_session.h"

#include <fmt/core.h>

#include <utility>

#include "cuda/clock.h"
#include "cuda/program_subject.h"
#include "cuda/run_program.h"

namespace kw::clock_library {
namespace {

constexpr double kHashSeconds = 60;

Error bug(std::string message) { return {Blame::Bug, std::move(message)}; }

Status check_baseline(const Baseline& baseline) {
  if (baseline.calls.empty()) return bug(baseline.name + ": a baseline has a call");
  for (const cuda::ForeignCall& call : baseline.calls) {
    if (call.graph == nullptr) return bug(baseline.name + ": a call has no graph");
    for (const auto& entry : baseline.pool) {
      if (entry.size() != call.inputs.size()) {
        return bug(baseline.name + ": the pool does not fit the inputs");
      }
      for (size_t i = 0; i < entry.size(); ++i) {
        if (entry[i].bytes != call.inputs[i].bytes) {
          return bug(fmt::format("{}: input {} has {} bytes, in the pool {}", baseline.name, i,
                                 call.inputs[i].bytes, entry[i].bytes));
        }
      }
    }
  }
  return Done{};
}

}  // namespace

Result<std::unique_ptr<ClockSession>> ClockSession::open(int ordinal) {
  std::unique_ptr<ClockSession> session(new ClockSession());
  session->driver_ = KW_TRY(cuda::Driver::open());
  session->context_ = KW_TRY(cuda::Context::create(*session->driver_, ordinal));
  session->utilities_ = KW_TRY(cuda::UtilityKernels::load(*session->context_));
  return session;
}

gpu::Reply ClockSession::ask(const gpu::Request& request,
                             const std::vector<cuda::DeviceSpan>& inputs,
                             std::vector<Baseline> baselines) {
  gpu::Reply reply;
  Status status = serve(request, inputs, std::move(baselines), reply);
  if (!status) {
    reply.error = status.error().message;
    reply.blame = status.error().blame;
  }
  reply.info = context_->info();
  reply.context_lost = context_->lost();
  return reply;
}

Status ClockSession::serve(const gpu::Request& request, const std::vector<cuda::DeviceSpan>& inputs,
                           std::vector<Baseline> baselines, gpu::Reply& reply) {
  if (request.protocol != gpu::kProtocol) return bug("the frame is of another build");
  if (request.verb == gpu::Verb::Time) return time(request, inputs, std::move(baselines), reply);
  if (request.verb != gpu::Verb::Load) return bug("the clock answers Load and Time only");
  images_[request.image] = KW_TRY(cuda::LoadedImage::load(*context_, request.kind, request.bytes));
  return Done{};
}

Result<std::vector<std::vector<cuda::Sources>>> ClockSession::find_inputs(
    const gpu::Request& request, const std::vector<cuda::DeviceSpan>& inputs) {
  auto hashes = utilities_->jobs().hash_now(inputs, 0, cuda::deadline_in(kHashSeconds));
  if (!hashes) return environment_error(hashes.error().message);
  std::vector<std::vector<cuda::Sources>> pools;
  for (const gpu::ProgramMessage& message : request.programs) {
    std::vector<cuda::Sources>& sets = pools.emplace_back();
    for (const std::vector<gpu::InputRef>& refs : message.pool) {
      cuda::Sources& sources = sets.emplace_back();
      for (const gpu::InputRef& ref : refs) {
        if (ref.key > inputs.size()) return bug(fmt::format("there is no input {}", ref.key));
        const size_t index = ref.key - 1;
        sources.push_back(ref.key == 0 ? cuda::Source{}
                                       : cuda::Source{{}, inputs[index], (*hashes)[index]});
      }
      KW_TRY(cuda::check_program(message.program, sources));
    }
    if (sets.empty()) return bug("a program comes with inputs");
  }
  return pools;
}

Status ClockSession::time(const gpu::Request& request, const std::vector<cuda::DeviceSpan>& inputs,
                          std::vector<Baseline> baselines, gpu::Reply& reply) {
  const auto pools = KW_TRY(find_inputs(request, inputs));
  std::vector<std::unique_ptr<cuda::Subject>> subjects;
  for (size_t p = 0; p < request.programs.size(); ++p) {
    const gpu::ProgramMessage& message = request.programs[p];
    const auto image = images_.find(message.image);
    if (image == images_.end()) return bug(fmt::format("image {} is not loaded", message.image));
    auto subject = std::make_unique<cuda::ProgramSubject>(*context_, utilities_->jobs(),
                                                          *image->second, message.program, pools[p],
                                                          request.protocol_options.seed + p);
    if (cuda::MaybeFault done = subject->prepare(); !done) {
      reply.time.status = done.error().status;
      reply.time.message = message.program.module_name + ": " + done.error().message;
      return Done{};
    }
    subjects.push_back(std::move(subject));
  }
  for (Baseline& baseline : baselines) {
    KW_TRY(check_baseline(baseline));
    subjects.push_back(std::make_unique<cuda::GraphSubject>(
        *context_, baseline.name, std::move(baseline.calls), std::move(baseline.pool)));
  }
  std::vector<cuda::TimeRequest> requests;
  for (const auto& subject : subjects) requests.push_back({subject.get(), {}});
  cuda::TimeReport report =
      cuda::time_subjects(*context_, *utilities_, requests, request.protocol_options);
  if (report.device_lost) return environment_error("the GPU was lost: " + report.message);
  reply.time.status = report.status;
  reply.time.message = std::move(report.message);
  for (cuda::LaneResult& lane : report.results) {
    reply.time.results.push_back(
        {std::move(lane.samples), std::move(lane.audits), {}, std::move(lane.findings)});
    reply.slots.emplace_back();
  }
  return Done{};
}

}  // namespace kw::clock_library
