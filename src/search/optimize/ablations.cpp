// To know what a method is worth, the judge races the champion against the same kernel without that
// method. That kernel comes from the champion's own `method … off` switch, or from a file that an
// agent wrote. The switch is preferred: it changes known tunables, and the note lists what else
// changed. Guessing a method's effect from the parent was the alternative; several methods change
// at once there. The cost: a kernel with neither switch nor file has no attribution, and its method
// cannot count as effective. attribution.json holds the results and is read back by later steps.
#include "optimize/ablations.h"

#include <fmt/core.h>

#include "core/contains.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "kernel/methods.h"
#include "kernel/parse_module.h"
#include "optimize/claims.h"

namespace kw::optimize {
namespace {

using Kind = Attribution::Kind;

constexpr Kind kKinds[] = {Kind::Measured, Kind::Estimated, Kind::Essential, Kind::Broken,
                           Kind::Missing};

std::string own_name(int iteration, const std::string& method) {
  return Folder::in_iteration(iteration, fmt::format("ablations/no_{}/kernel.cu", method));
}

/// Every accepted spelling of an ablation's folder.
std::vector<std::string> spellings(const std::string& method) {
  const std::string flat = replace_all(method, ".", "_");
  const std::string bare = method.substr(method.find('.') + 1);
  return {"no_" + method, "no_" + flat, flat, method, "no_" + bare, bare};
}

std::string switch_note(const kernel::SwitchedOff& off) {
  std::vector<std::string> notes;
  if (!off.also_off.empty()) notes.push_back("switched off with it: " + join(off.also_off, ", "));
  if (!off.moved.empty()) notes.push_back("changed with it: " + join(off.moved, ", "));
  return join(notes, "; ");
}

/// Uses the champion's own `method … off` line.
bool by_switch(const std::string& champion, Ablation& ablation) {
  const kernel::ParseOutcome parsed = kernel::parse(champion, "kernel.cu");
  if (!parsed.module) return false;
  const Result<kernel::SwitchedOff> off = kernel::without_method(*parsed.module, ablation.method);
  if (!off) {
    ablation.note = off.error().message;
    return false;
  }
  ablation.text = off->text;
  ablation.note = switch_note(*off);
  ablation.source = "switch";
  return true;
}

bool by_file(const Folder& folder, const std::string& champion, Ablation& ablation) {
  for (const std::string& name : spellings(ablation.method)) {
    const std::string file =
        Folder::in_iteration(folder.state.iter, fmt::format("ablations/{}/kernel.cu", name));
    if (!folder.has(file)) continue;
    const Result<std::string> text = folder.read(file, kMostKernelBytes);
    if (!text || *text == champion) {
      ablation.note = text ? file + " is the champion, unchanged" : text.error().message;
      continue;
    }
    ablation.file = file;
    ablation.text = *text;
    ablation.source = "supplied";
    ablation.note.clear();
    return true;
  }
  return false;
}

}  // namespace

Ablation find_ablation(const Folder& folder, const std::string& champion,
                       const std::string& method) {
  Ablation ablation;
  ablation.method = method;
  ablation.source = "none";
  if (by_switch(champion, ablation)) {
    ablation.file = own_name(folder.state.iter, method);
    return ablation;
  }
  if (by_file(folder, champion, ablation)) return ablation;
  ablation.note += fmt::format(
      "{}a 'method {} …, off …' line in the kernel, or ablations/no_{}/kernel.cu, shows its effect",
      ablation.note.empty() ? "" : "; ", method, method);
  return ablation;
}

std::vector<std::string> unclaimed_methods(const State& state, const std::string& champion,
                                           const std::vector<std::string>& claimed) {
  std::vector<std::string> found;
  const kernel::ParseOutcome parsed = kernel::parse(champion, "kernel.cu");
  if (!parsed.module) return found;
  const auto tunes = kernel::default_tunes(*parsed.module);
  if (!tunes) return found;
  for (const std::string& id : kernel::active_methods(*parsed.module, *tunes)) {
    if (claimed.size() + found.size() >= kMostClaims) break;
    if (contains(claimed, id) || contains(state.best.methods, id)) continue;
    if (kernel::without_method(*parsed.module, id)) found.push_back(id);
  }
  return found;
}

Json attribution_document(const State& state, const std::vector<Ablation>& ablations) {
  const std::optional<double> us = state.champion ? state.champion->us : std::nullopt;
  JsonWriter v;
  v("iter", state.iter)("champion_ms", ms_of(us));
  v("measured", state.champion && state.champion->measured);
  v("noise_threshold_pct", state.threshold_pct());
  v("attributions", json_list(ablations, [&](auto& row, const Ablation& one) {
      const Attribution& a = one.attribution;
      row("method_id", one.method)("claimed", one.claimed)("ablated_kernel", one.file);
      row("source", one.source)("kind", attribution_name(a.kind));
      row("ablated_ms", ms_of(a.ablated_us))("champion_ms", ms_of(us));
      row("attribution_ms", a.known_ms(us))("attribution_pct", a.known_pct());
      row("interval_pct", a.interval_pct());
      row("contributed", a.kind == Kind::Measured    ? Json(a.low > state.threshold_pct())
                         : a.kind == Kind::Essential ? Json(true)
                                                     : Json());
      row("note", one.note)("problem", a.note);
    }));
  return v.take();
}

std::vector<Ablation> ablations_of(const Json& document) {
  std::vector<Ablation> ablations;
  for (const Json& row : document["attributions"].items()) {
    Ablation one;
    one.method = row["method_id"].as_string();
    one.claimed = row["claimed"].as_bool(true);
    one.file = row["ablated_kernel"].as_string();
    one.source = row["source"].as_string();
    one.note = row["note"].as_string();
    Attribution& a = one.attribution;
    for (const Kind kind : kKinds) {
      if (row["kind"].as_string() == attribution_name(kind)) a.kind = kind;
    }
    a.note = row["problem"].as_string();
    if (row["ablated_ms"].is_number()) a.ablated_us = row["ablated_ms"].as_double() * 1000;
    a.pct = a.low = a.high = row["attribution_pct"].as_double();
    const Json::Array& interval = row["interval_pct"].items();
    if (interval.size() == 2) {
      a.low = interval[0].as_double();
      a.high = interval[1].as_double();
    }
    ablations.push_back(std::move(one));
  }
  return ablations;
}

Result<std::vector<Ablation>> read_ablations(const Folder& folder) {
  const std::string name = Folder::in_iteration(folder.state.iter, "attribution.json");
  const std::string text = KW_TRY(folder.read_stamped(name));
  const Json document = KW_TRY(Json::parse(text));
  std::vector<Ablation> ablations = ablations_of(document);
  for (Ablation& one : ablations) {
    if (!one.file.empty()) one.text = KW_TRY(folder.read_stamped(one.file));
  }
  return ablations;
}

}  // namespace kw::optimize
