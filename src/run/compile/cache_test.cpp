#include "compile/cache.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "os/files.h"

namespace kw::compile {
namespace {

/// Counts its calls; its image repeats the request.
class FakeCompiler : public ports::Compiler {
 public:
  explicit FakeCompiler(int* calls) : calls_(calls) {}
  std::string name() const override { return "fake 1.0"; }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override {
    ++*calls_;
    ports::CompileOutcome outcome;
    if (request.source == "error") return environment_error("no luck");
    if (request.source == "fails") {
      outcome.failed = ports::CompileFailed{};
    } else {
      outcome.compiled = ports::Compiled{};
      outcome.compiled->image = request.source + std::string(1000, 'x');
    }
    return outcome;
  }
  std::vector<std::string> notes() const override { return {"inner note"}; }

 private:
  int* calls_;
};

class Cache : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/kw_cache_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    folder_ = pattern;
    umask_ = ::umask(022);
  }
  void TearDown() override {
    ::umask(umask_);
    std::filesystem::remove_all(folder_);
  }
  CachingCompiler make(CacheOptions options = {}) {
    if (options.folder.empty()) options.folder = folder_ + "/cache";
    return CachingCompiler(std::make_unique<FakeCompiler>(&calls_), options);
  }
  static ports::CompileRequest asked(const std::string& source) {
    ports::CompileRequest request;
    request.source = source;
    return request;
  }
  std::vector<std::string> entries() const { return os::glob(folder_ + "/cache/*/*"); }
  std::string folder_;
  mode_t umask_ = 0;
  int calls_ = 0;
};

TEST_F(Cache, RemembersAcrossObjects) {
  for (int i = 0; i < 3; ++i) {
    auto compiler = make();
    const auto outcome = compiler.compile(asked("a"));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->compiled->from_cache, i > 0);
    EXPECT_EQ(outcome->compiled->image.substr(0, 2), "ax");
  }
  EXPECT_EQ(calls_, 1);
}

TEST_F(Cache, TellsCommandsApart) {
  for (const char* option : {"-O3", "-O2", "-O3"}) {
    CacheOptions options;
    options.command = [option](const ports::CompileRequest& request) {
      return request.target + option;
    };
    ASSERT_TRUE(make(options).compile(asked("a")));
  }
  EXPECT_EQ(calls_, 2);
}

TEST_F(Cache, TellsRequestsApart) {
  std::vector<ports::CompileRequest> requests(8, asked("a"));
  requests[1].source = "b";
  requests[2].target = "sm_80";
  requests[3].defines = {{"N", 1}};
  requests[4].kernels = {"k"};
  requests[5].image = ports::ImageKind::Cubin;
  requests[6].file_name = "other.cu";
  requests[7].include_folders = {folder_};
  auto compiler = make();
  for (const auto& request : requests) ASSERT_TRUE(compiler.compile(request));
  EXPECT_EQ(calls_, 8);
  ports::CompileRequest patient = asked("a");
  patient.timeout_seconds = 1000;
  ASSERT_TRUE(compiler.compile(patient));
  EXPECT_EQ(calls_, 8) << "patience changes nothing";
  CacheOptions salted;
  salted.salt = "other headers";
  ASSERT_TRUE(make(salted).compile(asked("a")));
  EXPECT_EQ(calls_, 9);
}

TEST_F(Cache, SeesChangesInIncludeFolders) {
  auto compiler = make();
  ports::CompileRequest request = asked("a");
  ASSERT_TRUE(os::make_directories(folder_ + "/include/deep"));
  request.include_folders = {folder_ + "/include"};
  for (const char* content : {"one", "three"}) {
    ASSERT_TRUE(os::write_file(folder_ + "/include/deep/h.h", content));
    ASSERT_TRUE(compiler.compile(request));
    ASSERT_TRUE(compiler.compile(request));
  }
  EXPECT_EQ(calls_, 2);
}

TEST_F(Cache, FailuresAreNotRemembered) {
  auto compiler = make();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(compiler.compile(asked("fails"))->failed);
    EXPECT_FALSE(compiler.compile(asked("error")));
  }
  EXPECT_EQ(calls_, 4);
  EXPECT_TRUE(entries().empty());
}

