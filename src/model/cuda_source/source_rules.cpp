// The rules for device code are data, so that a reviewer can read them and a test can compare them
// with the documentation. Headers and pragmas are lists of allowed names and folders; anything else
// is refused. Identifiers, directives and assembly are lists of refused words with a reason each,
// because legal CUDA has too many words to list. The reason becomes the hint of the message. The
// cost: a new harmful identifier of CUDA is accepted until a row names it. What device code reads
// of the machine is judged in the compiled PTX instead (ptx/machine_reads.h): names in the source
// can be hidden.
#include "cuda_source/source_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/ascii.h"
#include "core/contains.h"

namespace kw::cuda_source {

namespace {

constexpr std::array<std::string_view, 52> kHeaders = {"cuda_fp16.h",
                                                       "cuda_bf16.h",
                                                       "cuda_fp8.h",
                                                       "cuda_fp6.h",
                                                       "cuda_fp4.h",
                                                       "cuda_runtime.h",
                                                       "cuda_runtime_api.h",
                                                       "cuda_pipeline.h",
                                                       "cuda_pipeline_primitives.h",
                                                       "cuda_pipeline_helpers.h",
                                                       "cuda_awbarrier.h",
                                                       "cuda_awbarrier_primitives.h",
                                                       "cuda_awbarrier_helpers.h",
                                                       "cuComplex.h",
                                                       "device_functions.h",
                                                       "device_launch_parameters.h",
                                                       "vector_types.h",
                                                       "vector_functions.h",
                                                       "math_constants.h",
                                                       "math_functions.h",
                                                       "sm_60_atomic_functions.h",
                                                       "mma.h",
                                                       "crt/mma.h",
                                                       "cooperative_groups.h",
                                                       "curand_kernel.h",
                                                       "curand_philox4x32_x.h",
                                                       "nv/target",
                                                       "cuda.h",
                                                       "stdint.h",
                                                       "stddef.h",
                                                       "math.h",
                                                       "float.h",
                                                       "limits.h",
                                                       "assert.h",
                                                       "stdio.h",
                                                       "cstdint",
                                                       "cstddef",
                                                       "cmath",
                                                       "cfloat",
                                                       "climits",
                                                       "cassert",
                                                       "cstdio",
                                                       "cstring",
                                                       "string.h",
                                                       "type_traits",
                                                       "limits",
                                                       "utility",
                                                       "algorithm",
                                                       "functional",
                                                       "array",
                                                       "tuple",
                                                       "initializer_list"};

constexpr std::array<std::string_view, 4> kHeaderFolders = {"cub/", "cuda/", "cooperative_groups/",
                                                            "nv/"};

// "GCC dependency" and "clang module" read files, so only harmless pragmas of these families are
// listed.
constexpr std::array<std::string_view, 17> kPragmas = {
    "unroll",           "nounroll",        "once",
    "push_macro",       "pop_macro",       "nv_exec_check_disable",
    "nv_diag_suppress", "nv_diag_default", "nv_diag_warning",
    "nv_diag_error",    "nv_diag_remark",  "nv_diag_once",
    "nv_diagnostic",    "diag_suppress",   "GCC diagnostic",
    "GCC unroll",       "clang diagnostic"};

using Refusal = std::pair<std::string_view, std::string_view>;

constexpr std::string_view kOnlyInclude = "only '#include <header>' with an allowed header is";
constexpr std::array kDirectives = {
    Refusal{"include_next", kOnlyInclude},
    Refusal{"import", kOnlyInclude},
    Refusal{"embed", kOnlyInclude},
    Refusal{"line", "kernelwright writes the line table"},
    Refusal{"ident", "it leaves a mark in the image"},
    Refusal{"sccs", "it leaves a mark in the image"},
};

constexpr std::string_view kProbe = "a module must not access the file system";
constexpr std::string_view kDate = "the same module must always compile to the same code";
constexpr std::string_view kCompiler =
    "the same module must mean the same to every compiler; __CUDA_ARCH__ may be asked for";
constexpr std::string_view kPlace =
    "it names the file or the function as this compiler writes it; __LINE__ and __func__ may be "
    "used";
constexpr std::string_view kNoHostCode =
    "there is no host code: kernelwright allocates, copies, launches and synchronises";
constexpr std::array kIdentifiers = {
    Refusal{"__has_include", kProbe},
    Refusal{"__has_include_next", kProbe},
    Refusal{"__has_embed", kProbe},
    Refusal{"__DATE__", kDate},
    Refusal{"__TIME__", kDate},
    Refusal{"__TIMESTAMP__", kDate},
    Refusal{"__CUDACC_RTC__", kCompiler},
    Refusal{"__NVCC__", kCompiler},
    Refusal{"__CUDA__", kCompiler},
    Refusal{"__CUDABE__", kCompiler},
    Refusal{"__CUDACC_VER__", kCompiler},
    Refusal{"__CUDACC_VER_MAJOR__", kCompiler},
    Refusal{"__CUDACC_VER_MINOR__", kCompiler},
    Refusal{"__CUDACC_VER_BUILD__", kCompiler},
    Refusal{"__CUDACC_DEBUG__", kCompiler},
    Refusal{"__CUDA_API_VER_MAJOR__", kCompiler},
    Refusal{"__CUDA_API_VER_MINOR__", kCompiler},
    Refusal{"__CUDA_API_VERSION", kCompiler},
    Refusal{"CUDART_VERSION", kCompiler},
    Refusal{"CUDA_VERSION", kCompiler},
    Refusal{"__clang__", kCompiler},
    Refusal{"__clang_major__", kCompiler},
    Refusal{"__clang_minor__", kCompiler},
    Refusal{"__clang_version__", kCompiler},
    Refusal{"__llvm__", kCompiler},
    Refusal{"__GNUC__", kCompiler},
    Refusal{"__GNUC_MINOR__", kCompiler},
    Refusal{"__GNUG__", kCompiler},
    Refusal{"__VERSION__", kCompiler},
    Refusal{"__EDG__", kCompiler},
    Refusal{"__EDG_VERSION__", kCompiler},
    Refusal{"_MSC_VER", kCompiler},
    Refusal{"_WIN32", kCompiler},
    Refusal{"__linux__", kCompiler},
    Refusal{"__x86_64__", kCompiler},
    Refusal{"__aarch64__", kCompiler},
    Refusal{"__OPTIMIZE__", kCompiler},
    Refusal{"__COUNTER__", kCompiler},
    Refusal{"__INCLUDE_LEVEL__", kCompiler},
    Refusal{"__has_builtin", kCompiler},
    Refusal{"__has_feature", kCompiler},
    Refusal{"__has_extension", kCompiler},
    Refusal{"__FILE__", kPlace},
    Refusal{"__FILE_NAME__", kPlace},
    Refusal{"__BASE_FILE__", kPlace},
    Refusal{"__builtin_FILE", kPlace},
    Refusal{"__PRETTY_FUNCTION__", kPlace},
    Refusal{"__FUNCSIG__", kPlace},
    Refusal{"__managed__", "memory comes from tensors and scratch buffers"},
};
// What the headers of CUDA call the compiler.
constexpr std::array<std::string_view, 3> kCompilerPrefixes = {
    "_CCCL_COMPILER", "_CCCL_CUDA_COMPILER", "_CCCL_HOST_COMPILER"};
constexpr std::array<std::string_view, 14> kHostPrefixes = {
    "cudaMalloc", "cudaFree",   "cudaMemcpy", "cudaMemset", "cudaLaunch",
    "cudaDevice", "cudaStream", "cudaEvent",  "cudaGraph",  "cudaFuncSet",
    "cudaHost",   "cuLaunch",   "cuMem",      "cublas"};

template <typename Table>
std::string_view lookup(const Table& table, std::string_view name) {
  for (const Refusal& row : table) {
    if (row.first == name) return row.second;
  }
  return {};
}


// Finds a whole word of the assembly: ".global" declares a variable, "st.global" does not.
size_t find_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool ends = at + word.size() >= text.size() || !is_name_char(text[at + word.size()]);
    const bool starts =
        at == 0 || !(is_name_char(text[at - 1]) || text[at - 1] == '.' || text[at - 1] == ':');
    if (starts && ends) return at;
  }
  return std::string_view::npos;
}

}  // namespace

