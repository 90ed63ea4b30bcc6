// Limits on spending: dollars, tokens, calls, wall time. A call that could exceed a limit is
// refused before it is sent. The upper estimate used for this is never below the real cost. It is
// written down before the call is sent: a killed process cannot lose what it spent.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "llm/clock.h"
#include "llm/config.h"
#include "llm/ledger.h"
#include "llm/provider.h"

namespace kw::llm {

/// What to do when there is a limit in dollars and the model has no known price.
enum class UnknownPrice : uint8_t { Refuse, Allow };

struct Limits {
  std::optional<double> usd;
  std::optional<int64_t> tokens, calls;
  std::optional<double> seconds;
  UnknownPrice unknown_price = UnknownPrice::Refuse;
};

/// The account shared by all providers of one job.
class Spending {
 public:
  Spending(Limits limits, Clock& clock) : limits_(limits), clock_(clock), start_(clock.now()) {}

  struct Hold {
    std::optional<double> usd;
    int64_t tokens = 0;
  };
  /// Reserves the most that a call can cost. Returns "", or why the call is refused.
  std::string reserve(const Hold& hold);
  /// Writes each reservation to a disk before its call is sent, so that a killed process leaves a
  /// row for every call. Called from several threads.
  using WriteAhead = std::function<Status(const LedgerEntry&)>;
  void write_ahead(WriteAhead write);
  /// Numbers the reservation and writes it. The Error: the call must not be sent.
  Status record(const Hold& hold, LedgerEntry& entry);
  /// Counts a call of an earlier session: its dollars, tokens and time.
  void restore(const LedgerEntry& entry);
  /// Replaces the reservation by the real cost of the call. An unknown cost counts in full.
  void settle(const Hold& hold, const Charge& charge);
  /// Seconds of wall time left; a large number without a limit.
  double seconds_left();
  /// "$0.1200 of $2.0000 spent", with the other limits that are set.
  std::string text();
  const Limits& limits() const { return limits_; }

 private:
  std::string refusal(const Hold& hold) const;
  double seconds_spent() const { return earlier_seconds_ + clock_.now() - start_; }

  const Limits limits_;
  Clock& clock_;
  const double start_;
  std::mutex mutex_;
  WriteAhead write_;
  double usd_ = 0, usd_held_ = 0, earlier_seconds_ = 0;
  int64_t tokens_ = 0, tokens_held_ = 0, calls_ = 0, reservations_ = 0;
};

class Budgeted : public ProviderDecorator {
 public:
  Budgeted(LlmProvider& inner, Spending& spending, const Config& config)
      : ProviderDecorator(inner), spending_(spending), config_(config) {}
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  Spending& spending_;
  const Config& config_;
};

}  // namespace kw::llm
