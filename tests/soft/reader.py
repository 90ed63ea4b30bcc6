"""A model that reads kernel modules: votes by what its instructions tell it to look for, and rewrites instructions from mistakes.

Both are done from the text it is sent alone, so a prompt that leaves out the module, the line numbers or the mistakes is a test that fails.
"""
import json
import re


def module_of(text):
    """The numbered module of a question: {line: code}."""
    block = re.findall(r"```cuda\n(.*?)\n```", text, re.S)[-1]
    lines = {}
    for line in block.split("\n"):
        match = re.match(r" *(\d+) (.*)$", line)
        if match:
            lines[int(match[1])] = match[2]
    return lines


def answer(verdict, confidence, line=None, why=""):
    reasons = [] if line is None else [{"line": line, "why": why}]
    return "I went through it.\n```json\n" + json.dumps({"verdict": verdict, "confidence": confidence, "reasons": reasons}) + "\n```\n"


def find(lines, pattern):
    return next((number for number, code in lines.items() if re.search(pattern, code)), None)


# What its instructions may tell it to look for: a word in them, and how it shows in a module.
HABITS = [("grid is rounded down", r"^//! launch .*grid\(max\(1, \("), ("null checks are faults", r"== nullptr"),
          ("names it has never heard of", r"_approx32|_idx\b|PerBlock|Index2")]


class Reader:
    def __init__(self, rewritings=(), always="", broken=()):
        self.rewritings, self.always, self.broken = list(rewritings), always, broken
        self.questions, self.rewrites = [], []

    def __call__(self, conversation, state):
        text = conversation["messages"][-1]["text"]
        if "Write better instructions" in text:
            self.rewrites.append(text)
            if not self.rewritings:
                return {"text": "They are good as they are."}
            return {"text": f"Here.\n```text\n{self.rewritings.pop(0)}\n```\n"}
        self.questions.append(conversation)
        if self.always:
            return {"text": self.always}
        if len(self.questions) in self.broken:
            return {"text": "Looks fine to me, ship it!"}
        return {"text": self.vote(conversation["system"], module_of(conversation["messages"][0]["text"]))}

    @staticmethod
    def vote(system, lines):
        for words, pattern in HABITS:
            line = find(lines, pattern)
            if words in system and line:
                return answer("wrong", 0.95, line, words)
        return answer("right", 0.6)