bool header_allowed(std::string_view header) {
  if (contains(kHeaders, header)) return true;
  for (const std::string_view folder : kHeaderFolders) {
    if (!header.starts_with(folder) || header.size() == folder.size()) continue;
    const bool plain = std::ranges::all_of(
        header, [](char c) { return is_name_char(c) || c == '/' || c == '.' || c == '-'; });
    return plain && header.find("..") == std::string_view::npos;
  }
  return false;
}

std::vector<std::string> allowed_headers() { return {kHeaders.begin(), kHeaders.end()}; }

bool pragma_allowed(std::string_view name) { return contains(kPragmas, name); }
std::vector<std::string> allowed_pragmas() { return {kPragmas.begin(), kPragmas.end()}; }

std::string_view refused_directive(std::string_view name) { return lookup(kDirectives, name); }

std::string_view refused_identifier(std::string_view name) {
  if (const std::string_view why = lookup(kIdentifiers, name); !why.empty()) return why;
  for (const std::string_view prefix : kCompilerPrefixes) {
    if (name.starts_with(prefix)) return kCompiler;
  }
  for (const std::string_view prefix : kHostPrefixes) {
    if (name.starts_with(prefix)) return kNoHostCode;
  }
  return {};
}

std::string_view pasted_identifier(const std::set<std::string_view>& words) {
  for (const auto& [whole, why] : kIdentifiers) {
    std::vector<bool> reached(whole.size() + 1, false);
    reached[0] = true;
    for (size_t at = 0; at < whole.size(); ++at) {
      for (const std::string_view word : words) {
        if (reached[at] && word != whole && whole.substr(at).starts_with(word))
          reached[at + word.size()] = true;
      }
    }
    if (reached.back()) return whole;
  }
  return {};
}

AssemblyFault find_assembly_fault(std::string_view assembly) {
  for (const std::string_view space : {".global", ".const"}) {
    if (find_word(assembly, space) != std::string_view::npos) {
      return {"declares a '" + std::string(space) + "' variable",
              "state must not outlive a launch; use a tensor or a scratch buffer"};
    }
  }
  return {};
}

std::string string_body(std::string_view literal) {
  const size_t open = literal.find('"');
  if (open == std::string_view::npos) return "";
  if (open > 0 && literal[open - 1] == 'R') {
    const size_t begin = literal.find('('), end = literal.rfind(')');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return "";
    return std::string(literal.substr(begin + 1, end - begin - 1));
  }
  std::string out;
  for (size_t i = open + 1; i < literal.size() && literal[i] != '"'; ++i) {
    if (literal[i] == '\\' && i + 1 < literal.size()) {
      ++i;
      out += literal[i] == 'n' || literal[i] == 't' || literal[i] == 'r' ? ' ' : literal[i];
    } else {
      out += literal[i];
    }
  }
  return out;
}

}  // namespace kw::cuda_source
