#include "llm/budget.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "core/text.h"

namespace kw::llm {
namespace {

constexpr double kUnlimited = 1e9;

}  // namespace

std::string Spending::refusal(const Hold& hold) const {
  if (limits_.calls && calls_ >= *limits_.calls)
    return fmt::format("{} of {} calls are made", calls_, *limits_.calls);
  if (limits_.seconds && seconds_spent() >= *limits_.seconds)
    return fmt::format("{:.0f} of {:.0f} seconds are over", seconds_spent(), *limits_.seconds);
  if (limits_.tokens && tokens_ + tokens_held_ + hold.tokens > *limits_.tokens) {
    return fmt::format("the call can take up to {} tokens, and {} of {} are spent", hold.tokens,
                       tokens_ + tokens_held_, *limits_.tokens);
  }
  if (!limits_.usd) return "";
  if (!hold.usd) {
    if (limits_.unknown_price == UnknownPrice::Allow) return "";
    return "the price of the model is unknown, so a limit in dollars cannot be kept; give its "
           "price in "
           "providers.toml, or no limit";
  }
  if (usd_ + usd_held_ + *hold.usd > *limits_.usd) {
    return fmt::format("the call can cost up to {}, and {} of {} are spent", usd_text(hold.usd),
                       usd_text(usd_ + usd_held_), usd_text(limits_.usd));
  }
  return "";
}

std::string Spending::reserve(const Hold& hold) {
  const std::lock_guard lock(mutex_);
  std::string why = refusal(hold);
  if (!why.empty()) return why;
  ++calls_;
  usd_held_ += hold.usd.value_or(0);
  tokens_held_ += hold.tokens;
  return why;
}

void Spending::write_ahead(WriteAhead write) {
  const std::lock_guard lock(mutex_);
  write_ = std::move(write);
}

Status Spending::record(const Hold& hold, LedgerEntry& entry) {
  WriteAhead write;
  {
    const std::lock_guard lock(mutex_);
    entry.reservation = ++reservations_;
    write = write_;
  }
  entry.outcome = kUnsettled;
  entry.charge = {std::nullopt, hold.usd, hold.tokens, kUnsettled};
  return write ? write(entry) : Status(Done{});
}

void Spending::restore(const LedgerEntry& entry) {
  settle({}, entry.charge);
  const std::lock_guard lock(mutex_);
  ++calls_;
  earlier_seconds_ += entry.latency_seconds;
  reservations_ = std::max(reservations_, entry.reservation);
}

void Spending::settle(const Hold& hold, const Charge& charge) {
  const std::lock_guard lock(mutex_);
  usd_held_ -= hold.usd.value_or(0);
  tokens_held_ -= hold.tokens;
  usd_ += charge.usd.value_or(charge.at_most.value_or(0));
  tokens_ += charge.tokens;
}

double Spending::seconds_left() {
  return limits_.seconds ? std::max(0.0, *limits_.seconds - (seconds_spent())) : kUnlimited;
}

std::string Spending::text() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> parts;
  if (limits_.usd) parts.push_back(fmt::format("{} of {}", usd_text(usd_), usd_text(limits_.usd)));
  if (limits_.tokens) parts.push_back(fmt::format("{} of {} tokens", tokens_, *limits_.tokens));
  if (limits_.calls) parts.push_back(fmt::format("{} of {} calls", calls_, *limits_.calls));
  if (limits_.seconds)
    parts.push_back(fmt::format("{:.0f} of {:.0f} s", seconds_spent(), *limits_.seconds));
  return parts.empty() ? "no limit" : join(parts, ", ") + " spent";
}

Outcome Budgeted::complete(const Request& request, const Watch& watch) {
  const std::optional<Price> price = config_.price(inner_.name(), request.model);
  const int64_t most_input = most_input_tokens(request);
  Spending::Hold hold;
  hold.tokens = most_input + request.max_tokens;
  if (price) hold.usd = price->most_usd(most_input, request.max_tokens);
  if (std::string why = spending_.reserve(hold); !why.empty()) {
    Failure failure;
    failure.kind = FailureKind::Budget;
    failure.message = fmt::format("{}:{}: {}", inner_.name(), request.model, why);
    return failure;
  }
  LedgerEntry entry;
  entry.label = request.label;
  entry.provider = inner_.name();
  entry.model = request.model;
  if (Status written = spending_.record(hold, entry); !written) {
    spending_.settle(hold, {0.0, std::nullopt, 0, ""});
    Failure failure;
    failure.kind = FailureKind::Unavailable;
    failure.message =
        "the call was not sent, because its cost cannot be recorded: " + written.error().message;
    return failure;
  }
  Request shortened = request;
  shortened.reservation = entry.reservation;
  shortened.timeout_seconds = std::min(request.timeout_seconds, spending_.seconds_left());
  Outcome outcome = inner_.complete(shortened, watch);
  spending_.settle(hold, charge_of(request, outcome, price));
  return outcome;
}

}  // namespace kw::llm
