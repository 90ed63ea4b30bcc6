// The problem: a wrong candidate must never pass, and most wrong candidates should be rejected
// cheaply. The stages run from cheap to expensive; the first verdict ends the gate. Static matching
// and compiling come first, then the virtual GPU, then values, hygiene and relations. Missing
// evidence never passes: the verdict is then unknown. The alternative, running all stages always,
// would report more errors but cost a full run per candidate. This file has the sequence and the
// stages that run nothing; gate_cells.cpp has those that run cells.
#include <fmt/core.h>

#include <algorithm>
#include <future>

#include "core/json_writer.h"
#include "core/text.h"
#include "gate/gate_stages.h"

namespace kw::gate {

using record::Stage;

std::string Repro::line() const {
  std::string text = "kernelwright verify " + shell_quote(module_path) + " --reference " +
                     shell_quote(reference_path);
  for (const std::string& option : options) text += " " + shell_quote(option);
  return text;
}

std::string Repro::line(const task::Dims& dims, const std::string& family, uint64_t seed,
                        bool is_virtual) const {
  std::string text = line();
  if (!dims.empty()) {
    text += " --dims " + shell_quote(json_of(dims).dump());
  }
  return text + fmt::format(" --family {} --seed {} --device {}", family, seed,
                            is_virtual ? "vgpu" : "gpu");
}

Gate::Gate(const kernel::Module& module, const GateRequest& request)
    : module_(module),
      request_(request),
      virtual_{&request.virtual_gpu,
               Programs(module, *request.compiler, *request.virtual_gpu.device,
                        request.virtual_gpu.fixed, request.timeout_seconds)} {
  if (request.gpu)
    gpu_.emplace(Bench{&*request.gpu, Programs(module, *request.compiler, *request.gpu->device,
                                               request.gpu->fixed, request.timeout_seconds)});
}

void Gate::begin(Stage stage, const std::string& progress) {
  report_.stages.push_back({stage, "", {}, 0});
  stage_start_ = std::chrono::steady_clock::now();
  if (request_.progress) request_.progress(progress);
}

void Gate::say(const std::string& line) { report_.stages.back().lines.push_back(line); }

void Gate::end(const std::string& outcome) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - stage_start_;
  report_.stages.back().outcome = outcome;
  report_.stages.back().seconds = passed.count();
}

Status check_interrupt(const GateRequest& request) {
  if (request.interrupted && request.interrupted()) return environment_error("interrupted");
  return Done{};
}

// Runs all stages. Each stage gives the verdict or leaves the candidate to the next.
Result<GateReport> Gate::run() {
  const auto start = std::chrono::steady_clock::now();
  const double prepared =
      request_.virtual_gpu.pool->seconds() + (request_.gpu ? request_.gpu->pool->seconds() : 0);
  using Method = Result<Stop> (Gate::*)();
  constexpr Method kStages[] = {&Gate::static_stage,  &Gate::compile_stage,
                                &Gate::virtual_stage, &Gate::numerics_stage,
                                &Gate::hygiene_stage, &Gate::metamorphic_stage,
                                &Gate::batch_stage,   &Gate::unknown_instruction_stage};
  report_.device = judge_bench().at->device->info().name;
  report_.replay_seeded = judge_bench().at->pool->replayable();
  report_.skipped = judge_bench().at->pool->shapes().left_out;
  Stop stop;
  for (const Method stage : kStages) {
    KW_TRY(check_interrupt(request_));
    stop = KW_TRY((this->*stage)());
    if (!stop) continue;
    end(record::verdict_name(*stop));
    break;
  }
  report_.verdict = stop ? std::move(*stop) : conclude();
  report_.compiler = judge_bench().programs.compiler_name();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  const double now =
      request_.virtual_gpu.pool->seconds() + (request_.gpu ? request_.gpu->pool->seconds() : 0);
  report_.prepare_seconds = now;
  report_.seconds = std::max(0.0, passed.count() - (now - prepared));
  return std::move(report_);
}

Result<Stop> Gate::static_stage() {
  begin(Stage::Static, "matching the module with the task");
  const auto reject = [this](std::string reason) {
    return Stop(
        record::Rejected{Stage::Static, std::move(reason), std::nullopt, request_.repro.line()});
  };
  const Pool& pool = *judge_bench().at->pool;
  const graph::Graph any = KW_TRY(task().graph_at(pool.shapes().demanded.front()));
  Result<shapes::Matching> matching = shapes::match_tensors(module_, task(), any);
  if (!matching) return reject(matching.error().message);
  matching_ = std::move(matching).value();
  for (const std::string& note : matching_.notes) say(note);
  for (const task::Dims& dims : pool.shapes().demanded) {
    const graph::Graph graph = KW_TRY(task().graph_at(dims));
    const auto selection = judge_bench().programs.select(matching_, task(), graph, dims);
    if (!selection)
      return reject(fmt::format("the task requires {}: {}", task::dims_text(dims),
                                selection.error().message));
  }
  say(fmt::format("serves every shape the task requires ({})", pool.shapes().demanded.size()));
  end("ok");
  return Stop();
}

