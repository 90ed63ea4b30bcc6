// The step that opens the GPU, or the virtual one, with its compiler, lanes and rates.
#include "timing/calibration.h"
#include "verification/verify_tools.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {

Status open_machine(Session& session) {
  const SynthesizeRequest& request = session.request;
  SynthesisReport& report = session.report;
  timing::BenchOpenRequest open = machine_request(request);
  open.torch = !request.baselines.empty();
  open.notice = [&session](const std::string& what) { report_progress(session, "machine", what); };
  std::string not_timed;
  session.machine = KW_TRY(timing::fitting_machine(request.machine, std::move(open), &not_timed));
  if (!not_timed.empty()) report.notes.push_back(not_timed);
  timing::BenchTools& tools = session.tools = session.machine->tools();
  const verification::CrossCheckMode mode =
      KW_TRY(verification::cross_check_mode(request.cross_check));
  tools.verify.cross_check = verification::open_cross_check(mode, request.version, session.torch);
  session.lanes = KW_TRY(timing::Lanes::open(tools));
  for (const std::string& note : session.lanes->notes()) report.notes.push_back(note);
  session.calibration = timing::reference_gpu();
  report.device = device_of(session).info().name;
  if (tools.verify.gpu == nullptr) return Done{};
  report_progress(session, "machine", "calibrating " + report.device);
  const auto measured =
      timing::calibration_of(tools.verify.gpu->info(), tools.calibrate, timing::Freshness::Kept);
  if (measured)
    session.calibration = measured->calibration;
  else
    report.warnings.push_back("no calibration of this GPU: " + measured.error().message);
  return Done{};
}

}  // namespace kw::workflows
