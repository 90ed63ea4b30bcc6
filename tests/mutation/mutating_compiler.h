// A compiler whose PTX can be mutated. Device code is compiled once; plan lines are comments to it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "operators.h"
#include "ports/compiler.h"

namespace kw::mutation {

/// What the compiler gives back.
enum class Version : uint8_t {
  Original,
  Mutated,
  TrapsWhenReached,   // the original, with a trap in front of the mutated instruction
  TrapsWhenInfected,  // the mutated one, with a trap where its value differs
};

class MutatingCompiler : public ports::Compiler {
 public:
  MutatingCompiler(ports::Compiler& inner, uint64_t seed) : inner_(inner), seed_(seed) {}

  std::string name() const override { return inner_.name(); }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override;

  /// The mutation must outlive its use. A plan mutation leaves the PTX as it is.
  void use(Version version, const Mutation* mutation) {
    version_ = version;
    mutation_ = mutation;
  }
  /// Whether the mutated PTX differs from the original in code that is not dead.
  bool changes_live_code() const;
  /// The distinct mutations of all PTX compiled so far.
  std::vector<Mutation> mutations() const;
  /// All PTX compiled so far, unmutated.
  std::vector<const PtxLines*> texts() const;

 private:
  struct Entry {
    ports::CompileOutcome outcome;
    std::unique_ptr<PtxLines> lines;  // null if it did not compile
  };
  std::string mutated(const Entry& entry) const;

  ports::Compiler& inner_;
  uint64_t seed_;
  std::map<std::string, Entry> known_;
  Version version_ = Version::Original;
  const Mutation* mutation_ = nullptr;
};

}  // namespace kw::mutation
