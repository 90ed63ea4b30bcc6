// CUDA can be installed in many ways: toolkits, wheels, conda, distribution packages. kernelwright
// should work with any of them without settings. So files are searched for in a fixed order:
// variables of the user, toolkits, the loader's folders, Python packages, and only then the loader
// and python3 itself. Headers are taken first from where NVRTC was found, because versions should
// agree. Every place is recorded, so that the message for a missing compiler can list them. Asking
// python3 first would find more wheels, but would start an interpreter every time. Relative paths
// are ignored: any user may own the working directory.
#include "compile/search.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>

#include "core/contains.h"
#include "core/hash.h"
#include "core/text.h"
#include "os/files.h"
#include "os/own_program.h"
#include "os/process.h"
#include "sandbox/trusted.h"

namespace kw::compile {
namespace {

constexpr int kOldestNvrtc = 12;

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string file_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string real_path(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  std::string result = real != nullptr ? real : path;
  std::free(real);
  return result;
}

/// The first number in a text like "13.0.88" or "libnvrtc.so.12"; 0 when there is none.
int leading_number(std::string_view text) {
  const size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) return 0;
  const size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
  return static_cast<int>(
      parse_int(text.substr(begin, std::min<size_t>(end - begin, 9))).value_or(0));
}

/// "13.0.88" of "…/libnvrtc.so.13.0.88", links resolved; "" when the name has no version.
std::string version_suffix(const std::string& library) {
  const std::string name = file_of(real_path(library));
  const size_t at = name.find(".so.");
  return at == std::string::npos ? "" : name.substr(at + 4);
}

/// The built-ins of a library: of the same version, as far as both names tell.
std::string builtins_for(const std::string& library) {
  const std::string wanted = version_suffix(library) + ".";
  for (const std::string& builtins :
       os::glob(folder_of(real_path(library)) + "/libnvrtc-builtins.so.*")) {
    const std::string version = version_suffix(builtins) + ".";
    if (version.starts_with(wanted) || wanted.starts_with(version) || wanted == ".")
      return builtins;
  }
  return "";
}

/// Folders of wheels, newest CUDA first: nvidia/cu13 before nvidia/cu12 before nvidia/cuda_nvrtc.
std::vector<std::string> wheel_folders(const std::string& packages, const char* part) {
  std::vector<std::string> folders = os::glob(packages + "/nvidia/*/" + part);
  std::ranges::stable_sort(folders, [](const std::string& a, const std::string& b) {
    return leading_number(file_of(folder_of(a))) > leading_number(file_of(folder_of(b)));
  });
  return folders;
}

class Finder {
 public:
  explicit Finder(const SearchOptions& options) : options_(options) {
    for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX", "VIRTUAL_ENV"}) {
      const std::string value = os::env(name);
      if (!value.empty() && os::env_path(name).empty())
        looked(fmt::format("${}", name), value, "not an absolute path, so it is not followed");
    }
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
      if (const std::string value = os::env_path(name); !value.empty()) add_toolkit(value);
    }
    for (const std::string& folder : system_glob("/usr/local/cuda*")) add_toolkit(folder);
    for (const std::string& folder : system_glob("/opt/cuda*")) add_toolkit(folder);
    if (const std::string prefix = os::env_path("CONDA_PREFIX"); !prefix.empty())
      add_toolkit(prefix);
    site_packages_ = all_site_packages();
  }

  Toolbox find() {
    find_nvrtc();
    find_headers();
    if (options_.programs || !box_.nvrtc) find_programs();
    return std::move(box_);
  }

  std::string cuda_program(const std::string& name) const;

 private:
  bool trusted(const char* what, const std::string& path);
  std::vector<std::string> system_glob(const std::string& pattern) const {
    return os::glob(options_.root + pattern);
  }
  void add_toolkit(const std::string& folder) {
    if (!contains(toolkits_, folder)) toolkits_.push_back(folder);
  }
  void looked(const std::string& what, const std::string& where, const std::string& result) {
    box_.looked_at.push_back(fmt::format("{}: {}: {}", what, where, result));
  }

  std::vector<std::string> all_site_packages() const;
  std::vector<std::string> loader_folders() const;
  std::vector<std::string> python_folders() const;
  bool try_nvrtc_file(const std::string& library);
  bool try_nvrtc_folder(const std::string& folder);
  bool try_nvrtc_loader();
  void find_nvrtc();
  std::string nvrtc_version(const std::string& library, const std::string& builtins) const;
  bool add_headers(const std::string& folder);
  void add_wheel_headers(const std::string& packages);
  bool headers_complete() const {
    return box_.headers.runtime && box_.headers.crt && box_.headers.cccl;
  }
  void find_headers();
  void find_programs();
  void find_clang();

  SearchOptions options_;
  std::vector<std::string> toolkits_, site_packages_;
  Toolbox box_;
};

