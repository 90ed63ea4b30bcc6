#include <gtest/gtest.h>

#include "commands/command.h"
#include "commands/values.h"
#include "inputs/families.h"
#include "tensor/inputs.h"

namespace kw::commands {

namespace {

Args parsed(const char* command, const std::vector<std::string>& words) {
  Result<Args> args = options::parse_args(*options::find_command(command), words);
  EXPECT_TRUE(args) << args.error().message;
  return args ? std::move(args).value() : Args{};
}

}  // namespace

TEST(CommandValues, DimsFromBothOptions) {
  const auto request = binding_options(
      parsed("run", {"a", "--dims", R"({"B": 4, "D": 5})", "--dim", "E=6", "--dim", "B=4"}));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->dims, (std::map<std::string, int64_t>{{"B", 4}, {"D", 5}, {"E", 6}}));
}

TEST(CommandValues, RefusesWhatIsNoNumber) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"a", "--dim", "B"}, "--dim needs NAME=VALUE"},
      {{"a", "--dim", "=4"}, "--dim needs NAME=VALUE"},
      {{"a", "--dim", "B=x"}, "'x' is not a whole number"},
      {{"a", "--dim", "B=1.5"}, "'1.5' is not a whole number"},
      {{"a", "--dim", "B=99999999999999999999"}, "not a whole number of 64 bits"},
      {{"a", "--dim", "B=1", "--dim", "B=2"}, "is given as 1 and as 2"},
      {{"a", "--dims", "{"}, "--dims"},
      {{"a", "--dims", "[1]"}, "--dims needs a JSON object"},
      {{"a", "--dims", R"({"B": "4"})"}, "not a whole number"},
      {{"a", "--dims", R"({"B": 1e30})"}, "not a whole number"},
  };
  for (const auto& [words, message] : cases) {
    const auto request = binding_options(parsed("run", words));
    ASSERT_FALSE(request) << message;
    EXPECT_NE(request.error().message.find(message), std::string::npos) << request.error().message;
  }
}

// The rows of options must not see the judge, so they repeat these names.
TEST(Families, ThatOptionsNameAreThoseThatExist) {
  const options::Option* family = options::find_option("verify", "--family");
  EXPECT_EQ(options::choices_of(*family), inputs::all_families());
  for (const std::string& name : inputs::all_families())
    EXPECT_NE(std::string(family->about).find(name), std::string::npos) << name;
  const options::Option* input = options::find_option("run", "--input");
  for (const std::string& name : tensor::family_names())
    EXPECT_NE(std::string(input->about).find(name), std::string::npos) << name;
}

TEST(Exit, CodesFollowBlame) {
  EXPECT_EQ(exit_code(Blame::Input), 2);
  EXPECT_EQ(exit_code(Blame::Environment), 3);
  EXPECT_EQ(exit_code(Blame::Bug), 70);
}

}  // namespace kw::commands
