#include "carried.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/check.h"

namespace kw::suites_tests {

Carried::Carried(const std::string& suite)
    : folder_(std::filesystem::path(testing::TempDir()) /
              ("kw_suites_" + suite + "_" + std::to_string(::getpid()))) {
  auto opened = task_formats::open_suite(suite, folder_);
  KW_CHECK(opened.has_value(), "carried suites can be opened");
  suite_ = std::move(opened).value();
  KW_CHECK(task_formats::write_carried(suite, folder_).has_value(),
           "temporary files can be written");
}

Carried::~Carried() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const task_formats::SuiteInfo& suite : task_formats::carried_suites())
    names.push_back(suite.name);
  return names;
}

}  // namespace kw::suites_tests