std::vector<std::string> Finder::all_site_packages() const {
  std::vector<std::string> patterns;
  const auto venv = [&](const std::string& folder) {
    patterns.push_back(folder + "/lib/python3*/site-packages");
  };
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string value = os::env_path(name); !value.empty()) venv(value);
  }
  venv(os::cache_directory() + "/venv");
  if (const std::string build = os::build_folder(); !build.empty())
    venv(options_.root + build + "/nvrtc-venv");
  if (const std::string home = os::env_path("HOME"); !home.empty()) venv(home + "/.local");
  for (const char* pattern :
       {"/usr/lib/python3*/site-packages", "/usr/lib/python3*/dist-packages",
        "/usr/local/lib/python3*/site-packages", "/usr/local/lib/python3*/dist-packages",
        "/opt/*/lib/python3*/site-packages", "/opt/*/*venv*/lib/python3*/site-packages"}) {
    patterns.push_back(options_.root + pattern);
  }
  std::vector<std::string> folders;
  for (const std::string& pattern : patterns) {
    for (const std::string& found : os::glob(pattern)) {
      const std::string real = real_path(found);
      if (!contains(folders, real)) folders.push_back(real);
    }
  }
  return folders;
}

std::vector<std::string> Finder::loader_folders() const {
  std::vector<std::string> folders = os::env_paths("LD_LIBRARY_PATH");
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64"}) {
    folders.push_back(options_.root + folder);
  }
  return folders;
}

std::vector<std::string> Finder::python_folders() const {
  const std::string python = os::find_program("python3");
  if (!options_.ask_python || python.empty() || !sandbox::check_trusted(python)) return {};
  os::ProcessLimits limits;
  limits.timeout_seconds = 10;
  const auto answer =
      os::run_process({python, "-I", "-c", "import sys; print('\\n'.join(sys.path))"}, {}, limits);
  std::vector<std::string> folders;
  if (!answer || answer->exit_code != 0) return folders;
  for (std::string_view line : split_lines(answer->out)) {
    if (line.find("packages") != std::string_view::npos) folders.emplace_back(line);
  }
  return folders;
}

std::string Finder::nvrtc_version(const std::string& library, const std::string& builtins) const {
  // A toolkit's file name has the full version: libnvrtc.so.13.0.88. For a wheel it is in the name
  // of the folder beside nvidia/.
  const std::string suffix = version_suffix(library);
  if (std::ranges::count(suffix, '.') >= 2) return suffix;
  const std::string from_builtins = builtins.empty() ? suffix : version_suffix(builtins);
  const std::string packages = folder_of(folder_of(folder_of(folder_of(library))));
  for (const std::string& info : os::glob(packages + "/nvidia_cuda_nvrtc*.dist-info")) {
    std::string name = file_of(info);
    name = name.substr(0, name.size() - 10);
    const std::string version = name.substr(name.rfind('-') + 1);
    if (version.starts_with(from_builtins)) return version;
  }
  return from_builtins;
}

