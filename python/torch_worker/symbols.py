"""Symbolic extents of an exported graph, as expressions of kernel modules over the dims of the task."""
import torch


class Symbols:
    def __init__(self):
        self.names, self.hints = {}, {}

    def name(self, extent, name):
        """Gives this name to `extent`, if it is a symbol without a name."""
        if not isinstance(extent, torch.SymInt):
            return
        expression = extent.node.expr
        if name and expression.is_Symbol and expression not in self.names:
            self.names[expression] = name
            self.hints[name] = extent.node.hint

    def values(self):
        """The dims by name, with their values in the example."""
        return {name: int(hint) for name, hint in self.hints.items() if hint is not None}

    def extent(self, extent):
        return extent if isinstance(extent, int) else self.argument(extent)

    def argument(self, value):
        if value.node.expr.is_Integer:
            return int(value.node.expr)
        described = {"dim": self._text(value.node.expr)}
        if value.node.hint is not None:
            described["value"] = value.node.hint
        return described

    def _text(self, expression):
        if expression.is_Symbol:
            return self.names.get(expression, str(expression))
        if expression.is_Integer:
            return str(expression)
        parts = [self._text(argument) for argument in expression.args]
        kind = type(expression).__name__
        if kind == "Add":
            return "(" + " + ".join(parts) + ")"
        if kind == "Mul":
            return "(" + " * ".join(parts) + ")"
        if kind == "Pow" and expression.args[1].is_Integer and 0 < expression.args[1] < 16:
            return "(" + " * ".join([parts[0]] * int(expression.args[1])) + ")"
        if kind in ("FloorDiv", "CleanDiv"):
            return f"({parts[0]} / {parts[1]})"
        if kind in ("Mod", "PythonMod", "ModularIndexing") and len(parts) == 2:
            return f"({parts[0]} % {parts[1]})"
        if kind in ("Max", "Min"):
            text = parts[0]
            for part in parts[1:]:
                text = f"{kind.lower()}({text}, {part})"
            return text
        return str(expression)
