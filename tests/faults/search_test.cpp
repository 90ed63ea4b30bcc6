// Random faults of judge, journal and compiler under a search and under an evolution: each ends
// with an Error of the machine, keeps what it has, refuses no candidate for it, and goes on to the
// same end as without faults.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <mutex>
#include <new>
#include <set>

#include "core/random.h"
#include "evolve/fakes.h"
#include "halving/search.h"
#include "machine/ahead_compiler.h"
#include "ports/compiler.h"
#include "share.h"

namespace kw::faults {
namespace {

/// Fails at the n-th question.
class FailingJudge : public evolve::TunedJudge {
 public:
  int64_t until = -1;  // questions until it fails; -1: never

  Status alive() {
    if (until == 0) return environment_error("the device is lost");
    if (until > 0) --until;
    return Done{};
  }
  Result<ports::Outcome> examined(const record::Candidate& one, ports::Depth depth) override {
    KW_TRY(alive());
    return TunedJudge::examined(one, depth);
  }
};

class Numbers : public halving::Proposer {
 public:
  std::string name() const override { return "numbers"; }
  Result<std::vector<record::Candidate>> propose(size_t count,
                                                 const halving::Archive& archive) override {
    std::vector<record::Candidate> out;
    for (; out.size() < count && next_ < 24; ++next_) {
      record::Candidate made = record::make_candidate(
          evolve::fake_module(next_ % 2 ? "rows" : "tiles", false), {{"VEC", next_}}, name(), "");
      if (!archive.contains(made.id)) out.push_back(std::move(made));
    }
    return out;
  }

 private:
  int64_t next_ = 0;
};

Result<halving::SearchResult> search(FailingJudge& judge, halving::Archive& archive) {
  judge.clock = true;
  Numbers proposer;
  halving::Options options;
  options.seconds = [] { return 0.0; };
  return halving::run(proposer, judge, archive, options);
}

/// As a resumed session has it: candidates with a result.
halving::Archive resumed(const halving::Archive& before) {
  halving::Archive archive;
  for (const auto& entry : before.entries()) {
    if (entry.us() <= 0) continue;
    archive.add(entry.candidate);
    archive.note(entry.candidate, ports::Outcome::estimate(entry.estimate_us, false));
    archive.note(entry.candidate, ports::Outcome::time(entry.measured_us()));
  }
  return archive;
}

TEST(FaultsOfTheJudge, EndASearchThatGoesOn) {
  FailingJudge sound;
  halving::Archive undisturbed;
  const auto expected = search(sound, undisturbed);
  ASSERT_TRUE(expected && expected->winner);
  const int all = share_of_faults(0.25);
  int injected = 0;
  for (uint64_t seed = 0; injected < all; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed + 1);
    halving::Archive archive;
    std::set<std::string> known;
    for (uint64_t faults = 1 + random.below(3); faults > 0; --faults, ++injected) {
      FailingJudge judge;
      judge.until = static_cast<int64_t>(random.below(40));
      const auto ended = search(judge, archive);
      for (const std::string& id : known) ASSERT_TRUE(archive.contains(id));
      archive = resumed(archive);
      for (const auto& entry : archive.entries()) {
        known.insert(entry.candidate.id);
        ASSERT_TRUE(entry.alive()) << "a lost device refuses no candidate";
      }
      if (ended) break;
      ASSERT_EQ(ended.error().blame, Blame::Environment);
    }
    FailingJudge judge;
    const auto ended = search(judge, archive);
    ASSERT_TRUE(ended);
    ASSERT_TRUE(ended->winner);
    const auto us = [&](const std::string& id) { return archive.at(id).us(); };
    ASSERT_EQ(us(*ended->winner), undisturbed.at(*expected->winner).us())
        << ended->stopped << ", " << archive.at(*ended->winner).candidate.tunes.at("VEC");
  }
}

class Evolving {
 public:
  explicit Evolving(uint64_t seed) {
    settings_.generations = 3;
    settings_.proposals = 4;
    settings_.hardware = 2;
    settings_.seed = seed;
  }
  FailingJudge judge;

