// How good a reviewer's instructions are shows only in votes on modules with known verdicts. So
// instructions are evolved: a model sees the current ones with up to four mistakes and rewrites
// them. Fitness is F1, with double weight on careful code that is called wrong. A better version
// must not be worse on the guard tasks, which are other tasks than those of the training. This
// rejects instructions that memorise modules; texts that name a task are rejected too. Writing
// prompts by hand needs no rewriting model, but its result must be scored too. The cost: every
// version is scored on one or two parts of the corpus, and most of the budget goes there.
#include "review/tune.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/ascii.h"
#include "core/hash.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "os/interrupt.h"
#include "review/shown.h"
#include "review/static_warning.h"
#include "stages/answer_source.h"
#include "stages/prompts.h"

namespace kw::review {
namespace {

constexpr int64_t kMostCareful = 3;  // at most one of this many careful modules may be called wrong
constexpr size_t kMostTunedBytes = 6000, kShownMistakes = 4, kMostShownBytes = 9000;

std::string mistake_text(const Score::Mistake& mistake, Field field) {
  const CorpusEntry& entry = *mistake.entry;
  const bool right = label(entry, field).value_or(true);
  std::string said = "gave no answer that can be read";
  if (mistake.vote.call == ReviewCall::Right) said = "called it right";
  if (mistake.vote.call == ReviewCall::Wrong) {
    said = "called it wrong";
    for (const Reason& reason : mistake.vote.reasons)
      said += fmt::format("; line {}: {}", reason.line, reason.why);
  }
  std::string truth = "it is wrong: " + entry.reason;
  if (right) truth = entry.right ? "it is right" : "it is right in this field";
  if (entry.defensive()) truth += ", and only more careful than it must be";
  return fmt::format(
      "The reviewer's answer: {}\nThe judge's verdict: {}\n{}\n",
      stages::data("data", stages::shortened(said, 1500)), stages::data("data", truth),
      stages::data("cuda",
                   stages::shortened(numbered(shown_module(entry.module)), kMostShownBytes)));
}


/// Whether the task's name occurs as a word. Names that are ordinary words ("softmax") are allowed.
bool names_task(const std::string& text, const std::string& task) {
  if (task.find_first_of("_0123456789") == std::string::npos) return false;
  for (size_t at = text.find(task); at != std::string::npos; at = text.find(task, at + 1)) {
    const size_t end = at + task.size();
    const bool begins = at == 0 || !is_name_char(text[at - 1]);
    const bool ends = end == text.size() || !is_name_char(text[end]);
    if (begins && ends) return true;
  }
  return false;
}

/// The instructions in an answer. The Error says why there are none.
Result<std::string> read_instructions(const std::string& answer, const Corpus& corpus) {
  const std::vector<stages::Block> blocks = stages::fenced_blocks(answer);
  if (blocks.empty()) return input_error("the answer holds no fenced block");
  const stages::Block& last = blocks.back();
  if (!last.closed) return input_error("the answer ends inside its block");
  const std::string text(trim(last.text));
  if (text.empty()) return input_error("the instructions are empty");
  if (text.size() > kMostTunedBytes)
    return input_error("{} characters are more than {}", text.size(), kMostTunedBytes);
  for (const CorpusEntry& entry : corpus.entries) {
    if (names_task(text, entry.task)) return input_error("they name a task ({})", entry.task);
  }
  return text + "\n";
}

int64_t careful_count(const std::vector<const CorpusEntry*>& entries, Field field) {
  return std::ranges::count_if(entries, [field](const CorpusEntry* one) {
    return one->defensive() && label(*one, field).value_or(false);
  });
}

struct Scored {
  Prompt prompt;
  Score train;
  std::optional<Score> guard;
};

class Tuner {
 public:
  Tuner(const Corpus& corpus, const TuneSettings& settings, const ReviewPorts& ports, Split split)
      : corpus_(corpus),
        settings_(settings),
        ports_(ports),
        split_(std::move(split)),
        ballot_(ports, {settings.reflect, 8192}, settings.in_flight) {}

