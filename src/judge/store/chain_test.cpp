// Forgeries of a stored run, each by somebody who knows the format and lacks the key.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

#include "core/text.h"
#include "os/files.h"
#include "store/fault_disk.h"
#include "store/run.h"
#include "store/run_impl.h"
#include "store/test_folder.h"

namespace kw::store {
namespace {

using StoredRun = Run;  // a test class has a member named Run

/// A user of their own, for as long as it lives.
class AsUser {
 public:
  explicit AsUser(const std::string& home) {
    const char* was = ::getenv("XDG_DATA_HOME");
    before_ = was == nullptr ? "" : was;
    ::setenv("XDG_DATA_HOME", home.c_str(), 1);
  }
  ~AsUser() {
    if (before_.empty()) {
      ::unsetenv("XDG_DATA_HOME");
    } else {
      ::setenv("XDG_DATA_HOME", before_.c_str(), 1);
    }
  }

 private:
  std::string before_;
};

Json saying(const char* word) { return Json::object().set("verdict", word); }

record::Candidate numbered(int number) {
  return record::make_candidate(fmt::format("// {}\n", number), {}, "builtin", "row program", {});
}

class Forged : public ::testing::Test {
 protected:
  Forged() : user_(root_.path() + "/home") { make("run"); }

  /// Three candidates: passed, wrong, rejected.
  void make(const std::string& name) {
    RunInputs in;
    in.name = "forged";
    in.spec = in.config = in.env = Json::object();
    StoredRun run = StoredRun::create({"", root_.path() + "/" + name}, in).value();
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(run.add(numbered(i)));
      ASSERT_TRUE(run.judged(numbered(i).id, saying(kWords[i])));
    }
    ASSERT_TRUE(run.finish(Json::object().set("passed", true), {"cu", "", "", ""}));
  }
  std::string path(const std::string& name, const std::string& run = "run") const {
    return root_.path() + "/" + run + "/" + name;
  }
  std::vector<std::string> lines(const std::string& run = "run") const {
    std::vector<std::string> all = split(*os::read_file(path("events.jsonl", run)), '\n');
    all.pop_back();
    return all;
  }
  void write_lines(const std::vector<std::string>& all) {
    ASSERT_TRUE(os::write_file(path("events.jsonl"), join(all, "\n") + "\n"));
  }
  size_t line_with(const std::string& words) const {
    const std::vector<std::string> all = lines();
    const auto at = std::ranges::find_if(
        all, [&](const std::string& line) { return line.find(words) != std::string::npos; });
    EXPECT_NE(at, all.end()) << words;
    return static_cast<size_t>(at - all.begin());
  }
  StoredRun open(Access access = Access::Read) const {
    return StoredRun::open(root_.path() + "/run", access).value();
  }
  /// What reading it finds; no verdict of a candidate may be taken from a forged record.
  std::string found() const { return join(open().damage(), "\n"); }

  static constexpr const char* kWords[] = {"passed", "wrong", "rejected"};
  TestFolder root_;
  AsUser user_;
};

TEST_F(Forged, NothingIsSaidOfAHonestRun) {
  EXPECT_EQ(found(), "");
  const StoredRun run = open();
  EXPECT_EQ(run.foreign(), "");
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(run.is_vouched(numbered(i).id));
    EXPECT_EQ(run.judgement(numbered(i).id)["verdict"].as_string(), kWords[i]);
  }
}

TEST_F(Forged, AVerdictAndItsEvent) {
  const std::string text = json_text(saying("passed"));
  ASSERT_TRUE(os::write_file(path("candidates/" + numbered(1).id + "/verdict.json"), text));
  std::vector<std::string> all = lines();
  std::string& line = all[line_with("\"wrong\"")];
  const size_t at = line.find("\"hash\":\"") + 8;
  line.replace(at, 64, signing::digest(text));
  line = replace_all(line, "\"wrong\"", "\"passed\"");
  write_lines(all);
  EXPECT_NE(found().find("was changed, or a line before it was removed"), std::string::npos);
  const StoredRun run = open();
  EXPECT_TRUE(run.judgement(numbered(1).id).is_null());
  EXPECT_FALSE(run.is_vouched(numbered(1).id));
}

