"""Runs a Python candidate on a GPU to let Triton's tuner choose among its configurations.

The answer names the chosen configurations by their text. Nothing else of this process counts: another process records the
candidate and ignores a configuration that the candidate does not have.
"""
import json
import math
import os
import sys
import time

from kw_foreign_worker.common import DTYPES, Candidate, Refused


class Choices:
    """The choices of the tuner, case by case, in the order in which kernels are launched."""

    def __init__(self):
        from triton.runtime.autotuner import Autotuner
        self.chosen, self.case = {}, ""
        run = Autotuner.run

        def tuned(tuner, *words, **named):
            result = run(tuner, *words, **named)
            self.chosen.setdefault(self.case, []).append(str(tuner.best_config))
            return result

        Autotuner.run = tuned


def make_tensor(torch, spec):
    dtype = getattr(torch, DTYPES[spec["dtype"]])
    if dtype.is_floating_point:
        return torch.randn(spec["shape"], device="cuda").to(dtype)
    return torch.zeros(spec["shape"], dtype=dtype, device="cuda")


def no_extensions():
    """Extensions are compiled for the recording only."""
    import torch.utils.cpp_extension as extensions

    def refused(*words, **named):
        raise Refused("its C++ extensions are not built for tuning")

    extensions.load = extensions.load_inline = refused


def largest_first(cases):
    """Shapes to tune at: those where it is timed. At the other shapes it uses the same choice."""
    timed = [(number, case) for number, case in enumerate(cases) if case["timed"]]
    return sorted(timed, key=lambda case: -sum(math.prod(spec["shape"]) for spec in case[1]["tensors"]))


def main(job, answer_to):
    enough = time.monotonic() + job["seconds"] / 2  # the remaining shapes use a configuration that fits
    sys.path.insert(0, os.path.dirname(job["path"]))
    import torch

    def say(answer):
        answer_to.write(json.dumps(answer) + "\n")
        answer_to.flush()

    def send(answer):
        say(answer)
        os._exit(0)  # without its exit handlers

    if not torch.cuda.is_available():
        send({"error": "torch sees no GPU"})
    try:
        choices = Choices()
    except ImportError as error:
        send({"error": f"there is no Triton ({error})"})
    torch.cuda.init()
    say({"ready": True})  # from here on the candidate can write anything
    torch.set_grad_enabled(False)
    answer = {"tuned": choices.chosen}
    def said(error):
        return f"{type(error).__name__}: {error}".splitlines()[0][:400]

    try:
        no_extensions()
        candidate = Candidate(job, lambda model: model.cuda().eval())
    except Exception as error:
        send(dict(answer, ended=said(error)))
    cases = largest_first(job["cases"])
    for done, (number, case) in enumerate(cases):
        if done and time.monotonic() > enough:
            answer["ended"] = f"time was up after {done} of {len(cases)} shapes, the largest ones"
            break
        choices.case = str(number)
        try:
            candidate.prepare(case["numbers"])
            candidate.call({spec["name"]: make_tensor(torch, spec) for spec in case["tensors"]
                            if spec["role"] != "output" or candidate.writes}, case["numbers"])
            torch.cuda.synchronize()
        except Exception as error:  # the choices at other shapes count
            choices.chosen.pop(choices.case, None)
            answer["ended"] = said(error)
    send(answer)