  void restore(const Json& event) {
    ballot_.restore(event);
    if (event["event"].as_string() != "rewriting") return;
    rewritten_[{static_cast<int>(event["generation"].as_int()),
                static_cast<int>(event["number"].as_int())}] = event;
  }

  Result<Tuned> run(const std::string& shipped) {
    tuned_.field = settings_.field;
    tuned_.shipped.text = shipped;
    tuned_.best = tuned_.shipped;
    KW_TRY(go());
    tuned_.votes = ballot_.votes();
    if (tuned_.stopped.empty()) tuned_.stopped = ballot_.stopped();
    tuned_.failure = ballot_.failure();
    if (!tuned_.failure) tuned_.failure = failure_;
    tuned_.better = tuned_.best.id() != tuned_.shipped.id();
    return std::move(tuned_);
  }

 private:
  Specialist specialist(const Prompt& prompt, const llm::ModelId& model) const {
    return {settings_.field, prompt.text, model};
  }

  Result<std::optional<Score>> score(const Prompt& prompt,
                                     const std::vector<const CorpusEntry*>& entries,
                                     const llm::ModelId& model) {
    std::optional<Score> score = KW_TRY(ballot_.score(specialist(prompt, model), entries));
    if (score && counted_.insert(prompt.id() + model.text() + entries.front()->id).second)
      tuned_.usd += score->usd;
    return score;
  }

  void row(const std::string& who, const char* where, const Score& score) {
    tuned_.rows.push_back({who, where, score.confusion, score.usd, score.seconds});
    if (score.unpriced > 0)
      tuned_.notes.push_back(
          fmt::format("{} on {}: {} votes of unknown cost", who, where, score.unpriced));
  }

  Status go() {
    const std::optional<Score> train = KW_TRY(score(tuned_.shipped, split_.train, settings_.model));
    if (!train) return Done{};
    row("shipped", "train", *train);
    if (train->confusion.silent() == train->confusion.all()) {
      tuned_.stopped = fmt::format(
          "{} gave no usable answer to any of {} questions, so there is nothing to learn from; the "
          "first: {}",
          settings_.model.text(), train->confusion.all(), train->first_silence);
      return Done{};
    }
    const std::optional<Score> guard = KW_TRY(score(tuned_.shipped, split_.guard, settings_.model));
    if (!guard) return Done{};
    row("shipped", "guard", *guard);
    pool_.push_back({tuned_.shipped, *train, *guard});
    for (int generation = 1; generation <= settings_.generations; ++generation) {
      for (int number = 1; number <= settings_.population; ++number) {
        KW_TRY(mutate(generation, number));
        if (!tuned_.stopped.empty() || !ballot_.stopped().empty()) return report_best();
      }
    }
    KW_TRY(report_best());
    return report_held_out();
  }

  Status report_best() {
    if (champion_ == 0) return Done{};
    row("tuned", "train", pool_[champion_].train);
    row("tuned", "guard", *pool_[champion_].guard);
    return Done{};
  }

  /// The score of static_warnings() on the same modules, which costs nothing.
  Score unread_score() const {
    Score score;
    for (const CorpusEntry* entry : split_.held_out)
      score.confusion.add(
          label(*entry, settings_.field).value_or(true), entry->defensive(),
          static_warnings(entry->module).empty() ? ReviewCall::Right : ReviewCall::Wrong);
    return score;
  }

  Status report_held_out() {
    if (settings_.field == Field::Numerics) row("intervals", "held-out", unread_score());
    std::vector<llm::ModelId> models = {settings_.model};
    if (settings_.second) models.push_back(*settings_.second);
    for (const llm::ModelId& model : models) {
      const std::string behind = models.size() > 1 ? " " + model.text() : "";
      std::vector<std::pair<std::string, const Prompt*>> prompts = {{"shipped", &tuned_.shipped}};
      if (champion_ != 0) prompts.emplace_back("tuned", &tuned_.best);
      for (const auto& [name, prompt] : prompts) {
        const std::optional<Score> held = KW_TRY(score(*prompt, split_.held_out, model));
        if (!held) return Done{};
        row(name + behind, "held-out", *held);
      }
    }
    tuned_.finished = true;
    tuned_.stopped = "all generations are done";
    return Done{};
  }

