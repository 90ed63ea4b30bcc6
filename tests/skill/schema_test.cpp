// The schema that agents are given says what the validator of methods.json wants, no more and no
// less.
#include <gtest/gtest.h>

#include <set>

#include "optimize/claims.h"
#include "os/files.h"
#include "profile/method_plan.h"

namespace kw {
namespace {

Json schema() {
  const auto text =
      os::read_file(KW_SOURCE_DIR "/skills/kernelwright/templates/methods.schema.json");
  const auto json = Json::parse(text ? *text : "");
  EXPECT_TRUE(json) << "methods.schema.json";
  return json ? *json : Json();
}

/// The part of the schema that a place of the validator's table is about.
Json part(const std::string& where) {
  const Json all = schema();
  const Json& method = all["properties"]["methods"]["items"];
  if (where.empty()) return all;
  return where == "methods" ? method : method["properties"]["skipped_higher"]["items"];
}

bool has_type(const Json& property, const std::string& type) {
  for (const Json& one : property["type"].items()) {
    if (one.as_string() == type) return true;
  }
  return property["type"].as_string() == type;
}

TEST(MethodsSchema, HasEveryFieldOfTheValidator) {
  for (const optimize::FieldRow& row : optimize::method_fields()) {
    const Json at = part(row.where);
    ASSERT_TRUE(at["properties"].contains(row.name)) << row.where << " " << row.name;
    EXPECT_TRUE(has_type(at["properties"][row.name], row.type)) << row.where << " " << row.name;
    bool required = false;
    for (const Json& name : at["required"].items()) required |= name.as_string() == row.name;
    EXPECT_EQ(required, row.required) << row.where << " " << row.name;
  }
}

TEST(MethodsSchema, HasNoOther) {
  std::set<std::pair<std::string, std::string>> known;
  for (const optimize::FieldRow& row : optimize::method_fields())
    known.emplace(row.where, row.name);
  for (const char* where : {"", "methods", "skipped_higher"}) {
    const Json at = part(where);
    for (const auto& [name, property] : at["properties"].members()) {
      EXPECT_TRUE(known.count({where, name}) == 1) << where << " " << name;
      EXPECT_FALSE(property["description"].as_string().empty()) << where << " " << name;
    }
  }
}

TEST(MethodsSchema, KnowsEveryReasonAndTheMostMethods) {
  std::set<std::string> reasons = {"cannot_apply"}, listed;
  for (int i = 1; i <= static_cast<int>(profile::MethodStatus::LowerScore); ++i)
    reasons.insert(profile::method_status_name(static_cast<profile::MethodStatus>(i)));
  const Json at = part("skipped_higher");
  for (const Json& one : at["properties"]["reason"]["enum"].items()) listed.insert(one.as_string());
  EXPECT_EQ(listed, reasons);
  const Json all = schema();
  EXPECT_EQ(all["properties"]["methods"]["maxItems"].as_int(),
            static_cast<int64_t>(optimize::kMostClaims));
}

}  // namespace
}  // namespace kw
