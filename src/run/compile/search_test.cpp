#include "compile/search.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "compile/select.h"
#include "core/text.h"
#include "os/files.h"

namespace kw::compile {
namespace {

/// A machine made of empty files in a folder, with a clean environment.
class Search : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/kw_search_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    root_ = pattern;
    for (const char* name :
         {"CUDA_HOME", "CUDA_PATH", "KERNELWRIGHT_NVRTC", "KERNELWRIGHT_COMPILER", "VIRTUAL_ENV",
          "CONDA_PREFIX", "LD_LIBRARY_PATH", "HOME", "KERNELWRIGHT_CACHE"}) {
      if (const char* value = ::getenv(name)) saved_[name] = value;
      ::unsetenv(name);
    }
    ::setenv("HOME", (root_ + "/home").c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(root_);
    ::unsetenv("HOME");
    for (const char* name :
         {"CUDA_HOME", "CUDA_PATH", "KERNELWRIGHT_NVRTC", "KERNELWRIGHT_COMPILER", "VIRTUAL_ENV"}) {
      ::unsetenv(name);
    }
    for (const auto& [name, value] : saved_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  void file(const std::string& path, const std::string& text = "") {
    const std::string full = root_ + path;
    ASSERT_TRUE(os::make_directories(full.substr(0, full.rfind('/'))));
    ASSERT_TRUE(os::write_file(full, text));
  }
  void nvrtc(const std::string& folder, const std::string& version) {
    const std::string major = version.substr(0, version.find('.'));
    file(folder + "/libnvrtc.so." + version);
    std::filesystem::create_symlink("libnvrtc.so." + version,
                                    root_ + folder + "/libnvrtc.so." + major);
    file(folder + "/libnvrtc-builtins.so." + version.substr(0, version.rfind('.')));
  }
  void headers(const std::string& folder) {
    file(folder + "/cuda_fp16.h");
    file(folder + "/crt/host_defines.h");
    file(folder + "/cccl/cuda/std/array");
    file(folder + "/cccl/cub/cub.cuh");
  }
  Toolbox find() {
    SearchOptions options;
    options.root = root_;
    options.ask_python = false;
    return find_tools(options);
  }
  std::string cuda_program(const std::string& name) {
    SearchOptions options;
    options.root = root_;
    const std::string path = find_cuda_program(name, options);
    return path.starts_with(root_) ? path.substr(root_.size()) : path;
  }
  void program(const std::string& path) {
    file(path);
    std::filesystem::permissions(root_ + path, std::filesystem::perms::owner_all);
  }
  std::string root_;
  std::map<std::string, std::string> saved_;
};

// Each place has priority over those before it.
TEST_F(Search, FindsProgramsOfCudaWhereverTheyAre) {
  EXPECT_EQ(cuda_program("nvdisasm"), "");
  for (const char* path :
       {"/opt/b/lib/python3.11/site-packages/triton/backends/nvidia/bin/nvdisasm",
        "/opt/b/lib/python3.11/site-packages/nvidia/cuda_nvcc/bin/nvdisasm",
        "/opt/b/lib/python3.11/site-packages/nvidia/cu13/bin/nvdisasm",
        "/usr/local/cuda-12.4/bin/nvdisasm", "/usr/local/cuda-13.0/bin/nvdisasm"}) {
    program(path);
    EXPECT_EQ(cuda_program("nvdisasm"), path);
  }
  program("/home/toolkit/bin/nvdisasm");
  ::setenv("CUDA_HOME", (root_ + "/home/toolkit").c_str(), 1);
  EXPECT_EQ(cuda_program("nvdisasm"), "/home/toolkit/bin/nvdisasm");
}

TEST_F(Search, FindsTheProfilerInItsOwnFolders) {
  program("/opt/nvidia/nsight-compute/2024.3.2/ncu");
  program("/opt/nvidia/nsight-compute/2025.3.1/ncu");
  EXPECT_EQ(cuda_program("ncu"), "/opt/nvidia/nsight-compute/2025.3.1/ncu");
  program("/usr/local/cuda-13.0/nsight-compute-2025.3.1/host/ncu");
  EXPECT_EQ(cuda_program("ncu"), "/usr/local/cuda-13.0/nsight-compute-2025.3.1/host/ncu");
  file("/usr/local/cuda-13.0/bin/ncu");  // not executable
  EXPECT_EQ(cuda_program("ncu"), "/usr/local/cuda-13.0/nsight-compute-2025.3.1/host/ncu");
}

TEST_F(Search, FindsAToolkit) {
  nvrtc("/usr/local/cuda-13.0/lib64", "13.0.88");
  headers("/usr/local/cuda-13.0/include");
  const Toolbox box = find();
  ASSERT_TRUE(box.nvrtc) << join(box.looked_at, "\n");
  EXPECT_EQ(box.nvrtc->version, "13.0.88");
  EXPECT_TRUE(box.nvrtc->library.starts_with(root_ + "/usr/local/cuda-13.0/lib64/libnvrtc.so."));
  EXPECT_EQ(box.headers.folders,
            (std::vector<std::string>{root_ + "/usr/local/cuda-13.0/include",
                                      root_ + "/usr/local/cuda-13.0/include/cccl"}));
  EXPECT_TRUE(box.headers.runtime && box.headers.crt && box.headers.cccl);
}

TEST_F(Search, FindsWheels) {
  const std::string packages = "/usr/lib/python3.11/site-packages";
  file(packages + "/nvidia/cu13/lib/libnvrtc.so.13");
  file(packages + "/nvidia/cu13/lib/libnvrtc-builtins.so.13.0");
  file(packages + "/nvidia_cuda_nvrtc-13.0.88.dist-info/METADATA");
  headers(packages + "/nvidia/cu13/include");
  const Toolbox box = find();
  ASSERT_TRUE(box.nvrtc) << join(box.looked_at, "\n");
  EXPECT_EQ(box.nvrtc->version, "13.0.88");
  EXPECT_EQ(box.headers.folders.size(), 2U);
}

TEST_F(Search, FindsWheelsOfCuda12) {
  const std::string packages = "/opt/env/lib/python3.10/site-packages";
  file(packages + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  file(packages + "/nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.6");
  file(packages + "/nvidia/cuda_runtime/include/cuda_fp16.h");
  file(packages + "/nvidia/cuda_runtime/include/crt/host_defines.h");
  const Toolbox box = find();
  ASSERT_TRUE(box.nvrtc) << join(box.looked_at, "\n");
  EXPECT_EQ(box.nvrtc->version, "12.6");
  EXPECT_TRUE(box.headers.runtime);
  EXPECT_FALSE(box.headers.cccl);
  EXPECT_NE(join(box.looked_at, "\n").find("pip install nvidia-cuda-cccl"), std::string::npos);
}

TEST_F(Search, EnvironmentGoesFirst) {
  nvrtc("/usr/local/cuda/lib64", "12.4.99");
  nvrtc("/mine/lib", "13.1.7");
  ::setenv("CUDA_HOME", (root_ + "/mine").c_str(), 1);
  EXPECT_EQ(find().nvrtc->version, "13.1.7");
  ::unsetenv("CUDA_HOME");
  EXPECT_EQ(find().nvrtc->version, "12.4.99");
  ::setenv("KERNELWRIGHT_NVRTC", (root_ + "/mine/lib/libnvrtc.so.13").c_str(), 1);
  EXPECT_EQ(find().nvrtc->version, "13.1.7");
  ::setenv("KERNELWRIGHT_NVRTC", (root_ + "/nowhere").c_str(), 1);
  const Toolbox wrong = find();
  EXPECT_FALSE(wrong.nvrtc) << "a wrong override is not papered over";
  EXPECT_EQ(wrong.wrong_nvrtc, "$KERNELWRIGHT_NVRTC names no NVRTC that works: " + root_ +
                                   "/nowhere ($KERNELWRIGHT_NVRTC): no such file");
}

// Any user may own the working directory: files found through it are not loaded.
TEST_F(Search, LooksForNothingInTheWorkingDirectory) {
  char before[4096];
  ASSERT_NE(::getcwd(before, sizeof(before)), nullptr);
  const std::string wheel = "/lib/python3.11/site-packages/nvidia/cu13/lib";
  for (const char* folder : {"/here/.venv", "/here/nvrtc-venv", "/here/build/nvrtc-venv", "/.venv"})
    nvrtc(folder + wheel, "13.0.88");
  nvrtc("/here/lib64", "13.0.88");
  program("/here/bin/nvdisasm");
  ASSERT_EQ(::chdir((root_ + "/here").c_str()), 0);
  EXPECT_FALSE(find().nvrtc) << join(find().looked_at, "\n");
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX", "VIRTUAL_ENV"}) {
    for (const char* value : {".", "./", "../here", ".venv"}) {
      ::setenv(name, value, 1);
      const Toolbox box = find();
      EXPECT_FALSE(box.nvrtc) << name << "=" << value;
      EXPECT_EQ(box.looked_at.front(),
                fmt::format("${}: {}: not an absolute path, so it is not followed", name, value));
      EXPECT_EQ(cuda_program("nvdisasm"), "") << name << "=" << value;
    }
    ::unsetenv(name);
  }
  for (const char* value : {"", ":", "lib64", "lib64:/nowhere", "./lib64:"}) {
    ::setenv("LD_LIBRARY_PATH", value, 1);
    EXPECT_FALSE(find().nvrtc) << value;
  }
  ::unsetenv("LD_LIBRARY_PATH");
  ::setenv("KERNELWRIGHT_NVRTC", "lib64", 1);
  EXPECT_EQ(find().wrong_nvrtc,
            "$KERNELWRIGHT_NVRTC names no NVRTC that works: lib64 ($KERNELWRIGHT_NVRTC): it must "
            "be an absolute path");
  ASSERT_EQ(::chdir(before), 0);
}

// Neither nvcc nor clang replaces an NVRTC that the user named but that does not work.
TEST_F(Search, AWrongNvrtcIsAnErrorUnlessAnotherIsNamed) {
  ::setenv("KERNELWRIGHT_NVRTC", (root_ + "/nowhere").c_str(), 1);
  Toolbox box = find();
  box.nvcc = FoundProgram{root_ + "/nvcc", "13.0.88"};
  const auto selected = select_compiler(box, {});
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().blame, Blame::Environment);
  EXPECT_NE(selected.error().message.find("/nowhere"), std::string::npos);
  SelectOptions nvcc;
  nvcc.name = "nvcc";
  EXPECT_TRUE(select_compiler(box, nvcc));
}

TEST_F(Search, VersionsInOneFolderAreNotMixed) {
  nvrtc("/usr/lib/x86_64-linux-gnu", "12.4.99");
  nvrtc("/usr/lib/x86_64-linux-gnu", "13.0.88");
  const Toolbox newest = find();
  ASSERT_TRUE(newest.nvrtc);
  EXPECT_EQ(newest.nvrtc->version, "13.0.88");
  EXPECT_TRUE(newest.nvrtc->builtins.ends_with("libnvrtc-builtins.so.13.0"));
  ::setenv("KERNELWRIGHT_NVRTC", (root_ + "/usr/lib/x86_64-linux-gnu/libnvrtc.so.12").c_str(), 1);
  const Toolbox named = find();
  ASSERT_TRUE(named.nvrtc);
  EXPECT_EQ(named.nvrtc->version, "12.4.99");
  EXPECT_TRUE(named.nvrtc->builtins.ends_with("libnvrtc-builtins.so.12.4"));
}

TEST_F(Search, PassesOverWhatCannotWork) {
  nvrtc("/usr/local/cuda-11.8/lib64", "11.8.89");
  file("/usr/local/cuda-12.0/lib64/libnvrtc.so.12.0.1");  // without its built-ins
  nvrtc("/usr/lib/x86_64-linux-gnu", "12.9.5");
  const Toolbox box = find();
  ASSERT_TRUE(box.nvrtc);
  EXPECT_EQ(box.nvrtc->version, "12.9.5");
  const std::string places = join(box.looked_at, "\n");
  EXPECT_NE(places.find("11.8.89, older than 12"), std::string::npos) << places;
  EXPECT_NE(places.find("libnvrtc-builtins.so is missing"), std::string::npos) << places;
}

TEST_F(Search, NothingFoundIsOneClearError) {
  const auto selected = select_compiler(find(), {});
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().blame, Blame::Environment);
  const std::string& message = selected.error().message;
  for (const char* part : {"no CUDA compiler was found", "/usr/local/lib", "clang-19",
                           "apt install clang-19", "pip install nvidia-cuda-nvrtc", "CUDA_HOME"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
}

TEST_F(Search, SelectionFollowsNameAndEnvironment) {
  nvrtc("/usr/local/cuda/lib64", "13.0.88");
  const Toolbox box = find();
  SelectOptions options;
  const auto first = select_compiler(box, options);
  ASSERT_TRUE(first);
  EXPECT_TRUE((*first)->name().starts_with("NVRTC 13.0.88 ("));
  options.name = "clang";
  EXPECT_FALSE(select_compiler(box, options)) << "what was asked for is not replaced";
  ::setenv("KERNELWRIGHT_COMPILER", "nvcc", 1);
  EXPECT_TRUE(select_compiler(box, {}).error().message.starts_with("no nvcc was found"));
  options.name = "nvrct";
  const auto typo = select_compiler(box, options);
  ASSERT_FALSE(typo);
  EXPECT_EQ(typo.error().blame, Blame::Input);
  EXPECT_NE(typo.error().message.find("did you mean 'nvrtc'"), std::string::npos)
      << typo.error().message;
}

TEST_F(Search, FingerprintFollowsFiles) {
  file("/h/a/b.h", "1");
  const std::string before = fingerprint({root_ + "/h"}, 3);
  EXPECT_EQ(fingerprint({root_ + "/h"}, 3), before);
  file("/h/a/b.h", "22");
  EXPECT_NE(fingerprint({root_ + "/h"}, 3), before);
}

}  // namespace
}  // namespace kw::compile
