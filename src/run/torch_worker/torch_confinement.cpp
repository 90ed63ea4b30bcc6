// The torch process executes Python that the user may not have read, so it must not see keys,
// networks or other files. But Python's packages may be in any folder: virtual environments,
// editable installs. So the interpreter itself is asked once for its folders. It may read and run
// those and the system's, and write one temporary folder.
// A fixed list of folders would miss many installations; a container would need rights that users
// often lack. The cost: one start of the interpreter, and a folder that Python names is readable as
// a whole; "/", the home folder and its parent never are.
#include "torch_worker/torch_confinement.h"

#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "core/hash.h"
#include "core/json.h"
#include "core/text.h"
#include "os/file_error.h"
#include "os/files.h"
#include "os/process.h"
#include "torch_worker/told_files.h"

namespace kw::torch_worker {
namespace {

namespace fs = std::filesystem;

// Asks for the folders of the interpreter and its packages. Editable installs can be anywhere.
constexpr const char* kAskPlaces =
    "import importlib.util, json, os, sys\n"
    "spec = importlib.util.find_spec('torch')\n"
    "places = [p for p in sys.path if p] + [sys.prefix, sys.base_prefix, sys.exec_prefix]\n"
    "places += [os.path.dirname(sys.executable), "
    "os.path.dirname(os.path.realpath(sys.executable))]\n"
    "if spec and spec.origin: places.append(os.path.dirname(spec.origin))\n"
    "print(json.dumps({'python': sys.executable, 'places': places}))\n";
constexpr double kAskSeconds = 30;

struct Places {
  std::string python;
  std::vector<std::string> folders;
};

/// "/", the home folder and its parent are never accepted as a folder of packages.
bool is_narrow(const fs::path& place) {
  std::error_code failed;
  const fs::path home = fs::weakly_canonical(os::env("HOME"), failed);
  const fs::path real = fs::weakly_canonical(place, failed);
  return place.is_absolute() && real.has_relative_path() && real != home &&
         real != home.parent_path();
}

Result<Places> ask_places(const std::string& python) {
  os::ProcessLimits limits;
  limits.timeout_seconds = kAskSeconds;
  const os::ProcessResult answer =
      KW_TRY(os::run_process({python, "-I", "-c", kAskPlaces}, {}, limits));
  const Result<Json> json = Json::parse(answer.out);
  if (answer.exit_code != 0 || !json)
    return environment_error("{} does not say where its packages are", python);
  Places places{(*json)["python"].as_string(), {}};
  for (const Json& one : (*json)["places"].items()) {
    if (is_narrow(one.as_string())) places.folders.push_back(one.as_string());
  }
  return places;
}

/// Asked once per interpreter: starting it takes as long as everything else.
Result<Places> places_of(const std::string& python) {
  static std::mutex mutex;
  static std::map<std::string, Places> known;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = known.find(python);
  if (found != known.end()) return found->second;
  Places places = KW_TRY(ask_places(python));
  return known.emplace(python, std::move(places)).first->second;
}

/// Adds the folders that the user's environment variables name.
void add_settings(std::vector<std::string>* folders) {
  for (const char* name : {"LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH"}) {
    for (const std::string& folder : split(os::env(name), ':')) {
      if (is_narrow(folder)) folders->push_back(folder);
    }
  }
}

os::Allowed allowed_for(const Places& places, const std::string& scratch) {
  os::Allowed allowed = sandbox::system_files();
  allowed.running.emplace_back("/opt");
  allowed.running.insert(allowed.running.end(), places.folders.begin(), places.folders.end());
  add_settings(&allowed.running);
  // A fork has entries of its own below /proc, which no rule can name before it exists. Memory and
  // environments of other processes stay closed there: Landlock treats them as tracing.
  for (const char* file : {"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/proc"})
    allowed.reading.emplace_back(file);
  allowed.writing.push_back(scratch);
  allowed.devices.emplace_back("/dev/null");
  if (sandbox::has_gpu_devices()) sandbox::add_gpu(&allowed);
  return allowed;
}

/// All listeners: a program that uses our library may run several commands at once.
struct Listeners {
  std::mutex mutex;
  std::set<ExecutionListener*> all;
};
Listeners& listeners() {
  static Listeners only;
  return only;
}

std::string execution_text(const std::string& name) {
  const std::string path = os::without_controls(name);
  const std::string word = sandbox::row_of(sandbox::Kind::Torch).word;
  if (!sandbox::is_unconfined(word))
    return fmt::format("PyTorch executes {} in a confined process", path);
  return fmt::format("PyTorch executes {} without walls, because you gave --unconfined {}", path,
                     word);
}

}  // namespace

Result<TorchConfinement> torch_confinement(const std::string& python, const std::string& scratch,
                                           sandbox::Kind kind) {
  const Places places = KW_TRY(places_of(python));
  return TorchConfinement{
      places.python,
      {kind,
       allowed_for(places, scratch),
       {"HOME=" + scratch, "TMPDIR=" + scratch, "XDG_CACHE_HOME=" + scratch,
        "TORCHINDUCTOR_CACHE_DIR=" + scratch + "/inductor",
        "TRITON_CACHE_DIR=" + scratch + "/triton", "USER=kernelwright", "LOGNAME=kernelwright"}}};
}

std::string exported_program(const std::string& text) {
  constexpr size_t kDigits = 16;
  const std::string folder = os::cache_directory() + "/references/";
  const size_t at = text.find("torch.export.load('" + folder);
  if (at == std::string::npos) return "";
  const size_t name = text.find(folder, at) + folder.size();
  if (text.substr(name + kDigits, 6) != ".pt2')") return "";
  const std::string digits = text.substr(name, kDigits);
  if (digits.find_first_not_of("0123456789abcdef") != std::string::npos) return "";
  return folder + digits + ".pt2";
}

ExecutionListener::ExecutionListener(std::function<bool(const std::string&)> tell)
    : tell_(std::move(tell)) {
  const std::lock_guard<std::mutex> lock(listeners().mutex);
  listeners().all.insert(this);
}

ExecutionListener::~ExecutionListener() {
  const std::lock_guard<std::mutex> lock(listeners().mutex);
  listeners().all.erase(this);
}

void announce_execution(const std::string& path, const std::string& content) {
  if (path.empty()) return;
  // The walls are part of it: with fewer walls the user is told again.
  const std::string hash = hash_hex(execution_text("") + "\n" + content);
  const std::lock_guard<std::mutex> lock(listeners().mutex);
  for (ExecutionListener* one : listeners().all) {
    if (!one->told_.insert(hash).second || was_told(hash)) continue;
    if (one->tell_(execution_text(path))) remember_told(hash);
  }
}

}  // namespace kw::torch_worker
