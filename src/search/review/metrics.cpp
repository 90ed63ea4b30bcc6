#include "review/metrics.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/json_reader.h"
#include "core/json_writer.h"

namespace kw::review {
namespace {

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double harmonic(double one, double other) {
  return one + other == 0 ? 0 : 2 * one * other / (one + other);
}

}  // namespace

void Confusion::add(bool right, bool defensive, ReviewCall call) {
  if (call == ReviewCall::None) {
    ++(right ? silent_right : silent_wrong);
  } else if (right) {
    ++(call == ReviewCall::Right ? cleared : false_alarms);
    if (call == ReviewCall::Wrong && defensive) ++careful;
  } else {
    ++(call == ReviewCall::Wrong ? caught : missed);
  }
}

Confusion& Confusion::operator+=(const Confusion& other) {
  caught += other.caught;
  missed += other.missed;
  cleared += other.cleared;
  false_alarms += other.false_alarms;
  careful += other.careful;
  silent_wrong += other.silent_wrong;
  silent_right += other.silent_right;
  return *this;
}

double Confusion::accuracy() const { return share(caught + cleared, all()); }
double Confusion::precision() const { return share(caught, caught + false_alarms); }
double Confusion::recall() const { return share(caught, wrong()); }
double Confusion::f1() const { return harmonic(precision(), recall()); }
double Confusion::fitness() const {
  return harmonic(share(caught, caught + false_alarms + careful), recall());
}

void fields(auto& v, Confusion& c) {
  v("modules", computed(c.all()))("accuracy", computed(c.accuracy()));
  v("precision", computed(c.precision()))("recall", computed(c.recall()))("f1", computed(c.f1()));
  v("fitness", computed(c.fitness()));
  v.group("confusion", [&](auto& g) {
    g("caught", c.caught)("missed", c.missed)("cleared", c.cleared)("slandered", c.false_alarms);
    g("slandered_careful", c.careful)("silent_wrong", c.silent_wrong);
    g("silent_right", c.silent_right);
  });
}

Json to_json(const Confusion& confusion) { return record_json(confusion); }
Confusion confusion_from_json(const Json& json) { return read_record<Confusion>(json); }

std::string confusion_text(const Confusion& one) {
  return fmt::format(
      "accuracy {:.2f}, precision {:.2f}, recall {:.2f}, F1 {:.2f} ({} of {} faults caught, {} of "
      "{} right ones called wrong, {} of these for careful code, {} without an answer)",
      one.accuracy(), one.precision(), one.recall(), one.f1(), one.caught, one.wrong(),
      one.false_alarms, one.right(), one.careful, one.silent());
}

std::string metrics_table(const std::vector<MetricRow>& rows) {
  size_t who = 8, where = 8;
  for (const MetricRow& row : rows) {
    who = std::max(who, row.who.size());
    where = std::max(where, row.where.size());
  }
  std::string out = fmt::format(
      "{:<{}}  {:<{}}  modules  accuracy  precision  recall    F1  caught  missed  cleared  "
      "false alarms  careful  silent       cost\n",
      "verifier", who, "on", where);
  for (const MetricRow& row : rows) {
    const Confusion& one = row.confusion;
    out += fmt::format(
        "{:<{}}  {:<{}}  {:>7}  {:>8.3f}  {:>9.3f}  {:>6.3f}  {:>4.2f}  {:>6}  {:>6}  {:>7}  "
        "{:>12}  {:>7}  {:>6}  {:>9}\n",
        row.who, who, row.where, where, one.all(), one.accuracy(), one.precision(), one.recall(),
        one.f1(), one.caught, one.missed, one.cleared, one.false_alarms, one.careful, one.silent(),
        fmt::format("${:.4f}", row.usd));
  }
  return out;
}

}  // namespace kw::review
