// Random faults of a provider and leaps of the clock under the decorators that spend money: never
// more than the budget, every call that was sent is in the ledger, and a failure is one of ours.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "llm/budget.h"
#include "llm/faults.h"
#include "llm/ledger.h"
#include "llm/retry.h"
#include "share.h"

namespace kw::faults {
namespace {

/// Answers, counts what it is asked, and lets time pass.
class Answering : public llm::LlmProvider {
 public:
  Answering(llm::FakeClock& clock, Random& random) : clock_(clock), random_(random) {}
  std::string name() const override { return "anthropic"; }
  llm::Capabilities capabilities() const override { return {}; }
  llm::Outcome complete(const llm::Request& request, const llm::Watch&) override {
    ++asked;
    clock_.advance(random_.below(20) == 0 ? 7200 : 1);
    llm::Reply reply;
    reply.text = "here";
    reply.usage.input = 10;
    reply.usage.output =
        1 + static_cast<int64_t>(random_.below(static_cast<uint64_t>(request.max_tokens)));
    reply.usage.known = random_.below(10) != 0;
    usd += 1e-6 * (3 * static_cast<double>(reply.usage.input) +
                   15 * static_cast<double>(reply.usage.output));
    return reply;
  }
  int64_t asked = 0;
  double usd = 0;  // what it charges, as it would for Sonnet

 private:
  llm::FakeClock& clock_;
  Random& random_;
};

std::vector<llm::Fault> some_faults(Random& random, int count) {
  std::vector<llm::Fault> faults;
  for (int i = 0; i < count; ++i) {
    // A reply that is lost costs money; a refusal does not.
    constexpr llm::FailureKind kLost[] = {llm::FailureKind::Timeout, llm::FailureKind::CutOff,
                                          llm::FailureKind::Network, llm::FailureKind::Cancelled};
    llm::Fault fault;
    fault.call = 1 + static_cast<int64_t>(random.below(20));
    fault.failure.kind = static_cast<llm::FailureKind>(
        random.below(static_cast<uint64_t>(llm::FailureKind::Unavailable) + 1));
    fault.failure.message = "injected";
    // A request that we refused to send would be a bug of ours.
    fault.failure.sent = fault.failure.kind == llm::FailureKind::BadRequest;
    if (random.below(4) == 0) fault.failure.retry_after_seconds = random.below(400);
    if (random.below(2) == 0) {
      fault.time = llm::FaultTime::After;
      fault.failure.kind = kLost[random.below(std::size(kLost))];
    }
    faults.push_back(std::move(fault));
  }
  return faults;
}

TEST(FaultsOfAProvider, SpendNoMoreThanTheBudget) {
  const llm::Config config = llm::parse_config("", "p.toml").value();
  const int all = share_of_faults(0.15);
  constexpr int kFaults = 5;
  for (int injected = 0; injected < all; injected += kFaults) {
    SCOPED_TRACE(injected);
    Random random(static_cast<uint64_t>(injected) + 1);
    llm::FakeClock clock;
    Answering provider(clock, random);
    llm::Faulty faulty(provider, some_faults(random, kFaults));
    llm::Ledger ledger;
    llm::Accounting accounting(faulty, ledger, config);
    llm::Limits limits;
    limits.usd = 0.02 + 0.01 * static_cast<double>(random.below(10));
    limits.calls = 5 + static_cast<int64_t>(random.below(30));
    llm::Spending spending(limits, clock);
    llm::Budgeted budgeted(accounting, spending, config);
    llm::Retrying retrying(budgeted, {}, clock, 1);
    for (int i = 0; i < 12; ++i) {
      llm::Request request;
      request.model = "claude-sonnet-4-6";
      request.messages = {llm::user_message("go")};
      request.max_tokens = 1000;
      const llm::Outcome outcome = retrying.complete(request, {});
      if (outcome) continue;
      ASSERT_FALSE(outcome.failure().message.empty());
      ASSERT_NE(outcome.failure().blame(), Blame::Bug);
    }
    ASSERT_LE(provider.usd, *limits.usd);
    ASSERT_LE(provider.asked, *limits.calls);
    const llm::LedgerTotals totals = ledger.totals();
    ASSERT_GE(totals.calls, provider.asked) << "a call that was sent is written down";
    ASSERT_LE(provider.usd, totals.usd + totals.usd_at_most + 1e-9) << "and so is what it can cost";
  }
}

}  // namespace
}  // namespace kw::faults
