// The workbench of a synthesis with readers in front of its judge: what all of them are sure is
// wrong is not judged, and whoever wrote it is told why. Nothing is accepted here.
#pragma once

#include <map>
#include <string>

#include "evolve/ports.h"
#include "stages/ports.h"

namespace kw::review {

class ReadBench : public stages::Workbench {
 public:
  /// Borrows both. Only modules that models wrote are read.
  ReadBench(stages::Workbench& bench, evolve::Verifier& readers)
      : bench_(bench), readers_(readers) {}

  Result<stages::Look> compile(const record::Candidate& candidate) override {
    return bench_.compile(candidate);
  }
  Result<stages::Look> run(const record::Candidate& candidate) override {
    return bench_.run(candidate);
  }
  Result<stages::Look> verify(const record::Candidate& candidate) override;
  Result<stages::Look> time(const record::Candidate& candidate) override {
    return bench_.time(candidate);
  }
  std::string hints(const record::Candidate& candidate) override { return bench_.hints(candidate); }

  /// How likely it is right, 0 to 1; 1 for what nobody read.
  double score(const std::string& id) const;

 private:
  stages::Workbench& bench_;
  evolve::Verifier& readers_;
  std::map<std::string, double> scores_;  // by id
};

}  // namespace kw::review
