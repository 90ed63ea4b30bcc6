#include "study_options.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

#include "compile/compile_worker.h"
#include "core/text.h"
#include "os/files.h"

namespace kw::honest {

std::string StudyOptions::text(const std::string& name) const {
  const auto at = values.find(name);
  return at == values.end() ? "" : at->second;
}

double StudyOptions::number(const std::string& name, double otherwise) const {
  const std::string value = text(name);
  return value.empty() ? otherwise : std::atof(value.c_str());
}

size_t StudyOptions::count(const std::string& name, size_t otherwise) const {
  return static_cast<size_t>(number(name, static_cast<double>(otherwise)));
}

Result<StudyOptions> study_options(int argc, char** argv, const std::vector<std::string>& names) {
  StudyOptions options;
  const auto known = [&](const std::string& word) {
    return std::ranges::any_of(names, [&](const std::string& n) { return n.starts_with(word + " "); });
  };
  const std::string usage =
      fmt::format("usage: STUDY RESULTS.jsonl [{}] [--shard I/N] | --table", join(names, "] ["));
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--table") {
      options.table = true;
    } else if (!word.starts_with("--")) {
      options.results = word;
    } else if (i + 1 == argc || (word != "--shard" && !known(word))) {
      return input_error("{}: unknown, or without its value\n{}", word, usage);
    } else {
      options.values[word] = argv[++i];
    }
  }
  const std::string shard = options.text("--shard");
  if (!shard.empty() &&
      std::sscanf(shard.c_str(), "%zu/%zu", &options.shard, &options.shards) != 2)
    return input_error("--shard needs a number and a count, such as 0/2");
  if (options.results.empty() || options.shards == 0) return input_error("{}", usage);
  return options;
}

Result<std::vector<Json>> read_json_lines(const std::string& path) {
  std::vector<Json> lines;
  if (!os::exists(path)) return lines;
  const std::string text = KW_TRY(os::read_file(path));
  for (const std::string& line : split(text, '\n')) {
    auto parsed = Json::parse(line);
    if (parsed) lines.push_back(std::move(parsed).value());
  }
  return lines;
}

int study_main(int argc, char** argv, const std::vector<std::string>& names,
               Result<int> (*run)(const StudyOptions&),
               Result<int> (*print_table)(const StudyOptions&)) {
  if (argc > 1 && std::string(argv[1]) == compile::kWorkerCommand)
    return compile::compile_worker_main();
  const auto options = study_options(argc, argv, names);
  const auto code = !options         ? Result<int>(options.error())
                    : options->table ? print_table(*options)
                                     : run(*options);
  if (code) return *code;
  fmt::print(stderr, "{}\n", code.error().message);
  return 2;
}

}  // namespace kw::honest
