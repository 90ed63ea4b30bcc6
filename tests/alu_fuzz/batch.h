// Many cases as one kernel: PTX text, random inputs, and the judgement of what came back. Knows no
// device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cases.h"

namespace kw::alu_fuzz {

struct Mismatch {
  size_t case_index = 0;
  int lane = 0;
  std::string what;  // instruction, operands, got, wanted
};

struct Judgement {
  int64_t checked = 0;    // results compared
  int64_t undefined = 0;  // results the ISA leaves open
  int64_t wrong = 0;
  std::vector<Mismatch> first;  // at most one per case
};

class Batch {
 public:
  /// Every source of every case gets `threads` values made from `seed`.
  Batch(std::vector<Case> cases, int threads, uint64_t seed);

  const std::vector<Case>& cases() const { return cases_; }
  int threads() const { return threads_; }
  /// Values of source `source` of one case, one per thread.
  const uint64_t* input(size_t case_index, size_t source) const;
  const std::vector<uint64_t>& inputs() const { return inputs_; }
  size_t output_count() const { return output_count_; }
  /// Where the results of destination `dst` begin among the outputs.
  size_t output_at(size_t case_index, size_t dst) const;

  /// The kernel `alu_fuzz(in, out)`, for one block of threads() threads.
  std::string ptx(int ptx_version, const std::string& target) const;

  /// With `strict`, also judges results the ISA leaves open (against our choice).
  Judgement judge(const std::vector<uint64_t>& outputs, bool strict) const;
  /// What the reference says, laid out as the outputs; where a range is allowed, zero.
  std::vector<uint64_t> expected() const;

 private:
  void arrange(const Case& c, std::mt19937_64& random);

  std::vector<Case> cases_;
  int threads_;
  std::vector<size_t> input_at_, output_at_;  // first element of each case
  std::vector<uint64_t> inputs_;
  size_t output_count_ = 0;
};

/// "and.b32 %d0, %s0, %s1;" with the registers' declarations, for one case.
std::string declarations(const Case& c);
std::string body(const Case& c);

/// The cases a target and PTX version know.
std::vector<Case> cases_for(int sm, int ptx_version);

}  // namespace kw::alu_fuzz