TEST_F(Cache, DamagedEntriesAreMadeAgain) {
  ASSERT_TRUE(make().compile(asked("a")));
  ASSERT_EQ(entries().size(), 1U);
  const std::string path = entries()[0], good = *os::read_file(path);
  std::string flipped = good;
  flipped[good.size() / 2] ^= 1;
  int expected = 1;
  for (const std::string& bad : {std::string(), good.substr(0, 20), good.substr(0, good.size() - 1),
                                 good + "x", flipped, std::string("nonsense")}) {
    ASSERT_TRUE(os::write_file(path, bad));
    auto compiler = make();
    const auto outcome = compiler.compile(asked("a"));
    EXPECT_FALSE(outcome->compiled->from_cache);
    EXPECT_EQ(calls_, ++expected);
    EXPECT_EQ(compiler.stats().damaged, 1);
    EXPECT_EQ(*os::read_file(path), good);
  }
}

TEST_F(Cache, AnEntryInPlaceOfAnotherIsNotBelieved) {
  ASSERT_TRUE(make().compile(asked("good")));
  const std::string good_path = entries().at(0), good = *os::read_file(good_path);
  ASSERT_TRUE(make().compile(asked("wrong")));
  for (const std::string& path : entries()) ASSERT_TRUE(os::write_file(path, good));
  auto compiler = make();
  const auto outcome = compiler.compile(asked("wrong"));
  EXPECT_EQ(outcome->compiled->image.substr(0, 5), "wrong");
  EXPECT_FALSE(outcome->compiled->from_cache);
  EXPECT_EQ(compiler.stats().damaged, 1);
  EXPECT_TRUE(make().compile(asked("good"))->compiled->from_cache);
  EXPECT_TRUE(make().compile(asked("wrong"))->compiled->from_cache) << "it was not mended";
}

TEST_F(Cache, ThatOthersCanChangeIsNotUsed) {
  ASSERT_TRUE(make().compile(asked("a")));
  const std::string entry = entries().at(0);
  for (const std::string& path : {folder_ + "/cache", entry.substr(0, entry.rfind('/')), entry}) {
    struct stat st {};
    ASSERT_EQ(::stat(path.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 0077, 0U) << path << " was made for other users too";
    ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
    auto compiler = make();
    for (int i = 0; i < 2; ++i) {
      const auto outcome = compiler.compile(asked("a"));
      ASSERT_TRUE(outcome && outcome->compiled);
      EXPECT_FALSE(outcome->compiled->from_cache) << path;
      ASSERT_TRUE(compiler.compile(asked("b" + std::to_string(i)))->compiled);
    }
    ASSERT_EQ(compiler.notes().size(), 2U) << path;
    EXPECT_NE(compiler.notes()[1].find("chmod -R go-w '" + path + "'"), std::string::npos)
        << compiler.notes()[1];
    EXPECT_EQ(entries().size(), 1U) << "it was written to";
    ASSERT_EQ(::chmod(path.c_str(), st.st_mode & 0777), 0);
  }
  EXPECT_TRUE(make().compile(asked("a"))->compiled->from_cache);
}

TEST_F(Cache, StaysWithinItsSize) {
  CacheOptions options;
  options.folder = folder_ + "/cache";
  options.max_bytes = 20000;
  auto compiler = make(options);
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(compiler.compile(asked(std::to_string(i))));
    ASSERT_TRUE(compiler.compile(asked("0"))) << "kept alive by use";
  }
  uint64_t bytes = 0;
  for (const std::string& path : entries()) bytes += os::read_file(path)->size();
  EXPECT_LE(bytes, 20000U);
  EXPECT_GT(bytes, 8000U);
  EXPECT_EQ(calls_, 60) << "the entry used all the time was thrown away";
}

TEST_F(Cache, WorksWithoutAFolderAndSaysSoOnce) {
  for (const char* folder : {"/proc/kernelwright", "/dev/null/x"}) {
    CacheOptions options;
    options.folder = folder;
    auto compiler = make(options);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(compiler.compile(asked("a"))->compiled);
    ASSERT_EQ(compiler.notes().size(), 2U) << folder;
    EXPECT_EQ(compiler.notes()[0], "inner note");
    EXPECT_NE(compiler.notes()[1].find("not cached"), std::string::npos);
  }
  EXPECT_EQ(calls_, 6);
}

TEST_F(Cache, IsSharedByThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      int own_calls = 0;
      CacheOptions options;
      options.folder = folder_ + "/cache";
      CachingCompiler compiler(std::make_unique<FakeCompiler>(&own_calls), options);
      for (int i = 0; i < 50; ++i) {
        const auto outcome = compiler.compile(asked(std::to_string(i % 10)));
        ASSERT_TRUE(outcome && outcome->compiled);
        ASSERT_EQ(outcome->compiled->image, std::to_string(i % 10) + std::string(1000, 'x'));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(entries().size(), 10U);
}

}  // namespace
}  // namespace kw::compile