bool Finder::trusted(const char* what, const std::string& path) {
  const Status status = sandbox::check_trusted(path);
  if (!status) looked(what, path, status.error().message);
  return status.has_value();
}

bool Finder::try_nvrtc_file(const std::string& library) {
  const std::string builtins = builtins_for(library);
  const std::string version = nvrtc_version(library, builtins);
  if (leading_number(version) < kOldestNvrtc) {
    looked("NVRTC", library, fmt::format("version {}, older than {}", version, kOldestNvrtc));
    return false;
  }
  if (builtins.empty()) {
    looked("NVRTC", library, "libnvrtc-builtins.so is missing from its folder");
    return false;
  }
  if (!trusted("NVRTC", library) || !trusted("NVRTC", builtins)) return false;
  looked("NVRTC", library, "found, version " + version);
  box_.nvrtc = FoundNvrtc{library, builtins, version};
  return true;
}

bool Finder::try_nvrtc_folder(const std::string& folder) {
  std::vector<std::string> candidates = os::glob(folder + "/libnvrtc.so*");
  // Newest major first; among equals the shortest name that has a version, which is the one that
  // programs load.
  std::ranges::sort(candidates, [](const std::string& a, const std::string& b) {
    return std::pair(leading_number(file_of(a)), b.size()) >
           std::pair(leading_number(file_of(b)), a.size());
  });
  for (const std::string& library : candidates) {
    if (try_nvrtc_file(library)) return true;
  }
  if (candidates.empty())
    looked("NVRTC", folder, os::is_directory(folder) ? "nothing" : "no such folder");
  return false;
}

bool Finder::try_nvrtc_loader() {
  if (!options_.root.empty()) return false;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) {
    void* handle = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) continue;
    Dl_info info{};
    void* symbol = ::dlsym(handle, "nvrtcVersion");
    std::string folder;
    if (symbol != nullptr && ::dladdr(symbol, &info) != 0) folder = folder_of(info.dli_fname);
    ::dlclose(handle);
    if (!folder.empty() && try_nvrtc_folder(folder)) return true;
  }
  looked("NVRTC", "loader path (ldconfig)", "nothing");
  return false;
}

void Finder::find_nvrtc() {
  if (const std::string named = os::env("KERNELWRIGHT_NVRTC"); !named.empty()) {
    if (!named.starts_with("/")) {
      looked("NVRTC", named + " ($KERNELWRIGHT_NVRTC)", "it must be an absolute path");
    } else if (os::is_directory(named)) {
      try_nvrtc_folder(named);
    } else if (os::exists(named)) {
      try_nvrtc_file(named);
    } else {
      looked("NVRTC", named + " ($KERNELWRIGHT_NVRTC)", "no such file");
    }
    if (!box_.nvrtc)
      box_.wrong_nvrtc = fmt::format("$KERNELWRIGHT_NVRTC names no NVRTC that works: {}",
                                     box_.looked_at.back().substr(sizeof "NVRTC:"));
    return;
  }
  for (const std::string& toolkit : toolkits_) {
    for (const char* part : {"/lib64", "/lib", "/targets/x86_64-linux/lib"}) {
      if (os::is_directory(toolkit + part) && try_nvrtc_folder(toolkit + part)) return;
    }
  }
  for (const std::string& folder : loader_folders()) {
    if (try_nvrtc_folder(folder)) return;
  }
  const auto try_wheels = [&](const std::string& packages) {
    const std::vector<std::string> folders = wheel_folders(packages, "lib");
    if (folders.empty()) looked("NVRTC", packages + "/nvidia/*/lib", "no such folder");
    return std::ranges::any_of(folders, [&](const std::string& folder) {
      return !os::glob(folder + "/libnvrtc.so*").empty() && try_nvrtc_folder(folder);
    });
  };
  for (const std::string& packages : site_packages_) {
    if (try_wheels(packages)) return;
  }
  if (try_nvrtc_loader()) return;
  for (const std::string& packages : python_folders()) {
    if (contains(site_packages_, packages)) continue;
    site_packages_.push_back(packages);
    if (try_wheels(packages)) return;
  }
}

