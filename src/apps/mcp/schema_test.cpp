#include "mcp/schema.h"

#include <gtest/gtest.h>

#include "core/text.h"

namespace kw::mcp {
namespace {

struct SchemaCase {
  const char* schema;
  const char* value;
  const char* problem;  // part of the message; "" = valid
};

class SchemaTable : public testing::TestWithParam<SchemaCase> {};

TEST_P(SchemaTable, SaysWhatDoesNotFit) {
  const SchemaCase& row = GetParam();
  const auto schema = Json::parse(row.schema), value = Json::parse(row.value);
  ASSERT_TRUE(schema && value);
  const std::string said = join(schema_problems(*schema, *value), "; ");
  if (std::string(row.problem).empty()) {
    EXPECT_EQ(said, "");
  } else {
    EXPECT_NE(said.find(row.problem), std::string::npos) << said;
  }
}

constexpr const char* kStrict =
    R"({"type":"object","properties":{"module":{"type":"string"},"n":{"type":"integer","minimum":1,"maximum":5}},
        "required":["module"],"additionalProperties":false})";

INSTANTIATE_TEST_SUITE_P(
    Rows, SchemaTable,
    testing::Values(
        SchemaCase{kStrict, R"({"module":"a"})", ""},
        SchemaCase{kStrict, R"({"module":"a","n":5})", ""},
        SchemaCase{kStrict, R"({})", "'module' is missing"},
        SchemaCase{kStrict, R"({"module":"a","modul":1})", "no 'modul' (did you mean 'module'?)"},
        SchemaCase{kStrict, R"({"module":7})", "module: must be text"},
        SchemaCase{kStrict, R"({"module":"a","n":0})", "n: must be at least 1"},
        SchemaCase{kStrict, R"({"module":"a","n":6})", "n: must be at most 5"},
        SchemaCase{kStrict, R"({"module":"a","n":1.5})", "n: must be a whole number"},
        SchemaCase{kStrict, "[]", "must be an object"},
        SchemaCase{R"({"type":["string","null"]})", "null", ""},
        SchemaCase{R"({"type":["string","null"]})", "1", "text or null"},
        SchemaCase{R"({"enum":["auto","vgpu"]})", "\"auto\"", ""},
        SchemaCase{R"({"enum":["auto","vgpu"]})", "\"vgpo\"", "did you mean 'vgpu'?"},
        SchemaCase{R"({"type":"array","items":{"type":"string"},"maxItems":2})", R"(["a"])", ""},
        SchemaCase{R"({"type":"array","items":{"type":"string"}})", R"(["a",1])",
                   "[1]: must be text"},
        SchemaCase{R"({"type":"array","minItems":1})", "[]", "at least 1 items"},
        SchemaCase{R"({"type":"array","maxItems":2})", "[1,2,3]", "at most 2"},
        SchemaCase{R"({"type":"object","additionalProperties":{"type":"integer"}})",
                   R"({"B":4,"D":"x"})", "D: must be a whole number"},
        SchemaCase{R"({"type":"object","minProperties":1})", "{}", "at least 1 members"},
        SchemaCase{R"({"type":"string","minLength":1})", "\"\"", "at least 1 bytes"},
        SchemaCase{R"({"type":"string","maxLength":2})", "\"abc\"", "at most 2"},
        SchemaCase{R"({"anyOf":[{"required":["a"]},{"required":["b"]}]})", R"({"b":1})", ""},
        SchemaCase{R"({"anyOf":[{"required":["a"]},{"required":["b"]}]})", R"({"c":1})",
                   "none of these"}));

TEST(SchemaProblems, AreFewWhateverIsSent) {
  Json value = Json::object();
  for (int i = 0; i < 1000; ++i) value.set("x" + std::to_string(i), 1);
  const auto schema = Json::parse(R"({"type":"object","additionalProperties":{"type":"string"}})");
  EXPECT_LE(schema_problems(*schema, value).size(), 12U);
}

}  // namespace
}  // namespace kw::mcp
