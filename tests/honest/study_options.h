// What the studies have in common: their command line, and their results, one JSON document per line,
// appended, so that a stopped study continues.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace kw::honest {

/// RESULTS.jsonl [--table] [--shard I/N] and options that each take a value.
struct StudyOptions {
  std::string results;
  bool table = false;  // print the table of the results instead of judging
  size_t shard = 0, shards = 1;
  std::map<std::string, std::string> values;

  std::string text(const std::string& name) const;
  double number(const std::string& name, double otherwise) const;
  size_t count(const std::string& name, size_t otherwise) const;
};
/// `names`: the options that the study takes, in words: "--each N".
Result<StudyOptions> study_options(int argc, char** argv, const std::vector<std::string>& names);

/// Every whole line of the file; none if there is no file. The last line may be cut off.
Result<std::vector<Json>> read_json_lines(const std::string& path);

/// Of main(): the study itself, or the worker process that compiles for it.
int study_main(int argc, char** argv, const std::vector<std::string>& names,
               Result<int> (*run)(const StudyOptions&),
               Result<int> (*print_table)(const StudyOptions&));

}  // namespace kw::honest
