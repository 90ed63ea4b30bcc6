"""Gradients of a reference by autograd, for requests that ask for them.

`gradients` in a request: `of`, the arguments and weights to differentiate by; `upstream`, arguments of the request that
are gradients of the outputs, not arguments of the reference; `outputs`, the position of each of these in the outputs.
"""
import torch

from kw_torch_worker.failures import Failure


def split(request, arguments):
    """The reference's own arguments, and the upstream gradients."""
    names = request["gradients"]["upstream"]
    own = [pair for pair in arguments if pair[0] not in names]
    given = dict(arguments)
    return own, [given[name] for name in names]


def leaf(value):
    return value.detach().requires_grad_()


class Leaves:
    """Arguments and weights as autograd needs them; tensors that the reference writes in place are copies."""

    def __init__(self, request, arguments, weights):
        self.of, self.leaves = request["gradients"]["of"], {}
        self.copied = request.get("copied", False)
        self.arguments = [(name, self._take(name, name, value, name in request.get("written", [])))
                          for name, value in arguments]
        self.weights = {full: self._take(full, identifier, value, False) for full, identifier, value in weights}
        missing = [name for name in self.of if name not in self.leaves]
        if missing:
            raise Failure("BadArguments", f"the reference has no tensor {missing[0]!r} to differentiate by")

    def _take(self, name, alias, value, written):
        written = written or self.copied
        wanted = next((one for one in self.of if one in (name, alias)), None)
        if wanted is None or not isinstance(value, torch.Tensor):
            return value.detach().clone() if written and isinstance(value, torch.Tensor) else value
        self.leaves[wanted] = leaf(value)
        with torch.enable_grad():
            return self.leaves[wanted].clone() if written else self.leaves[wanted]

    def gradients(self, request, outputs, upstream):
        """`outputs` in order, without those that have no gradient."""
        chosen = [outputs[place][1] for place in request["gradients"]["outputs"]]
        for (name, _), output in zip((outputs[place] for place in request["gradients"]["outputs"]), chosen):
            if not output.requires_grad:
                raise Failure("Unsupported", f"autograd has no gradient of {name}")
        wanted = [self.leaves[name] for name in self.of]
        found = torch.autograd.grad(chosen, wanted, upstream, allow_unused=True)
        return {f"grad_{name}": torch.zeros_like(by) if g is None else g
                for name, by, g in zip(self.of, wanted, found)}


def with_leaves(request, arguments, weights, call):
    """call(leaves); with copies if the reference computes in place, which autograd forbids for leaves."""
    try:
        return call(Leaves(request, arguments, weights))
    except RuntimeError as error:
        if request.get("copied") or "leaf Variable that requires grad" not in str(error):
            raise
        request["copied"] = True
        return call(Leaves(request, arguments, weights))


def named_outputs(request, returned, arguments, flatten):
    """The results of the reference: returned tensors, then those written in place."""
    written = request.get("written", [])
    named = [] if request.get("written_only") or (returned is None and written) else flatten(returned)
    values = dict(arguments)
    return named + [(name, values[name]) for name in written if isinstance(values.get(name), torch.Tensor)]
