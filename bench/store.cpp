// How the store scales: bench_store FOLDER [CANDIDATES [RUNS]] makes one run of so many candidates
// and an index of so many runs in a new folder, then prints the bytes of a candidate and the times
// of what users call. Records have the sizes that a synthesis of rms_norm gives them.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>

#include "os/files.h"
#include "store/index.h"
#include "store/run.h"
#include "store/summary.h"
#include "workflows/fsck.h"
#include "workflows/inspect.h"

namespace {

using kw::Json;
namespace store = kw::store;

constexpr int kModuleBytes = 5000, kVerdictBytes = 3000, kTimingBytes = 1500, kLogBytes = 800;

kw::record::Candidate nth(int64_t number) {
  std::string text = fmt::format("// candidate {}\n", number) + std::string(kModuleBytes, '/');
  return kw::record::make_candidate(std::move(text), {{"VEC", number}}, "builtin", "row program",
                                    {});
}

store::Run make_run(const store::Where& where, int64_t candidates) {
  store::RunInputs inputs;
  inputs.name = "scale";
  inputs.reference = "def f(x): return x\n";
  inputs.spec = inputs.config = inputs.env = Json::object().set("target", "sm_90");
  store::Run run = store::Run::create(where, inputs).value();
  for (int64_t i = 0; i < candidates; ++i) {
    const kw::record::Candidate one = nth(i);
    run.add(one).value();
    static_cast<void>(run.compiled(one.id, std::string(kLogBytes, 'l')));
    const char* word = i % 3 == 0 ? "passed" : "rejected";
    Json verdict = Json::object().set("verdict", word).set("stage", "vgpu");
    static_cast<void>(run.judged(one.id, verdict.set("more", std::string(kVerdictBytes, 'v'))));
    if (i % 3 != 0) continue;
    Json timing = Json::object().set("microseconds", 1.0 + static_cast<double>(i % 977));
    static_cast<void>(run.timed(one.id, timing.set("samples_us", std::string(kTimingBytes, '1'))));
  }
  static_cast<void>(run.finish(Json::object().set("passed", true), {"cu", "ptx", "", "read me"}));
  return run;
}

void time(const std::string& what, const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("{:<44} {:>10.1f} ms\n", what, took.count() * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || kw::os::exists(argv[1])) {
    fmt::print(stderr, "usage: bench_store NEW_FOLDER [CANDIDATES [RUNS]]\n");
    return 2;
  }
  const std::string folder = argv[1];
  const int64_t candidates = argc > 2 ? std::atoll(argv[2]) : 20000;
  const int64_t runs = argc > 3 ? std::atoll(argv[3]) : 5000;
  const std::string large = folder + "/large", many = folder + "/many";
  time(fmt::format("make a run of {} candidates", candidates), [&] {
    make_run({large, ""}, candidates);
  });
  const store::RunRow row = store::list_runs(large).value().at(0);
  fmt::print("bytes of a candidate: {}, of these events: {}\n", row.bytes / candidates,
             kw::os::file_size(row.folder + "/events.jsonl") / static_cast<uint64_t>(candidates));
  time(fmt::format("make {} runs of 2 candidates", runs), [&] {
    for (int64_t i = 0; i < runs; ++i) make_run({many, ""}, 2);
  });
  time("runs, cold", [&] {
    static_cast<void>(kw::os::remove_file(many + "/index.sqlite"));
    store::list_runs(many).value();
  });
  time("runs, warm", [&] { store::list_runs(many).value(); });
  const auto glance = [](const std::string& root) {
    return [root] { kw::workflows::glance_at_run(root, "latest", 20).value(); };
  };
  time("inspect the latest of many runs", glance(many));
  time("inspect the large run, cold", glance(large));
  time("inspect the large run, warm", glance(large));
  time("runs, of the large run, warm", [&] { store::list_runs(large).value(); });
  time("open the large run to read",
       [&] { store::Run::open(row.folder, store::Access::Read).value(); });
  time("fsck of the large run", [&] { kw::workflows::fsck({large, row.folder, false}).value(); });
  return 0;
}
