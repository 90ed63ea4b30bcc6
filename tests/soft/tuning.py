"""tune-verifiers through HTTP: scores, rewritings, the guard, a second model, resuming, budgets, and what goes wrong."""
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
spec = importlib.util.spec_from_file_location("stages_common", os.path.join(os.path.dirname(HERE), "stages", "common.py"))
sys.path.insert(0, os.path.dirname(spec.origin))
stages_common = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stages_common)

from reader import Reader, answer, module_of  # noqa: E402

KEY, ModelServer, SONNET = stages_common.KEY, stages_common.ModelServer, stages_common.SONNET
BETTER = "Look at every launch. When its grid is rounded down, elements at the end are left out. Also look for names it has never heard of."
SEVERE = "Any null checks are faults, they hide something. Look for names it has never heard of."


class Desk(stages_common.Talks):
    def __init__(self, binary):
        super().__init__(binary)
        self.environment["XDG_CONFIG_HOME"] = self.path("config")
        self.number = 0

    def tune(self, reader, *words, out=True):
        self.number += 1
        folder = self.path(f"tuned{self.number}")
        with ModelServer(respond=reader, key=KEY) as server:
            done = self.run("tune-verifiers", *words, *(["--out", folder] if out else []), "--json", env=self.serve(server))
            self.log = server.requests()
        return done, (json.loads(done.stdout) if done.stdout else {}), folder


def score(document, prompt, on, verifier=0):
    for row in document["verifiers"][verifier]["scores"]:
        if row["prompt"] == prompt and row["on"] == on:
            return row
    return None


def check_better(desk):
    reader = Reader([BETTER])
    done, document, folder = desk.tune(reader, "--verifier", "compile", "--model", SONNET, "--generations", "1", "--population", "2", "--sample", "24")
    desk.check(done.returncode == 0 and document["finished"], "a tuning that finds something", done)
    desk.check(all(row["status"] == 200 for row in desk.log), "the server takes every request: %s" % [row["problem"] for row in desk.log][:3])
    before, after = score(document, "shipped", "held-out"), score(document, "tuned", "held-out")
    desk.check(before and after and after["f1"] > before["f1"], f"better on tasks it never met: {before} {after}")
    desk.check(before["modules"] == sum(v for k, v in before["confusion"].items() if k != "slandered_careful"), f"every module is counted: {before}")
    desk.check(document["usd"] > 0 and document["calls"] == len(desk.log), "what it cost is known: %s" % document["cost"])
    desk.check(desk.read(folder, "prompts/verify_compile.txt").startswith("Look at every launch."), "the prompt is kept")
    desk.check(os.path.join("config", "kernelwright", "verifiers", "verify_compile.txt") in "".join(document["installed"]), "and installed")
    desk.check("verify_compile" in desk.read(folder, "scores.json") or desk.read(folder, "scores.json"), "with its scores")
    desk.check("held-out" in desk.read(folder, "report.md"), "and a table")
    mistakes = reader.rewrites[0]
    desk.check("The judge's verdict:" in mistakes and "it is wrong:" in mistakes, "mistakes are shown with the judge's words: " + mistakes[:600])
    told = [conversation["messages"][0]["text"] for conversation in reader.questions]
    desk.check(all(module_of(text) for text in told), "every question shows a module with line numbers")
    desk.check(not any("Careful: possibly" in text or "// " in text.split("```cuda")[1].replace("//!", "") for text in told), "and no comment")
    systems = {conversation["system"] for conversation in reader.questions}
    desk.check(len(systems) == 2 and all("is not a fault" in system for system in systems), "the fixed rules come first, whatever was bred")
    desk.check(not desk.has_text(folder, KEY), "no key in the folder")
    return folder


def check_guard(desk):
    done, document, _ = desk.tune(Reader([SEVERE]), "--verifier", "compile", "--model", SONNET, "--generations", "1", "--population", "1", "--sample", "30")
    rewriting = document["verifiers"][0]["rewritings"][0]
    desk.check(rewriting["train"]["confusion"]["slandered_careful"] > 0, f"careful code called wrong is counted: {rewriting}", done)
    desk.check(rewriting["train"]["fitness"] < rewriting["train"]["f1"], "and counts double")


class Severe(Reader):
    """Calls everything right, or everything wrong where it is told to."""

    @staticmethod
    def vote(system, lines):
        return answer("wrong", 0.95, next(iter(lines)), "it looks odd") if "Trust no module" in system else answer("right", 0.6)


