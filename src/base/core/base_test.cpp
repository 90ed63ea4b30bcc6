#include <gtest/gtest.h>

#include "core/ascii.h"
#include "core/check.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/json_keys.h"
#include "core/result.h"
#include "core/text.h"
#include "core/utf8.h"

namespace kw {
namespace {

Result<int> half(int x) {
  if (x % 2 != 0) return input_error("odd");
  return x / 2;
}

Result<int> quarter(int x) {
  const int once = KW_TRY(half(x));
  return half(once);
}

TEST(Result, TryPassesValuesAndErrors) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_EQ(input_error("b").context("a").message, "a: b");
}

TEST(Check, ThrowsABugWithPlaceAndReason) {
  try {
    KW_CHECK(1 == 2, "numbers work");
    FAIL() << "must throw";
  } catch (const Bug& bug) {
    EXPECT_NE(std::string(bug.what()).find("numbers work (1 == 2)"), std::string::npos);
  }
}

TEST(Text, SplitsTrimsSuggests) {
  EXPECT_EQ(lower_case("Content-TYPE Ä"), "content-type Ä");
  EXPECT_EQ(trim("  a b\n"), "a b");
  EXPECT_EQ(split("a,,b", ',').size(), 3u);
  EXPECT_EQ(split_lines("a\r\n\nb\n").size(), 3u);
  EXPECT_EQ(closest("fp61", {"fp16", "bf16", "int8"}), "fp16");
  EXPECT_EQ(closest("zzzz", {"fp16"}), "");
  EXPECT_EQ(parse_int("12x"), std::nullopt);
  EXPECT_EQ(parse_int("-12"), -12);
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(shell_quote("a b'c"), "'a b'\\''c'");
}

TEST(Ascii, HasOnlyTheLettersOfAscii) {
  std::string letters, parts;
  for (int c = -128; c < 128; ++c) {
    if (is_ascii_letter(static_cast<char>(c))) letters += static_cast<char>(c);
    if (is_name_char(static_cast<char>(c))) parts += static_cast<char>(c);
  }
  EXPECT_EQ(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  EXPECT_EQ(parts, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz");
}

TEST(Json, RoundTripsAndKeepsOrder) {
  Json json = Json::object();
  json.set("z", 1).set("a", Json::array().push(2.5).push(nullptr)).set("s", "\xff");
  EXPECT_EQ(json.dump(), "{\"z\":1,\"a\":[2.5,null],\"s\":\"\xEF\xBF\xBD\"}");
  const auto back = Json::parse(R"({"k": [1, -2, 1e3, true, "x"], "big": 18446744073709551615})");
  ASSERT_TRUE(back);
  EXPECT_EQ((*back)["k"].items()[1].as_int(), -2);
  EXPECT_EQ((*back)["nope"].is_null(), true);
  EXPECT_DOUBLE_EQ((*back)["big"].as_double(), 18446744073709551615.0);
}

TEST(Json, SaysWhereTextIsBad) {
  for (const char* text : {"{x}", "[1,", "1e999", "\"\xff\""}) {
    const auto parsed = Json::parse(text);
    ASSERT_FALSE(parsed) << text;
    const std::string& message = parsed.error().message;
    EXPECT_TRUE(message.starts_with("not valid JSON")) << message;
    EXPECT_EQ(message.find("exception"), std::string::npos) << message;
  }
  EXPECT_TRUE(Json::parse("{x}").error().message.starts_with(
      "not valid JSON at line 1, column 2: syntax error"));
}

TEST(Json, RefusesBadAndDeepText) {
  EXPECT_FALSE(Json::parse("{"));
  EXPECT_FALSE(Json::parse(std::string(100000, '[')));
}

TEST(Hash, IsStable) {
  EXPECT_EQ(hash_hex("").size(), 32u);
  EXPECT_NE(hash_hex("a"), hash_hex("b"));
  EXPECT_EQ(hash64("kernelwright"), hash64("kernelwright"));
}

TEST(Utf8, FindsTheFirstByteThatIsNone) {
  EXPECT_FALSE(find_bad_byte("plain\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82"));
  // A byte of no sequence, one cut short, a longer form, a surrogate, beyond U+10FFFF.
  for (const char* bad :
       {"\xff", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    const auto found = find_bad_byte(std::string("a\n\xc3\xa9") + bad + "b");
    ASSERT_TRUE(found) << bad;
    EXPECT_EQ(found->line, 2);
    EXPECT_EQ(found->column, 3);
    EXPECT_EQ(found->value, static_cast<unsigned char>(*bad));
  }
}

TEST(JsonKeys, FindsAKeyGivenTwice) {
  EXPECT_EQ(repeated_key(R"({"N": 4, "M": {"N": 5}})"), "");
  EXPECT_EQ(repeated_key(R"({"N": 4, "N": 5})"), "N");
  EXPECT_EQ(repeated_key(R"([{"a": {"b": 1, "b": 2}}])"), "b");
  EXPECT_EQ(repeated_key("{"), "");
}

}  // namespace
}  // namespace kw
