// The carried suites as tests see them: written to a folder of their own, gone afterwards.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "task/task.h"
#include "task_formats/suite.h"

namespace kw::suites_tests {

class Carried {
 public:
  explicit Carried(const std::string& suite);
  ~Carried();
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;

  const std::vector<task_formats::SuiteTask>& tasks() const { return suite_.tasks; }

 private:
  std::filesystem::path folder_;
  task_formats::Suite suite_;
};

std::vector<std::string> suite_names();

}  // namespace kw::suites_tests