def check_severe(desk):
    """Calling everything wrong catches every fault, and does not win."""
    done, document, _ = desk.tune(Severe(["Trust no module."]), "--verifier", "memory", "--model", SONNET, "--generations", "1", "--population", "1", "--sample", "24")
    row = document["verifiers"][0]
    desk.check(done.returncode == 0 and not row["better"] and document["installed"] == [], f"it does not win: {row['rewritings']}", done)
    desk.check("too severe" in row["rewritings"][0]["outcome"], f"and that is why: {row['rewritings']}")


def check_second(desk):
    done, document, _ = desk.tune(Reader([BETTER]), "--verifier", "compile", "--model", SONNET, "--second-model", "openai:gpt-5.2",
                                  "--generations", "1", "--population", "1", "--sample", "12", "--no-install")
    desk.check(score(document, "tuned openai:gpt-5.2", "held-out"), "the second model's score", done)
    desk.check(document["installed"] == [], "nothing is installed unasked")
    by_model = {row["conversation"]["model"] for row in desk.log}
    desk.check(len(by_model) == 2, f"both were asked: {by_model}")
    rewriters = {row["conversation"]["model"] for row in desk.log if "Write better instructions" in json.dumps(row["conversation"]["messages"])}
    desk.check(rewriters == {"claude-sonnet-4-6"}, f"only the first one writes: {rewriters}")


def check_resume(desk):
    words = ["--verifier", "memory", "--model", SONNET, "--generations", "1", "--population", "1", "--sample", "12", "--seed", "5", "--no-install"]
    _, whole, _ = desk.tune(Reader([BETTER]), *words)
    done, document, folder = desk.tune(Reader([BETTER]), *words, "--budget", "0.25")
    desk.check(done.returncode == 2 and not document["finished"], "a budget that does not reach", done)
    desk.check("budget" in document["verifiers"][0]["stopped"], "is said to be the reason: %s" % document["verifiers"][0]["stopped"])
    spent = len(desk.log)
    done, again, _ = desk.tune(Reader([BETTER]), "--resume", folder, out=False)
    desk.check(done.returncode == 2 and again["usd"] < 0.25, f"which holds for the next session, too: {again['cost']}", done)
    spent += len(desk.log)
    done, again, _ = desk.tune(Reader([BETTER]), "--resume", folder, "--budget", "50", out=False)
    desk.check(done.returncode == 0 and again["finished"], "continues with a larger one", done)
    for row in whole["verifiers"][0]["scores"] + again["verifiers"][0]["scores"]:
        row.pop("seconds")
    desk.check(again["verifiers"][0]["scores"] == whole["verifiers"][0]["scores"], "to the same scores as in one go")
    desk.check(again["calls"] >= spent + len(desk.log), "and knows what the first session spent")
    done, _, _ = desk.tune(Reader(), "--resume", folder, "--model", "openai:gpt-5.2", out=False)
    desk.check(done.returncode == 2 and "cannot be mixed" in done.stdout, "not with another model", done)


def check_changed(desk):
    """Votes on one corpus are not mixed with votes on another."""
    lines = []
    for task in range(8):
        lines += [json.dumps({"task": f"task_{task}", "reference": "r"})]
        for kind, verdict in (("design", "right"), ("bug", "wrong")):
            name = f"{task}{kind}"
            lines += [json.dumps({"base": name, "task": f"task_{task}", "text": f"//! {name}\nint x;\n"}),
                      json.dumps({"entry": name, "base": name, "kind": kind, "verdict": verdict,
                                  **({"stage": "numerics", "reason": "off"} if verdict == "wrong" else {})})]
    text = '{"schema":"kernelwright verifier corpus 1"}\n' + "\n".join(lines) + "\n"
    corpus = desk.write("own.jsonl", text)
    done, _, folder = desk.tune(Reader(), "--corpus", corpus, "--verifier", "numerics", "--model", SONNET, "--generations", "0", "--sample", "4")
    desk.check(done.returncode == 0, "a corpus of one's own", done)
    done, _, _ = desk.tune(Reader(), "--resume", folder, out=False)
    desk.check(done.returncode == 0 and not desk.log, "taken up, with nothing left to ask", done)
    desk.write("own.jsonl", text.replace("int x", "int y"))
    done, _, _ = desk.tune(Reader(), "--resume", folder, out=False)
    desk.check(done.returncode == 2 and "changed since this tuning began" in done.stdout, "not after it changed", done)


