#include "review/scoreboard.h"

#include <fmt/core.h>

#include "review/corpus.h"

namespace kw::review {

std::optional<FinalVerdict> final_verdict_of(const Json& verdict) {
  const std::string& word = verdict["verdict"].as_string();
  if (word == "passed") return FinalVerdict{true, ""};
  if (word == "crashed") return FinalVerdict{false, "vgpu"};
  if (word != "rejected" && word != "wrong") return std::nullopt;
  const std::string& stage = verdict["stage"].as_string();
  // Reviewers are not asked about speed or cheating.
  if (stage == "timing" || stage == "audit") return std::nullopt;
  return FinalVerdict{false, stage.empty() ? "numerics" : stage};
}

void Scoreboard::opinion(const std::string& id, Opinion opinion) {
  opinions_[id] = std::move(opinion);
}

void Scoreboard::judged(const std::string& id, const FinalVerdict& outcome) {
  verdicts_[id] = outcome;
}

size_t Scoreboard::open() const {
  size_t count = 0;
  for (const auto& [id, opinion] : opinions_) count += verdicts_.contains(id) ? 0 : 1;
  return count;
}

std::vector<MetricRow> Scoreboard::rows() const {
  std::map<Field, MetricRow> fields;
  MetricRow reviewers;
  reviewers.who = "panel";
  reviewers.where = "judged";
  for (const auto& [id, opinion] : opinions_) {
    const auto outcome = verdicts_.find(id);
    if (outcome == verdicts_.end()) continue;
    CorpusEntry entry;
    entry.right = outcome->second.right;
    entry.stage = outcome->second.stage;
    reviewers.confusion.add(entry.right, false, opinion.call());
    reviewers.usd += opinion.usd;
    reviewers.seconds += opinion.seconds;
    for (const Vote& vote : opinion.votes) {
      const std::optional<bool> right = label(entry, vote.field);
      if (!right) continue;
      MetricRow& row = fields[vote.field];
      row.who = field_name(vote.field);
      row.where = "judged";
      row.confusion.add(*right, false, vote.call);
      row.usd += vote.usd.value_or(0);
      row.seconds += vote.seconds;
    }
  }
  std::vector<MetricRow> rows;
  for (auto& [field, row] : fields) rows.push_back(std::move(row));
  if (!opinions_.empty()) rows.push_back(std::move(reviewers));
  return rows;
}

Json Scoreboard::json() const {
  Json json = Json::object();
  json.set("opinions", static_cast<int64_t>(opinions()));
  json.set("never_judged", static_cast<int64_t>(open()));
  Json list = Json::array();
  for (const MetricRow& row : rows()) {
    Json one = to_json(row.confusion);
    list.push(one.set("verifier", row.who).set("usd", row.usd).set("seconds", row.seconds));
  }
  return json.set("verifiers", std::move(list));
}

std::string scoreboard_text(const Json& board) {
  std::vector<MetricRow> rows;
  for (const Json& row : board["verifiers"].items())
    rows.push_back({row["verifier"].as_string(), "judged", confusion_from_json(row),
                    row["usd"].as_double(), row["seconds"].as_double()});
  if (rows.empty()) return "";
  std::string out = metrics_table(rows);
  if (const int64_t open = board["never_judged"].as_int(); open > 0)
    out += fmt::format("{} of {} opinions are about candidates that were never judged\n", open,
                       board["opinions"].as_int());
  return out;
}

}  // namespace kw::review
