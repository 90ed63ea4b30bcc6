"""Scripted models through real HTTP: translation with repairs, evolution, arms that fail, a budget that is spent, another ensemble.

    models.py KERNELWRIGHT
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

import common
from common import Evolving, stages_common

KEY, ModelServer, fenced = stages_common.KEY, stages_common.ModelServer, stages_common.fenced
SOURCE = re.compile(r"module ([0-9a-f]{16}):\n(`{3,})cuda\n(.*?)\n\2\n", re.S)
KINDS = [("translate", "right at every shape"), ("rewrite", "Answer with the whole module. It must be right first"),
         ("diff", "search/replace blocks and nothing else"), ("cross", "Both parents below are right"),
         ("repair", "was refused. Find out why"), ("simplify", "Remove what gains too little")]
ARMS = "anthropic:claude-sonnet-4-6:0.5,openai:gpt-5.2:high"


def vectors(tail=True):
    """Four elements per thread."""
    end = "else for (long long k = 4 * i; k < n; ++k) y[k] = x[k] * 2.0f + 1.0f;" if tail else ""
    return stages_common.module(
        "if (4 * i + 4 <= n) {\n    const float4 v = reinterpret_cast<const float4*>(x)[i];\n    reinterpret_cast<float4*>(y)[i] =\n"
        "        make_float4(v.x * 2.0f + 1.0f, v.y * 2.0f + 1.0f, v.z * 2.0f + 1.0f, v.w * 2.0f + 1.0f);\n  } " + end,
        plan=stages_common.PLAN.replace("ceil_div(N, THREADS)", "ceil_div(ceil_div(N, 4), THREADS)"))


class Author:
    """Writes what does not compile, then what is wrong, mends both when it is told what was found, and then goes faster."""

    def __init__(self):
        self.seen, self.texts, self.asked = [], [], []

    def __call__(self, conversation, state):
        text = conversation["messages"][-1]["text"]
        kind = next((name for name, words in KINDS if words in text), "nothing")
        self.seen.append(kind)
        self.texts.append(text)
        self.asked.append((conversation["model"], conversation["temperature"], conversation["reasoning"]))
        return {"text": getattr(self, kind)(text)}

    def translate(self, text):
        count = self.seen.count("translate")
        if count == 1:
            return fenced(stages_common.BROKEN)
        return fenced(stages_common.TAIL if count == 2 else stages_common.module(f"if (i + {count} < n) y[i] = x[i] * 2.0f + 1.0f;"))

    def repair(self, text):
        source = SOURCE.search(text).group(3) + "\n"
        if "factor" in source and "factor" in text.split("What was found")[1]:
            return fenced(source.replace("factor", "2.0f"))
        return fenced(re.sub(r"if \(i \+ \d+ < n\)", "if (i < n)", source))

    def diff(self, text):
        """Comments apart, the module is what it was; a change all the same."""
        number = len(self.seen)
        return (f"<<<<<<< SEARCH\ntemplate <int kThreads>\n=======\n// change {number}\ntemplate <int kThreads>\n>>>>>>> REPLACE\n")

    def rewrite(self, text):
        return fenced(vectors(tail=len(self.seen) % 2 == 0))

    def cross(self, text):
        return fenced(vectors())

    def simplify(self, text):
        return "It is as simple as it can be."


class Talks(Evolving, stages_common.Talks):
    def talk_evolve(self, respond, *words, task=None):
        with ModelServer(respond=respond, key=KEY) as server:
            done = self.evolve(task or self.reference, "--dim", "N=20011", *words, env=self.serve(server))
            return done, server.requests()

    def again(self, respond, *words):
        with ModelServer(respond=respond, key=KEY) as server:
            done = self.run("evolve", "--resume", self.newest(), *words, env=self.serve(server))
            return done, server.requests()


talks = Talks(sys.argv[1])
check = talks.check
WORDS = ["--generations", "3", "--proposals", "4", "--hardware", "2", "--seed", "5", "--in-flight", "2", "--json"]


def whole():
    author, tape = Author(), talks.path("tape.jsonl")
    done, requests = talks.talk_evolve(author, "--proposer", "llm", "--ensemble", ARMS, *WORDS, "--record", tape)
    evolution = talks.evolution(done)
    report, folder = json.loads(done.stdout), talks.newest()
    check(author.seen and author.seen[0] == "translate" and "repair" in author.seen, f"translated and repaired: {author.seen}", done)
    check(set(author.seen) & {"diff", "rewrite", "cross"}, f"then made faster: {author.seen}")
    check("nothing" not in author.seen, f"every request is one of ours: {author.seen}")
    repair = author.texts[author.seen.index("repair")]
    check("What was found" in repair, "a repair comes with what was found")
    later = next(text for kind, text in zip(author.seen, author.texts) if kind in ("diff", "rewrite", "cross"))
    check("What limits it" in later and "N=20011" in later, "evidence and shapes are told")
    check("What failed lately" in later, "and what failed")
    check(len({row[0] for row in author.asked}) == 2, "both arms are asked")
    check(report["passed"] and report["correctness"]["certified"], "the winner is certified", done)
    check({row["arm"] for row in evolution["arms"]} == set(ARMS.split(",")), f"{evolution['arms']}")
    check(evolution["usd"] > 0 and evolution["unpriced"] == 0, "what it cost is known")
    calls = [event for event in talks.events(folder) if event["kind"] == "llm_call"]
    orders = [row for row in talks.journal(folder) if row["event"] == "order"]
    asked = [row for row in orders if row["arm"]]
    check(len(orders) == 12 and len(calls) == len(requests) == len(asked), f"every call is in the ledger: {len(calls)}, {len(requests)}")
    tuned = [row for row in orders if not row["arm"]]
    check(tuned and all(row["operator"] == "tune" and row["only_this"] for row in tuned), f"what models offer to tune is tuned: {tuned}")
    check(talks.read(folder, "stage_evolve/0001/prompt_to_llm.md") and talks.read(folder, "stage_evolve/0001/llm_response.md"), "and is kept")
    check(not talks.has_text(folder, KEY) and KEY not in done.stdout + done.stderr, "no key is kept or shown")
    check(talks.folder not in json.dumps(requests), "no path of this machine is sent")
    again = talks.evolve(talks.reference, "--dim", "N=20011", "--proposer", "llm", "--ensemble", ARMS, *WORDS, "--replay", tape)
    check(again.returncode == 0, "replayed without a network", again)
    check(talks.journal(talks.newest()) == talks.journal(folder), "with the same journal, in whichever order models answered")


def arms_off():
    author = Author()
    done, _ = talks.talk_evolve(author, "--proposer", "hybrid", "--ensemble", ARMS, *WORDS, "--shape-info", "off",
                                "--profile-feedback", "off")
    evolution = talks.evolution(done)
    check(author.texts and not any("What limits it" in text or "Shapes to be fast at" in text for text in author.texts), "arms are off")
    check(any(row["asked"] > 0 for row in evolution["operators"]), "operators without a model take turns with them")


def translate_only():
    author = Author()
    done, _ = talks.talk_evolve(author, "--proposer", "llm", "--ensemble", ARMS, *WORDS, "--mode", "translate")
    evolution = talks.evolution(done)
    check("first kernel that is right" in evolution["stopped"], evolution["stopped"])
    check(not set(author.seen) & {"diff", "rewrite", "cross"}, f"{author.seen}")


def all_fail():
    def refuses(conversation, state):
        return {"status": 401, "message": "no"}
    done, requests = talks.talk_evolve(refuses, "--proposer", "llm", "--ensemble", ARMS, *WORDS)
    report = json.loads(done.stdout)
    check(done.returncode == 2 and not report["passed"] and "every model failed" in report["failure_reason"], "an honest end", done)
    check(len(requests) <= 4, "models are not asked for ever")
    done, _ = talks.talk_evolve(refuses, "--proposer", "hybrid", "--ensemble", ARMS, *WORDS)
    evolution = talks.evolution(done)
    check(all(row["gone"] for row in evolution["arms"]), f"{evolution['arms']}")
    check(evolution["proposals_made"] >= 10, "the others go on without them")


def budget():
    done, requests = talks.talk_evolve(Author(), "--proposer", "llm", "--ensemble", ARMS, *WORDS, "--budget", "0.0001")
    report = json.loads(done.stdout)
    check(done.returncode != 0 and "every model failed" in report["failure_reason"], "the budget is spent", done)
    check(not requests, "nothing is sent that could exceed it")
    author = Author()
    done, requests = talks.again(author, "--budget", "2", "--json")
    check(done.returncode == 0 and requests, "with more of it the run continues", done)


def another_ensemble():
    author = Author()
    done, requests = talks.again(author, "--ensemble", "gemini:gemini-2.5-pro", "--generations", "4", "--budget", "2", "--json")
    report = json.loads(done.stdout)
    models = {row["conversation"]["model"] for row in requests}
    check(done.returncode == 0 and models == {"gemini-2.5-pro"}, f"only it is asked: {models}", done)
    check(any("no longer asked: anthropic" in note for note in report["notes"]), f"that is said: {report['notes']}")
    check(report["evolution"]["changes"] and report["evolution"]["sessions"] == 3, f"{report['evolution']['changes']}")


def interrupted():
    """Ctrl-C while models are silent: at once, with what was spent in the ledger, and to be resumed."""
    with ModelServer(respond=lambda conversation, state: {"fault": "hang", "seconds": 3600}, key=KEY) as server:
        environment = dict(talks.environment, **talks.serve(server))
        before = set(talks.runs())
        words = [talks.binary, "evolve", talks.reference, "--dim", "N=20011", "--device", "vgpu", "--target", "sm_90", "--cross-check",
                 "never", "--versus", "none", "--compiler", talks.chosen(), "--proposer", "llm", "--ensemble", ARMS, *WORDS]
        process = subprocess.Popen(words, env=environment, cwd=talks.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not server.requests():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=600)
    report = json.loads(out)
    check(process.returncode == 130 and report["interrupted"] and report["failed_stage"] == "evolve", f"interrupted: {process.returncode}")
    check(set(talks.runs()) - before and report["models"]["ledger"]["calls"], "what was asked is in the ledger")
    done, _ = talks.again(Author(), "--json")
    check(done.returncode == 0, "and it continues", done)


def slow():
    """When the time is up, pending calls are cancelled, and their cost is unknown."""
    done, requests = talks.talk_evolve(lambda conversation, state: {"fault": "hang", "seconds": 3600}, "--proposer", "llm", "--ensemble", ARMS, *WORDS,
                                       "--time", "2s")
    report = json.loads(done.stdout)
    check(done.returncode == 1 and "the time is up" in report["failure_reason"], "an honest end", done)
    evolution = report["evolution"]
    check(evolution["unpriced"] == len(requests) > 0 and not any(row["gone"] for row in evolution["arms"]), f"no model failed: {evolution['arms']}")


def unusable():
    author = Author()
    author.translate = lambda text: "I would rather not."
    done, requests = talks.talk_evolve(author, "--proposer", "llm", "--ensemble", ARMS, *WORDS)
    report = json.loads(done.stdout)
    check(done.returncode == 1 and "none of 12 answers could be used" in report["failure_reason"], f"why: {report['failure_reason']}", done)
    spent = sum(row["usd"] for row in report["evolution"]["arms"])
    check(abs(spent - report["evolution"]["usd"]) < 1e-9, f"what the arms cost is what all of it cost: {spent}")
    done, _ = talks.talk_evolve(lambda conversation, state: {"text": ""}, "--proposer", "llm", "--ensemble", ARMS, *WORDS)
    evolution = json.loads(done.stdout)["evolution"]
    spent = sum(row["usd"] for row in evolution["arms"])
    check(spent > 0 and abs(spent - evolution["usd"]) < 1e-9, f"also when answers are empty: {evolution['arms']}")


def fitted():
    """A kernel that is fast at the very shape it was tuned for ships, and everybody is told what it is worth elsewhere."""
    body = ("if (i >= n) return;\n  float v = x[i];\n  if (n != 20011) {\n    const volatile float* again = x;\n"
            "    for (int k = 0; k < 400; ++k) v = again[i];\n  }\n  y[i] = v * 2.0f + 1.0f;")
    done, _ = talks.talk_evolve(lambda conversation, state: {"text": fenced(stages_common.module(body))}, "--proposer", "llm", "--ensemble",
                                ARMS, "--mode", "translate", "--generations", "1", "--proposals", "2", "--hardware", "1", "--json")
    shapes = talks.evolution(done)["unseen_shapes"]
    check(shapes and all(row["flagged"] and row["relative"] < 0.5 for row in shapes), f"flagged everywhere else: {shapes}")
    warnings = json.loads(done.stdout)["report"]["warnings"]
    check(sum("does not generalise" in text for text in warnings) == len(shapes), f"and warned of: {warnings}")


def repeated():
    """Who writes the same again is told so."""
    author = Author()
    author.rewrite = author.cross = author.diff = lambda text: fenced(stages_common.RIGHT + f"// {len(author.seen)}\n")
    author.translate = lambda text: fenced(stages_common.RIGHT)
    talks.evolution(talks.talk_evolve(author, "--proposer", "llm", "--ensemble", ARMS, *WORDS)[0])
    check("compiles to exactly the code of" in author.texts[-1], "what compiled to the same code is told: " + author.texts[-1][-1500:])


def damaged():
    """A line of the journal that cannot be read is reported, and the run continues."""
    folder = talks.newest()
    path = os.path.join(folder, "events.jsonl")
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    lines[len(lines) // 2] = lines[len(lines) // 2][:-9]
    with open(path, "wb") as file:
        file.write(b"\n".join(lines))
    done, _ = talks.again(Author(), "--json")
    report = json.loads(done.stdout)
    check(done.returncode == 0 and any("damaged: events.jsonl: line" in text for text in report["report"]["warnings"]), "said and survived", done)


for scene in (slow, unusable, fitted, repeated, damaged, interrupted, whole, arms_off, translate_only, all_fail, budget, another_ensemble):
    scene()
talks.finish()
