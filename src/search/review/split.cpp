#include <algorithm>
#include <set>

#include "core/contains.h"
#include "core/hash.h"
#include "core/random.h"
#include "review/corpus.h"

namespace kw::review {
namespace {

constexpr size_t kFewestTasks = 4;

using Entries = std::vector<const CorpusEntry*>;

/// Sorts by a hash of the id and the seed, independent of the other entries.
void shuffle(Entries& entries, uint64_t seed) {
  std::ranges::stable_sort(entries, {},
                           [seed](const CorpusEntry* one) { return hash64(one->id, seed); });
}

/// Tasks with right and wrong entries come first: every part needs both.
std::vector<std::string> ordered_tasks(const Entries& entries, Field field, uint64_t seed) {
  std::set<std::string> right, wrong, all;
  for (const CorpusEntry* one : entries) {
    all.insert(one->task);
    (*label(*one, field) ? right : wrong).insert(one->task);
  }
  std::vector<std::string> tasks(all.begin(), all.end());
  const auto both = [&](const std::string& task) {
    return right.contains(task) && wrong.contains(task);
  };
  std::ranges::stable_sort(tasks, [&](const std::string& one, const std::string& other) {
    if (both(one) != both(other)) return both(one);
    return hash64(one, seed) < hash64(other, seed);
  });
  return tasks;
}

void draw(const Entries& from, size_t count, Entries& out) {
  for (const CorpusEntry* one : from) {
    if (count == 0) return;
    if (contains(out, one)) continue;
    out.push_back(one);
    --count;
  }
}

/// At most `most` entries: half of them wrong, a third of the rest with defensive code.
Entries sample(const Entries& entries, Field field, uint64_t seed, size_t most) {
  Entries right, wrong, careful;
  for (const CorpusEntry* one : entries) {
    if (!*label(*one, field))
      wrong.push_back(one);
    else
      (one->defensive() ? careful : right).push_back(one);
  }
  for (Entries* group : {&right, &wrong, &careful}) shuffle(*group, seed);
  Entries out;
  const size_t rights = right.size() + careful.size();
  const size_t wrongs = std::min(wrong.size(), std::max(most / 2, most - std::min(most, rights)));
  draw(wrong, wrongs, out);
  draw(careful, (most - wrongs) / 3, out);
  draw(right, most - out.size(), out);
  draw(careful, most - out.size(), out);
  return out;
}

Status check_classes(const Entries& entries, Field field, const char* where) {
  const auto wrong = std::ranges::count_if(
      entries, [field](const CorpusEntry* one) { return !*label(*one, field); });
  const auto right = static_cast<std::ptrdiff_t>(entries.size()) - wrong;
  if (right > 0 && wrong > 0) return Done{};
  return input_error(
      "{} {} modules for the {} verifier are all {}; it can be measured only with both kinds",
      where, entries.size(), field_name(field), right > 0 ? "right" : "wrong");
}

}  // namespace

Result<Split> split_corpus(const Corpus& corpus, Field field, uint64_t seed, size_t most) {
  Entries usable;
  for (const CorpusEntry& entry : corpus.entries) {
    if (label(entry, field)) usable.push_back(&entry);
  }
  if (usable.empty())
    return input_error("the corpus holds no module for the {} verifier", field_name(field));
  KW_TRY(check_classes(usable, field, "the corpus's"));
  const std::vector<std::string> tasks = ordered_tasks(usable, field, seed);
  if (tasks.size() < kFewestTasks)
    return input_error(
        "the corpus is too small: its modules for the {} verifier are for {} task{}, and it takes "
        "{} to learn from some and measure on others",
        field_name(field), tasks.size(), tasks.size() == 1 ? "" : "s", kFewestTasks);
  Entries parts[3];
  for (const CorpusEntry* one : usable) {
    const size_t at = static_cast<size_t>(std::ranges::find(tasks, one->task) - tasks.begin());
    parts[at % 4 == 3 ? 2 : at % 4 == 1 ? 1 : 0].push_back(one);
  }
  Split split;
  split.train = sample(parts[0], field, seed, most);
  split.guard = sample(parts[1], field, seed, most);
  split.held_out = sample(parts[2], field, seed, most);
  KW_TRY(check_classes(split.train, field, "the training"));
  KW_TRY(check_classes(split.guard, field, "the guarding"));
  KW_TRY(check_classes(split.held_out, field, "the held-out"));
  return split;
}

}  // namespace kw::review
