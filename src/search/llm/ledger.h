// What was spent: one row per call, whether it succeeded or not. A cost that is not known is said
// to be unknown and never counted as nothing.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "llm/config.h"
#include "llm/provider.h"

namespace kw::llm {

/// What one exchange cost, as far as can be told.
struct Charge {
  std::optional<double> usd;      // exactly, by the table
  std::optional<double> at_most;  // when `usd` is unknown but the price is not
  int64_t tokens = 0;             // counted, or the most it can have been
  std::string unknown;            // why `usd` is unknown; "" = it is known
};
/// `price` may be absent.
Charge charge_of(const Request& request, const Outcome& outcome, const std::optional<Price>& price);

struct LedgerEntry {
  std::string label, provider, model;
  std::string outcome;  // "end", "tool_use", … or a failure's name
  Usage usage;
  Charge charge;
  double latency_seconds = 0;
  std::vector<std::string> degraded;
};

/// One row, and the way back (unknown members are passed over).
Json to_json(const LedgerEntry& entry);
LedgerEntry ledger_entry_from_json(const Json& json);

struct LedgerTotals {
  int64_t calls = 0, failed = 0;
  Usage usage;             // of the calls that reported it
  double usd = 0;          // of the calls whose cost is known
  int64_t unknown = 0;     // calls whose cost is not
  double usd_at_most = 0;  // of those, where the price is known
  int64_t unpriced = 0;    // of those, where it is not
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

/// "$0.0123", "at least $0.0123 (1 call of unknown price)", "unknown (no price for 2 calls)".
std::string cost_text(const LedgerTotals& totals);

/// Writes every call of `inner` into a ledger.
class Accounting : public LlmProvider {
 public:
  Accounting(LlmProvider& inner, Ledger& ledger, const Config& config)
      : inner_(inner), ledger_(ledger), config_(config) {}
  std::string name() const override { return inner_.name(); }
  Capabilities capabilities() const override { return inner_.capabilities(); }
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  LlmProvider& inner_;
  Ledger& ledger_;
  const Config& config_;
};

}  // namespace kw::llm
