// Several clients may call tools at once, but two measurements on one GPU disturb each other. So
// each job waits for a thread of its resource: there are two for quick tools, two for the CPU, one
// for the GPU. Work for the virtual GPU needs the CPU. Results of ended jobs are kept, so that a
// client can fetch them later; the oldest are dropped above 256. A queue per client would not
// protect the GPU, and one queue for all would let a short question wait for minutes. The cost: all
// state is behind one mutex, which is held only briefly, and every change wakes all waiting
// threads.
#include "mcp/jobs.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

namespace kw::mcp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostOpen = 64;       // queued or running
constexpr size_t kMostEnded = 256;     // whose results are kept
constexpr size_t kMostNotes = 64;      // of one job
constexpr size_t kLongestWords = 500;  // of one progress line
constexpr ResourceClass kThreadResources[] = {ResourceClass::Quick, ResourceClass::Quick,
                                              ResourceClass::Cpu, ResourceClass::Cpu,
                                              ResourceClass::Gpu};

bool ended(JobState state) { return state != JobState::Queued && state != JobState::Running; }

}  // namespace

const char* state_name(JobState state) {
  constexpr const char* kNames[] = {"queued", "running", "done", "failed", "cancelled"};
  return kNames[static_cast<size_t>(state)];
}

struct Jobs::Job {
  std::string handle;
  JobRequest request;
  JobState state = JobState::Queued;
  bool stop = false;
  std::string progress, why;
  uint64_t said = 0;
  std::vector<std::string> notes;
  Json document;
  Clock::time_point asked = Clock::now(), over;
};

Jobs::Jobs(Runner runner) : runner_(std::move(runner)) {
  for (const ResourceClass resource : kThreadResources)
    threads_.emplace_back([this, resource] { work(resource); });
}

Jobs::~Jobs() { close(); }

Result<std::string> Jobs::start(JobRequest request) {
  const std::lock_guard lock(mutex_);
  if (closing_) return environment_error("the server is ending");
  const auto open = std::count_if(order_.begin(), order_.end(),
                                  [](const auto& job) { return !ended(job->state); });
  if (static_cast<size_t>(open) >= kMostOpen)
    return environment_error("{} jobs are waiting or running: too many", open);
  auto job = std::make_shared<Job>();
  job->handle = fmt::format("job-{}", ++made_);
  job->request = std::move(request);
  jobs_[job->handle] = job;
  order_.push_back(job);
  forget_old();
  changed_.notify_all();
  return job->handle;
}

void Jobs::forget_old() {
  size_t over = static_cast<size_t>(std::count_if(
      order_.begin(), order_.end(), [](const auto& job) { return ended(job->state); }));
  for (auto it = order_.begin(); over > kMostEnded && it != order_.end();) {
    if (!ended((*it)->state)) {
      ++it;
      continue;
    }
    jobs_.erase((*it)->handle);
    it = order_.erase(it);
    --over;
  }
}

std::shared_ptr<Jobs::Job> Jobs::next(ResourceClass resource) {
  for (const auto& job : order_) {
    if (job->state == JobState::Queued && job->request.resource == resource) return job;
  }
  return nullptr;
}

void Jobs::work(ResourceClass resource) {
  std::unique_lock lock(mutex_);
  for (;;) {
    std::shared_ptr<Job> job;
    changed_.wait(lock, [&] { return closing_ || (job = next(resource)) != nullptr; });
    if (closing_) return;
    job->state = JobState::Running;
    lock.unlock();
    run(*job);
    lock.lock();
  }
}

void Jobs::run(Job& job) {
  Callbacks callbacks;
  callbacks.progress = [&](const std::string& text) {
    const std::lock_guard lock(mutex_);
    job.progress = text.substr(0, kLongestWords);
    ++job.said;
    changed_.notify_all();
  };
  callbacks.note = [&](const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (job.notes.size() < kMostNotes) job.notes.push_back(text.substr(0, kLongestWords));
    ++job.said;
    changed_.notify_all();
  };
  callbacks.stopped = [&] {
    const std::lock_guard lock(mutex_);
    return job.stop || closing_;
  };
  end(job, runner_(job.request.words.words, callbacks));
}

