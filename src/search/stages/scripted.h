// A scripted model, judge and journal. For tests only.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ports/fakes.h"
#include "stages/stages.h"

namespace kw::stages::test {

/// A module; words in its body decide what the judge reports.
///   "broken" does not compile, "wrong" is not right, "slow"/"fast" have times.
inline std::string module_text(const std::string& body) {
  return "//! kernelwright 1\n//! task t\n//! input x: fp32[N]\n//! output y: fp32[N]\n"
         "//! launch k grid(1) block(32) args(x, y, N)\n__global__ void k(const float* x, float* "
         "y, "
         "int n) { " +
         body + " }\n";
}

inline std::string fenced(const std::string& body) {
  return "Here it is.\n```cuda\n" + module_text(body) + "```\n";
}

class ScriptedJudge : public ports::FakeJudge {
 public:
  std::string explain(const record::Candidate&) override { return "bound by memory (estimated)"; }

  static double us(const record::Candidate& candidate) {
    return has(candidate, "fast") ? 10 : has(candidate, "slow") ? 30 : 20;
  }
  std::vector<std::string> log, right;
  bool interrupt = false;

  Result<ports::Outcome> examined(const record::Candidate& candidate, ports::Depth depth) override {
    ports::Outcome out;
    switch (depth) {
      case ports::Depth::Compile:
        log.push_back("compile " + body(candidate));
        out.detail = has(candidate, "broken") ? "oops in line 6" : "32 registers";
        if (has(candidate, "broken")) out.refused = "line 6: identifier \"oops\" is undefined";
        return out;
      case ports::Depth::Verify:
        log.push_back("verify " + body(candidate));
        if (interrupt) return environment_error("interrupted");
        out.detail = has(candidate, "wrong") ? "worst element y[31]" : "passed";
        if (has(candidate, "wrong")) out.refused = "wrong: y[31] is 0, not 7";
        if (out.passed()) right.push_back(candidate.id);
        return out;
      case ports::Depth::Time:
        log.push_back("time " + body(candidate));
        return ports::Outcome::estimate(us(candidate), false);
      default:
        log.push_back("run " + body(candidate));
        out.detail = "no finding";
        return out;
    }
  }

 private:
  static bool has(const record::Candidate& candidate, const std::string& word) {
    return candidate.text.find(word) != std::string::npos;
  }
  static std::string body(const record::Candidate& candidate) {
    const size_t begin = candidate.text.rfind("{ ") + 2;
    return candidate.text.substr(begin, candidate.text.rfind(" }") - begin);
  }
};

class MemoryJournal : public ports::MemoryJournal<Journal> {
 public:
  Status exchange(const std::string& label, const llm::Request&, const llm::Outcome&) override {
    labels.push_back(label);
    return Done{};
  }
  std::vector<Attempt> attempts() const {
    std::vector<Attempt> list;
    for (const std::string& line : lines) list.push_back(attempt_from_json(*Json::parse(line)));
    return list;
  }
  std::vector<std::string> labels;
};

/// Answers in order and keeps the requests. Without answers left, it fails as a budget does.
class ScriptedModel {
 public:
  using Step = std::function<llm::Outcome(const llm::Request&)>;
  void says(const std::string& text, llm::StopReason stop = llm::StopReason::End) {
    llm::Reply reply;
    reply.text = text;
    reply.stop = stop;
    steps_.push_back([reply](const llm::Request&) { return llm::Outcome(reply); });
  }
  void calls(const std::string& tool, const std::string& arguments) {
    llm::Reply reply;
    reply.calls = {llm::make_tool_call("c" + std::to_string(steps_.size()), tool, arguments)};
    reply.stop = llm::StopReason::ToolUse;
    steps_.push_back([reply](const llm::Request&) { return llm::Outcome(reply); });
  }
  void fails(llm::FailureKind kind) {
    llm::Failure failure;
    failure.kind = kind;
    failure.message = "scripted";
    steps_.push_back([failure](const llm::Request&) { return llm::Outcome(failure); });
  }
  Answer port() {
    return [this](const llm::ModelId& id, const llm::Request& request) {
      requests.push_back(request);
      models.push_back(id.text());
      // Checks the request as the real client does.
      llm::Request checked = request;
      checked.model = id.model;
      if (const Status valid = llm::check_request(checked); !valid) {
        problems.push_back(valid.error().message);
      }
      if (steps_.empty()) {
        llm::Failure failure;
        failure.kind = llm::FailureKind::Budget;
        failure.message = "nothing is left";
        return llm::Outcome(failure);
      }
      const Step step = steps_.front();
      steps_.pop_front();
      return step(request);
    };
  }
  /// The last text of the user in a request.
  std::string asked(size_t request) const { return requests.at(request).messages.back().text; }
  size_t left() const { return steps_.size(); }

  std::vector<llm::Request> requests;
  std::vector<std::string> models, problems;

 private:
  std::deque<Step> steps_;
};

}  // namespace kw::stages::test
