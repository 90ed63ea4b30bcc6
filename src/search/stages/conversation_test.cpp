#include "stages/conversation.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace kw::stages {
namespace {

llm::Reply reply(const std::string& text) {
  llm::Reply made;
  made.text = text;
  made.opaque.model = "m";
  made.opaque.content = Json("signed");
  return made;
}

TEST(Conversation, AlternatesAndMarksTheEnd) {
  Conversation talk({{"system", llm::Cache::Mark}}, {});
  talk.say("one");
  talk.say("two");
  talk.add_reply(reply("three"));
  talk.say("four");
  const auto& turns = talk.messages();
  ASSERT_GE(turns.size(), 2u);
  EXPECT_EQ(turns[0].text, "one\n\ntwo");
  EXPECT_EQ(turns[1].text, "three");
  const llm::Request request = talk.request("x");
  EXPECT_EQ(request.messages.back().cache, llm::Cache::Mark);
  EXPECT_EQ(request.messages.front().cache, llm::Cache::No);
}

TEST(Conversation, AnEmptyAnswerIsStillATurn) {
  Conversation talk({}, {});
  talk.say("one");
  talk.add_reply(reply(" \n"));
  talk.say("two");
  llm::Request request = talk.request("x");
  request.model = "m";
  EXPECT_TRUE(llm::check_request(request));
}

// Old turns shrink and note it; the first and the last ones stay whole.
TEST(Conversation, CompactsByRule) {
  ConversationLimits limits;
  limits.most_bytes = 40'000;
  limits.keep_turns = 2;
  Conversation talk({}, {{"verify", "judges", Json::object().set("type", "object")}}, limits);
  const std::string block(6'000, 'x');
  talk.say("first " + block);
  for (int i = 0; i < 5; ++i) {
    llm::Reply asking = reply("turn " + std::to_string(i) + "\n" + block);
    asking.calls = {llm::make_tool_call("c" + std::to_string(i), "verify",
                                        Json::object().set("source", block).dump())};
    talk.add_reply(asking);
    talk.answer_calls(
        {{"c" + std::to_string(i), "verify", "found " + std::to_string(i) + "\n" + block, false}});
  }
  llm::Request request = talk.request("x");
  request.model = "m";
  const Status valid = llm::check_request(request);
  EXPECT_TRUE(valid) << valid.error().message;
  ASSERT_EQ(talk.compactions().size(), 1u);
  EXPECT_EQ(request.messages.size(), 11u) << "nothing is dropped";
  EXPECT_EQ(request.messages[0].text, "first " + block);
  EXPECT_EQ(request.messages.back().results.at(0).content, "found 4\n" + block);
  const llm::Message& old = request.messages[1];
  EXPECT_NE(old.text.find("turn 0"), std::string::npos);
  EXPECT_NE(old.text.find("more bytes were here"), std::string::npos);
  EXPECT_LT(old.calls.at(0).arguments.size(), 200u);
  EXPECT_TRUE(old.calls.at(0).parsed.is_object());
  EXPECT_TRUE(old.opaque.content.is_null()) << "a signature of what was there before";
  EXPECT_NE(request.messages[2].results.at(0).content.find("found 0"), std::string::npos);
}

struct FitCase {
  const char* name;
  int64_t context_tokens;
  size_t turn;  // bytes of each of the last turns
};
class Fits : public testing::TestWithParam<FitCase> {};

// Even with long last turns, a request fits the model's context and notes what is missing. The
// first words of every turn stay.
TEST_P(Fits, TheModelsContext) {
  const auto [name, context, bytes] = GetParam();
  Conversation talk({{std::string(10'000, 's'), llm::Cache::Mark}}, {});
  talk.say("first " + std::string(bytes, 'a'));
  for (int i = 0; i < 3; ++i) {
    llm::Reply asking = reply(fmt::format("turn {}\n", i) + std::string(bytes, 'b'));
    asking.calls = {llm::make_tool_call("c", "verify", Json::object().set("source", "x").dump())};
    talk.add_reply(asking);
    talk.answer_calls(
        {{"c", "verify", fmt::format("found {}\n", i) + std::string(bytes, 'c'), false}});
  }
  const llm::Request request = talk.request("x", context);
  size_t total = 10'000;
  for (const llm::Message& message : request.messages) {
    total += message.text.size();
    for (const llm::ToolResult& result : message.results) total += result.content.size();
  }
  EXPECT_LE(total / 3 + static_cast<size_t>(request.max_tokens),
            static_cast<size_t>(context) + 500);
  EXPECT_EQ(request.messages.size(), 7u);
  EXPECT_TRUE(request.messages[0].text.starts_with("first "));
  EXPECT_TRUE(request.messages[1].text.starts_with("turn 0"));
  EXPECT_TRUE(request.messages.back().results.at(0).content.starts_with("found 2"));
  EXPECT_NE(request.messages[1].text.find("left out"), std::string::npos);
  EXPECT_FALSE(talk.compactions().empty());
}

INSTANTIATE_TEST_SUITE_P(All, Fits,
                         testing::Values(FitCase{"usual", 128'000, 100'000},
                                         FitCase{"one_turn_is_too_long", 128'000, 900'000},
                                         FitCase{"small_model", 16'000, 20'000}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace kw::stages