void Jobs::end(Job& job, const Result<Json>& outcome) {
  const std::lock_guard lock(mutex_);
  if (outcome) {
    job.state = JobState::Done;
    job.document = *outcome;
  } else {
    job.state = JobState::Failed;
    job.why = outcome.error().message;
  }
  // A job that finished before it noticed the stop still has a result.
  const bool interrupted = !outcome || outcome->operator[]("exit_code").as_int() == 130;
  if ((job.stop || closing_) && interrupted) {
    job.state = JobState::Cancelled;
    job.why = "cancelled";
    const char* kept = job.request.tool != nullptr ? job.request.tool->kept : "";
    if (*kept != '\0') job.why += std::string("; ") + kept;
  }
  job.over = Clock::now();
  job.request.words.scratch.reset();
  changed_.notify_all();
}

JobSnapshot Jobs::snapshot(const Job& job) const {
  JobSnapshot seen;
  seen.handle = job.handle;
  seen.row = job.request.tool;
  seen.tool = job.request.tool != nullptr ? job.request.tool->name : "";
  seen.progress = job.progress;
  seen.why = job.why;
  seen.state = job.state;
  seen.document = job.document;
  seen.said = job.said;
  seen.notes = job.notes;
  const Clock::time_point until = ended(job.state) ? job.over : Clock::now();
  seen.seconds = std::chrono::duration<double>(until - job.asked).count();
  for (const auto& other : order_) {
    if (other->handle == job.handle) break;
    if (job.state == JobState::Queued && !ended(other->state) &&
        other->request.resource == job.request.resource)
      ++seen.ahead;
  }
  return seen;
}

std::optional<JobSnapshot> Jobs::look(const std::string& handle) const {
  const std::lock_guard lock(mutex_);
  const auto it = jobs_.find(handle);
  if (it == jobs_.end()) return std::nullopt;
  return snapshot(*it->second);
}

std::vector<JobSnapshot> Jobs::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<JobSnapshot> seen;
  for (const auto& job : order_) seen.push_back(snapshot(*job));
  return seen;
}

std::optional<JobSnapshot> Jobs::wait(const std::string& handle, uint64_t said,
                                      double seconds) const {
  std::unique_lock lock(mutex_);
  const auto it = jobs_.find(handle);
  if (it == jobs_.end()) return std::nullopt;
  const std::shared_ptr<Job> job = it->second;
  changed_.wait_for(lock, std::chrono::duration<double>(std::max(seconds, 0.0)),
                    [&] { return ended(job->state) || job->said != said; });
  return snapshot(*job);
}

void Jobs::cancel(const std::string& handle) {
  const std::lock_guard lock(mutex_);
  const auto it = jobs_.find(handle);
  if (it == jobs_.end() || ended(it->second->state)) return;
  Job& job = *it->second;
  job.stop = true;
  if (job.state == JobState::Queued) {
    job.state = JobState::Cancelled;
    job.why = "cancelled before it began";
    job.over = Clock::now();
    job.request.words.scratch.reset();
  }
  changed_.notify_all();
}

void Jobs::cancel_of(const std::string& owner) {
  for (const JobSnapshot& seen : all()) {
    bool mine = false;
    {
      const std::lock_guard lock(mutex_);
      const auto it = jobs_.find(seen.handle);
      mine = it != jobs_.end() && it->second->request.owner == owner;
    }
    if (mine) cancel(seen.handle);
  }
}

void Jobs::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (const auto& job : order_) {
      if (job->state != JobState::Queued) continue;
      job->state = JobState::Cancelled;
      job->why = "the server is ending";
      job->over = Clock::now();
    }
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace kw::mcp