Result<Stop> Gate::compile_stage() {
  begin(Stage::Compile, "compiling " + module_.file_name);
  Bench& bench = judge_bench();
  // Builds the virtual GPU's image at the same time; its own stage reports a failure.
  std::future<void> ahead;
  const std::vector<shapes::ShapeCase>& small = virtual_.at->pool->shapes().cases;
  if (gpu_ && !small.empty()) {
    ahead = std::async([this, &first = small.front()] {
      (void)virtual_.programs.build(matching_, task(), first.graph, first.dims);
    });
  }
  for (const task::Dims& dims : bench.at->pool->shapes().demanded) {
    const graph::Graph graph = KW_TRY(task().graph_at(dims));
    Built built = KW_TRY(bench.programs.build(matching_, task(), graph, dims));
    if (built.failed) {
      const std::string reason = first_error(*built.failed);
      report_.compile_failed = std::move(built.failed);
      return Stop(record::Rejected{Stage::Compile, reason, std::nullopt, request_.repro.line()});
    }
    if (!built.not_served.empty()) {
      return Stop(record::Rejected{
          Stage::Static, fmt::format("at {}: {}", task::dims_text(dims), built.not_served),
          std::nullopt, request_.repro.line()});
    }
    if (!built.not_loaded.empty() && gpu_) {
      return Stop(record::Rejected{Stage::Compile,
                                   "the device refuses the image: " + built.not_loaded,
                                   std::nullopt, request_.repro.line()});
    }
  }
  say(fmt::format("{} compiled {} variant{} in {:.2f} s", bench.programs.compiler_name(),
                  bench.programs.compiles(), bench.programs.compiles() == 1 ? "" : "s",
                  bench.programs.compile_seconds()));
  end("ok");
  return Stop();
}

// The virtual GPU does not support an instruction: other checkers replace it, or evidence is
// missing.
Result<Stop> Gate::unknown_instruction_stage() {
  if (unknown_instruction_.empty()) return Stop();
  begin(Stage::VirtualGpu, "running other checkers");
  if (!gpu_ || !request_.other_checkers) {
    missing_ = unknown_instruction_ +
               (gpu_ ? "; compute-sanitizer must check it instead, and was not run"
                     : "; only a real GPU with compute-sanitizer can judge this module");
    say(missing_);
    end("unknown");
    return Stop();
  }
  for (const shapes::ShapeCase& shape : virtual_.at->pool->shapes().cases) {
    KW_TRY(check_interrupt(request_));
    if (!shape.demanded) continue;
    const auto bindings =
        shapes::bind_shape(module_, matching_, task(), shape.graph, shape.dims, gpu_->at->fixed);
    if (!bindings) continue;
    const Result<std::string> found = request_.other_checkers(*bindings);
    if (!found) {
      missing_ = unknown_instruction_ + "; " + found.error().message;
      say(missing_);
      end("unknown");
      return Stop();
    }
    if (found->empty()) continue;
    return Stop(record::Rejected{Stage::VirtualGpu, *found, std::nullopt, request_.repro.line()});
  }
  say("compute-sanitizer ran instead of the virtual GPU and found nothing");
  end("ok");
  return Stop();
}

namespace {

std::string no_shape(const shapes::ShapePlan& plan) {
  if (!plan.cases.empty()) return "no shape could be judged";
  return "no shape could be judged: every shape of the task costs too much on this device; give "
         "smaller dims, or raise --budget-seconds";
}

}  // namespace

record::Verdict Gate::conclude() const {
  if (!missing_.empty()) return record::Unknown{missing_};
  if (telling_cells_ == 0) {
    return record::Unknown{
        right_cells_ == 0 ? no_shape((gpu_ ? *gpu_ : virtual_).at->pool->shapes())
        : report_.lint.empty()
            ? "a kernel that writes zeros would be right in every cell: the truth is zero, "
              "NaN, or within its own error of zero everywhere"
            : "no cell can distinguish a right kernel from a wrong one: " + report_.lint.front()};
  }
  record::Passed passed{summary_, right_cells_, deterministic_, batch_, sum_order_};
  passed.complete = covered_.incomplete.empty();
  passed.certified = passed.complete && !report_.replay_seeded;
  passed.below = covered_.below;
  passed.incomplete = covered_.incomplete;
  if (!passed.complete && covered_.missing_from > 0)
    passed.complete_below = static_cast<int64_t>(covered_.missing_from);
  return passed;
}

Result<GateReport> judge(const kernel::Module& module, const GateRequest& request) {
  return Gate(module, request).run();
}

}  // namespace kw::gate