bool Finder::add_headers(const std::string& folder) {
  FoundHeaders& headers = box_.headers;
  const bool runtime = !headers.runtime && os::exists(folder + "/cuda_fp16.h");
  const bool crt = !headers.crt && os::exists(folder + "/crt/host_defines.h");
  const bool cccl =
      !headers.cccl && os::is_directory(folder + "/cuda/std") && os::is_directory(folder + "/cub");
  headers.runtime |= runtime;
  headers.crt |= crt;
  headers.cccl |= cccl;
  if (!(runtime || crt || cccl)) return false;
  headers.folders.push_back(folder);
  looked("CUDA headers", folder, "found");
  return true;
}

void Finder::add_wheel_headers(const std::string& packages) {
  for (const std::string& folder : wheel_folders(packages, "include")) {
    add_headers(folder);
    add_headers(folder + "/cccl");
  }
}

void Finder::find_headers() {
  // Headers from the place of this NVRTC fit it best.
  if (box_.nvrtc) {
    const std::string lib = folder_of(box_.nvrtc->library);
    const std::string packages = folder_of(folder_of(folder_of(lib)));
    if (os::is_directory(packages + "/nvidia")) add_wheel_headers(packages);
    for (const std::string& root : {folder_of(lib), folder_of(folder_of(folder_of(lib)))}) {
      add_headers(root + "/include");
      add_headers(root + "/include/cccl");
    }
  }
  for (const std::string& toolkit : toolkits_) {
    for (const char* part : {"/include", "/include/cccl", "/targets/x86_64-linux/include",
                             "/targets/x86_64-linux/include/cccl"}) {
      if (!headers_complete()) add_headers(toolkit + part);
    }
  }
  for (const std::string& packages : site_packages_) {
    if (!headers_complete()) add_wheel_headers(packages);
  }
  if (!headers_complete()) add_headers(options_.root + "/usr/include");
  const FoundHeaders& headers = box_.headers;
  if (!headers.runtime)
    looked("CUDA headers", "cuda_fp16.h", "nowhere (pip install nvidia-cuda-runtime)");
  if (!headers.crt)
    looked("CUDA headers", "crt/host_defines.h", "nowhere (pip install nvidia-cuda-crt)");
  if (!headers.cccl)
    looked("CUDA headers", "cub, cuda/std", "nowhere (pip install nvidia-cuda-cccl)");
}

/// The text after `before` in the program's --version output, up to a blank or comma.
std::string version_of(const std::string& program, std::string_view before) {
  os::ProcessLimits limits;
  limits.timeout_seconds = 20;
  const auto answer = os::run_process({program, "--version"}, {}, limits);
  if (!answer || answer->exit_code != 0) return "";
  const size_t at = answer->out.find(before);
  if (at == std::string::npos) return "";
  const std::string_view rest = std::string_view(answer->out).substr(at + before.size());
  return std::string(rest.substr(0, rest.find_first_of(" ,\n-~+")));
}

void Finder::find_programs() {
  const auto find_in_toolkits = [&](const char* name) {
    for (const std::string& toolkit : toolkits_) {
      const std::string path = os::find_program(toolkit + "/bin/" + name);
      if (!path.empty()) return path;
    }
    return options_.root.empty() ? os::find_program(name) : std::string();
  };
  for (auto [name, found] : {std::pair{"nvcc", &box_.nvcc}, std::pair{"ptxas", &box_.ptxas}}) {
    const std::string path = find_in_toolkits(name);
    if (!path.empty() && !trusted(name, path)) continue;
    const std::string version = path.empty() ? "" : version_of(path, ", V");
    if (!version.empty()) *found = FoundProgram{path, version};
    looked(name, path.empty() ? "toolkit folders and PATH" : path,
           version.empty() ? (path.empty() ? "nothing" : "does not run")
                           : "found, version " + version);
  }
  find_clang();
}

