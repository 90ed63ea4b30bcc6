#include "review/corpus.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace kw::review {
namespace {

TEST(ShippedCorpus, IsLargeMixedAndCompact) {
  const Corpus corpus = shipped_corpus();
  EXPECT_GE(corpus.entries.size(), 300u);
  std::map<std::string, int> wrong, right, mutations;
  std::set<std::string> tasks;
  for (const CorpusEntry& entry : corpus.entries) {
    ++(entry.right ? right : wrong)[entry.kind];
    if (!entry.right) ++mutations[entry.mutation];
    tasks.insert(entry.task);
    EXPECT_FALSE(entry.module.empty() || entry.reference.empty()) << entry.id;
    EXPECT_EQ(entry.right, entry.reason.empty()) << entry.id;
  }
  EXPECT_GE(tasks.size(), 40u);
  EXPECT_EQ(wrong["design"], 0);
  EXPECT_EQ(wrong["defensive"], 0) << "checks that are not needed break nothing";
  EXPECT_GE(right["defensive"], 40);
  EXPECT_GE(wrong["bug"], 120);
  EXPECT_GE(mutations.size(), 20u) << "many kinds of faults";
}

class FieldSplit : public testing::TestWithParam<Field> {};

TEST_P(FieldSplit, SharesNoTaskAndHasBothClasses) {
  const Corpus corpus = shipped_corpus();
  const Result<Split> split = split_corpus(corpus, GetParam(), 7, 30);
  ASSERT_TRUE(split) << split.error().message;
  std::map<std::string, int> parts;
  int part = 0;
  for (const auto* entries : {&split->train, &split->guard, &split->held_out}) {
    ++part;
    EXPECT_LE(entries->size(), 30u);
    EXPECT_GE(entries->size(), 12u);
    int wrong = 0, careful = 0;
    for (const CorpusEntry* one : *entries) {
      wrong += *label(*one, GetParam()) ? 0 : 1;
      careful += one->defensive() ? 1 : 0;
      EXPECT_EQ(parts.emplace(one->task, part).first->second, part) << one->task;
    }
    EXPECT_GE(wrong, 4);
    EXPECT_LT(static_cast<size_t>(wrong), entries->size());
    EXPECT_GE(careful, 2);
  }
  const Result<Split> again = split_corpus(corpus, GetParam(), 7, 30);
  EXPECT_EQ(split->train, again->train);
  EXPECT_NE(split->train, split_corpus(corpus, GetParam(), 8, 30)->train);
}

INSTANTIATE_TEST_SUITE_P(All, FieldSplit, testing::ValuesIn(kFields),
                         [](const auto& test) { return std::string(field_name(test.param)); });

CorpusEntry small(const std::string& id, const std::string& task, bool right,
                  const char* stage = "vgpu") {
  return {id, task,  "def f(x): ...",    "//! kernelwright 1\n", "bug",
          "", right, right ? "" : stage, right ? "" : "reason"};
}

TEST(SmallCorpus, IsRefusedInWords) {
  Corpus corpus;
  const auto problem = [&corpus](Field field) {
    const Result<Split> split = split_corpus(corpus, field, 1, 10);
    return split ? std::string() : split.error().message;
  };
  EXPECT_NE(problem(Field::Memory).find("no module"), std::string::npos);
  corpus.entries = {small("a", "t1", true), small("b", "t2", true)};
  EXPECT_NE(problem(Field::Memory).find("all right"), std::string::npos) << problem(Field::Memory);
  corpus.entries.push_back(small("c", "t3", false));
  EXPECT_NE(problem(Field::Memory).find("too small"), std::string::npos) << problem(Field::Memory);
  EXPECT_NE(problem(Field::Numerics).find("all right"), std::string::npos);
  for (const char* task : {"t4", "t5", "t6", "t7"}) {
    corpus.entries.push_back(small(std::string(task) + "r", task, true));
    corpus.entries.push_back(small(std::string(task) + "w", task, false));
  }
  EXPECT_EQ(problem(Field::Memory), "");
}

TEST(Labels, AreOfOneField) {
  const CorpusEntry text = small("a", "t", false, "compile"),
                    memory = small("b", "t", false, "vgpu"),
                    value = small("c", "t", false, "numerics"), good = small("d", "t", true);
  EXPECT_EQ(label(text, Field::Compile), false);
  EXPECT_EQ(label(text, Field::Memory), std::nullopt);
  EXPECT_EQ(label(memory, Field::Compile), true);
  EXPECT_EQ(label(memory, Field::Memory), false);
  EXPECT_EQ(label(memory, Field::Numerics), std::nullopt);
  EXPECT_EQ(label(value, Field::Memory), true);
  EXPECT_EQ(label(value, Field::Numerics), false);
  for (const Field field : kFields) EXPECT_EQ(label(good, field), true);
}

struct BadFile {
  const char* name;
  const char* rows;
  const char* problem;
};

class BadCorpus : public testing::TestWithParam<BadFile> {};

TEST_P(BadCorpus, NamesItsLine) {
  const Result<Corpus> corpus = parse_corpus(GetParam().rows, "my.jsonl");
  ASSERT_FALSE(corpus);
  EXPECT_NE(corpus.error().message.find("my.jsonl"), std::string::npos);
  EXPECT_NE(corpus.error().message.find(GetParam().problem), std::string::npos)
      << corpus.error().message;
}

#define KW_HEAD "{\"schema\":\"kernelwright verifier corpus 1\"}\n"
#define KW_BASE                            \
  KW_HEAD                                  \
  "{\"task\":\"t\",\"reference\":\"r\"}\n" \
  "{\"base\":\"b\",\"task\":\"t\",\"text\":\"one\\ntwo\\n\"}\n"

INSTANTIATE_TEST_SUITE_P(
    All, BadCorpus,
    testing::Values(
        BadFile{"empty", "", "schema"}, BadFile{"no_json", "hello\n", "line 1"},
        BadFile{"other_schema", "{\"schema\":\"x\"}\n", "schema"},
        BadFile{"no_row", KW_HEAD "{\"x\":1}\n", "line 2"},
        BadFile{"unknown_task", KW_HEAD "{\"base\":\"b\",\"task\":\"t\",\"text\":\"x\"}\n", "'t'"},
        BadFile{"unknown_base",
                KW_BASE "{\"entry\":\"e\",\"base\":\"c\",\"kind\":\"bug\",\"verdict\":\"right\"}\n",
                "'c'"},
        BadFile{"verdict",
                KW_BASE "{\"entry\":\"e\",\"base\":\"b\",\"kind\":\"bug\",\"verdict\":\"ok\"}\n",
                "line 4: the verdict"},
        BadFile{"kind",
                KW_BASE "{\"entry\":\"e\",\"base\":\"b\",\"kind\":\"x\",\"verdict\":\"right\"}\n",
                "'x' is not one of"},
        BadFile{"edit_outside",
                KW_BASE "{\"entry\":\"e\",\"base\":\"b\",\"kind\":\"bug\",\"edits\":[[9,1,[]]],"
                        "\"verdict\":\"right\"}\n",
                "outside"},
        BadFile{"edit_negative",
                KW_BASE "{\"entry\":\"e\",\"base\":\"b\",\"kind\":\"bug\",\"edits\":[[0,-1,[]]],"
                        "\"verdict\":\"right\"}\n",
                "outside"},
        BadFile{"edit_text",
                KW_BASE "{\"entry\":\"e\",\"base\":\"b\",\"kind\":\"bug\",\"edits\":[3],"
                        "\"verdict\":\"right\"}\n",
                "not [line"},
        BadFile{"no_stage",
                KW_BASE "{\"entry\":\"e\",\"base\":\"b\",\"kind\":\"bug\",\"verdict\":\"wrong\"}\n",
                "'stage'"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Edits, AreAppliedInTheOrderGiven) {
  const Json edits = Json::parse(R"([[2, 1, ["C"]], [0, 1, []]])").value();
  EXPECT_EQ(*apply_edits("a\nb\nc\n", edits), "b\nC\n");
}

}  // namespace
}  // namespace kw::review
