// The stages that run the candidate: virtual GPU, numerics, hygiene, relations. The virtual GPU
// checks memory and order on small shapes; if there is a GPU, its values decide. Seeds are secret,
// so a failing cell is run again with public seeds for the repro command. Publishing the secret
// seed would be simpler, but an author could then fit the pool. The cost is up to three more runs
// per failure; only if none fails, the seed is published and replaced. Second runs on the GPU
// compare hashes, so their outputs need no copy.
#include <fmt/core.h>

#include <algorithm>

#include "gate/gate_stages.h"
#include "inputs/families.h"
#include "metric/metric.h"

namespace kw::gate {

namespace {

using record::Stage;

constexpr uint64_t kPublicSeeds = 3;  // tried before a secret seed is published
constexpr double kLongWork = 1e8;     // above this only one public seed is tried
constexpr int kMinimumAlignment = 1;  // devices round it up to each buffer's alignment
constexpr size_t kRelationCells = 2;

std::string came_text(const Judged& judged) {
  return judged.finding
             ? fmt::format("{}: {}", record::finding_name(judged.finding->kind), judged.reason)
             : judged.reason;
}

// Returns whether this shape, or a required one of at least the same work, must be judged.
bool is_due(const shapes::ShapePlan& plan, const shapes::ShapeCase& shape) {
  return std::ranges::any_of(plan.cases, [&](const shapes::ShapeCase& other) {
    return other.demanded && other.work >= shape.work;
  });
}

// In half of the cells no distance between buffers tells the virtual GPU from a device. The seed
// decides, so that a cell that is judged again has the same.
ports::RunOptions options_for(const PoolCell& cell) {
  ports::RunOptions options;
  options.close_buffers = (cell.seed * 0x9e3779b97f4a7c15u) >> 63 != 0;
  return options;
}

}  // namespace

CellRunner Gate::runner(Bench& bench, const ports::RunOptions& options) {
  ports::RunOptions all = options;
  all.threads = request_.threads;
  all.timeout_seconds = request_.timeout_seconds;
  all.hash_seed = bench.at->pool->hash_seed();
  return {bench.programs, matching_, task(), all};
}

/// Returns whether the module serves the shape; lists an unserved shape once.
Result<bool> Gate::serves(Bench& bench, const shapes::ShapeCase& shape) {
  // A recording has the scalars that the host code was called with.
  if (!module_.recorded.empty() && !shape.graph.scalars.empty()) return false;
  const auto selection = bench.programs.select(matching_, task(), shape.graph, shape.dims);
  if (selection) return true;
  const std::string line =
      fmt::format("{}: {}", task::dims_text(shape.dims), selection.error().message);
  if (told_.insert(line).second) report_.skipped.push_back(line);
  return false;
}

Result<Stop> Gate::virtual_stage() {
  begin(Stage::VirtualGpu, "running on the virtual GPU");
  const Pool& pool = *virtual_.at->pool;
  // One set per shape. With a GPU, which judges the values, this is all that the virtual GPU runs.
  std::vector<size_t> chosen;
  for (size_t i = 0; i < pool.cells().size(); ++i) {
    if (i == 0 || pool.cells()[i].shape != pool.cells()[i - 1].shape) chosen.push_back(i);
  }
  Stop stop = KW_TRY(run_cells(virtual_, Stage::VirtualGpu, chosen));
  if (stop) return stop;
  if (!unknown_instruction_.empty()) {
    say(unknown_instruction_);
    end("unknown");
    return Stop();
  }
  // Other orders of blocks and warps must give the same bits; otherwise the candidate is not
  // deterministic.
  for (const bool largest : {false, true}) {
    const std::optional<size_t> cell = first_cell(*virtual_.at->pool, report_.cells, largest);
    if (!cell || (largest && cell == first_cell(*virtual_.at->pool, report_.cells, false)))
      continue;
    stop = KW_TRY(check_order(*cell));
    if (stop) return stop;
  }
  end("ok");
  return Stop();
}

Result<Stop> Gate::numerics_stage() {
  begin(Stage::Numerics, "judging numbers on " + report_.device);
  Bench& bench = judge_bench();
  if (!gpu_ && !unknown_instruction_.empty()) {
    end("skipped");
    return Stop();
  }
  const Pool& pool = *bench.at->pool;
  std::vector<size_t> chosen;
  for (size_t i = 0; i < pool.cells().size(); ++i) {
    const bool done = !gpu_ && (i == 0 || pool.cells()[i].shape != pool.cells()[i - 1].shape);
    if (!done) chosen.push_back(i);
  }
  Stop stop = KW_TRY(run_cells(bench, Stage::Numerics, chosen));
  if (stop) return stop;
  stop = KW_TRY(cover_module(bench));
  if (stop) return stop;
  end("ok");
  return Stop();
}

Result<Stop> Gate::run_cells(Bench& bench, Stage stage, const std::vector<size_t>& cells) {
  const Pool& pool = *bench.at->pool;
  size_t ran = 0;
  for (const size_t cell : cells) {
    KW_TRY(check_interrupt(request_));
    const shapes::ShapeCase& shape = pool.shape(pool.cell(cell));
    const bool served = KW_TRY(serves(bench, shape));
    if (!served || told_.count(task::dims_text(shape.dims)) != 0) continue;
    ++ran;
    Stop stop = KW_TRY(run_cell(bench, stage, cell));
    if (stop) return stop;
    if (!unknown_instruction_.empty() && &bench == &virtual_) return Stop();
  }
  say(fmt::format("{} of {} cells run on {}", ran, cells.size(), bench.at->device->info().name));
  return Stop();
}

Result<SetPtr> Gate::set_of(Bench& bench, size_t cell) {
  Pool& pool = *bench.at->pool;
  const PoolCell& at = pool.cell(cell);
  if (at.family != inputs::kImmediatesFamily) return pool.set(cell);
  return pool.make_set(at.shape, at.family, at.seed, &virtual_.programs.immediates());
}

Result<Stop> Gate::run_cell(Bench& bench, Stage stage, size_t cell) {
  Pool& pool = *bench.at->pool;
  const shapes::ShapeCase& shape = pool.shape(pool.cell(cell));
  const Result<SetPtr> set = set_of(bench, cell);
  if (!set) {
    if (set.error().blame != Blame::Environment || !shape.demanded) return set.error();
    missing_ = set.error().message;
    return Stop();
  }
  const Judged judged = KW_TRY(runner(bench, options_for(pool.cell(cell))).run(shape, **set));
  note_cell(bench, stage, cell, judged);
  switch (judged.result) {
    case CellResult::Right:
      if (&bench != &virtual_) hashes_[cell] = judged.hashes;
      return Stop();
    case CellResult::NotServed: {
      const std::string line = task::dims_text(shape.dims) + ": " + judged.reason;
      if (told_.insert(line).second) report_.skipped.push_back(line);
      const auto chosen = bench.programs.select(matching_, task(), shape.graph, shape.dims);
      if (chosen) covered_.group_unserved.emplace(static_cast<size_t>(chosen->group), line);
      return Stop();
    }
    case CellResult::NoEvidence:
      if (judged.unknown_instruction)
        unknown_instruction_ = "the virtual GPU cannot run it: " + judged.reason;
      else if (judged.too_slow && gpu_ && &bench == &virtual_)
        unknown_instruction_ = judged.reason;  // other checkers can run it
      else if (judged.too_slow && is_due(pool.shapes(), shape)) {
        // A time limit depends on this machine, so the candidate may still be right.
        say(fmt::format("{}: {}", task::dims_text(shape.dims), judged.reason));
        return Stop(record::Unknown{report_.stages.back().lines.back() +
                                    "; raise --timeout to give it more time"});
      } else if (shape.demanded)
        missing_ = fmt::format("{}: {}", task::dims_text(shape.dims), judged.reason);
      else if (told_.insert(task::dims_text(shape.dims)).second)
        report_.skipped.push_back(task::dims_text(shape.dims) + ": " + judged.reason);
      return Stop();
    case CellResult::WrongValue:
      // A real GPU's values decide; the virtual GPU approximates some functions differently.
      if (&bench == &virtual_ && gpu_) {
        say("the virtual GPU differs, the GPU will decide: " + judged.reason);
        return Stop();
      }
      // Hardware flushes subnormals in fp32 atomics in global memory; a kernel cannot avoid that.
      if (pool.cell(cell).family == "denormal" && virtual_.programs.adds_in_memory()) {
        const std::string line = fmt::format(
            "{}, denormal: fp32 atomics in global memory treat subnormal numbers as zero",
            task::dims_text(shape.dims));
        if (told_.insert(line).second) report_.skipped.push_back(line);
        return Stop();
      }
      break;
    default:
      break;
  }
  if (judged.compile_failed) report_.compile_failed = judged.compile_failed;
  KW_TRY(check_alive(bench, judged));
  return Stop(KW_TRY(verdict_of(bench, cell, judged, {}, stage)));
}

void Gate::note_cell(Bench& bench, Stage stage, size_t cell, const Judged& judged) {
  const Pool& pool = *bench.at->pool;
  const PoolCell& at = pool.cell(cell);
  for (const record::Finding& warning : judged.warnings) {
    const std::string key = record::finding_name(warning.kind) + warning.message;
    if (told_.insert(key).second) report_.warnings.push_back(warning);
  }
  for (const std::string& lint : judged.lint) {
    const std::string line =
        fmt::format("{}, {}: {}", task::dims_text(pool.shape(at).dims), at.family, lint);
    if (told_.insert(line).second) report_.lint.push_back(line);
  }
  if (judged.result != CellResult::Right && judged.result != CellResult::WrongValue) return;
  record::ErrorSummary summary = judged.summary;
  summary.cell = cell_record(pool, at);
  report_.cells.push_back({stage, *summary.cell, pool.shape(at).why,
                           judged.result == CellResult::Right, summary, judged.seconds});
  if (judged.result != CellResult::Right || (&bench == &virtual_ && gpu_)) return;
  covered_.group_cells.resize(module_.groups.size());
  covered_.expect(virtual_.programs.immediates());
  covered_.note_right(pool.shape(at), at.family, judged);
  metric::merge(summary, &summary_);
  ++right_cells_;
  if (judged.lint.empty() && judged.telling > 0) ++telling_cells_;
}

// The worker of a crashed kernel has ended; the device must be healthy before the next run.
Status Gate::check_alive(Bench& bench, const Judged& judged) {
  if (judged.result != CellResult::Crash || &bench == &virtual_) return Done{};
  Status healthy = bench.at->device->health();
  if (!healthy) return std::move(healthy).error().context("after the candidate crashed");
  say("after the crash the device is healthy");
  return Done{};
}

namespace {

/// Such as "y[0, 111]"; "" if the failure is not one of values.
std::string worst_place(const Judged& judged) {
  const bool wrong = judged.result == CellResult::WrongValue && judged.summary.worst;
  return wrong ? metric::element_text(*judged.summary.worst) : "";
}

}  // namespace

Result<record::Verdict> Gate::verdict_of(Bench& bench, size_t cell, const Judged& judged,
                                         const ports::RunOptions& options, Stage stage) {
  const Pool& pool = *bench.at->pool;
  const PoolCell at = pool.cell(cell);
  const bool is_virtual = &bench == &virtual_;
  const PublicSeed open = KW_TRY(public_seed(bench, cell, judged, options));
  record::Cell shown = cell_record(pool, at);
  shown.seed = open.seed;
  Judged told = judged;
  if (!open.where.empty() && open.where != worst_place(judged))
    told.reason += fmt::format("; the command that repeats it fails at {}", open.where);
  return verdict_from(told, shown,
                      request_.repro.line(pool.shape(at).dims, at.family, open.seed, is_virtual),
                      stage, is_virtual);
}

// Returns a public seed with which the candidate also fails. If only the cell's own seed fails,
// that is published, and the cell gets a new one.
Result<Gate::PublicSeed> Gate::public_seed(Bench& bench, size_t cell, const Judged& judged,
                                           const ports::RunOptions& options) {
  Pool& pool = *bench.at->pool;
  const PoolCell at = pool.cell(cell);
  if (pool.replayable()) return PublicSeed{at.seed, ""};
  if (judged.result == CellResult::NotCompiled) return PublicSeed{1, ""};
  const bool whole = pool.shape(at).work > kLongWork;
  for (uint64_t seed = 1; seed <= (whole ? 1 : kPublicSeeds); ++seed) {
    const Result<SetPtr> set =
        pool.make_set(at.shape, at.family, seed, &virtual_.programs.immediates());
    if (!set) break;
    const Judged again = KW_TRY(runner(bench, options).run(pool.shape(at), **set));
    if (again.failed()) return PublicSeed{seed, worst_place(again)};
  }
  KW_TRY(pool.renew(cell, request_.entropy));
  return PublicSeed{at.seed, ""};
}

record::Verdict verdict_from(const Judged& judged, const record::Cell& cell, std::string repro,
                             Stage stage, bool is_virtual) {
  const std::string at = cell.shape.empty() ? cell.family : cell.shape + ", " + cell.family;
  switch (judged.result) {
    case CellResult::Found:
      return record::Rejected{is_virtual ? Stage::VirtualGpu : Stage::Hygiene,
                              fmt::format("{} (at {})", came_text(judged), at), judged.finding,
                              std::move(repro)};
    case CellResult::Refused:
      return record::Rejected{Stage::Static,
                              fmt::format("the device refuses it at {}: {}", at, judged.reason),
                              std::nullopt, std::move(repro)};
    case CellResult::NotCompiled:
      return record::Rejected{Stage::Compile, fmt::format("it does not compile for {}", at),
                              std::nullopt, std::move(repro)};
    case CellResult::Crash:
      return record::Crashed{fmt::format("{} (at {})", judged.reason, at), cell, std::move(repro)};
    default: {
      record::ErrorSummary summary = judged.summary;
      summary.cell = cell;
      const bool relation = stage == Stage::Metamorphic;
      return record::Wrong{summary, std::move(repro), judged.reason,
                           relation ? Stage::Metamorphic : Stage::Numerics};
    }
  }
}

std::optional<size_t> first_cell(const Pool& pool, const std::vector<CellReport>& judged,
                                 bool largest) {
  std::optional<size_t> found;
  for (size_t i = 0; i < pool.cells().size(); ++i) {
    const shapes::ShapeCase& shape = pool.shape(pool.cells()[i]);
    const bool known = std::ranges::any_of(judged, [&](const CellReport& cell) {
      return cell.cell.shape == task::dims_text(shape.dims) && cell.summary.elements > 1;
    });
    if (!known || (i > 0 && pool.cells()[i - 1].shape == pool.cells()[i].shape)) continue;
    if (!found || largest || !shape.demanded) found = i;
    if (!largest && shape.work > 1e4) break;
  }
  return found;
}

Result<Stop> Gate::hygiene_stage() {
  begin(Stage::Hygiene, "checking memory and determinism");
  if (!gpu_) {
    say("poison, bounds, writes to inputs and uninitialised data were watched in every run");
    const std::optional<size_t> cell = first_cell(*virtual_.at->pool, report_.cells, false);
    if (cell && unknown_instruction_.empty()) {
      Stop stop = KW_TRY(check_alignment(virtual_, *cell));
      if (stop) return stop;
      say("right with every buffer at its minimum alignment");
    }
    end("ok");
    return Stop();
  }
  say("poison, guard zones and inputs were checked after every run");
  for (const bool largest : {false, true}) {
    const std::optional<size_t> cell = first_cell(*gpu_->at->pool, report_.cells, largest);
    if (!cell || hashes_.count(*cell) == 0) continue;
    if (largest && cell == first_cell(*gpu_->at->pool, report_.cells, false)) continue;
    KW_TRY(check_interrupt(request_));
    Stop stop = KW_TRY(check_alignment(*gpu_, *cell));
    if (!stop) stop = KW_TRY(check_determinism(*cell));
    if (stop) return stop;
  }
  say("right with every buffer at its minimum alignment");
  end("ok");
  return Stop();
}

Result<Gate::RerunResult> Gate::run_again(size_t cell, const ports::RunOptions& options) {
  Pool& pool = *gpu_->at->pool;
  const SetPtr set = KW_TRY(pool.set(cell));
  ports::RunOptions there = options;
  there.copy_outputs = false;
  RerunResult again;
  again.judged =
      KW_TRY(runner(*gpu_, there).run(pool.shape(pool.cell(cell)), set->inputs, {}, set->hashes));
  const std::vector<uint64_t>& judged = hashes_.at(cell);
  again.same_bits =
      again.judged.result == CellResult::Right && !judged.empty() && judged == again.judged.hashes;
  return again;
}

Result<Stop> Gate::check_alignment(Bench& bench, size_t cell) {
  Pool& pool = *bench.at->pool;
  ports::RunOptions options;
  options.misalign_bytes = kMinimumAlignment;
  Judged judged;
  if (&bench != &virtual_) {
    RerunResult again = KW_TRY(run_again(cell, options));
    if (again.same_bits) return Stop();  // the same bits as judged
    judged = std::move(again.judged);
  }
  if (!judged.failed()) {
    const SetPtr set = KW_TRY(pool.set(cell));
    judged = KW_TRY(runner(bench, options).run(pool.shape(pool.cell(cell)), *set));
  }
  if (judged.result == CellResult::NoEvidence)
    return Stop(record::Unknown{"with every buffer at its minimum alignment: " + judged.reason});
  if (!judged.failed()) return Stop();
  KW_TRY(check_alive(bench, judged));
  judged.reason = "with every buffer at its minimum alignment: " + judged.reason;
  return Stop(KW_TRY(verdict_of(bench, cell, judged, options, Stage::Hygiene)));
}

Result<Stop> Gate::check_determinism(size_t cell) {
  Pool& pool = *gpu_->at->pool;
  const shapes::ShapeCase& shape = pool.shape(pool.cell(cell));
  RerunResult again = KW_TRY(run_again(cell, {}));
  Judged& judged = again.judged;
  if (!again.same_bits && !judged.failed()) {
    // The bits differ: judge whether they are right too.
    const SetPtr set = KW_TRY(pool.set(cell));
    judged = KW_TRY(runner(*gpu_, {}).run(shape, *set));
  }
  if (judged.failed()) {
    KW_TRY(check_alive(*gpu_, judged));
    return Stop(KW_TRY(verdict_of(*gpu_, cell, judged, {}, Stage::Hygiene)));
  }
  return note_determinism(shape, again.same_bits);
}

// The virtual GPU itself runs blocks and warps in other orders and warns about differences.
Result<Stop> Gate::check_order(size_t cell) {
  Pool& pool = *virtual_.at->pool;
  const shapes::ShapeCase& shape = pool.shape(pool.cell(cell));
  const SetPtr set = KW_TRY(pool.set(cell));
  ports::RunOptions options;
  options.check_order = true;
  const Judged judged = KW_TRY(runner(virtual_, options).run(shape, *set));
  if (judged.failed() && !(gpu_ && judged.result == CellResult::WrongValue))
    return Stop(KW_TRY(verdict_of(virtual_, cell, judged, options, Stage::Hygiene)));
  if (judged.result == CellResult::NoEvidence) {
    say(fmt::format("{}: not run in other orders: {}", task::dims_text(shape.dims), judged.reason));
    return Stop();
  }
  bool same = true;
  for (const record::Finding& warning : judged.warnings) {
    same = same && warning.kind != record::FindingKind::OrderDependence;
    if (told_.insert(record::finding_name(warning.kind) + warning.message).second)
      report_.warnings.push_back(warning);
  }
  return note_determinism(shape, same);
}

Stop Gate::note_determinism(const shapes::ShapeCase& shape, bool same) {
  deterministic_ = deterministic_.value_or(true) && same;
  say(fmt::format("{}: {}", task::dims_text(shape.dims),
                  same ? "the same bits again" : "different bits in another run"));
  if (same || !task().precision.deterministic) return Stop();
  return record::Rejected{Stage::Hygiene,
                          "two runs with the same inputs differ, and the task demands determinism",
                          std::nullopt, request_.repro.line()};
}

Result<Stop> Gate::metamorphic_stage() {
  begin(Stage::Metamorphic, "checking relations");
  Bench& bench = judge_bench();
  if (!gpu_ && !unknown_instruction_.empty()) {
    end("skipped");
    return Stop();
  }
  const Pool& pool = *bench.at->pool;
  size_t used = 0;
  for (size_t cell = pool.cells().size() / 2; cell < pool.cells().size(); ++cell) {
    const shapes::ShapeCase& shape = pool.shape(pool.cell(cell));
    if (pool.cell(cell).family != "normal" || used == kRelationCells) continue;
    const bool served = KW_TRY(serves(bench, shape));
    if (!served) continue;
    ++used;
    for (const Relation& relation : find_relations(shape.graph)) {
      KW_TRY(check_interrupt(request_));
      Stop stop = KW_TRY(run_relation(bench, relation, cell));
      if (stop) return stop;
    }
  }
  if (report_.stages.back().lines.empty()) say("the graph shows no relation that could be checked");
  end("ok");
  return Stop();
}

Result<Stop> Gate::run_relation(Bench& bench, const Relation& relation, size_t cell) {
  Pool& pool = *bench.at->pool;
  const PoolCell at = pool.cell(cell);
  const SetPtr set = KW_TRY(pool.set(cell));
  const shapes::ShapeCase& shape = pool.shape(at);
  const Truths truth_of = [&](const std::vector<tensor::HostTensor>& inputs) {
    return pool.truths(at.shape, inputs);
  };
  std::optional<Changed> changed = KW_TRY(apply(relation, shape.graph, set->inputs, set->truths,
                                                inputs::derive_seed(at.seed, 99), truth_of));
  if (!changed) return Stop();
  shapes::ShapeCase other = shape;
  if (relation.kind == RelationKind::Split) {
    other.dims[relation.dim] = changed->extent;
    const auto range = task().dims.find(relation.dim);
    if (range != task().dims.end() && !range->second.takes(changed->extent)) return Stop();
    Result<graph::Graph> graph = task().graph_at(other.dims);
    if (graph && !shape.graph.scalars.empty())
      graph = task::with_scalars(task(), other.dims, std::move(*graph), shape.graph.scalars);
    if (!graph) return Stop();
    other.graph = std::move(graph).value();
    // An extent may be B here by chance: that of zeros(6, 3) where B is 6.
    for (size_t i = 0; i < other.graph.outputs.size(); ++i) {
      const graph::Shape& shape_now = other.graph[other.graph.outputs[i].node].shape;
      if (i < changed->truths.size() && graph::values_of(shape_now) != changed->truths[i].shape)
        return Stop();
    }
    const bool served = KW_TRY(serves(bench, other));
    if (!served) return Stop();
  }
  if (!changed->before.empty()) {
    const Judged first = KW_TRY(runner(bench, {}).run(other, changed->before, {}));
    if (first.result != CellResult::Right) return Stop();  // the next call fails in the same way
    subtract(first.outputs, &changed->truths);
  }
  const Judged judged = KW_TRY(runner(bench, {}).run(other, changed->inputs, changed->truths));
  say(fmt::format("{} at {}: {}", relation.what, task::dims_text(other.dims),
                  judged.failed()                           ? "violated"
                  : judged.result == CellResult::NoEvidence ? "not judged, " + judged.reason
                                                            : "holds"));
  if (!judged.failed() || (&bench == &virtual_ && gpu_)) return Stop();
  KW_TRY(check_alive(bench, judged));
  Judged told = judged;
  told.reason = relation.what + ": " + judged.reason;
  return Stop(verdict_from(told, cell_record(pool, at), request_.repro.line(), Stage::Metamorphic,
                           &bench == &virtual_));
}

}  // namespace kw::gate
