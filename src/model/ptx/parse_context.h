// Shared by the parts of the parser: the token stream, the module so far, names of module scope,
// and the problems.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/lexer.h"
#include "ptx/ptx_module.h"
#include "ptx/symbols.h"

namespace kw::ptx {

inline constexpr size_t kMaxTextBytes = size_t{256} << 20;
inline constexpr size_t kMaxInstructions = size_t{4} << 20;
inline constexpr size_t kMaxOperands = size_t{16} << 20;  // of the whole module
inline constexpr size_t kMaxNames = size_t{4}
                                    << 20;  // labels, scopes, variables: of each kind, whole module
inline constexpr int64_t kMaxVariableBytes = int64_t{1} << 30;
inline constexpr int kMaxScopeDepth = 200;
inline constexpr size_t kMaxProblems = 10;

/// An address in an initialiser. Its name may be declared later in the text.
struct PendingPatch {
  size_t variable = 0;  // index into Module::variables
  size_t patch = 0;
  std::string_view name;
  int line = 0;
};

/// All parse functions of this module return false after they reported a problem here.
class Context {
 public:
  explicit Context(std::string_view text) : lexer(text) {}

  Lexer lexer;
  Module module;
  std::unordered_map<std::string_view, Symbol> globals;
  std::vector<PendingPatch> pending;
  std::vector<std::string> problems;
  size_t instruction_count = 0, operand_count = 0, name_count = 0;
  int64_t variable_bytes = 0;  // bytes of initialisers in memory
  bool gave_up = false;        // a limit was exceeded: reading stops

  bool fail(int line, const std::string& what);
  bool fail(const std::string& what) { return fail(lexer.peek().line, what); }
  /// Reports "expected WHAT, found '…'".
  bool fail_expected(const std::string& what);
  bool over_limit(const std::string& what);
  bool stopped() const { return gave_up || problems.size() >= kMaxProblems; }

  bool expect(std::string_view symbol);
  bool expect_name(std::string_view& name);
  /// Reads a literal or constant expression; it must be an integer in [lowest, highest].
  bool expect_integer(int64_t lowest, int64_t highest, int64_t& value);
  /// Counts one more label, scope or variable.
  bool count_name();

  /// The index into Module::files of the number in a .file or .loc.
  int file_index(int64_t number);

  /// Moves after the next ';' outside braces, or before the '}' of the enclosing block.
  void skip_statement();
  /// Moves after the '}' that matches the '{' at the current position.
  bool skip_block();

 private:
  std::unordered_map<int64_t, int> file_index_;
};

}  // namespace kw::ptx
