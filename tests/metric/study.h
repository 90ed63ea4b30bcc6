// The study of the metric: every honest way to write an operation and every dishonest one, over
// types, input families and shapes, judged as the gate judges.
#pragma once

#include <string>
#include <vector>

#include "ops.h"

namespace kw::metric {

/// One way to answer, over all cells of one operation and type.
struct Row {
  std::string op, dtype, name;
  bool honest = true;
  int cells = 0, refused = 0;
  double worst_z = 0;      // over all cells; what honest ones reach
  std::string worst_cell;  // "spikes 4x1000"
  double plain = 0;        // the largest rms of z, relative to plain fp32 evaluations
};

/// All rows of one operation.
std::vector<Row> study(const StudyOp& op);

/// Families by name, as the gate draws them; and shapes.
const std::vector<std::string>& study_families();

}  // namespace kw::metric
