#include "review/review_queue.h"

#include <algorithm>
#include <mutex>

namespace kw::review {
namespace {

ReviewedModule read_one(Reviewers& reviewers, const stages::Answer& answer, std::string id,
                        Case one) {
  ReviewedModule read{std::move(id), std::move(one), {}, {}};
  std::mutex mutex;
  read.opinion =
      reviewers.look(read.one, [&](const llm::ModelId& model, const llm::Request& request) {
        llm::Outcome outcome = answer(model, request);
        const std::lock_guard lock(mutex);
        read.talks.emplace_back(request, outcome);
        return outcome;
      });
  // Threads answer in any order; the recorded order must not depend on it.
  std::ranges::stable_sort(read.talks, {}, [](const auto& talk) { return talk.first.label; });
  return read;
}

}  // namespace

void ReviewQueue::begin(std::string id, Case one) {
  if (reading_.size() >= most_) reading_[reading_.size() - most_].wait();
  reading_.push_back(
      std::async([this, id = std::move(id), one = std::move(one)]() mutable {
        return read_one(reviewers_, answer_, std::move(id), std::move(one));
      }));
}

std::vector<ReviewedModule> ReviewQueue::finish() {
  std::vector<ReviewedModule> all;
  for (std::future<ReviewedModule>& one : reading_) all.push_back(one.get());
  reading_.clear();
  return all;
}

}  // namespace kw::review
