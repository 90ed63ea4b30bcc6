// What import must not follow: variables that outlive a call, objects whose constructors and
// destructors run unseen, and effects inside an operand that may not be evaluated. Each becomes a
// problem, so that the file is left to the recorder.
#pragma once

#include "cuda_import/host_state.h"

namespace kw::cuda_import {

/// A problem if the variable outlives the call and may have another value in the next one.
void check_kept(HostState& host, const CType& type, const HostValue& value,
                const cuda_source::Token& name);

/// A problem if objects of this type may run code that is not followed.
void check_class(HostState& host, const CType& type, const cuda_source::Token& where);

/// Reports changes to variables and launches between its construction and check().
class EffectWatch {
 public:
  explicit EffectWatch(HostState& host);
  bool seen() const;
  /// A problem if there was one; returns whether.
  bool check(const cuda_source::Token& where);
  ~EffectWatch();
  EffectWatch(const EffectWatch&) = delete;
  EffectWatch& operator=(const EffectWatch&) = delete;

 private:
  HostState& host_;
  size_t slots_, changed_, launches_, scratch_;
};

}  // namespace kw::cuda_import
