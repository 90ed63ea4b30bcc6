#include "mutating_compiler.h"

#include <fmt/core.h>

#include <set>

#include "core/text.h"

namespace kw::mutation {

namespace {

std::string without_plan(const std::string& source) {
  std::string text;
  for (const std::string_view line : split_lines(source)) {
    if (trim(line).substr(0, 3) != "//!") text += std::string(line);
    text += '\n';  // lines keep their numbers
  }
  return text;
}

std::string key_of(const ports::CompileRequest& request) {
  std::string key = fmt::format("{} {} ", request.target, static_cast<int>(request.image));
  for (const auto& [name, value] : request.defines) key += fmt::format("{}={};", name, value);
  for (const std::string& kernel : request.kernels) key += kernel + ";";
  return key + without_plan(request.source);
}

}  // namespace

std::string MutatingCompiler::mutated(const Entry& entry) const {
  std::map<size_t, std::string> lines;
  for (const Mutation& one : same_mutations(*entry.lines, *mutation_, seed_)) {
    const Instruction& at = entry.lines->instructions()[one.instruction];
    lines[at.line] = version_ == Version::TrapsWhenReached    ? "trap;\n\t" + at.text()
                     : version_ == Version::TrapsWhenInfected ? one.probe
                                                              : one.text;
  }
  return entry.lines->replaced(lines);
}

Result<ports::CompileOutcome> MutatingCompiler::compile(const ports::CompileRequest& request) {
  const std::string key = key_of(request);
  auto at = known_.find(key);
  if (at == known_.end()) {
    Entry entry;
    entry.outcome = KW_TRY(inner_.compile(request));
    if (entry.outcome.compiled)
      entry.lines = std::make_unique<PtxLines>(entry.outcome.compiled->image);
    at = known_.emplace(key, std::move(entry)).first;
  }
  ports::CompileOutcome outcome = at->second.outcome;
  if (version_ == Version::Original || mutation_->is_plan() || !outcome.compiled) return outcome;
  outcome.compiled->image = mutated(at->second);
  return outcome;
}

bool MutatingCompiler::changes_live_code() const {
  for (const auto& [key, entry] : known_) {
    if (entry.lines != nullptr && !same_live_code(mutated(entry), entry.outcome.compiled->image))
      return true;
  }
  return false;
}

std::vector<Mutation> MutatingCompiler::mutations() const {
  std::vector<Mutation> all;
  std::set<std::string> seen;
  for (const PtxLines* lines : texts()) {
    for (Mutation& one : ptx_mutations(*lines, seed_)) {
      if (seen.insert(one.key()).second) all.push_back(std::move(one));
    }
  }
  return all;
}

std::vector<const PtxLines*> MutatingCompiler::texts() const {
  std::vector<const PtxLines*> all;
  for (const auto& [key, entry] : known_) {
    if (entry.lines != nullptr) all.push_back(entry.lines.get());
  }
  return all;
}

}  // namespace kw::mutation
