#include "torch_worker/torch_outcome.h"

#include <fmt/core.h>

#include "core/check.h"

namespace kw::torch_worker {
namespace {

struct OutcomeRow {
  TorchKind kind;
  const char* name;
  const char* words;
};
constexpr OutcomeRow kOutcomes[] = {
    {TorchKind::Ok, "Ok", "it worked"},
    {TorchKind::NoTorch, "NoTorch", "there is no PyTorch"},
    {TorchKind::NoCuda, "NoCuda", "PyTorch has no GPU"},
    {TorchKind::BadSource, "BadSource", "the reference cannot be loaded"},
    {TorchKind::MissingModule, "MissingModule",
     "the reference imports a module that is not installed"},
    {TorchKind::NotFound, "NotFound", "there is no such reference"},
    {TorchKind::BadArguments, "BadArguments", "the arguments do not fit the reference"},
    {TorchKind::Raised, "Raised", "the reference raised"},
    {TorchKind::BadReturn, "BadReturn", "the reference returned no tensor"},
    {TorchKind::OutOfMemory, "OutOfMemory", "the reference ran out of memory"},
    {TorchKind::Unsupported, "Unsupported", "PyTorch cannot do it"},
    {TorchKind::TimedOut, "TimedOut", "the reference did not finish"},
    {TorchKind::Died, "Died", "the torch process died"},
    {TorchKind::Garbled, "Garbled", "the torch process sent an invalid answer"},
    {TorchKind::Failed, "Failed", "the torch process could not be used"},
};

const OutcomeRow& row(TorchKind kind) {
  const auto index = static_cast<size_t>(kind);
  KW_CHECK(index < std::size(kOutcomes) && kOutcomes[index].kind == kind,
           "one row per kind, in order");
  return kOutcomes[index];
}

}  // namespace

const char* torch_kind_name(TorchKind kind) { return row(kind).name; }

std::optional<TorchKind> torch_kind_from_name(std::string_view name) {
  for (const OutcomeRow& each : kOutcomes) {
    if (name == each.name) return each.kind;
  }
  return std::nullopt;
}

std::string outcome_text(const TorchOutcome& outcome) {
  const char* words = row(outcome.kind).words;
  return outcome.message.empty() ? words : fmt::format("{}: {}", words, outcome.message);
}

}  // namespace kw::torch_worker