  /// The champion and the best of the others in turn: the second best may lead elsewhere.
  size_t parent(int number) const {
    size_t other = champion_;
    for (size_t i = 0; i < pool_.size(); ++i) {
      if (i == champion_) continue;
      if (other == champion_ ||
          pool_[i].train.confusion.fitness() > pool_[other].train.confusion.fitness())
        other = i;
    }
    return number % 2 == 1 ? champion_ : other;
  }

  llm::Request rewriting_request(const Scored& parent, int generation, int number) const {
    std::vector<Score::Mistake> mistakes = parent.train.mistakes;
    const uint64_t seed = hash64(fmt::format("{} {}", generation, number), settings_.seed);
    std::ranges::stable_sort(
        mistakes, {}, [seed](const Score::Mistake& one) { return hash64(one.entry->id, seed); });
    std::string shown;
    for (size_t i = 0; i < mistakes.size() && i < kShownMistakes; ++i)
      shown += mistake_text(mistakes[i], settings_.field) + "\n";
    if (shown.empty()) shown = "None: all of its votes were right.\n";
    llm::Request request;
    request.model = settings_.model.model;
    request.messages.push_back(llm::user_message(
        stages::prompt("verify_tune", {{"field", field_name(settings_.field)},
                                       {"instructions", stages::data("text", parent.prompt.text)},
                                       {"count", std::to_string(parent.train.confusion.all())},
                                       {"scores", confusion_text(parent.train.confusion)},
                                       {"mistakes", shown},
                                       {"most", std::to_string(kMostTunedBytes)}})));
    request.label =
        fmt::format("rewrite {} {}.{}", field_name(settings_.field), generation, number);
    return request;
  }

  /// The event of this rewriting, from the journal or from the model; not set when the model
  /// failed.
  Result<std::optional<Json>> rewritten(size_t parent, int generation, int number) {
    const auto known = rewritten_.find({generation, number});
    if (known != rewritten_.end()) return std::optional(known->second);
    const llm::Request request = rewriting_request(pool_[parent], generation, number);
    const llm::Outcome outcome = ports_.answer(settings_.model, request);
    if (!outcome) {
      failure_ = outcome.failure();
      tuned_.stopped = os::interrupted() ? "interrupted" : outcome.failure().error().message;
      return std::optional<Json>();
    }
    const Result<std::string> text = read_instructions(outcome->text, corpus_);
    JsonWriter v;
    v("event", "rewriting")("generation", generation)("number", number);
    v("parent", pool_[parent].prompt.id());
    v("usd", ports_.price ? ports_.price(settings_.model, request, outcome) : std::nullopt);
    text ? v("text", *text) : v("problem", text.error().message);
    Json event = v.take();
    KW_TRY(ports_.write(event));
    return std::optional(std::move(event));
  }

  Status mutate(int generation, int number) {
    const std::optional<Json> event = KW_TRY(rewritten(parent(number), generation, number));
    if (!event) return Done{};
    tuned_.usd += (*event)["usd"].as_double();
    Rewriting rewriting;
    rewriting.generation = generation;
    rewriting.number = number;
    if (!(*event)["text"].is_string()) {
      rewriting.outcome = "no instructions: " + (*event)["problem"].as_string();
      tuned_.rewritings.push_back(std::move(rewriting));
      return Done{};
    }
    Prompt prompt{(*event)["text"].as_string(), (*event)["parent"].as_string(), generation, number};
    rewriting.prompt = prompt.id();
    const bool known = std::ranges::any_of(
        pool_, [&](const Scored& one) { return one.prompt.id() == prompt.id(); });
    if (known) {
      rewriting.outcome = "the same as one before";
    } else {
      KW_TRY(prove(std::move(prompt), rewriting));
    }
    tuned_.rewritings.push_back(std::move(rewriting));
    return Done{};
  }