  Result<std::string> go(evolve::FakeJournal& journal) {
    state = journal.state();
    evolve::FakeAuthor author(settings_.seed);
    evolve::MechanicalVerifier mechanical(judge);
    evolve::Ports ports;
    ports.proposer = &author;
    ports.verifier = &mechanical;
    ports.judge = &judge;
    ports.journal = &journal;
    ports.find = journal.find();
    return evolve::Evolution(settings_, limits_, ports, state).run();
  }
  evolve::State state;

 private:
  evolve::Settings settings_;
  evolve::Limits limits_;
};

/// What happened, without where sessions begin.
std::vector<std::string> plain(const evolve::FakeJournal& journal) {
  std::vector<std::string> lines;
  for (const std::string& line : journal.lines)
    if (line.find("\"begin\"") == std::string::npos) lines.push_back(line);
  return lines;
}

TEST(FaultsOfJournalAndJudge, EndAnEvolutionThatGoesOn) {
  const int all = share_of_faults(0.2);
  int injected = 0;
  for (uint64_t seed = 0; injected < all; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed + 1);
    const uint64_t order = 1 + random.below(5);
    evolve::FakeJournal whole, journal;
    ASSERT_TRUE(Evolving(order).go(whole));
    bool over = false;
    for (uint64_t faults = 1 + random.below(4); faults > 0 && !over; --faults, ++injected) {
      Evolving one(order);
      if (random.below(2) == 0)
        journal.room = static_cast<int64_t>(random.below(whole.lines.size()));
      else
        one.judge.until = static_cast<int64_t>(random.below(30));
      const std::vector<std::string> before = plain(journal);
      const auto ended = one.go(journal);
      journal.room = -1;
      ASSERT_TRUE(ended || ended.error().blame == Blame::Environment);
      const std::vector<std::string> after = plain(journal);
      ASSERT_TRUE(after.size() >= before.size() &&
                  std::equal(before.begin(), before.end(), after.begin()))
          << "nothing that was recorded is lost";
      over = static_cast<bool>(ended);
    }
    Evolving last(order);
    ASSERT_TRUE(over || last.go(journal));
    const std::vector<std::string> all_lines = plain(journal), expected = plain(whole);
    const auto differs =
        std::mismatch(all_lines.begin(), all_lines.end(), expected.begin(), expected.end());
    ASSERT_TRUE(differs.first == all_lines.end() && differs.second == expected.end())
        << "line " << differs.first - all_lines.begin() << " of " << all_lines.size() << ", "
        << expected.size() << ":\n"
        << (differs.first == all_lines.end() ? "" : differs.first->substr(0, 300)) << "\n"
        << (differs.second == expected.end() ? "" : differs.second->substr(0, 300));
    ASSERT_TRUE(last.state.misfits().empty());
  }
}

/// A compiler that fails, throws for want of memory, or compiles.
class FailingCompiler : public ports::Compiler {
 public:
  explicit FailingCompiler(uint64_t seed) : random_(seed) {}
  std::string name() const override { return "failing"; }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest&) override {
    const std::lock_guard lock(mutex_);
    switch (random_.below(4)) {
      case 0:
        return environment_error("the worker was killed");
      case 1:
        throw std::bad_alloc();
      default: {
        ports::CompileOutcome outcome;
        outcome.compiled.emplace();
        return outcome;
      }
    }
  }

 private:
  std::mutex mutex_;
  Random random_;
};

TEST(FaultsOfTheCompiler, StayErrorsOfTheMachine) {
  const int all = share_of_faults(0.1);
  for (int injected = 0; injected < all; injected += 20) {
    FailingCompiler inner(static_cast<uint64_t>(injected) + 1);
    machine::AheadCompiler compiler(inner, 2);
    for (int i = 0; i < 20; ++i) {
      ports::CompileRequest request;
      request.source = fmt::format("// {}", i);
      compiler.ahead(request);
    }
    for (int i = 0; i < 20; ++i) {
      ports::CompileRequest request;
      request.source = fmt::format("// {}", i);
      try {
        const auto outcome = compiler.compile(request);
        ASSERT_TRUE(outcome || outcome.error().blame == Blame::Environment);
      } catch (const std::bad_alloc&) {
        // On our own thread, where main() tells it.
      }
    }
  }
}

}  // namespace
}  // namespace kw::faults
