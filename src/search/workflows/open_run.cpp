// The step that creates the run folder. In the folder of a resumed run it records the resumption.
#include <thread>

#include "core/json_writer.h"
#include "machine/devices.h"
#include "workflows/synthesis_steps.h"

namespace kw::workflows {
namespace {

Json env_json(const Session& session) {
  JsonWriter v;
  v("kernelwright", session.request.version)("cores", std::thread::hardware_concurrency());
  if (session.machine == nullptr) return v.take();
  v("device", machine::to_json(device_of(session).info()));
  if (session.tools.verify.gpu == nullptr) v("no_gpu", session.machine->no_gpu());
  v("compiler", session.tools.verify.compiler->name());
  v("lanes", session.lanes != nullptr ? session.lanes->all().size() : 0);
  return v("rates", session.calibration).take();
}

Status resume_run(Session& session) {
  if (session.only_measure && session.lanes != nullptr && !session.lanes->has_gpu())
    return environment_error("tune needs a GPU: " + session.machine->no_gpu());
  if (has_failed(session)) return Done{};
  return session.run->append("resumed", Json::object().set("env", env_json(session)));
}

}  // namespace

Status open_run(Session& session) {
  if (session.stored) return resume_run(session);
  const SynthesizeRequest& request = session.request;
  store::RunInputs inputs;
  inputs.name = session.task ? session.task->name : "unread";
  inputs.prompt = request.prompt;
  inputs.reference = request.models.store_reference ? session.reference_text : "";
  inputs.spec = session.task ? task::to_json(*session.task) : Json();
  if (session.task && session.models)
    inputs.spec.set("kernel_spec", stages::to_json(session.models->spec));
  inputs.config = request_to_json(request).set("order_seed", session.order_seed);
  inputs.env = env_json(session);
  store::Where where;
  where.root = request.out.empty() ? store::default_root() : request.out;
  store::Run& run = session.run.emplace(KW_TRY(store::Run::create(where, inputs)));
  if (session.models) {
    KW_TRY(session.models->journal->attach(run));
    KW_TRY(run.write("stage1_interview/kernel_spec.json",
                     stages::to_json(session.models->spec).dump(true) + "\n"));
  }
  session.report.run_id = run.id();
  session.report.folder = session.progress.folder = run.folder();
  return Done{};
}

}  // namespace kw::workflows