  Status prove(Prompt prompt, Rewriting& rewriting) {
    const std::optional<Score> train = KW_TRY(score(prompt, split_.train, settings_.model));
    if (!train) {
      rewriting.outcome = "not scored";
      return Done{};
    }
    rewriting.train = train->confusion;
    pool_.push_back({std::move(prompt), *train, std::nullopt});
    const Scored& champion = pool_[champion_];
    const double before = champion.train.confusion.fitness();
    if (train->confusion.fitness() <= before) {
      rewriting.outcome =
          fmt::format("no better: {:.3f} after {:.3f}", train->confusion.fitness(), before);
      return Done{};
    }
    pool_.back().guard = KW_TRY(score(pool_.back().prompt, split_.guard, settings_.model));
    if (!pool_.back().guard) {
      rewriting.outcome = "not scored";
      return Done{};
    }
    rewriting.guard = pool_.back().guard->confusion;
    const double guard = rewriting.guard->fitness(), held = champion.guard->confusion.fitness();
    if (guard < held) {
      rewriting.outcome = fmt::format(
          "overfitted: better on the training tasks ({:.3f} after {:.3f}), worse on others ({:.3f} "
          "after {:.3f})",
          train->confusion.fitness(), before, guard, held);
      return Done{};
    }
    const std::string severe = too_severe(*rewriting.guard, champion.guard->confusion);
    if (!severe.empty()) {
      rewriting.outcome = severe;
      return Done{};
    }
    rewriting.outcome =
        fmt::format("better: {:.3f} after {:.3f}", train->confusion.fitness(), before);
    champion_ = pool_.size() - 1;
    tuned_.best = pool_[champion_].prompt;
    return Done{};
  }

  /// Calling everything wrong catches every fault and gives a high F1. Returns why the prompt is
  /// too severe; "" when it is not.
  std::string too_severe(const Confusion& guard, const Confusion& before) const {
    const int64_t careful = careful_count(split_.guard, settings_.field);
    if (guard.careful > before.careful && kMostCareful * guard.careful > careful)
      return fmt::format(
          "too severe: it calls {} of {} careful modules of the guard wrong, {} before",
          guard.careful, careful, before.careful);
    if (guard.accuracy() < before.accuracy())
      return fmt::format("too severe: its accuracy on the guard is {:.3f}, {:.3f} before",
                         guard.accuracy(), before.accuracy());
    return "";
  }

  const Corpus& corpus_;
  const TuneSettings& settings_;
  const ReviewPorts& ports_;
  const Split split_;
  ReviewSession ballot_;
  std::map<std::pair<int, int>, Json> rewritten_;
  std::vector<Scored> pool_;
  size_t champion_ = 0;
  std::set<std::string> counted_;
  std::optional<llm::Failure> failure_;
  Tuned tuned_;
};

}  // namespace

void fields(auto& v, TuneSettings& s) {
  v("field", computed(field_name(s.field)))("model", computed(s.model.text()));
  v("population", s.population)("sample", s.sample)("seed", s.seed)("reflect", s.reflect);
}

Json to_json(const TuneSettings& settings) { return record_json(settings); }

void fields(auto& v, Rewriting& r) {
  v("generation", r.generation)("number", r.number)("prompt", r.prompt)("outcome", r.outcome);
  v("train", r.train)("guard", r.guard);
}

Json to_json(const MetricRow& row) {
  Json json = to_json(row.confusion);
  json.set("prompt", row.who).set("on", row.where);
  return json.set("usd", row.usd).set("seconds", row.seconds);
}

void fields(auto& v, Tuned& t) {
  v("verifier", computed(field_name(t.field)))("finished", t.finished)("stopped", t.stopped);
  v("better", t.better)("shipped_prompt", computed(t.shipped.id()));
  v("best_prompt", computed(t.best.id()))("votes", t.votes)("usd", t.usd)("scores", t.rows);
  v("rewritings", t.rewritings)("notes", t.notes);
}

Json to_json(const Tuned& tuned) { return record_json(tuned); }

Result<Tuned> tune(const Corpus& corpus, const TuneSettings& settings, const std::string& shipped,
                   const std::vector<Json>& past, const ReviewPorts& ports) {
  Tuner tuner(corpus, settings, ports,
              KW_TRY(split_corpus(corpus, settings.field, settings.seed, settings.sample)));
  for (const Json& event : past) tuner.restore(event);
  return tuner.run(shipped);
}

}  // namespace kw::review
