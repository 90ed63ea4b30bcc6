#include "mcp/rpc.h"

#include <gtest/gtest.h>

#include "mcp/revision.h"

namespace kw::mcp {
namespace {

struct BadText {
  const char* text;
  int code;
  const char* id;  // as JSON
};

class Refused : public testing::TestWithParam<BadText> {};

TEST_P(Refused, WithTheRightCodeAndId) {
  const Incoming incoming = read_messages(GetParam().text);
  ASSERT_EQ(incoming.items.size(), 1U);
  const Json* refusal = std::get_if<Json>(&incoming.items.front());
  ASSERT_NE(refusal, nullptr) << GetParam().text;
  EXPECT_EQ((*refusal)["error"]["code"].as_int(), GetParam().code) << refusal->dump();
  EXPECT_EQ((*refusal)["id"].dump(), GetParam().id);
  EXPECT_EQ((*refusal)["jsonrpc"].as_string(), "2.0");
  EXPECT_FALSE((*refusal)["error"]["message"].as_string().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Table, Refused,
    testing::Values(
        BadText{"", kParseError, "null"}, BadText{"garbage", kParseError, "null"},
        BadText{"{\"jsonrpc\":\"2.0\",", kParseError, "null"},
        BadText{"\xff\xfe", kParseError, "null"}, BadText{"[]", kInvalidRequest, "null"},
        BadText{"1", kInvalidRequest, "null"}, BadText{"null", kInvalidRequest, "null"},
        BadText{"{}", kInvalidRequest, "null"},
        BadText{R"({"jsonrpc":"1.0","id":4,"method":"x"})", kInvalidRequest, "4"},
        BadText{R"({"jsonrpc":"2.0","id":"a"})", kInvalidRequest, "\"a\""},
        BadText{R"({"jsonrpc":"2.0","id":4,"method":7})", kInvalidRequest, "4"},
        BadText{R"({"jsonrpc":"2.0","id":4,"method":""})", kInvalidRequest, "4"},
        BadText{R"({"jsonrpc":"2.0","id":null,"method":"x"})", kInvalidRequest, "null"},
        BadText{R"({"jsonrpc":"2.0","id":1.5,"method":"x"})", kInvalidRequest, "null"},
        BadText{R"({"jsonrpc":"2.0","id":{},"method":"x"})", kInvalidRequest, "null"},
        BadText{R"({"jsonrpc":"2.0","id":4,"method":"x","params":[1]})", kInvalidParams, "4"},
        BadText{R"({"jsonrpc":"2.0","id":4,"method":"x","params":"p"})", kInvalidParams, "4"}));

TEST(ReadMessages, TellsTheThreeKindsApart) {
  const auto kind = [](const char* text) {
    return std::get<Message>(read_messages(text).items.front()).kind;
  };
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","id":1,"method":"a"})"), Message::Kind::Request);
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","method":"a"})"), Message::Kind::Notification);
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","id":1,"result":{}})"), Message::Kind::Response);
  EXPECT_EQ(kind(R"({"jsonrpc":"2.0","id":1,"error":{}})"), Message::Kind::Response);
}

TEST(ReadMessages, ANotificationWithOddParamsIsStillOne) {
  const Incoming incoming = read_messages(R"({"jsonrpc":"2.0","method":"a","params":[1]})");
  EXPECT_TRUE(std::get<Message>(incoming.items.front()).params.is_object());
}

TEST(ReadMessages, ABatchKeepsGoodAndBadApart) {
  const Incoming incoming = read_messages(R"([{"jsonrpc":"2.0","id":1,"method":"a"}, 7])");
  ASSERT_TRUE(incoming.batch);
  ASSERT_EQ(incoming.items.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Message>(incoming.items[0]));
  EXPECT_TRUE(std::holds_alternative<Json>(incoming.items[1]));
}

TEST(ReadMessages, RefusesWhatWouldTakeLongToRead) {
  std::string many = R"({"jsonrpc":"2.0","id":1,"method":"a","params":{)";
  for (int i = 0; i < 30000; ++i) many += "\"k" + std::to_string(i) + "\":1,";
  many += "\"z\":1}}";
  const Json refusal = std::get<Json>(read_messages(many).items.front());
  EXPECT_EQ(refusal["error"]["code"].as_int(), kInvalidRequest);
  // Commas inside a string do not count.
  const std::string text(100000, ',');
  const std::string plain =
      R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"t":")" + text + "\"}}";
  EXPECT_TRUE(std::holds_alternative<Message>(read_messages(plain).items.front()));
  const std::string deep = std::string(1000, '[') + std::string(1000, ']');
  EXPECT_TRUE(std::holds_alternative<Json>(read_messages(deep).items.front()));
}

TEST(ReadMessages, RefusesWhatIsTooLarge) {
  const std::string large(kMostMessageBytes + 1, ' ');
  const Json refusal = std::get<Json>(read_messages(large).items.front());
  EXPECT_EQ(refusal["error"]["code"].as_int(), kInvalidRequest);
}

TEST(Ids, OfNumbersAndTextsDiffer) { EXPECT_NE(id_key(Json(1)), id_key(Json("1"))); }

TEST(Responses, CarryResultOrError) {
  const Json good = response(Json("a"), Json::object().set("x", 1));
  EXPECT_EQ(good.dump(), R"({"jsonrpc":"2.0","id":"a","result":{"x":1}})");
  const Json bad = response(Json(3), RpcError{kMethodNotFound, "no", Json("d")});
  EXPECT_EQ(bad.dump(),
            R"({"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no","data":"d"}})");
}

TEST(Revisions, AreKnownByName) {
  EXPECT_EQ(find_revision("1999-01-01"), nullptr);
  EXPECT_TRUE(find_revision("2025-03-26")->batches);
  EXPECT_FALSE(find_revision("2025-06-18")->batches);
  EXPECT_TRUE(find_revision("2026-07-28")->stateless);
  EXPECT_STREQ(newest_handshake().name, "2025-11-25");
}

}  // namespace
}  // namespace kw::mcp