TEST_F(Forged, AnEventIsRemovedMovedOrDoubled) {
  const std::vector<std::string> honest = lines();
  const size_t at = line_with("\"wrong\"");
  const auto forge = [&](const char* what, auto change) {
    std::vector<std::string> all = honest;
    change(all);
    write_lines(all);
    EXPECT_NE(found(), "") << what;
    EXPECT_FALSE(open().is_vouched(numbered(0).id)) << what << ": an event about it may be missing";
  };
  const auto place = static_cast<std::ptrdiff_t>(at);
  forge("removed", [&](auto& all) { all.erase(all.begin() + place); });
  forge("moved", [&](auto& all) { std::swap(all[at], all[at + 1]); });
  forge("doubled", [&](auto& all) { all.insert(all.begin() + place, all[at]); });
  forge("cut off", [&](auto& all) { all.resize(at); });
  forge("cut to the first", [&](auto& all) { all.resize(1); });
  write_lines(honest);
  EXPECT_EQ(found(), "");
}

// The next session signs what is there. What it found must stay known.
TEST_F(Forged, LostEventsStayToldAfterTheNextSession) {
  std::vector<std::string> all = lines();
  all.resize(line_with("\"rejected\""));
  write_lines(all);
  EXPECT_NE(found().find("that were signed"), std::string::npos) << found();
  { const StoredRun run = open(Access::Write); }
  EXPECT_NE(found().find("lost or changed events"), std::string::npos) << found();
  EXPECT_FALSE(open().is_vouched(numbered(0).id));
  {
    StoredRun run = open(Access::Write);
    ASSERT_TRUE(run.judged(numbered(0).id, saying("passed")));
  }
  EXPECT_TRUE(open().is_vouched(numbered(0).id)) << "it was judged again";
}

TEST_F(Forged, AnEventIsAddedAtTheEnd) {
  std::vector<std::string> all = lines();
  all.push_back(fmt::format(
      R"({{"seconds":9.0,"kind":"judged","data":{{"id":"{}","verdict":"passed","hash":"{}"}}}})",
      numbered(2).id, signing::digest(json_text(saying("passed")))));
  ASSERT_TRUE(os::write_file(path("candidates/" + numbered(2).id + "/verdict.json"),
                             json_text(saying("passed"))));
  write_lines(all);
  EXPECT_NE(found(), "");
  EXPECT_TRUE(open().judgement(numbered(2).id).is_null());
  // The same in a session that claims to be another user's: shown, and not believed.
  all.insert(all.end() - 1, R"({"seconds":8.0,"kind":"opened","data":{}})");
  write_lines(all);
  EXPECT_FALSE(open().is_vouched(numbered(2).id));
  EXPECT_EQ(open().foreign(), "signed in part");
}

TEST_F(Forged, EventsOfAnotherRun) {
  make("other");
  write_lines(lines("other"));
  ASSERT_TRUE(
      os::write_file(path("signature.json"), *os::read_file(path("signature.json", "other"))));
  EXPECT_NE(found(), "");
  EXPECT_FALSE(open().is_vouched(numbered(0).id));
}

TEST_F(Forged, AnInputAndItsHash) {
  const std::string manifest = *os::read_file(path("run.json"));
  ASSERT_TRUE(os::write_file(path("inputs/reference.py"), "def other(x): ...\n"));
  ASSERT_TRUE(os::write_file(
      path("run.json"),
      replace_all(manifest, signing::digest(""), signing::digest("def other(x): ...\n"))));
  EXPECT_NE(found(), "");
  EXPECT_FALSE(open().is_vouched(numbered(0).id)) << "the verdicts were about another reference";
}

TEST_F(Forged, AReport) {
  ASSERT_TRUE(os::write_file(path("report.json"), "{\"passed\": true, \"x\": 1}"));
  EXPECT_NE(found().find("report.json was changed"), std::string::npos);
  EXPECT_TRUE(open().report().is_null());
}

TEST_F(Forged, ASignature) {
  const std::string honest = *os::read_file(path("signature.json"));
  ASSERT_TRUE(os::remove_file(path("signature.json")));
  EXPECT_NE(found().find("signature.json is missing"), std::string::npos);
  const Json json = *Json::parse(honest);
  ASSERT_TRUE(os::write_file(path("signature.json"),
                             Json(json).set("bytes", json["bytes"].as_int() - 1).dump()));
  EXPECT_NE(found().find("signature.json was changed"), std::string::npos);
  ASSERT_TRUE(os::write_file(path("signature.json"), honest));
  EXPECT_EQ(found(), "");
}

