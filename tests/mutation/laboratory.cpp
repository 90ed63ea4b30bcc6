// Most mutants die in the gate's first cells. A survivor is decided by running it: if its code that
// matters is the same, it is equivalent; if some cell of an independent sweep gives other bits,
// that cell is a witness and a second interpreter judges it; if no cell does, it is equivalent, and
// probes say why (never reached, never another value, never visible). The alternative, proving
// equivalence, works for few mutants; reading each by hand works for few hundred.
#include "laboratory.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>

#include "arch/arch.h"
#include "binding/load.h"
#include "witness.h"

namespace kw::mutation {

namespace {

constexpr size_t kWitnesses = 40;  // judged for each survivor

/// Operators whose mutants may differ by roundings alone.
bool may_round(Operator op) {
  return op == Operator::Narrow || op == Operator::Rounding || op == Operator::Accumulate;
}

std::string stage_of(const record::Verdict& verdict) {
  if (const auto* rejected = std::get_if<record::Rejected>(&verdict))
    return record::stage_name(rejected->stage);
  if (const auto* wrong = std::get_if<record::Wrong>(&verdict))
    return record::stage_name(wrong->stage);
  return record::verdict_name(verdict);
}

std::string reason_of(const record::Verdict& verdict) {
  if (const auto* rejected = std::get_if<record::Rejected>(&verdict)) return rejected->reason;
  if (const auto* wrong = std::get_if<record::Wrong>(&verdict)) return wrong->reason;
  if (const auto* unknown = std::get_if<record::Unknown>(&verdict))
    return unknown->missing_evidence;
  return "";
}

}  // namespace

const char* fate_name(Fate fate) {
  static constexpr const char* kNames[] = {"killed", "stillborn", "equivalent", "legal",
                                           "survived"};
  return kNames[static_cast<size_t>(fate)];
}

Laboratory::Laboratory(const honest::HonestModule& module, ports::Compiler& compiler,
                       ports::Device& device, ports::Oracle& oracle,
                       const LaboratorySettings& settings)
    : module_(module),
      compiler_(compiler, settings.seed),
      device_(device),
      oracle_(oracle),
      settings_(settings) {}

Result<std::unique_ptr<Laboratory>> Laboratory::open(const honest::HonestModule& module,
                                                     ports::Compiler& compiler,
                                                     ports::Device& device, ports::Oracle& oracle,
                                                     const LaboratorySettings& settings) {
  std::unique_ptr<Laboratory> made(new Laboratory(module, compiler, device, oracle, settings));
  made->parsed_ = KW_TRY(binding::parse_module(module.text, "module.cu"));
  KW_TRY(made->judge_original());
  return made;
}

Result<double> Laboratory::judge_original() {
  const std::clock_t start =
      std::clock();  // of the processor: a busy machine chooses the same modules
  const auto report = KW_TRY(verify(module_.text, settings_.budget_seconds));
  if (!report.ok())
    return input_error("the original does not pass: {} {}", stage_of(report.gate.verdict),
                       reason_of(report.gate.verdict));
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

Result<verification::VerifyReport> Laboratory::verify(const std::string& text,
                                                      double budget_seconds) {
  verification::VerifyRequest request;
  request.module_path = "module.cu";
  request.reference_path = module_.task->source_path;
  request.seed = settings_.seed;
  request.budget_seconds = budget_seconds;
  request.timeout_seconds = 20;
  request.threads = 1;
  verification::VerifyTools tools;
  tools.compiler = &compiler_;
  tools.virtual_gpu = &device_;
  tools.oracle = &oracle_;
  return verification::verify_module(text, *module_.task, request, tools, {}, &pools_);
}

std::vector<Mutation> Laboratory::mutations() const {
  std::vector<Mutation> all = compiler_.mutations();
  for (Mutation& one : plan_mutations(module_.text)) all.push_back(std::move(one));
  return all;
}

Result<Outcome> Laboratory::judge(const Mutation& mutation) {
  const std::string text = mutation.is_plan() ? mutated_plan(module_.text, mutation) : module_.text;
  if (mutation.is_plan()) {
    const auto parsed = binding::parse_module(text, "module.cu");
    if (!parsed) return Outcome{Fate::Stillborn, "plan", parsed.error().message};
  }
  const Result<Outcome> outcome = judge(mutation, text);
  compiler_.use(Version::Original, nullptr);
  return outcome;
}

Result<Outcome> Laboratory::judge(const Mutation& mutation, const std::string& text) {
  const std::optional<Outcome> refused = KW_TRY(refusal(mutation, text, settings_.budget_seconds));
  if (refused) return *refused;
  const Outcome outcome = KW_TRY(decide(mutation, text));
  if (outcome.fate != Fate::Survived && outcome.how != "never reached") return outcome;
  // What ordinary users run has a larger budget. The decision does not depend on it.
  const auto whole = refusal(mutation, text, settings_.whole_budget_seconds);
  return whole && *whole && (*whole)->fate == Fate::Killed ? **whole : outcome;
}

Result<std::optional<Outcome>> Laboratory::refusal(const Mutation& mutation,
                                                   const std::string& text, double budget_seconds) {
  compiler_.use(Version::Mutated, &mutation);
  const auto report = KW_TRY(verify(text, budget_seconds));
  const record::Verdict& verdict = report.gate.verdict;
  if (record::passed(verdict)) return std::optional<Outcome>();
  if (reason_of(verdict).find("the virtual GPU cannot run it") != std::string::npos)
    return std::optional(Outcome{Fate::Stillborn, "ptx", reason_of(verdict)});
  return std::optional(Outcome{Fate::Killed, stage_of(verdict), reason_of(verdict)});
}

SweepTools Laboratory::sweep_tools() {
  SweepTools tools{&compiler_, &device_, {}};
  const ports::DeviceInfo info = device_.info();
  tools.fixed.target = *arch::find_target(info.target);
  tools.fixed.sms = info.sms;
  tools.fixed.l2_bytes = info.l2_bytes;
  return tools;
}

Result<const Sweep*> Laboratory::sweep() {
  if (sweep_ == nullptr)
    sweep_ = std::make_unique<Sweep>(
        KW_TRY(Sweep::make(parsed_, *module_.task, sweep_tools(), targets_of(compiler_),
                           settings_.sweep_cells, settings_.seed + 100)));
  return sweep_.get();
}

Result<std::vector<Witness>> Laboratory::witnesses(const Mutation& mutation,
                                                   const kernel::Module& mutated) {
  const Sweep* swept = KW_TRY(sweep());
  compiler_.use(Version::Mutated, &mutation);
  auto found = KW_TRY(swept->differing(mutated, *module_.task, sweep_tools(), kWitnesses));
  const Targets targets = targets_of(mutation);
  if (!found.empty() || mutation.is_plan() || (targets.numbers.empty() && targets.extents.empty()))
    return found;
  auto aimed = Sweep::make(parsed_, *module_.task, sweep_tools(), targets, settings_.aimed_cells,
                           settings_.seed + 200);
  if (!aimed) return found;  // no affordable shape has such an extent
  aimed_ = std::make_unique<Sweep>(std::move(aimed).value());  // witnesses point to its cells
  compiler_.use(Version::Mutated, &mutation);
  return aimed_->differing(mutated, *module_.task, sweep_tools(), kWitnesses);
}

Result<Outcome> Laboratory::decide(const Mutation& mutation, const std::string& text) {
  if (!mutation.is_plan() && !compiler_.changes_live_code())
    return Outcome{Fate::Equivalent, "dead code", ""};
  const kernel::Module mutated = KW_TRY(binding::parse_module(text, "module.cu"));
  const auto found = KW_TRY(witnesses(mutation, mutated));
  if (found.empty()) return equivalent(mutation);
  Outcome legal{Fate::Legal, "ties", ""};
  for (const Witness& witness : found) {
    const WitnessVerdict verdict = judge_witness(witness, *module_.task, oracle_);
    switch (verdict.kind) {
      case WitnessVerdict::Kind::Undecided:
        return Outcome{Fate::Survived, "undecided", verdict.why};
      case WitnessVerdict::Kind::Disputed:
        return Outcome{Fate::Survived, "disputed", verdict.why};
      case WitnessVerdict::Kind::Wrong:
        return Outcome{Fate::Survived, "witness", verdict.why};
      case WitnessVerdict::Kind::Rounding:
        if (!may_round(mutation.op)) return Outcome{Fate::Survived, "as precise", verdict.why};
        legal = {Fate::Legal, "rounding", verdict.why};
        break;
      case WitnessVerdict::Kind::Ties:
        if (legal.why.empty()) legal.why = verdict.why;
    }
  }
  return legal;
}

Result<Outcome> Laboratory::equivalent(const Mutation& mutation) {
  if (mutation.is_plan()) return Outcome{Fate::Equivalent, "same bits", ""};
  const auto passes = [&](Version version) -> Result<bool> {
    compiler_.use(version, &mutation);
    return KW_TRY(verify(module_.text, settings_.budget_seconds)).ok();
  };
  if (KW_TRY(passes(Version::TrapsWhenReached)))
    return Outcome{Fate::Equivalent, "never reached", ""};
  if (mutation.probe.empty()) return Outcome{Fate::Equivalent, "same bits", ""};
  const bool infected = !KW_TRY(passes(Version::TrapsWhenInfected));
  return Outcome{Fate::Equivalent, infected ? "never visible" : "never another value", ""};
}

}  // namespace kw::mutation
