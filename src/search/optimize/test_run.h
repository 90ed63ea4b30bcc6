// A run with fake kernels in a temporary folder, for tests of the steps.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "optimize/fakes.h"
#include "optimize/steps.h"

namespace kw::optimize {

class TestRun : public testing::Test {
 protected:
  TestRun() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    base_ = testing::TempDir() + "kw_steps_" + info->test_suite_name() + "_" + info->name();
    std::filesystem::remove_all(base_);
    std::filesystem::create_directories(base_);
    reference_ = base_ + "/ref.py";
    write(reference_, "def reference(x): return x\n");
  }
  ~TestRun() override {
    folder_.reset();
    std::filesystem::remove_all(base_);
  }

  static void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_TRUE(os::write_file(path, text));
  }

  SetupRequest request() const {
    SetupRequest request;
    request.text = fake_kernel(baseline_, "");
    request.name = "plain.cu";
    request.folder = base_ + "/run";
    request.settings.baseline = base_ + "/plain.cu";
    request.settings.reference = reference_;
    request.settings.dims = {{"N", 1024}};
    return request;
  }

  Outcome set_up() {
    Result<Outcome> outcome = setup(request(), tools_, folder_, {});
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? std::move(outcome).value() : Outcome();
  }

  /// Opens the folder as another process would.
  Folder& reopen() {
    folder_.reset();
    Result<Folder> again = Folder::open(base_ + "/run");
    EXPECT_TRUE(again) << again.error().message;
    folder_.emplace(std::move(again).value());
    return *folder_;
  }

  Folder& open_first() {
    set_up();
    Folder& folder = reopen();
    const Result<Outcome> opened = open_iter(folder, 1, false);
    EXPECT_TRUE(opened) << opened.error().message;
    return folder;
  }

  /// Writes a methods.json that claims the plan's own choice, or these ids.
  void claim(const std::vector<std::string>& ids) {
    Json methods = Json::array();
    for (const std::string& id : ids) methods.push(Json::object().set("id", id));
    const std::string name = Folder::in_iteration(folder_->state.iter, "methods.json");
    write(folder_->at(name),
          Json::object().set("iter", folder_->state.iter).set("methods", methods).dump());
  }

  void put_branch(const std::string& name, const std::string& text) {
    write(folder_->at(Folder::in_iteration(folder_->state.iter, "branches/" + name + "/kernel.cu")),
          text);
  }

  /// Closes without the gate, to test only what follows it.
  Result<Outcome> close() {
    CloseOptions options;
    options.skip_validation = true;
    return close_iter(*folder_, tools_, options);
  }

  static std::string ids_in(const Json& list) {
    std::string text;
    for (const Json& entry : list.items())
      text += (text.empty() ? "" : " ") + entry["id"].as_string();
    return text;
  }

  /// How the baseline kernel behaves in these tests.
  std::vector<std::string> baseline_ = {"us 100", "sass LDG.E", "sass FFMA"};
  std::string base_, reference_;
  FakeTools tools_;
  std::optional<Folder> folder_;
};

inline const std::string kWide = "memory.vectorized_access";
inline const std::string kShuffle = "compute.warp_shuffle";

/// Twice as fast through wide access; shuffling has no effect.
inline std::vector<std::string> wide_kernel() {
  return {"us 50",
          "us VEC=1 80",
          "us UNROLL=1 50.1",
          "sass FFMA",
          "sass VEC=4 LDG.E.128",
          "sass VEC=1 LDG.E",
          "sass UNROLL=4 SHFL.BFLY",
          "sass UNROLL=1 LDS"};
}

}  // namespace kw::optimize
