// Screening must order many candidates before any is timed. Each is compiled, run once at a small
// shape on the virtual GPU, and its counts are scaled to an estimate. Compilers run ahead in worker
// processes while this thread counts. A kernel that uses too many instructions is stopped, and its
// estimate is a lower bound. Registers need a second compile, so only the four best near the top
// get it. Timing all on the GPU was the alternative; it needs the gate first. The cost: an estimate
// can order close candidates wrongly.
#include <fmt/core.h>

#include <algorithm>

#include "binding/load.h"
#include "gate/programs.h"
#include "judge/parts.h"
#include "machine/best_image.h"
#include "os/interrupt.h"
#include "timing/counting.h"

namespace kw::judge {
namespace {

constexpr double kClose = 1.25;  // candidates with estimates this near the best get registers
constexpr size_t kMostWithRegisters = 4;  // the most candidates that get registers
std::string message_line(const ports::CompileMessage& message) {
  return fmt::format("{}:{}: {}\n", message.line, message.column, message.text);
}

std::string compile_log(const ports::CompileFailed& failed) {
  if (!failed.log.empty()) return failed.log;
  std::string log;
  for (const ports::CompileMessage& message : failed.messages) log += message_line(message);
  return log;
}

/// Messages of compilers that succeeded.
std::string compile_log(const std::vector<const ports::Compiled*>& images) {
  std::string log;
  for (const ports::Compiled* image : images) {
    log += fmt::format("{} for {}: {:.3f} s{}\n", image->compiler, image->target, image->seconds,
                       image->from_cache ? ", from the cache" : "");
    for (const ports::CompiledKernel& kernel : image->kernels) {
      log += "  " + kernel.signature;
      if (kernel.resources.registers >= 0)
        log += fmt::format(": {} registers", kernel.resources.registers);
      log += "\n";
    }
    for (const ports::CompileMessage& message : image->messages) log += message_line(message);
  }
  return log;
}

bool over_budget(const ports::RunOutcome& outcome) {
  return std::ranges::any_of(outcome.findings, [](const record::Finding& finding) {
    return finding.kind == record::FindingKind::InstructionBudget;
  });
}

}  // namespace

Result<ports::Outcome> Screener::finish_screening(const record::Candidate& candidate,
                                                  bool is_lower_bound) {
  const double us = context_.rank_of([&](const Site& site) {
    const auto cost = site.costs.find(candidate.id);
    return cost == site.costs.end() ? 0 : context_.as_ranked(cost->second.us);
  });
  Json profile = Json::object();
  profile.set("estimate", to_json(context_.first().costs[candidate.id])).set("rank_us", us);
  profile.set("counted_at", task::dims_text(context_.first().small.dims));
  profile.set("timed_at", task::dims_text(context_.first().dims))
      .set("scale", context_.first().scale);
  profile.set("rates", context_.request.calibration->gpu).set("at_least", is_lower_bound);
  KW_TRY(context_.run.profiled(candidate.id, profile));
  return ports::Outcome::estimate(us, is_lower_bound);
}

Result<ports::Outcome> Screener::screen_one(const record::Candidate& candidate) {
  KW_TRY(context_.run.keep(candidate));
  const Result<kernel::Module> module = binding::parse_module(candidate.text, "module.cu");
  if (!module)
    return context_.refuse(candidate, rejected(record::Stage::Static, module.error().message));
  bool is_lower_bound = false;
  for (const auto& site : context_.sites) {
    const Counted counted = KW_TRY(count_at(*site, *module, candidate));
    if (counted.refused) return context_.refuse(candidate, *counted.refused);
    site->costs[candidate.id] = counted.cost;
    is_lower_bound = is_lower_bound || counted.is_lower_bound;
  }
  return finish_screening(candidate, is_lower_bound);
}

Result<Screener::Counted> Screener::count_at(Site& at, const kernel::Module& module,
                                             const record::Candidate& candidate) {
  ports::Device& device = context_.virtual_gpu();
  const auto matching = shapes::match_tensors(module, *context_.request.task, at.small.graph);
  if (!matching) return Counted{rejected(record::Stage::Static, matching.error().message), {}};
  gate::Programs programs(module, *context_.ahead, device, context_.fixed_for(device, candidate),
                          context_.request.verify.timeout_seconds);
  const gate::Built built =
      KW_TRY(programs.build(*matching, *context_.request.task, at.small.graph, at.small.dims));
  const gate::Built timed =
      KW_TRY(programs.build(*matching, *context_.request.task, at.graph, at.dims));
  for (const gate::Built* one : {&built, &timed}) {
    if (one->failed) {
      KW_TRY(context_.run.compiled(candidate.id, compile_log(*one->failed)));
      return Counted{rejected(record::Stage::Compile, first_error(*one->failed)), {}};
    }
    // A trace may work only for the timed shape. Then only that one is required to be served.
    if (!one->not_served.empty() && one == &timed)
      return Counted{rejected(record::Stage::Static, one->not_served), {}};
    if (!one->not_loaded.empty() && !context_.has_clock())
      return Counted{rejected(record::Stage::VirtualGpu, one->not_loaded), {}};
  }
  if (&at == &context_.first())
    KW_TRY(context_.run.compiled(candidate.id, compile_log(programs.compiled())));
  Counted counted;
  // The virtual GPU cannot run it, so only the clock can judge. Use the floor as its estimate.
  if (!built.ready || !timed.ready) {
    counted.cost.us = at.floor.us;
    return counted;
  }
  ports::RunOptions options;
  options.counters = true;
  options.max_warp_instructions = timing::counting_budget(at.small);
  options.threads = context_.request.verify.threads;
  options.timeout_seconds = context_.request.verify.timeout_seconds;
  const ports::RunOutcome outcome =
      KW_TRY(device.run(built.ready->image, built.ready->program,
                        gate::program_inputs(built.ready->program, *matching, at.inputs), options));
  at.launches[candidate.id] =
      timing::cost_launches(outcome.counters, timed.ready->program, &built.ready->program);
  if (over_budget(outcome)) {
    const timing::GpuRates rates;
    counted.cost.us = static_cast<double>(options.max_warp_instructions) * at.scale /
                      (rates.issue * rates.sms * rates.mhz);
    counted.is_lower_bound = true;
    return counted;
  }
  if (outcome.status != ports::RunStatus::Completed) return Counted{not_completed(outcome), {}};
  counted.cost = timing::cost_of(cost_request(at, candidate, at.launches[candidate.id]));
  return counted;
}

timing::CostRequest Screener::cost_request(const Site& site, const record::Candidate& candidate,
                                           std::vector<timing::CostLaunch> launches) const {
  timing::CostRequest ask;
  ask.launches = std::move(launches);
  ask.scale = site.scale;
  ask.target = context_.fixed_for(context_.virtual_gpu(), candidate).target;
  ask.gpu = context_.request.calibration;
  return ask;
}

Result<std::optional<Screener::Counted>> Screener::with_registers(
    const Site& site, const record::Candidate& candidate) {
  using Unknown = std::optional<Counted>;
  const auto counted = site.launches.find(candidate.id);
  if (counted == site.launches.end()) return Unknown();
  const kernel::Module module = KW_TRY(binding::parse_module(candidate.text, "module.cu"));
  const kernel::Bindings fixed = context_.fixed_for(context_.virtual_gpu(), candidate);
  auto request = site.compile_request(module, fixed, context_.request.verify.timeout_seconds);
  if (!request) return Unknown();
  request->apart = true;
  machine::BestImage image(*context_.ahead, ports::ImageKind::Cubin);
  const auto compiled = image.compile(*request);
  if (!compiled) return Unknown();
  if (const auto& failed = compiled->failed) {
    if (failed->timed_out || failed->crashed) return Unknown();
    KW_TRY(context_.run.compiled(candidate.id, compile_log(*failed)));
    return std::optional(Counted{rejected(record::Stage::Compile, first_error(*failed)), {}});
  }
  int most = -1;
  int64_t shared = 0;
  for (const ports::CompiledKernel& kernel : compiled->compiled->kernels) {
    most = std::max(most, kernel.resources.registers);
    shared = std::max(shared, kernel.resources.static_shared);
  }
  if (most < 0) return Unknown();
  std::vector<timing::CostLaunch> launches = counted->second;
  for (timing::CostLaunch& launch : launches) {
    launch.registers = most;
    launch.shared_bytes += shared;
  }
  return std::optional(
      Counted{std::nullopt, timing::cost_of(cost_request(site, candidate, std::move(launches)))});
}

Result<std::vector<ports::Outcome>> Screener::screen(const ports::Candidates& candidates) {
  verifier_.begin_truths();
  for (const record::Candidate& candidate : candidates)
    context_.compile_ahead(*context_.ahead, candidate, ports::ImageKind::Ptx, ShapeScope::Counted);
  std::vector<ports::Outcome> looks;
  double best = 0;
  for (const record::Candidate& candidate : candidates) {
    KW_TRY(os::check_interrupted());
    context_.report_progress("screening " + candidate.origin);
    looks.push_back(KW_TRY(screen_one(candidate)));
    const double us = looks.back().us;
    if (us > 0 && !looks.back().is_lower_bound && (best == 0 || us < best)) best = us;
  }
  // Registers need a second compile, so only close candidates get them.
  std::vector<size_t> close;
  for (size_t i = 0; i < looks.size(); ++i) {
    const bool counted =
        context_.first().launches.count(candidates[i].id) > 0 && !looks[i].is_lower_bound;
    if (counted && looks[i].us > 0 && looks[i].us <= kClose * best) close.push_back(i);
  }
  std::ranges::stable_sort(close, {}, [&](size_t i) { return looks[i].us; });
  if (close.size() > kMostWithRegisters) close.resize(kMostWithRegisters);
  for (const size_t i : close)
    context_.compile_ahead(*context_.ahead, candidates[i], ports::ImageKind::Cubin,
                           ShapeScope::Timed);
  for (const size_t i : close) {
    std::optional<record::Verdict> refused;
    for (const auto& site : context_.sites) {
      const std::optional<Counted> known = KW_TRY(with_registers(*site, candidates[i]));
      if (!known) return looks;
      if (refused = known->refused; refused) break;
      site->costs[candidates[i].id] = known->cost;
    }
    looks[i] = KW_TRY(refused ? context_.refuse(candidates[i], *refused)
                              : finish_screening(candidates[i]));
  }
  return looks;
}

}  // namespace kw::judge
