// Records what was spent: one row per call, successful or not. An unknown cost is marked unknown
// and never counted as 0.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "llm/config.h"
#include "llm/provider.h"

namespace kw::llm {

/// The cost of one exchange, as far as it is known.
struct Charge {
  std::optional<double> usd;      // exact, by the price table
  std::optional<double> at_most;  // set when `usd` is unknown but the price is known
  int64_t tokens = 0;             // as reported, or the upper limit
  std::string unknown;            // why `usd` is unknown; "": it is known
};
/// Without `price` the cost is unknown, unless the call is free.
Charge charge_of(const Request& request, const Outcome& outcome, const std::optional<Price>& price);

/// The outcome of a row that is written before its call is sent.
inline constexpr const char* kUnsettled = "no answer was recorded";

struct LedgerEntry {
  std::string label, provider, model;
  std::string outcome;      // "end", "tool_use", … or the name of a failure; or kUnsettled
  int64_t reservation = 0;  // its number in the job, from 1; 0: it was not reserved
  Usage usage;
  Charge charge;
  double latency_seconds = 0;
  std::vector<std::string> degraded;
};

/// One row as JSON and back; unknown members are ignored.
Json to_json(const LedgerEntry& entry);
LedgerEntry ledger_entry_from_json(const Json& json);

/// The rows of a journal that has each call twice, reserved and settled: a settled row replaces its
/// reservation. A reservation that stays was sent by a process that was killed. It may be charged,
/// so it counts in full.
std::vector<LedgerEntry> settled(const std::vector<LedgerEntry>& rows);
/// How many of the rows are reservations that stayed.
int64_t unsettled(const std::vector<LedgerEntry>& rows);

struct LedgerTotals {
  int64_t calls = 0, failed = 0;
  Usage usage;             // of the calls that reported it
  double usd = 0;          // of the calls whose cost is known
  int64_t unknown = 0;     // the number of calls whose cost is unknown
  double usd_at_most = 0;  // upper limit for those with a known price
  int64_t unpriced = 0;    // the number of those without a price
  double latency_seconds = 0;
};

class Ledger {
 public:
  void add(LedgerEntry entry);
  std::vector<LedgerEntry> entries() const;
  LedgerTotals totals() const;
  /// Entries and totals.
  Json json() const;

 private:
  mutable std::mutex mutex_;
  std::vector<LedgerEntry> entries_;
};

/// "$0.0123", "at least $0.0123 (no price for 1 call)", "unknown (no price for 2 calls)".
std::string cost_text(const LedgerTotals& totals);

/// Writes every call of `inner` into a ledger.
class Accounting : public ProviderDecorator {
 public:
  Accounting(LlmProvider& inner, Ledger& ledger, const Config& config)
      : ProviderDecorator(inner), ledger_(ledger), config_(config) {}
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  Ledger& ledger_;
  const Config& config_;
};

}  // namespace kw::llm
