#include "suites/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>

#include "os/files.h"

namespace kw::suites {
namespace {

namespace fs = std::filesystem;

/// A suite of five files and a fake function that runs a task.
class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ =
        fs::path(testing::TempDir()) /
        ("kw_eval_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "suite");
    for (const char* name : {"a", "b", "c", "d", "e"})
      std::ofstream(root_ / "suite" / (std::string(name) + ".py")) << name;
    request_.suite = root_ / "suite";
    request_.out = root_ / "out";
    request_.version = "1";
    request_.settings = {{"target", "sm_90"}};
    ports_.interrupted = [this] { return interrupted_.load(); };
    ports_.now = [] { return "2026-01-02T03:04:05Z"; };
    ports_.run = [this](const TaskJob& job) { return run(job); };
    ports_.watch = [this](const RunnerEvent& event) { events_.push_back(event.kind); };
  }
  void TearDown() override { fs::remove_all(root_); }

  TaskOutcome run(const TaskJob& job) {
    const std::string& name = job.task->name;
    {
      std::lock_guard guard(mutex_);
      ran_ += name;
    }
    job.say("working");
    if (name == throws_) throw std::runtime_error("a bug");
    TaskOutcome outcome;
    outcome.row.passed = failing_.find(name) == std::string::npos;
    outcome.row.measured = true;
    outcome.row.speedup = speedup_;
    outcome.row.relation = "FASTER";
    if (!outcome.row.passed) outcome.row.failure_kind = kStageFailure;
    outcome.report = Json::object().set("detail", name);
    if (name == interrupt_at_) {
      interrupted_ = true;
      outcome.interrupted = true;
    }
    return outcome;
  }

  Evaluation evaluate() {
    Result<Evaluation> evaluation = run_suite(request_, ports_);
    EXPECT_TRUE(evaluation) << evaluation.error().message;
    return evaluation ? std::move(evaluation).value() : Evaluation{};
  }
  std::string error() {
    const Result<Evaluation> evaluation = run_suite(request_, ports_);
    EXPECT_FALSE(evaluation);
    if (evaluation) return "";
    EXPECT_EQ(evaluation.error().blame, Blame::Input);
    return evaluation.error().message;
  }
  std::vector<TaskRow> csv() {
    const auto rows = read_results(request_.out);
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? *rows : std::vector<TaskRow>{};
  }

  fs::path root_;
  RunnerRequest request_;
  RunnerPorts ports_;
  std::string ran_, failing_, throws_, interrupt_at_;
  double speedup_ = 1.5;
  std::atomic<bool> interrupted_{false};
  std::vector<RunnerEvent::Kind> events_;
  std::mutex mutex_;
};

TEST_F(RunnerTest, WritesARowForEveryTask) {
  failing_ = "c";
  const Evaluation evaluation = evaluate();
  EXPECT_EQ(ran_, "abcde");
  EXPECT_TRUE(evaluation.complete());
  EXPECT_EQ(evaluation.totals.passed.count, 4);
  ASSERT_EQ(csv().size(), 5U);
  EXPECT_EQ(csv()[2].failure_kind, kStageFailure);
  for (const char* name :
       {"summary.md", "junit.xml", "summary.json", "eval.json", "kernels/a.json"})
    EXPECT_TRUE(fs::exists(root_ / "out" / name)) << name;
  const auto text = os::read_file(request_.out + "/kernels/b.json");
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("\"detail\": \"b\""), std::string::npos);
}

TEST_F(RunnerTest, AThrowingTaskIsARowNotTheEnd) {
  throws_ = "b";
  const Evaluation evaluation = evaluate();
  EXPECT_EQ(ran_, "abcde");
  EXPECT_EQ(evaluation.rows[1].failure_kind, kRunnerError);
  EXPECT_EQ(evaluation.rows[1].failure_reason, "a bug");
}

TEST_F(RunnerTest, ResumeKeepsWhatPassedAndTriesAgainWhatFailed) {
  failing_ = "bd";
  evaluate();
  ran_.clear();
  failing_ = "d";
  request_.resume = true;
  const Evaluation evaluation = evaluate();
  EXPECT_EQ(ran_, "bd");
  EXPECT_EQ(evaluation.totals.passed.count, 4);
  EXPECT_EQ(std::ranges::count(events_, RunnerEvent::Kind::Kept), 3);
}

