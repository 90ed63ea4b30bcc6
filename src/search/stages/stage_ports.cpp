#include "stages/stage_ports.h"

#include "core/json_reader.h"
#include "core/json_writer.h"

namespace kw::stages {

void fields(auto& v, Attempt& a) {
  v("stage", a.stage)("attempt", a.number)("escalated", a.escalated)("model", a.model);
  v("candidate", a.candidate, Zero::Null)("succeeded", a.succeeded)("outcome", a.outcome);
  v("us", a.us, Zero::Null);
}

Json to_json(const Attempt& attempt) { return record_json(attempt); }
Attempt attempt_from_json(const Json& json) { return read_record<Attempt>(json); }

}  // namespace kw::stages