std::string Finder::cuda_program(const std::string& name) const {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string home = os::env_path(variable); !home.empty())
      folders.push_back(home + "/bin");
  }
  const auto first_of = [&]() -> std::string {
    for (const std::string& folder : folders) {
      const std::string path = os::find_program(folder + "/" + name);
      if (!path.empty() && sandbox::check_trusted(path)) return path;
    }
    return "";
  };
  if (const std::string path = first_of(); !path.empty()) return path;
  if (options_.root.empty()) {
    const std::string path = os::find_program(name);
    if (!path.empty() && sandbox::check_trusted(path)) return path;
  }
  folders.clear();
  for (auto at = toolkits_.rbegin(); at != toolkits_.rend(); ++at) {
    folders.push_back(*at + "/bin");
    // Toolkits and conda have the profiler here.
    const std::vector<std::string> inner = os::glob(*at + "/nsight-compute*/*");
    folders.insert(folders.end(), inner.rbegin(), inner.rend());
  }
  for (const char* pattern :
       {"/opt/nvidia/nsight-compute/*", "/usr/local/NVIDIA-Nsight-Compute*"}) {
    const std::vector<std::string> found = system_glob(pattern);
    folders.insert(folders.end(), found.rbegin(), found.rend());
  }
  for (const std::string& packages : site_packages_) {
    const std::vector<std::string> wheels = wheel_folders(packages, "bin");
    folders.insert(folders.end(), wheels.begin(), wheels.end());
    folders.push_back(packages + "/triton/backends/nvidia/bin");
  }
  return first_of();
}

void Finder::find_clang() {
  // The oldest accepted version comes first: everything is tested with it.
  std::vector<std::string> names;
  for (int major = kOldestClang; major <= 30; ++major)
    names.push_back(fmt::format("clang-{}", major));
  names.emplace_back("clang");
  for (const std::string& name : names) {
    const std::string path = options_.root.empty()
                                 ? os::find_program(name)
                                 : os::find_program(options_.root + "/usr/bin/" + name);
    if (path.empty() || !trusted("clang", path)) continue;
    const std::string version = version_of(path, "clang version ");
    const bool good = leading_number(version) >= kOldestClang;
    looked("clang", path,
           good ? "found, version " + version
                : fmt::format("version {}, {} or newer is needed",
                              version.empty() ? "unknown" : version, kOldestClang));
    if (!good) continue;
    box_.clang = FoundProgram{path, version};
    return;
  }
  looked("clang", fmt::format("clang-{} to clang-30 and clang on PATH", kOldestClang), "nothing");
}

}  // namespace

Toolbox find_tools(const SearchOptions& options) { return Finder(options).find(); }

std::string find_cuda_program(const std::string& name, const SearchOptions& options) {
  return Finder(options).cuda_program(name);
}

std::string fingerprint(const std::vector<std::string>& files_and_folders, int depth) {
  constexpr int kMostFiles = 50000;
  std::string text;
  int files = 0;
  const std::function<void(const std::string&, int)> add = [&](const std::string& path,
                                                               int levels) {
    struct stat st {};
    if (++files > kMostFiles || ::stat(path.c_str(), &st) != 0) return;
    const bool folder = S_ISDIR(st.st_mode);
    const int64_t nanoseconds = int64_t{st.st_mtim.tv_sec} * 1000000000 + st.st_mtim.tv_nsec;
    text += fmt::format("{} {} {}\n", path, folder ? 0 : int64_t{st.st_size}, nanoseconds);
    if (!folder || levels == 0) return;
    for (const std::string& name : os::list_directory(path)) add(path + "/" + name, levels - 1);
  };
  for (const std::string& path : files_and_folders) add(path, depth);
  return hash_hex(text);
}

}  // namespace kw::compile