TEST_F(RunnerTest, ResumeRunsAChangedTaskAgain) {
  evaluate();
  ran_.clear();
  std::ofstream(root_ / "suite" / "c.py") << "changed";
  request_.resume = true;
  evaluate();
  EXPECT_EQ(ran_, "c");
}

TEST_F(RunnerTest, ADamagedRowIsRunAgain) {
  evaluate();
  ran_.clear();
  std::ofstream(root_ / "out" / "kernels" / "d.json") << "{ \"kernel\": \"d";
  request_.resume = true;
  EXPECT_TRUE(evaluate().complete());
  EXPECT_EQ(ran_, "d");
}

TEST_F(RunnerTest, AnInterruptKeepsWhatWasDone) {
  interrupt_at_ = "c";
  const Evaluation evaluation = evaluate();
  EXPECT_TRUE(evaluation.interrupted);
  EXPECT_FALSE(evaluation.complete());
  EXPECT_EQ(csv().size(), 2U);
  interrupt_at_.clear();
  interrupted_ = false;
  ran_.clear();
  request_.resume = true;
  EXPECT_TRUE(evaluate().complete());
  EXPECT_EQ(ran_, "cde");
}

TEST_F(RunnerTest, LimitCountsNewRuns) {
  request_.limit = 2;
  EXPECT_EQ(evaluate().rows.size(), 2U);
  request_.resume = true;
  EXPECT_EQ(evaluate().rows.size(), 4U);
  EXPECT_EQ(ran_, "abcd");
}

TEST_F(RunnerTest, OnlyAddsToWhatIsThere) {
  request_.only = "b";
  EXPECT_EQ(evaluate().rows.size(), 1U);
  request_.only = "d";
  request_.resume = true;
  const Evaluation evaluation = evaluate();
  EXPECT_EQ(evaluation.rows.size(), 2U);
  EXPECT_EQ(evaluation.selected, 2);
}

TEST_F(RunnerTest, ManyJobsRunEveryTaskOnce) {
  request_.jobs = 4;
  const Evaluation evaluation = evaluate();
  std::ranges::sort(ran_);
  EXPECT_EQ(ran_, "abcde");
  EXPECT_EQ(evaluation.rows[0].kernel, "a");
  EXPECT_EQ(evaluation.rows[4].kernel, "e");
}

TEST_F(RunnerTest, RegressionsAgainstAnEarlierRun) {
  evaluate();
  request_.against = request_.out;
  request_.out = root_ / "new";
  failing_ = "a";
  speedup_ = 1.1;
  const Evaluation evaluation = evaluate();
  EXPECT_EQ(evaluation.regressions(), 5);
  EXPECT_EQ(csv()[0].regression, "pass_to_fail");
  EXPECT_EQ(csv()[1].regression, "speedup_drop:1.5->1.1");
}

TEST_F(RunnerTest, AFolderInUseIsNotWrittenOver) {
  evaluate();
  EXPECT_NE(error().find("continue it with --resume"), std::string::npos);
  request_.resume = true;
  request_.settings = {{"target", "sm_80"}};
  EXPECT_NE(error().find("was made with target 'sm_90', not 'sm_80'"), std::string::npos);
}

TEST_F(RunnerTest, ForeignResultsAreNotWrittenOver) {
  fs::create_directories(request_.out);
  std::ofstream(root_ / "out" / "results.csv") << "mine";
  EXPECT_NE(error().find("results.csv that no evaluation wrote"), std::string::npos);
}

TEST_F(RunnerTest, MistakesMakeNoFolder) {
  request_.against = root_ / "nothing";
  EXPECT_FALSE(error().empty());
  request_.against.clear();
  request_.suite = "no_such_suite";
  EXPECT_NE(error().find("there is no suite"), std::string::npos);
  request_.suite = "internal";
  request_.only = "no_such_task";
  EXPECT_NE(error().find("the suite has no task"), std::string::npos);
  EXPECT_FALSE(fs::exists(root_ / "out"));
}

TEST_F(RunnerTest, TwoInOneFolderAreRefused) {
  std::string second;
  ports_.run = [&](const TaskJob& job) {
    if (second.empty()) {
      RunnerRequest again = request_;
      again.resume = true;
      const auto evaluation = run_suite(again, ports_);
      second = evaluation ? "ran" : evaluation.error().message;
    }
    return run(job);
  };
  evaluate();
  EXPECT_NE(second, "ran");
  EXPECT_FALSE(second.empty());
}

}  // namespace
}  // namespace kw::suites
