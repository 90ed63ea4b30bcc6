"""Seen from outside the process: which sockets are opened, where a key turns up, what Ctrl-C in a request does.

    outside.py LLM_ASK SOCKET_LOG.so KERNELWRIGHT
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from server import ModelServer

ask, preload, kernelwright = sys.argv[1:4]
KEY = "sk-planted-9e3779"
MODELS = ["anthropic:claude-sonnet-4-6", "openai:gpt-4.1", "openai-responses:gpt-4.1", "gemini:gemini-2.5-pro"]
failures = 0


def check(condition, what, detail=""):
    global failures
    if not condition:
        failures += 1
        print(f"FAILED: {what}\n{detail}")


def environment(folder, server, **more):
    keep = {name: value for name, value in os.environ.items() if "proxy" not in name.lower() and not name.endswith("_API_KEY")}
    (folder / "providers.toml").write_text(server.providers_toml())
    return {**keep, "HOME": str(folder), "KERNELWRIGHT_PROVIDERS": str(folder / "providers.toml"), "KW_TEST_KEY": KEY,
            "LD_PRELOAD": preload, "KW_SOCKET_LOG": str(folder / "sockets"), **more}


def sockets(folder):
    log = folder / "sockets"
    lines = set(log.read_text().splitlines()) if log.exists() else set()
    log.unlink(missing_ok=True)
    return lines


with tempfile.TemporaryDirectory() as name, ModelServer(key=KEY) as server:
    folder = pathlib.Path(name)
    home = f"127.0.0.1 {server.server_address[1]}"
    run = dict(env=environment(folder, server), text=True, capture_output=True, timeout=600)
    if subprocess.run(["sh", "-c", "ldconfig -p | grep -q libcurl"]).returncode:
        print("skipped: there is no libcurl")
        sys.exit(77)

    # A question opens sockets only to the configured provider.
    for model in MODELS:
        server.state.steps = [{"text": "hello"}]
        done = subprocess.run([ask, model, "hi"], **run)
        check(done.returncode == 0 and json.loads(done.stdout)["outcome"]["reply"]["text"] == "hello", f"{model} answers", done.stdout + done.stderr)
        check(sockets(folder) == {home}, f"{model}: only the provider is connected to")
        check(KEY not in done.stdout + done.stderr, f"{model}: no key in the output")

    # A proxy never sees what goes to this machine, however the variables are written.
    away = "http://127.0.0.1:9"
    for variables in ({"http_proxy": away, "ALL_PROXY": away}, {"HTTP_PROXY": away, "all_proxy": away, "no_proxy": "", "NO_PROXY": "example.com"}):
        proxied = {**run, "env": environment(folder, server, **variables)}
        server.state.steps = [{"text": "hello"}]
        done = subprocess.run([ask, MODELS[0], "hi"], **proxied)
        check(done.returncode == 0, f"{variables}: a provider on this machine is asked without the proxy", done.stdout + done.stderr)
        check(sockets(folder) == {home}, f"{variables}: the proxy is not connected to")

    # Redirects are not followed, wherever they lead.
    for status, place in ((301, "http://127.0.0.1:9/v1"), (302, "/v2/messages"), (303, "//127.0.0.1:9/"), (307, "https://example.invalid/?key=" + KEY),
                          (308, "../other")):
        server.state.steps = [{"fault": "raw", "status": status, "body": "", "headers": {"location": place}}]
        before = len(server.requests())
        done = subprocess.run([ask, MODELS[0], "hi"], **run)
        check(done.returncode == 1 and "redirects are not followed" in done.stdout, f"{status}: an error with words", done.stdout)
        check(len(server.requests()) == before + 1 and sockets(folder) == {home}, f"{status}: asked once")
        check(KEY not in done.stdout + done.stderr, f"{status}: no key in the place that it names", done.stdout)

    # Nothing else opens any.
    for command in (["doctor"], ["doctor", "--json"], ["--version"], ["help"]):
        done = subprocess.run([kernelwright, *command], **run)
        check(sockets(folder) == set(), f"kernelwright {command[0]} opens no socket", done.stderr)
        check(done.returncode in (0, 3) and done.stdout, f"kernelwright {command[0]} works", done.stderr)
        check(KEY not in done.stdout + done.stderr, f"kernelwright {command[0]} shows no key", done.stdout)

    # Without money, without a key, with a wrong one, offline: a clear failure, no crash, the cost so far.
    done = subprocess.run([ask, MODELS[0], "hi", "0"], **run)
    check(done.returncode == 1 and json.loads(done.stdout)["outcome"]["failure"]["kind"] == "budget", "budget of nothing", done.stdout)
    check(sockets(folder) == set(), "no money, no socket")
    wrong = {**run, "env": environment(folder, server, KW_TEST_KEY="sk-wrong-123456")}
    for model in MODELS:
        done = subprocess.run([ask, model, "hi"], **wrong)
        check(done.returncode == 1 and json.loads(done.stdout)["outcome"]["failure"]["kind"] == "authentication", f"{model}: wrong key", done.stdout)
        check("sk-wrong-123456" not in done.stdout + done.stderr, f"{model}: the wrong key is not shown either", done.stdout)
    none = {**run, "env": environment(folder, server, KW_TEST_KEY="")}
    done = subprocess.run([ask, MODELS[0], "hi"], **none)
    check(done.returncode == 1 and "KW_TEST_KEY" in done.stdout, "no key: the variable is named", done.stdout)
    done = subprocess.run([ask, "nobody:x", "hi"], **run)
    check(done.returncode == 2 and "unknown provider 'nobody'" in done.stderr, "unknown provider", done.stderr)

    # A proxy of the environment is used (and here refuses).
    proxied = {**run, "env": environment(folder, server, http_proxy=server.url)}
    (folder / "providers.toml").write_text('[provider.away]\nwire = "openai-chat"\nkey = "none"\nbase_url = "http://model.invalid/v1"\n')
    sockets(folder)
    done = subprocess.run([ask, "away:m", "hi"], **proxied)
    check(done.returncode == 1 and sockets(folder) == {home}, "a proxy is honoured", done.stdout)
    environment(folder, server)

    # A certificate without a trusted issuer is refused before anything is sent.
    if shutil.which("openssl"):
        made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                               "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", folder / "tls.key", "-out", folder / "tls.crt"],
                              capture_output=True, text=True)
        check(made.returncode == 0, "openssl makes a certificate", made.stderr)
        with ModelServer(key=KEY, steps=[{"text": "private"}], tls=(folder / "tls.crt", folder / "tls.key")) as secure:
            row = f'[provider.tls]\nwire = "openai-chat"\nkey_env = "KW_TEST_KEY"\nbase_url = "{secure.url}/v1"\n'
            (folder / "providers.toml").write_text(row)
            done = subprocess.run([ask, "tls:m", "hi"], **run)
            failure = json.loads(done.stdout)["outcome"]["failure"]
            check(failure["kind"] == "unavailable" and not secure.requests(), "an unknown certificate is refused", done.stdout)
            (folder / "providers.toml").write_text(row + f'ca_file = "{folder}/tls.crt"\n')
            done = subprocess.run([ask, "tls:m", "hi"], **run)
            check("private" in done.stdout and len(secure.requests()) == 1, "one that is vouched for is not", done.stdout)
        environment(folder, server)

    # Ctrl-C in the middle of a request: an end at once, with the cost that may have arisen.
    server.state.steps = [{"fault": "hang", "seconds": 3600}]
    process = subprocess.Popen([ask, MODELS[0], "hi"], env=run["env"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not server.requests() or server.requests()[-1]["problem"] != "fault hang":
        time.sleep(0.02)
    command_line = pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes()
    check(KEY.encode() not in command_line, "no key in argv")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    answer = json.loads(out)
    check(answer["outcome"]["failure"]["kind"] == "cancelled", "Ctrl-C cancels", out + err)
    check(answer["ledger"]["total"]["calls_of_unknown_cost"] == 1 and answer["ledger"]["total"]["usd_at_most_unknown"] > 0,
          "what it may have cost is said", out)

    # Nothing was left behind that holds the key.
    for path in folder.rglob("*"):
        check(not path.is_file() or KEY.encode() not in path.read_bytes(), f"no key in {path}")

print("FAILED" if failures else "all as it should be")
sys.exit(1 if failures else 0)
