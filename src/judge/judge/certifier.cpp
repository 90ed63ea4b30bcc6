// A search times a kernel many times with the same inputs, so its winner may be lucky or may fit
// them. Certification repeats the gate with fresh inputs and the full timing, on the module as it
// is shipped, and keeps its images and resources. Trusting the search's own verdict was the
// alternative. The cost: seconds to minutes for each attempt.
#include <algorithm>

#include "binding/load.h"
#include "judge/parts.h"
#include "kernel/methods.h"
#include "machine/best_image.h"
#include "os/interrupt.h"

namespace kw::judge {

Result<ports::Outcome> Certifier::certify(const record::Candidate& candidate) {
  KW_TRY(os::check_interrupted());
  context_.report_progress("certifying " + candidate.origin);
  timing::BenchRequest request;
  request.verify = context_.verify_request(candidate);
  request.dims = context_.first().dims;
  request.torch_modes = context_.request.torch_modes;
  Certificate made;
  made.id = candidate.id;
  made.text = kernel::with_tunes(candidate.text, candidate.tunes);
  request.quick = context_.request.quick;
  timing::Lane& lane = context_.lanes.first();
  verifier_.await_truths();
  context_.compile_whole(candidate);
  timing::BenchTools tools = lane.tools;
  tools.verify.compiler = context_.whole.get();
  tools.pools = &lane.pools;
  tools.shape = lane.shapes.front().shape ? &*lane.shapes.front().shape : nullptr;
  made.bench = KW_TRY(
      timing::bench_module(made.text, *context_.request.task, request, tools, context_.progress));
  KW_TRY(context_.run.judged(candidate.id, to_json(made.bench.gate)));
  if (made.bench.candidate.measurement) {
    Json timing = Json::object();
    timing.set("us", made.bench.candidate.measurement->summary.median);
    KW_TRY(context_.run.timed(candidate.id, timing.set("certified", to_json(made.bench))));
  }
  const std::string reason = verdict_reason(made.bench.verdict);
  if (!reason.empty()) {
    context_.last_refusal = std::move(made.bench.gate);
    return ports::Outcome::refusal(reason);
  }
  KW_TRY(note_resources(candidate, made));
  ports::Outcome outcome =
      ports::Outcome::estimate(made.bench.estimate ? made.bench.estimate->us : 0, false);
  if (made.bench.candidate.measurement) {
    context_.first().times[candidate.id] = timer_.rank_us(*made.bench.candidate.measurement);
    outcome = ports::Outcome::time(timer_.rank_measured(candidate.id));
  }
  certificate = std::move(made);
  return outcome;
}

// Compiles the images that are shipped, which are the judged ones, and notes their resources.
Status Certifier::note_resources(const record::Candidate& candidate, Certificate& made) {
  // A resumed run has stored estimates but no counts.
  if (context_.first().launches.count(candidate.id) == 0) KW_TRY(screener_.screen_one(candidate));
  if (const auto cost = context_.first().costs.find(candidate.id);
      cost != context_.first().costs.end())
    made.cost = cost->second;
  const kernel::Module module = KW_TRY(binding::parse_module(made.text, "module.cu"));
  ports::Device& device = context_.virtual_gpu();
  const auto request = context_.first().compile_request(
      module, context_.fixed_for(device, candidate), context_.request.verify.timeout_seconds);
  if (!request) return Done{};
  ports::CompileRequest ask = *request;
  ask.image = ports::ImageKind::Ptx;
  ports::CompileOutcome ptx = KW_TRY(context_.whole->compile(ask));
  made.ptx = std::move(ptx.compiled);
  machine::BestImage image(*context_.whole, ports::ImageKind::Cubin);
  const auto cubin = image.compile(ask);
  if (!cubin || !cubin->compiled || cubin->compiled->kind != ports::ImageKind::Cubin) return Done{};
  made.cubin = cubin->compiled;
  for (const ports::CompiledKernel& kernel : made.cubin->kernels)
    made.resources.push_back(kernel.resources);
  const auto known = KW_TRY(screener_.with_registers(context_.first(), candidate));
  if (known && !known->cost.launches.empty())
    made.occupancy =
        std::ranges::max_element(known->cost.launches, {}, &timing::CostPart::us)->occupancy;
  return Done{};
}

}  // namespace kw::judge