def check_stopped(desk, how):
    """Stopped in the middle of a vote; killed, also with a torn last line. The next session asks only what is missing."""
    desk.number += 1
    folder, reader = desk.path(f"tuned{desk.number}"), Reader([BETTER])
    words = [desk.binary, "tune-verifiers", "--verifier", "numerics", "--model", SONNET, "--generations", "0", "--sample", "12", "--in-flight", "2"]

    def slow(conversation, state):
        step = reader(conversation, state)
        return {**step, "delay": 0.05}
    with ModelServer(respond=slow, key=KEY) as server:
        environment = {**desk.environment, **desk.serve(server)}
        process = subprocess.Popen([*words, "--out", folder], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        journal = os.path.join(folder, "numerics", "journal.jsonl")
        while process.poll() is None:
            if os.path.exists(journal) and desk.read(folder, "numerics/journal.jsonl").count("\n") >= 3:
                break
            time.sleep(0.02)
        process.send_signal(how)
        words = process.communicate()[1]
    if how == signal.SIGINT:
        desk.check(process.returncode == 130 and f"--resume {folder}" in words, f"Ctrl-C says how to go on: {process.returncode} {words}")
    kept = desk.read(folder, "numerics/journal.jsonl").count("\n")
    with open(journal, "a", encoding="utf-8") as file:
        file.write('{"event":"vote","prom' if how == signal.SIGKILL else "")
    asked = Reader([BETTER])
    done, document, _ = desk.tune(asked, "--resume", folder, out=False)
    desk.check(done.returncode == 0 and document["finished"], f"a tuning stopped by {how} continues", done)
    desk.check(len(asked.questions) == 36 - kept, f"and asks only what is missing: {len(asked.questions)} after {kept}")


def check_misfits(desk):
    done, document, _ = desk.tune(Reader(always="Sounds right!"), "--verifier", "memory", "--model", SONNET, "--sample", "8")
    desk.check(done.returncode == 1 and "no usable answer" in document["verifiers"][0]["stopped"], "a model that only babbles", done)
    _, document, _ = desk.tune(Reader(broken=(1, 3)), "--verifier", "memory", "--model", SONNET, "--sample", "8", "--generations", "0")
    cells = score(document, "shipped", "train")["confusion"]
    desk.check(cells["silent_wrong"] + cells["silent_right"] >= 1, f"garbage is an abstention: {cells}")
    done, document, _ = desk.tune(lambda *_: {"status": 401, "message": "no"}, "--verifier", "memory", "--model", SONNET)
    desk.check(done.returncode == 2 and "no question could be asked" in document["error"]["message"], "a wrong key", done)


def check_bad_input(desk):
    one_class = desk.write("one.jsonl", '{"schema":"kernelwright verifier corpus 1"}\n{"task":"t","reference":"r"}\n'
                           '{"base":"b","task":"t","text":"x"}\n{"entry":"e","base":"b","kind":"design","verdict":"right"}\n')
    empty = desk.path("empty")
    os.mkdir(empty)
    cases = [(["--verifier", "numeric"], "did you mean 'numerics'"), (["--corpus", "nowhere.jsonl"], "nowhere.jsonl"),
             (["--corpus", one_class], "all right"), (["--corpus", desk.write("bad.jsonl", "{")], "bad.jsonl"),
             (["--corpus", desk.write("none.jsonl", '{"schema":"kernelwright verifier corpus 1"}\n')], "no module"),
             (["--resume", empty], "no tuning"), (["--out", desk.path("."), "--verifier", "memory"], "exists already"),
             (["--resume", empty, "--sample", "8"], "--sample cannot be changed when a run continues"),
             (["--population", "0"], "--population"), (["--sample", "x"], "--sample"), (["--verifier-prompts", empty], "holds none of"),
             (["--model", "nobody:x"], "nobody"), (["--second-model", SONNET], "must differ from --model"), (["--model", ""], "needs a value")]
    for words, expected in cases:
        done, document, _ = desk.tune(Reader(), *(["--model", SONNET] if "--model" not in words else []), *words,
                                      out="--out" not in words and "--resume" not in words)
        desk.check(done.returncode == 2, f"{words}: bad input", done)
        desk.check(expected in document["error"]["message"], f"{words}: says '{expected}': {document['error']['message']}", done)
        desk.check(not desk.log, f"{words}: and no model is asked")


def main():
    desk = Desk(sys.argv[1])
    check_bad_input(desk)
    check_better(desk)
    check_guard(desk)
    check_severe(desk)
    check_second(desk)
    check_resume(desk)
    check_changed(desk)
    check_stopped(desk, signal.SIGKILL)
    check_stopped(desk, signal.SIGINT)
    check_misfits(desk)
    desk.finish()


if __name__ == "__main__":
    main()