TEST_F(Forged, AnotherUsersRunIsShownAndNotBelieved) {
  const AsUser other(root_.path() + "/elsewhere");
  EXPECT_NE(open().foreign(), "") << "this user has no key yet";
  { const StoredRun run = open(Access::Write); }
  const StoredRun run = open();
  EXPECT_TRUE(run.foreign().starts_with("signed by another key (")) << run.foreign();
  EXPECT_EQ(join(run.damage(), "\n"), "") << "that is no accusation";
  EXPECT_EQ(run.judgement(numbered(0).id)["verdict"].as_string(), "passed");
  EXPECT_FALSE(run.is_vouched(numbered(0).id));
}

TEST_F(Forged, OfAMixedRunEachBelievesItsOwn) {
  const AsUser other(root_.path() + "/elsewhere");
  {
    StoredRun run = open(Access::Write);
    ASSERT_TRUE(run.judged(numbered(1).id, saying("passed")));
  }
  EXPECT_TRUE(open().is_vouched(numbered(1).id));
  EXPECT_FALSE(open().is_vouched(numbered(0).id));
  const AsUser first(root_.path() + "/home");
  EXPECT_FALSE(open().is_vouched(numbered(1).id));
  EXPECT_TRUE(open().is_vouched(numbered(0).id));
  EXPECT_EQ(join(open().damage(), "\n"), "");
}

// kill -9 between an event and the signature: the older signature covers less, and the marks the
// rest.
TEST_F(Forged, AnOlderSignatureIsNoAccusation) {
  const std::string older = *os::read_file(path("signature.json"));
  {
    StoredRun run = open(Access::Write);
    ASSERT_TRUE(run.add(numbered(7)));
    ASSERT_TRUE(run.judged(numbered(7).id, saying("passed")));
  }
  ASSERT_TRUE(os::write_file(path("signature.json"), older));
  EXPECT_EQ(found(), "");
  EXPECT_TRUE(open().is_vouched(numbered(7).id));
}

// kill -9 between a result that is replaced and its event.
TEST_F(Forged, AReplacedResultIsNoAccusation) {
  const std::string text = json_text(saying("passed"));
  {
    StoredRun run = open(Access::Write);
    ASSERT_TRUE(run.append("replacing", Json::object()
                                            .set("id", numbered(1).id)
                                            .set("file", "verdict.json")
                                            .set("hash", signing::digest(text))));
  }
  EXPECT_EQ(found(), "") << "before the file";
  EXPECT_EQ(open().judgement(numbered(1).id)["verdict"].as_string(), "wrong");
  ASSERT_TRUE(os::write_file(path("candidates/" + numbered(1).id + "/verdict.json"), text));
  EXPECT_EQ(found(), "") << "after it";
  EXPECT_EQ(open().judgement(numbered(1).id)["verdict"].as_string(), "passed");
}

TEST_F(Forged, AVerdictIsAboutItsText) {
  StoredRun run = open(Access::Write);
  const std::string module = path("candidates/" + numbered(0).id + "/module.cu");
  ASSERT_TRUE(os::write_file(module, "// another text, as if its id were the same\n"));
  EXPECT_TRUE(open().judgement(numbered(0).id).is_null());
  EXPECT_FALSE(open().is_vouched(numbered(0).id));
}

TEST_F(Forged, WhatIsMovedAsideIsNoFaultAnyMore) {
  const std::string file = path("candidates/" + numbered(1).id + "/verdict.json");
  ASSERT_TRUE(os::write_file(file, "{}"));
  ASSERT_NE(found(), "");
  ASSERT_TRUE(open(Access::Write).set_altered_aside());
  EXPECT_EQ(found(), "");
  EXPECT_FALSE(os::exists(file));
  EXPECT_EQ(os::glob(path("aside/*")).size(), 1U) << "it is kept";
  EXPECT_TRUE(open().judgement(numbered(1).id).is_null());
}

TEST_F(Forged, ARunOfAnOlderVersionIsNotSigned) {
  std::vector<std::string> all;
  for (const std::string& line : lines()) {
    const size_t key = line.find(",\"chain\":");
    all.push_back(replace_all(line.substr(0, key) + "}", "\"key\":", "\"nokey\":"));
  }
  write_lines(all);
  ASSERT_TRUE(os::remove_file(path("signature.json")));
  EXPECT_EQ(found(), "");
  EXPECT_EQ(open().foreign(), "not signed");
  EXPECT_EQ(open().judgement(numbered(0).id)["verdict"].as_string(), "passed");
  EXPECT_FALSE(open().is_vouched(numbered(0).id));
}

}  // namespace
}  // namespace kw::store
