// Imposters: wrong kernels, imitated on the CPU. Their outputs go through the same metric as a
// candidate's. If a task's cells do not stop every imposter that applies, the task cannot
// distinguish right from wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "gate/pool.h"
#include "ports/oracle.h"

namespace kw::gate {

/// The result of one imposter over the cells of a pool.
struct ImposterRow {
  std::string name;
  std::string inapplicable;  // why it does not apply to this task; "" when it does
  int64_t tried = 0, killed = 0;
  std::string killed_at;    // the first cell that rejected it
  bool equivalent = false;  // mathematically equal, and within the bound in every cell

  bool applies() const { return inapplicable.empty() && !equivalent; }
  bool survived() const { return applies() && killed == 0; }
};

struct KillReport {
  std::vector<ImposterRow> rows;
  int64_t cells = 0;
  double seconds = 0;

  int64_t applicable() const;
  int64_t killed() const;
  bool complete() const { return killed() == applicable(); }
};

/// Tries every imposter in every cell of the pool.
Result<KillReport> kill_rate(Pool& pool, ports::Oracle& oracle,
                             const std::function<bool()>& interrupted = {});

Json to_json(const KillReport& report);

}  // namespace kw::gate
