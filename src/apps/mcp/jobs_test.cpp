#include "mcp/jobs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>

#include "mcp/outcome.h"

namespace kw::mcp {
namespace {

constexpr double kLong = 20;

/// "wait" waits until the test releases it. Other commands end at once, "crash" without a result.
class FakeCommands {
 public:
  Runner runner() {
    return
        [this](const std::vector<std::string>& words, const Callbacks& callbacks) -> Result<Json> {
          const int now = ++running_;
          int most = most_;
          while (now > most && !most_.compare_exchange_weak(most, now)) {
          }
          callbacks.progress("working");
          callbacks.note("noted");
          bool stopped = false;
          while (words.front() == "wait" && !released_ && !(stopped = callbacks.stopped()))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          --running_;
          if (stopped) return environment_error("stopped");
          if (words.front() == "crash") return Error{Blame::Bug, "killed by signal 11"};
          return Json::object()
              .set("ok", true)
              .set("exit_code", 0)
              .set("samples", Json::array().push(1));
        };
  }
  void release() { released_ = true; }
  int running() const { return running_; }
  int most() const { return most_; }

 private:
  std::atomic<bool> released_{false};
  std::atomic<int> running_{0}, most_{0};
};

const AgentTool& bench_tool() {
  for (const AgentTool& tool : all_tools()) {
    if (std::string(tool.name) == "synthesize") return tool;
  }
  throw std::logic_error("no such tool");
}

JobRequest request_of(const char* command, ResourceClass resource, const char* owner = "") {
  JobRequest request;
  request.tool = &bench_tool();
  request.words.words = {command};
  request.resource = resource;
  request.owner = owner;
  return request;
}

JobSnapshot ended(const Jobs& jobs, const std::string& handle) {
  std::optional<JobSnapshot> seen = jobs.look(handle);
  const auto began = std::chrono::steady_clock::now();
  while (seen && (seen->state == JobState::Queued || seen->state == JobState::Running) &&
         std::chrono::steady_clock::now() - began < std::chrono::duration<double>(kLong))
    seen = jobs.wait(handle, seen->said, 1);
  return *seen;
}

TEST(Jobs, EndWithTheDocumentOfTheirCommand) {
  FakeCommands fake;
  Jobs jobs(fake.runner());
  const auto handle = jobs.start(request_of("quick", ResourceClass::Quick));
  ASSERT_TRUE(handle);
  const JobSnapshot seen = ended(jobs, *handle);
  EXPECT_EQ(seen.state, JobState::Done);
  EXPECT_EQ(seen.progress, "working");
  EXPECT_EQ(seen.notes, std::vector<std::string>{"noted"});
  EXPECT_TRUE(job_result(seen, true)["structuredContent"].contains("samples"));
  const Json brief = job_result(seen, false)["structuredContent"];
  EXPECT_FALSE(brief.contains("samples"));
  EXPECT_EQ(brief["left_out"].dump(), R"(["samples"])");
}

TEST(Jobs, ACrashIsAnErrorOfTheTool) {
  FakeCommands fake;
  Jobs jobs(fake.runner());
  const JobSnapshot seen = ended(jobs, *jobs.start(request_of("crash", ResourceClass::Cpu)));
  EXPECT_EQ(seen.state, JobState::Failed);
  const Json result = job_result(seen, false);
  EXPECT_TRUE(result["isError"].as_bool());
  EXPECT_NE(result.dump().find("signal 11"), std::string::npos);
}

TEST(Jobs, OneAtATimeOnTheGpuTwoOnTheCpu) {
  for (const auto& [resource, most] :
       {std::pair{ResourceClass::Gpu, 1}, std::pair{ResourceClass::Cpu, 2}}) {
    FakeCommands fake;
    Jobs jobs(fake.runner());
    std::vector<std::string> handles;
    for (int i = 0; i < 5; ++i) handles.push_back(*jobs.start(request_of("wait", resource)));
    while (fake.running() < most) std::this_thread::yield();
    EXPECT_EQ(jobs.look(handles.back())->state, JobState::Queued);
    EXPECT_EQ(jobs.look(handles.back())->ahead, 4U);
    fake.release();
    for (const std::string& handle : handles) EXPECT_EQ(ended(jobs, handle).state, JobState::Done);
    EXPECT_EQ(fake.most(), most);
  }
}

TEST(Jobs, CanBeStoppedRunningAndQueued) {
  FakeCommands fake;
  Jobs jobs(fake.runner());
  const std::string first = *jobs.start(request_of("wait", ResourceClass::Gpu));
  const std::string second = *jobs.start(request_of("wait", ResourceClass::Gpu));
  while (fake.running() < 1) std::this_thread::yield();
  jobs.cancel(second);
  EXPECT_EQ(jobs.look(second)->state, JobState::Cancelled);
  jobs.cancel(first);
  const JobSnapshot seen = ended(jobs, first);
  EXPECT_EQ(seen.state, JobState::Cancelled);
  EXPECT_NE(seen.why.find("resume"), std::string::npos) << "says how to go on: " << seen.why;
  EXPECT_TRUE(job_result(seen, false)["isError"].as_bool());
}

TEST(Jobs, EndWithTheirOwner) {
  FakeCommands fake;
  Jobs jobs(fake.runner());
  const std::string mine = *jobs.start(request_of("wait", ResourceClass::Cpu, "me"));
  const std::string other = *jobs.start(request_of("wait", ResourceClass::Cpu, "you"));
  jobs.cancel_of("me");
  EXPECT_EQ(ended(jobs, mine).state, JobState::Cancelled);
  EXPECT_NE(jobs.look(other)->state, JobState::Cancelled);
  fake.release();
  EXPECT_EQ(ended(jobs, other).state, JobState::Done);
}

TEST(Jobs, AreBounded) {
  FakeCommands fake;
  Jobs jobs(fake.runner());
  int started = 0;
  while (started < 1000 && jobs.start(request_of("wait", ResourceClass::Gpu))) ++started;
  EXPECT_EQ(started, 64);
}

TEST(Jobs, ClosingStopsEverythingAndTakesNothingNew) {
  FakeCommands fake;
  Jobs jobs(fake.runner());
  const std::string running = *jobs.start(request_of("wait", ResourceClass::Gpu));
  const std::string queued = *jobs.start(request_of("wait", ResourceClass::Gpu));
  while (fake.running() < 1) std::this_thread::yield();
  jobs.close();
  EXPECT_EQ(fake.running(), 0);
  EXPECT_EQ(jobs.look(running)->state, JobState::Cancelled);
  EXPECT_EQ(jobs.look(queued)->state, JobState::Cancelled);
  EXPECT_FALSE(jobs.start(request_of("quick", ResourceClass::Quick)));
}

TEST(Jobs, OfLongAgoAreForgotten) {
  FakeCommands fake;
  Jobs jobs(fake.runner());
  const std::string first = *jobs.start(request_of("quick", ResourceClass::Quick));
  for (int i = 0; i < 300; ++i) ended(jobs, *jobs.start(request_of("quick", ResourceClass::Quick)));
  EXPECT_FALSE(jobs.look(first));
  EXPECT_FALSE(jobs.look("job-0"));
}

}  // namespace
}  // namespace kw::mcp
