// Counts what each call cost, also when the cost is unknown. A reply with usage and a price has an
// exact cost. A lost reply may still be charged, so it has an upper limit: all input bytes as
// tokens plus max_tokens. A call without a price has no limit at all and is counted as unpriced.
// Counting unknown costs as 0 would be simpler, but a budget would then be exceeded silently. The
// cost: after lost replies the total is a range ("between … and …"), not a number.
#include "llm/ledger.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/json_reader.h"
#include "core/json_writer.h"
#include "llm/message_json.h"

namespace kw::llm {
namespace {

/// Whether a failed exchange may be charged: the provider read it and did not answer with an error.
bool may_be_charged(const Failure& failure) {
  if (!failure.sent || failure.status >= 300) return false;
  switch (failure.kind) {
    case FailureKind::Timeout:
    case FailureKind::CutOff:
    case FailureKind::InvalidReply:
    case FailureKind::Cancelled:
    case FailureKind::Server:
    case FailureKind::Network:
    case FailureKind::Overloaded:
      return true;
    default:
      return false;
  }
}

}  // namespace

void fields(auto& v, LedgerEntry& e) {
  v("label", e.label)("provider", e.provider)("model", e.model)("outcome", e.outcome);
  v("reservation", e.reservation, Zero::Omit);
  v("usage", e.usage)("usd", e.charge.usd)("usd_at_most", e.charge.at_most, Zero::Omit);
  v("usd_unknown", e.charge.unknown, Zero::Omit)("tokens", e.charge.tokens);
  v("latency_seconds", e.latency_seconds)("degraded", e.degraded, Zero::Omit);
}

Json to_json(const LedgerEntry& entry) { return record_json(entry); }

LedgerEntry ledger_entry_from_json(const Json& json) {
  auto entry = read_record<LedgerEntry>(json);
  if (!json["tokens"].is_int()) entry.charge.tokens = entry.usage.total();
  return entry;
}

Charge charge_of(const Request& request, const Outcome& outcome,
                 const std::optional<Price>& price) {
  Charge charge;
  const bool free =
      !outcome && !outcome.failure().usage.known && !may_be_charged(outcome.failure());
  if (free) {
    charge.usd = 0;
    return charge;
  }
  const Usage& usage = outcome ? outcome->usage : outcome.failure().usage;
  const int64_t most_input = most_input_tokens(request);
  charge.tokens = usage.known ? usage.total() : most_input + request.max_tokens;
  if (!price) {
    charge.unknown = fmt::format("no price for {}", request.model);
  } else if (!usage.known) {
    charge.at_most = price->most_usd(most_input, request.max_tokens);
    charge.unknown = outcome ? "the provider reported no usage" : "the reply was lost";
    if (*charge.at_most == 0) charge = {0.0, std::nullopt, charge.tokens, ""};
  } else {
    charge.usd = price->usd(usage);
  }
  return charge;
}

void Ledger::add(LedgerEntry entry) {
  const std::lock_guard lock(mutex_);
  entries_.push_back(std::move(entry));
}

std::vector<LedgerEntry> Ledger::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

std::vector<LedgerEntry> settled(const std::vector<LedgerEntry>& rows) {
  std::set<int64_t> done;
  for (const LedgerEntry& row : rows) {
    if (row.outcome != kUnsettled) done.insert(row.reservation);
  }
  std::vector<LedgerEntry> left;
  for (const LedgerEntry& row : rows) {
    if (row.outcome != kUnsettled || done.insert(row.reservation).second) left.push_back(row);
  }
  return left;
}

int64_t unsettled(const std::vector<LedgerEntry>& rows) {
  return std::ranges::count(rows, kUnsettled, &LedgerEntry::outcome);
}

LedgerTotals Ledger::totals() const {
  LedgerTotals totals;
  for (const LedgerEntry& entry : entries()) {
    ++totals.calls;
    totals.failed += failure_kind(entry.outcome).has_value();
    totals.latency_seconds += entry.latency_seconds;
    if (entry.usage.known) {
      totals.usage.known = true;
      totals.usage.input += entry.usage.input;
      totals.usage.output += entry.usage.output;
      totals.usage.cache_read += entry.usage.cache_read;
      totals.usage.cache_write += entry.usage.cache_write;
      totals.usage.reasoning += entry.usage.reasoning;
    }
    totals.usd += entry.charge.usd.value_or(0);
    totals.unknown += !entry.charge.usd.has_value();
    totals.usd_at_most += entry.charge.at_most.value_or(0);
    totals.unpriced += !entry.charge.usd && !entry.charge.at_most;
  }
  return totals;
}

Json Ledger::json() const {
  const LedgerTotals sum = totals();
  JsonWriter v;
  v("calls", entries());
  v.group("total", [&sum](auto& g) {
    g("calls", sum.calls)("failed", sum.failed)("usage", sum.usage);
    g("usd", sum.unpriced == 0 ? Json(sum.usd) : Json())("usd_known", sum.usd);
    g("calls_of_unknown_cost", sum.unknown)("usd_at_most_unknown", sum.usd_at_most);
    g("calls_without_price", sum.unpriced)("latency_seconds", sum.latency_seconds);
    g("text", cost_text(sum));
  });
  return v.take();
}

std::string cost_text(const LedgerTotals& totals) {
  const auto calls = [](int64_t n) { return fmt::format("{} call{}", n, n == 1 ? "" : "s"); };
  if (totals.unpriced > 0 && totals.usd == 0 && totals.usd_at_most == 0)
    return fmt::format("unknown (no price for {})", calls(totals.unpriced));
  if (totals.unpriced > 0)
    return fmt::format("at least {} (no price for {})", usd_text(totals.usd),
                       calls(totals.unpriced));
  if (totals.unknown > 0) {
    return fmt::format("between {} and {} ({} whose usage was not reported)", usd_text(totals.usd),
                       usd_text(totals.usd + totals.usd_at_most), calls(totals.unknown));
  }
  return usd_text(totals.usd);
}

Outcome Accounting::complete(const Request& request, const Watch& watch) {
  Outcome outcome = inner_.complete(request, watch);
  LedgerEntry entry;
  entry.label = request.label;
  entry.provider = inner_.name();
  entry.model = request.model;
  entry.reservation = request.reservation;
  entry.outcome = outcome ? stop_name(outcome->stop) : failure_name(outcome.failure().kind);
  entry.usage = outcome ? outcome->usage : outcome.failure().usage;
  entry.charge = charge_of(request, outcome, config_.price(inner_.name(), request.model));
  entry.latency_seconds = outcome ? outcome->latency_seconds : outcome.failure().latency_seconds;
  if (outcome) entry.degraded = outcome->degraded;
  ledger_.add(std::move(entry));
  return outcome;
}

}  // namespace kw::llm
