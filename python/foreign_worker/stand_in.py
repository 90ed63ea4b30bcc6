"""Runs a Python candidate without a GPU and records what its extensions, Triton and CuTe kernels launch, with which arguments.

The answer is a recording as docs/foreign.md describes it, or sources that must be compiled first. Kernelwright does not trust the
recording: it replays and judges it in another process.
"""
import contextlib
import ctypes
import json
import os

import torch
from torch.utils._pytree import tree_leaves

from kw_foreign_worker import cute_device, device, extension, triton_device, world
from kw_foreign_worker.common import DTYPES, Candidate, Refused


dumps = json.dumps  # saved before a candidate can replace it
VARIANTS = 100000  # the cases of a variant follow this number
FEW_FAR, FAR_SECONDS, FAR_MODELS = 560, 4, 3


class Model(Candidate):
    def prepare(self, numbers):
        super().prepare(numbers)
        self.buffers = {}

    def kept(self):
        return self.model, self.buffers

    def use(self, kept):
        self.model, self.buffers = kept

    def put(self, own, name, given):
        own[name] = given

    def keep(self, holder, own, name, full):
        super().keep(holder, own, name, full)
        own[name] = self.buffers.setdefault(full, own[name]).cuda()  # uploaded to the device in every call


def shape_of(spec):
    return device.empty(spec["shape"], dtype=getattr(torch, DTYPES[spec["dtype"]]), device="meta")


def make_tensors(case, memory, with_outputs):
    """Addresses for all tensors of a call, one line each; results replace the outputs."""
    made = {}
    for index, spec in enumerate(case["tensors"]):
        shape = shape_of(spec)
        made[spec["name"]] = memory.place(shape, memory.runtime.tensor(index, shape.nbytes))
    return made, {spec["name"]: made[spec["name"]] for spec in case["tensors"] if spec["role"] != "output" or with_outputs}


def say_tensors(case, made, runtime):
    for index, spec in enumerate(case["tensors"]):
        one = made[spec["name"]]
        runtime.say(f"tensor {index} {one.kw_address()} {one.nbytes}")


def say_results(case, given, returned, runtime):
    flat = [one for one in tree_leaves(returned) if isinstance(one, torch.Tensor)]
    outputs = [spec for spec in case["tensors"] if spec["role"] == "output"]
    written = all(spec["name"] in given for spec in outputs)
    if not flat and written:
        return
    if len(flat) < len(outputs):
        return runtime.refusal(f"it returns {len(flat)} tensors, but the task has {len(outputs)} outputs")
    for index, (spec, one) in enumerate(zip(outputs, flat)):
        if not isinstance(one, device.DeviceTensor):
            return runtime.refusal("the result is not on the device")
        if list(one.shape) != spec["shape"] or not one.is_contiguous() or str(one.dtype) != "torch." + DTYPES[spec["dtype"]]:
            return runtime.refusal(f"the result has shape {list(one.shape)}, strides {list(one.stride())} and type {one.dtype}")
        if spec["name"] in given and one.kw_address() == given[spec["name"]].kw_address():
            continue
        runtime.result(index, one.kw_address(), one.nbytes)


def record_call(candidate, case, given, memory, begin):
    runtime = memory.runtime
    runtime.say("call")
    begin(case["number"] % VARIANTS)
    runtime.next_world()
    runtime.inside = True
    try:
        say_results(case, given, candidate.call(given, case["numbers"]), runtime)
    except Refused as refused:
        runtime.refusal(str(refused))
    finally:
        runtime.inside = False
        runtime.take_back(runtime.made)
        runtime.made = 0
    runtime.say("end")


def record_case(candidate, case, memory, begin):
    runtime = memory.runtime
    runtime.say(f"case {case['number']}")
    candidate.prepare(case["numbers"])
    first, second = make_tensors(case, memory, candidate.writes), None
    for call in range(3):
        if call == 1:
            second = make_tensors(case, memory, candidate.writes)
        if call == 2:
            say_tensors(case, first[0], runtime)
        record_call(candidate, case, (second if call == 1 else first)[1], memory, begin)


