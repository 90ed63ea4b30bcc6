#include "record/verdict.h"

#include <array>

#include "core/json_writer.h"
#include "sandbox/sandbox.h"

namespace kw::record {

namespace {

constexpr std::array<const char*, 8> kStageNames = {"static",  "compile",     "vgpu",  "numerics",
                                                    "hygiene", "metamorphic", "audit", "timing"};

}  // namespace

const char* stage_name(Stage stage) { return kStageNames[static_cast<size_t>(stage)]; }

void fields(auto& v, Cell& c) {
  v("shape", c.shape)("family", c.family)("certified", c.certified);
  v("seed", computed(c.certified ? std::nullopt : std::optional(c.seed)));
}

void fields(auto& v, Worst& w) {
  v("output", w.output)("index", w.index)("got", w.got)("want", w.want)("bound", w.bound)("z", w.z);
  v("ulps", w.ulps)("why", w.why);
}

void fields(auto& v, ErrorSummary& s) {
  v("max_z", s.max_z)("rms_z", s.rms_z)("max_abs", s.max_abs)("max_rel", s.max_rel);
  v("max_ulps", s.max_ulps)("elements", s.elements)("discontinuous", s.discontinuous);
  v("overflowed", s.overflowed)("overflow_values", s.overflow_values);
  v("overflow_classes", s.overflow_classes)("worst", s.worst)("cell", s.cell);
}

void fields(auto& v, Rejected& r) {
  v("stage", r.stage, kStageNames)("reason", r.reason)("finding", r.finding)("repro", r.repro);
}

void fields(auto& v, Crashed& c) { v("reason", c.what)("cell", c.cell)("repro", c.repro); }

void fields(auto& v, Wrong& w) {
  v("stage", w.stage, kStageNames)("reason", w.reason)("error", w.summary)("repro", w.repro);
}

void fields(auto& v, BatchInvariance& b) {
  v("dims", b.dims)("batches", b.batches)("why", b.why)("most_rows", b.most_rows)("not_tried",
                                                                                  b.not_tried);
}

void fields(auto& v, Passed& p) {
  v("error", p.summary)("cells", p.cells)("deterministic", p.deterministic);
  v("batch_invariant", p.batch.holds)("batch", p.batch)("sum_order", p.sum_order);
  v("complete", p.complete)("certified", p.certified)("below", p.below)("incomplete", p.incomplete);
  v("complete_below", p.complete_below);
}

void fields(auto& v, Unknown& u) { v("missing_evidence", u.missing_evidence); }

Json to_json(const Cell& cell) { return record_json(cell); }
Json to_json(const Worst& worst) { return record_json(worst); }
Json to_json(const ErrorSummary& summary) { return record_json(summary); }

const char* verdict_name(const Verdict& verdict) {
  constexpr std::array<const char*, 5> kNames = {"rejected", "crashed", "wrong", "passed",
                                                 "unknown"};
  static_assert(std::variant_size_v<Verdict> == kNames.size());
  return kNames[verdict.index()];
}

bool passed(const Verdict& verdict) { return std::holds_alternative<Passed>(verdict); }

Json to_json(const Verdict& verdict) {
  JsonWriter writer;
  writer("verdict", verdict_name(verdict))("judge", kJudgeVersion);
  // Written here, so that no verdict can be stored without it.
  writer("unconfined", sandbox::started_unconfined(), Zero::Omit);
  std::visit([&](const auto& outcome) { list_fields(writer, outcome); }, verdict);
  return std::move(writer).take();
}

}  // namespace kw::record
