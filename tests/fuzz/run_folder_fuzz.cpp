// A run folder with one damaged file: the bytes are its path from the folder, a line feed and its
// contents. It opens, or it is refused; what cannot be read is damage, and no verdict of it shown.
#include <unistd.h>

#include <optional>

#include "drive.h"
#include "os/disk.h"
#include "os/files.h"
#include "os/scratch.h"
#include "store/run.h"

namespace kw::fuzz {

const std::vector<std::string> kPieces = {"events.jsonl\n",
                                          "candidates/%/verdict.json\n",
                                          "candidates/%/lineage.json\n",
                                          "run.json\n",
                                          "checkpoint.json\n",
                                          "report.json\n",
                                          "\"kind\": \"judged\"",
                                          "\"kind\": \"opened\"",
                                          "\"data\": {",
                                          "\"verdict\": \"passed\"",
                                          "\"seconds\": -1",
                                          "\"number\": 99999999999",
                                          "null",
                                          "[]",
                                          "{}",
                                          "1e999",
                                          "\"hash\": \"",
                                          "\n",
                                          "\"version\": 2",
                                          "\"format\": \"kernelwright run\"",
                                          "\"tunes\": {"};

namespace {

struct Sample {
  std::optional<os::ScratchFolder> scratch;
  std::string folder, id;
  std::vector<std::pair<std::string, std::string>> files;  // below the folder, as they should be
};

/// A run with one judged candidate, made once.
Sample& sample() {
  static Sample made = [] {
    Sample one;
    one.scratch.emplace(os::ScratchFolder::make("fuzz").value());
    one.folder = one.scratch->path() + "/run";
    auto run = store::Run::create({"", one.folder}, {"t", "", "def t(x): pass\n", {}, {}, {}});
    require(static_cast<bool>(run), "a run is made");
    record::Candidate candidate = record::make_candidate("// module\n", {}, "builtin", "plain", {});
    one.id = candidate.id;
    require(run->add(candidate) && run->judged(one.id, Json::object().set("verdict", "wrong")) &&
                run->checkpoint(Json::object().set("at", 1)),
            "a candidate is judged");
    for (const char* path : {"events.jsonl", "run.json", "checkpoint.json"})
      one.files.emplace_back(path, *os::read_file(one.folder + "/" + path, 1 << 20));
    for (const char* name : {"verdict.json", "lineage.json", "module.cu"}) {
      const std::string path = "candidates/" + one.id + "/" + name;
      one.files.emplace_back(path, *os::read_file(one.folder + "/" + path, 1 << 20));
    }
    return one;
  }();
  return made;
}

}  // namespace

void check(const std::string& bytes) {
  Sample& made = sample();
  const size_t end = bytes.find('\n');
  if (end == std::string::npos) return;
  std::string path = bytes.substr(0, end);
  if (const size_t at = path.find('%'); at != std::string::npos) path.replace(at, 1, made.id);
  const auto known = std::find_if(made.files.begin(), made.files.end(),
                                  [&](const auto& file) { return file.first == path; });
  if (known == made.files.end()) return;
  std::string text = bytes.substr(end + 1);
  for (size_t at; (at = text.find('%')) != std::string::npos;) text.replace(at, 1, made.id);
  const std::string place = made.folder + "/" + path;
  require(static_cast<bool>(os::write_file(place, text, os::Sync::No)), "the file is damaged");
  if (const auto run = store::Run::open(made.folder, store::Access::Read)) {
    for (const record::Candidate& candidate : run->candidates()) {
      const Json verdict = run->judgement(candidate.id);
      // Only the journal could say otherwise, and then the file would not agree with it.
      require(
          path == "events.jsonl" || verdict.is_null() || verdict["verdict"].as_string() == "wrong",
          "a damaged verdict is not believed");
      (void)run->timing(candidate.id);
      (void)run->compile_log(candidate.id);
    }
    (void)run->damage();
    (void)run->events();
    (void)run->report();
    (void)run->crashes();
  } else {
    require(!run.error().message.empty() && run.error().blame != Blame::Bug,
            "refused, with a reason");
  }
  (void)store::run_status(made.folder);
  require(static_cast<bool>(os::write_file(place, known->second, os::Sync::No)), "it is mended");
}

}  // namespace kw::fuzz