def record_far(candidate, models, count, memory, begin):
    """Many calls of the models that were made, in any order: for candidates that count."""
    runtime, places = memory.runtime, {}
    enough = runtime.seconds() + FAR_SECONDS
    for turn in range(count):
        if turn >= FEW_FAR and runtime.seconds() > enough:
            return
        chance = runtime.noise >> 33
        case, kept = models[chance // 8 % len(models) if chance % 4 == 0 else 0]  # one of them is called most
        runtime.say(f"case {case['number']}")
        candidate.use(kept)
        if case["number"] in places and chance // 4 % 2:
            say_tensors(case, places[case["number"]][0], runtime)
        else:
            places[case["number"]] = make_tensors(case, memory, candidate.writes)
        held = list(places[case["number"]][1].values()) * (turn % 3)  # another number of references
        record_call(candidate, case, places[case["number"]][1], memory, begin)
        del held


def record_variants(candidate, case, kept, memory, begin):
    """One call in each mode in which an honest model may launch something else."""
    model = kept[0]
    modes = {1: ("evaluation", contextlib.nullcontext), 2: ("inference", torch.inference_mode), 3: ("gradients", torch.enable_grad)}
    answers = {}
    for number, (name, mode) in modes.items():
        if name == "evaluation" and model is None:
            continue
        variant = dict(case, number=case["number"] + number * VARIANTS)
        memory.runtime.say(f"case {variant['number']}")
        candidate.use(kept)
        given = make_tensors(variant, memory, candidate.writes)[1]
        training = model is not None and model.training
        try:
            if name == "evaluation":
                model.eval()
            with mode():
                record_call(candidate, variant, given, memory, begin)
        except Exception as error:
            answers[name] = said(error)
        if training:
            model.train()
    return answers


def said(error):
    """An exception in one line: a compiler message begins with the place and ends with the reason."""
    lines = [line.strip() for line in f"it raised {type(error).__name__}: {error}".splitlines() if line.strip()]
    return " ".join(dict.fromkeys((lines[0], lines[-1])))[:400]


def main(job, answer_to):
    tritons = cutes = None

    def say(answer):
        answer_to.write(dumps(answer) + "\n")
        answer_to.flush()

    def send(answer):
        images = {**(tritons.kernels.images if tritons else {}), **(cutes.images if cutes else {})}
        answer.update(images=images, notes=sorted(tritons.tuning.notes) if tritons else [])
        say(answer)
        os._exit(0)  # without its exit handlers

    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    runtime = device.Runtime(job)
    memory = device.Memory(runtime)
    device.pretend(job, runtime)
    builder = extension.install(job, memory)
    try:
        tritons = triton_device.Triton(job, memory) if job["triton"] else None
        cutes = cute_device.Cute(job, memory) if job["cute"] else None
    except ImportError as error:
        which = "CuTe DSL's" if tritons or not job["triton"] else "Triton's"
        send({"error": f"its kernels are {which}, and this Python has no supported version of it ({error})"})
    begin = tritons.tuning.begin if tritons else lambda case: None
    pieces, answer, models = [], {"ended": {}}, []

    def give_up():  # a call that exceeds a limit of the recording
        send(dict(answer, recording="".join(pieces) + runtime.taken()))

    at_end = ctypes.CFUNCTYPE(None)(give_up)
    runtime.library.kw_record_at_end(at_end)
    answer["confined"] = runtime.confine()
    say({"ready": True})  # from here on the candidate can write anything
    runtime.say("kernelwright recording 1")
    world.install(job, runtime, lambda why: send(dict(answer, refused=why, recording="")))
    number = -1
    try:
        with device.Watch(memory):
            candidate = Model(job, lambda model: model)
            if builder.wants:
                raise extension.Unbuilt()
            for number, case in enumerate(job["cases"]):
                try:
                    case = dict(case, number=number)
                    record_case(candidate, case, memory, begin)
                    models.append((case, candidate.kept()))
                except (Refused, extension.Unbuilt):
                    raise
                except Exception as error:  # a check of the candidate that fails at one shape concerns only that shape
                    answer["ended"][str(number)] = said(error)
                pieces.append(runtime.taken())
            if job["far_calls"] and models:
                record_far(candidate, models[:FAR_MODELS], job["far_calls"], memory, begin)
                record_variants(candidate, *models[0], memory, begin)
    except extension.Unbuilt:
        send({"wants": builder.wants})
    except Refused as refused:
        answer["refused"] = str(refused)
    except Exception as error:  # a candidate that fails is an outcome
        answer["refused"] = said(error)
    send(dict(answer, recording="".join(pieces) + runtime.taken()))
