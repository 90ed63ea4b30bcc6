// The Compiler port with a compiler program: nvcc or clang makes PTX, ptxas makes a cubin of it.
// Every run has a time and a memory limit. It sees only its own folders.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/search.h"
#include "ports/compiler.h"

namespace kw::compile {

/// The differences between the programs.
struct Dialect {
  std::string shown_as;  // "clang 19.1.7"
  std::string path;
  std::optional<FoundProgram> ptxas;
  std::vector<std::string> header_folders;  // its own: removed from file names in PTX
  // What it may read and run besides the system, its scratch folder and the request's folders.
  std::vector<std::string> reading, running;
  std::string before, after;          // lines around every source
  bool leaves_out_host_code = false;  // instead of refusing it
  /// The command that turns `input` into PTX at `output`.
  std::function<std::vector<std::string>(const ports::CompileRequest&, const std::string& input,
                                         const std::string& output)>
      command;
};

class ProgramCompiler : public ports::Compiler {
 public:
  explicit ProgramCompiler(Dialect dialect) : dialect_(std::move(dialect)) {}
  std::string name() const override;
  /// The commands for a request, without the names of temporary files.
  std::string command_text(const ports::CompileRequest& request) const;
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override;

 private:
  struct Step;  // one program run
  std::optional<ports::CompileFailed> host_code(const ports::CompileRequest& request) const;

  /// Environment Error when the machine, not the source, explains a failure.
  Result<Step> run(const std::vector<std::string>& command, const ports::CompileRequest& request,
                   const std::string& scratch, double deadline) const;
  Result<Step> run_once(const std::vector<std::string>& command,
                        const ports::CompileRequest& request, const std::string& scratch,
                        double deadline) const;
  std::optional<Error> target_error(const ports::CompileRequest& request,
                                    const std::string& log) const;
  ports::CompileFailed failure(const ports::CompileRequest& request, const Step& step,
                               const std::string& ptx) const;
  Result<ports::CompileOutcome> assemble(const ports::CompileRequest& request,
                                         ports::Compiled compiled, const std::string& scratch,
                                         double deadline) const;

  Dialect dialect_;
};

/// nvcc, with the toolkit it belongs to.
std::unique_ptr<ProgramCompiler> make_nvcc_compiler(const FoundProgram& nvcc,
                                                    std::optional<FoundProgram> ptxas);
/// clang with our own device headers and no CUDA toolkit. Fails when those headers cannot be
/// written.
Result<std::unique_ptr<ProgramCompiler>> make_clang_compiler(const FoundProgram& clang,
                                                             std::optional<FoundProgram> ptxas);

}  // namespace kw::compile
