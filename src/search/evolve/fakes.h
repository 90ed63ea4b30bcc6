// Fake ports for tests: two designs, a judge whose times depend on the tunables, a proposer with
// scripted models, a journal in memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/text.h"
#include "evolve/evolution.h"
#include "evolve/mutator.h"
#include "ports/fakes.h"

namespace kw::evolve {

inline std::string fake_module(const std::string& kernel, bool switches) {
  return "//! kernelwright 1\n//! task    scale\n//! input   x: fp32[N]\n//! output  y: fp32[N]\n"
         "//! tune    VEC in 4, 2, 1\n//! tune    UNROLL in 2, 1\n" +
         std::string(switches ? "//! tune    SHUFFLE in 1, 0\n" : "") +
         "//! method  memory.vectorized_access when VEC > 1, off VEC=1\n"
         "//! method  compute.warp_shuffle when UNROLL > 1, off UNROLL=1\n"
         "//! launch  " +
         kernel +
         " grid(1) block(32) args(x, y, N)\n"
         "__global__ void " +
         kernel +
         "(const float* x, float* y, int n) {\n"
         "  for (int i = threadIdx.x; i < n; i += 32) y[i] = x[i] * VEC * UNROLL;\n}\n";
}

class FakeDesigns : public Designs {
 public:
  std::string broken;  // a name whose text() is a bug
  const std::vector<std::string>& names() const override { return names_; }
  Result<std::string> text(const std::string& name, bool switches) override {
    KW_CHECK(name != broken, "this design is broken on purpose");
    return fake_module(name.substr(name.find('=') + 1), switches);
  }

 private:
  std::vector<std::string> names_ = {"k=rows", "k=tiles"};
};

/// The minimum is at VEC=2 UNROLL=1 of the design "tiles".
inline double fake_us(const record::Candidate& one) {
  const auto value = [&](const char* name, int64_t fallback) {
    const auto at = one.tunes.find(name);
    return static_cast<double>(at == one.tunes.end() ? fallback : at->second);
  };
  const bool tiles = one.text.find("tiles") != std::string::npos;
  return 10 + std::abs(value("VEC", 4) - 2) + value("UNROLL", 2) + (tiles ? 0 : 3);
}

/// Modules with "wrong" pass screening and fail the gate; "broken" does not compile.
class TunedJudge : public ports::FakeJudge {
 public:
  int screened = 0, judged_count = 0;
  std::function<Status()> before = [] { return Status(Done{}); };  // an Error is the machine's

  Result<ports::Outcome> examined(const record::Candidate& one, ports::Depth depth) override {
    KW_TRY(before());
    ports::Outcome seen;
    if (depth == ports::Depth::Time) {
      ++judged_count;
      seen.us = fake_us(one) + (clock ? 0.5 : 0);
      seen.measured = clock;
      if (one.text.find("wrong") == std::string::npos) return seen;
      seen.us = 0;
      seen.refused = "wrong: by 3";
      seen.detail = "element 7 is wrong";
      return seen;
    }
    ++screened;
    seen.bound = one.text.find("tiles") != std::string::npos ? "compute" : "memory";
    seen.occupancy = 0.5;
    if (one.text.find("broken") != std::string::npos) {
      seen.refused = "rejected (compile): line 3";
      seen.detail = "line 3: it is broken";
      return seen;
    }
    seen.us = fake_us(one);
    seen.code = "add.f32 %f1, %f2, %f3;\nmul.f32 %f1, %f2, " + one.id + ";\n";
    return seen;
  }
};

/// The operators without a model are real; the models are scripted.
class FakeAuthor : public Author {
 public:
  explicit FakeAuthor(uint64_t seed) : mutator_(designs_, seed) {}
  std::function<Proposal(const ProposalRequest&, const Population&)> models;
  std::vector<ProposalRequest> begun;
  size_t most_in_flight = 0;

  Status begin(const ProposalRequest& request, const Population& archive) override {
    begun.push_back(request);
    if (request.arm.empty()) {
      waiting_[request.number] = KW_TRY(mutated(request, archive));
    } else {
      waiting_[request.number] = models(request, archive);
    }
    most_in_flight = std::max(most_in_flight, waiting_.size());
    return Done{};
  }
  Result<Proposal> finish(const ProposalRequest& request) override {
    const auto at = waiting_.find(request.number);
    KW_CHECK(at != waiting_.end(), "begun before");
    const Proposal proposal = at->second;
    waiting_.erase(at);
    return proposal;
  }

 private:
  Result<Proposal> mutated(const ProposalRequest& request, const Population& archive) {
    Proposal proposal;
    if (request.only_this) {
      proposal.candidate = mutator_.tune(request, archive);
      return proposal;
    }
    proposal.candidate = KW_TRY(mutator_.mutate(request, archive));
    proposal.exhausted = !proposal.candidate;
    return proposal;
  }
  FakeDesigns designs_;
  Mutator mutator_;
  std::map<int64_t, Proposal> waiting_;
};

class FakeJournal : public ports::MemoryJournal<ports::Journal> {
 public:
  FindCandidate find() const {
    return [this](const std::string& id) -> std::optional<record::Candidate> {
      const auto at = kept.find(id);
      return at == kept.end() ? std::nullopt : std::optional(at->second);
    };
  }
  State state() const {
    State state;
    for (const std::string& line : lines) state.apply(Json::parse(line).value(), find());
    return state;
  }
};

}  // namespace kw::evolve
