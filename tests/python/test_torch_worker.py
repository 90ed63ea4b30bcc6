"""The torch process's own parts, in this process: what a reference's file and a baseline's arguments become."""

import pathlib
import sys
import tempfile
import types
import unittest

from support import ROOT, main, needs

package = types.ModuleType("kw_torch_worker")
package.__path__ = [str(ROOT / "python" / "torch_worker")]
sys.modules["kw_torch_worker"] = package


@needs("torch")
class Sources(unittest.TestCase):
    def test_compiled_references_keep_their_own_helpers(self):
        import torch
        from kw_torch_worker import source

        with tempfile.TemporaryDirectory() as folder:
            for helper, more in (("first", 1.0), ("second", 5.0)):
                path = pathlib.Path(folder, helper + ".py")
                path.write_text(f"def {helper}(x):\n    return x + {more}\n\n\n"
                                f"def reference(x):\n    return {helper}(x)\n")
                reference = source.find(source.load({"path": str(path)}), "reference")
                # Called from another module's function, as a baseline is.
                compiled = torch.compile(lambda x, call=reference: call(x), backend="eager")
                self.assertEqual(compiled(torch.zeros(2)).tolist(), [more, more])


@needs("torch")
class Baselines(unittest.TestCase):
    def test_an_input_no_gradient_needs_is_no_place_for_another(self):
        import torch
        from kw_torch_worker import timing

        text = "import torch.nn.functional as F\ndef reference(x, w, b):\n    return F.linear(x, w, b)\n"
        numbers = {"zeros": {"shape": [3], "dtype": "fp32"}}
        request = {
            "source": {"text": text, "entry": "reference"},
            "arguments": [{"name": "x", "tensor": 0}, {"name": "w", "tensor": 1},
                          {"name": "b", "value": numbers}, {"name": "g", "tensor": 2}],
            "gradients": {"of": ["x", "w", "b"], "upstream": ["g"], "outputs": [0]},
        }
        given = [torch.ones(4, 2), torch.ones(3, 2), torch.ones(4, 3)]
        call = timing.Work(request, given).maker("eager")(given)
        found = {name: list(value.shape) for name, value in call().items()}
        self.assertEqual(found, {"grad_x": [4, 2], "grad_w": [3, 2], "grad_b": [3]})


if __name__ == "__main__":
    main()
