#include "review/review_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace kw::review {
namespace {

/// Answers when the test allows it, and counts the waiting callers.
class SlowReader {
 public:
  llm::Outcome operator()(const llm::ModelId&, const llm::Request&) {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++waiting_);
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    --waiting_;
    llm::Reply reply;
    reply.text = R"({"verdict":"right","confidence":0.8,"reasons":[]})";
    return llm::Outcome(reply);
  }
  /// Waits until `count` callers wait at the same time.
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  int most() const { return most_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0, most_ = 0;
};

Reviewers panel_of_three() {
  std::vector<Specialist> specialists;
  for (const Field field : kFields)
    specialists.push_back({field, "Look.", {"lab", "reader", 100000}});
  return Reviewers(std::move(specialists), {}, {}, {});
}

TEST(ReviewQueue, AreAtTheSameTimeAndInOrder) {
  SlowReader reader;
  Reviewers reviewers = panel_of_three();
  ReviewQueue queue(
      reviewers,
      [&reader](const llm::ModelId& id, const llm::Request& request) {
        return reader(id, request);
      },
      2);
  queue.begin("one", {"r", "int a;\n"});
  queue.begin("two", {"r", "int b;\n"});
  reader.wait_for(6);  // three of each, before the first answer
  std::atomic<bool> begun = false;
  std::jthread third([&] {
    queue.begin("three", {"r", "int c;\n"});
    begun = true;
  });
  EXPECT_FALSE(begun) << "no more than two at a time";
  reader.open();
  third.join();
  const std::vector<ReviewedModule> all = queue.finish();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].id + " " + all[1].id + " " + all[2].id, "one two three");
  for (const ReviewedModule& read : all) {
    EXPECT_EQ(read.talks.size(), 3u);
    EXPECT_GT(read.opinion.score, 0.5);
    EXPECT_LT(read.talks[0].first.label, read.talks[2].first.label);
  }
  EXPECT_LE(reader.most(), 6);
  EXPECT_TRUE(queue.finish().empty());
}

}  // namespace
}  // namespace kw::review
