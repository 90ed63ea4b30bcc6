// Processes that break the torch worker's protocol, without any torch: each is recognised, killed
// and replaced.
#include <gtest/gtest.h>

#include "torch_worker/torch_process.h"
#include "torch_worker/torch_python.h"

namespace kw::torch_worker {
namespace {

// Reads the worker's files and answers hello correctly. The lines of the test case then answer
// `run`.
constexpr const char* kHead = R"py(
import json, os, socket, struct, sys, time
channel = socket.socket(fileno=3)
def exactly(n):
    data = b''
    while len(data) < n:
        piece = channel.recv(n - len(data))
        if not piece: os._exit(0)
        data += piece
    return data
def receive(): return json.loads(exactly(struct.unpack('<I', exactly(4))[0]))
def send_bytes(body): channel.sendall(struct.pack('<I', len(body)) + body)
def send(reply): send_bytes(json.dumps(reply).encode())
receive()
)py";
constexpr const char* kGreet = R"py(
hello = receive()
send({'id': hello['id'], 'kind': 'Ok', 'torch': 'fake'})
request = receive()
)py";

TorchOptions fake(const std::string& script) {
  TorchOptions options;
  options.command = {"python3", "-I", "-u", "-c", kHead + script};
  options.start_seconds = 20;
  return options;
}

struct Case {
  const char* name;
  const char* script;
  TorchKind kind;
  double seconds = 20;
};

class FakeTorchAnswers : public testing::TestWithParam<Case> {};

TEST_P(FakeTorchAnswers, AreRecognised) {
  TorchProcess process(fake(std::string(kGreet) + GetParam().script));
  TorchCall call;
  const TorchAnswer answer = process.run(call, GetParam().seconds);
  EXPECT_STREQ(torch_kind_name(answer.outcome.kind), torch_kind_name(GetParam().kind))
      << answer.outcome.message;
  EXPECT_FALSE(answer.outcome.message.empty());
  EXPECT_TRUE(answer.outputs.empty());
  // The next request starts a new process.
  EXPECT_EQ(process.started(), 1);
  EXPECT_TRUE(process.hello().ok());
  EXPECT_EQ(process.started(), 2);
}

TEST(FakeTorch, BeginsWithoutWaiting) {
  TorchProcess process(fake(std::string("import time\ntime.sleep(0.2)\n") + kGreet));
  process.begin();
  process.begin();
  EXPECT_EQ(process.started(), 1);
  EXPECT_TRUE(process.hello().ok());
  EXPECT_EQ(process.started(), 1);
}

TEST(FakeTorch, ABeginningThatFailsIsToldWhenAsked) {
  TorchProcess process(fake("raise SystemExit(3)\n"));
  process.begin();
  EXPECT_FALSE(process.hello().ok());
  EXPECT_EQ(process.started(), 1);
}

#define OUTPUT(fields)                                                         \
  "send({'id': request['id'], 'kind': 'Ok', 'outputs': [{'name': 'o', " fields \
  "}]})\n"                                                                     \
  "time.sleep(60)\n"
INSTANTIATE_TEST_SUITE_P(
    All, FakeTorchAnswers,
    testing::Values(
        Case{"not_json", "send_bytes(b'hello')\ntime.sleep(60)", TorchKind::Garbled},
        Case{"not_an_object", "send([1, 2])\ntime.sleep(60)", TorchKind::Garbled},
        Case{"empty_frame", "send_bytes(b'')\ntime.sleep(60)", TorchKind::Garbled},
        Case{"not_utf8", "send_bytes(b'{\"id\": \"\\xff\\xfe\"}')\ntime.sleep(60)",
             TorchKind::Garbled},
        Case{"deep", "send_bytes(b'[' * 100000)\ntime.sleep(60)", TorchKind::Garbled},
        Case{"impossible_length", "channel.sendall(b'\\xff\\xff\\xff\\xff')\ntime.sleep(60)",
             TorchKind::Garbled},
        Case{"closes_but_lives", "channel.close()\ntime.sleep(60)", TorchKind::Garbled},
        Case{"half_a_frame", "channel.sendall(struct.pack('<I', 100) + b'abc')\nos._exit(4)",
             TorchKind::Died},
        Case{"half_a_header", "channel.sendall(b'\\x01')\nos._exit(0)", TorchKind::Died},
        Case{"silent_death", "os._exit(0)", TorchKind::Died},
        Case{"death_by_signal", "os.kill(os.getpid(), 9)", TorchKind::Died},
        Case{"silence", "time.sleep(60)", TorchKind::TimedOut, 0.2},
        Case{"half_a_frame_then_silence",
             "channel.sendall(struct.pack('<I', 100) + b'abc')\ntime.sleep(60)",
             TorchKind::TimedOut, 0.2},
        Case{"wrong_id", "send({'id': 77, 'kind': 'Ok'})\ntime.sleep(60)", TorchKind::Garbled},
        Case{"id_is_text", "send({'id': str(request['id']), 'kind': 'Ok'})\ntime.sleep(60)",
             TorchKind::Garbled},
        Case{"no_kind", "send({'id': request['id']})\ntime.sleep(60)", TorchKind::Garbled},
        Case{"unknown_kind", "send({'id': request['id'], 'kind': 'Splendid'})\ntime.sleep(60)",
             TorchKind::Garbled},
        Case{"fatal",
             "send({'id': request['id'], 'kind': 'Raised', 'message': 'CUDA error', 'fatal': "
             "True})\n"
             "time.sleep(60)",
             TorchKind::Raised},
        Case{"output_without_fields", OUTPUT("'x': 1"), TorchKind::Garbled},
        Case{"output_of_no_dtype", OUTPUT("'dtype': 'fp17', 'shape': [1], 'offset': 0, 'bytes': 4"),
             TorchKind::Garbled},
        Case{"output_of_other_size",
             OUTPUT("'dtype': 'fp32', 'shape': [2], 'offset': 0, 'bytes': 4"), TorchKind::Garbled},
        Case{"output_beyond_the_memory",
             OUTPUT("'dtype': 'fp32', 'shape': [1024], 'offset': 4096, 'bytes': 4096"),
             TorchKind::Garbled},
        Case{"output_at_no_offset",
             OUTPUT("'dtype': 'fp32', 'shape': [1], 'offset': -4, 'bytes': 4"), TorchKind::Garbled},
        Case{"output_of_negative_extent",
             OUTPUT("'dtype': 'fp32', 'shape': [-1], 'offset': 0, 'bytes': 4"), TorchKind::Garbled},
        Case{"output_that_overflows",
             OUTPUT("'dtype': 'fp32', 'shape': [2**31, 2**31, 2**31], 'offset': 0, 'bytes': 4"),
             TorchKind::Garbled},
        Case{"output_that_overflows_bytes",
             OUTPUT("'dtype': 'fp64', 'shape': [2**62], 'offset': 0, 'bytes': 0"),
             TorchKind::Garbled},
        Case{"offset_that_overflows",
             OUTPUT("'dtype': 'fp32', 'shape': [1], 'offset': 2**63 - 1, 'bytes': 4"),
             TorchKind::Garbled}),
    [](const auto& test) { return test.param.name; });
#undef OUTPUT

TEST(FakeTorch, WithoutGreetingIsTimedOut) {
  TorchOptions options = fake("time.sleep(60)");
  options.start_seconds = 0.2;
  TorchProcess process(options);
  EXPECT_EQ(process.hello().outcome.kind, TorchKind::TimedOut);
}

TEST(FakeTorch, ThatEndsAtOnceSaysItsLastWords) {
  TorchOptions options;
  options.command = {"python3", "-I", "-c",
                     "import sys; sys.stderr.write('no luck today'); sys.exit(5)"};
  const TorchAnswer answer = TorchProcess(options).hello();
  EXPECT_EQ(answer.outcome.kind, TorchKind::Died);
  EXPECT_EQ(answer.outcome.message, "exited with code 5");
  EXPECT_NE(answer.outcome.traceback.find("no luck today"), std::string::npos);
}

TEST(FakeTorch, ThatIsNoProgramFails) {
  TorchOptions options;
  options.command = {"/nowhere/python"};
  const TorchAnswer answer = TorchProcess(options).hello();
  EXPECT_EQ(answer.outcome.kind, TorchKind::Failed);
  EXPECT_NE(answer.outcome.message.find("/nowhere/python"), std::string::npos);
}

TEST(FakeTorch, RefusesToGreet) {
  TorchProcess process(
      fake("hello = receive()\n"
           "send({'id': hello['id'], 'kind': 'NoTorch', 'message': 'it is broken'})\n"
           "time.sleep(60)"));
  const TorchAnswer answer = process.run({}, 5);
  EXPECT_EQ(answer.outcome.kind, TorchKind::NoTorch);
  EXPECT_EQ(answer.outcome.message, "it is broken");
}

TEST(FakeTorch, AnsweringTwiceIsNoticed) {
  TorchProcess process(fake(std::string(kGreet) +
                            "for _ in range(2): send({'id': request['id'], 'kind': 'Ok'})\n"
                            "receive()\ntime.sleep(60)"));
  EXPECT_TRUE(process.run({}, 20).ok());
  EXPECT_EQ(process.run({}, 20).outcome.kind, TorchKind::Garbled);
}

/// Environment variables choose the Python, and the message names a wrong one.
class FakeTorchPython : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* old = ::getenv("KW_TORCH_PYTHON")) kept_ = old;
  }
  void TearDown() override {
    if (kept_.empty()) {
      ::unsetenv("KW_TORCH_PYTHON");
    } else {
      ::setenv("KW_TORCH_PYTHON", kept_.c_str(), 1);
    }
  }
  std::string kept_;
};

TEST_F(FakeTorchPython, ThatDoesNotExistIsNamed) {
  ::setenv("KW_TORCH_PYTHON", "/nowhere/python", 1);
  const TorchAnswer answer = TorchProcess().hello();
  EXPECT_EQ(answer.outcome.kind, TorchKind::NoTorch);
  EXPECT_NE(answer.outcome.message.find("/nowhere/python: no such program"), std::string::npos);
}

TEST_F(FakeTorchPython, ThatIsSeenFromTheWorkingDirectoryIsNotRun) {
  ::setenv("KW_TORCH_PYTHON", "build/torch-venv/bin/python", 1);
  const TorchAnswer answer = TorchProcess().hello();
  EXPECT_EQ(answer.outcome.kind, TorchKind::NoTorch);
  EXPECT_NE(answer.outcome.message.find(
                "build/torch-venv/bin/python: not an absolute path, so it is not run"),
            std::string::npos)
      << answer.outcome.message;
}

TEST_F(FakeTorchPython, ThatIsNoPythonIsNamed) {
  ::setenv("KW_TORCH_PYTHON", "/bin/false", 1);
  const TorchAnswer answer = TorchProcess().run({}, 5);
  EXPECT_EQ(answer.outcome.kind, TorchKind::NoTorch);
  EXPECT_NE(answer.outcome.message.find("/bin/false: exit code 1"), std::string::npos);
}

TEST(FakeTorchOutcome, EveryKindHasItsName) {
  for (int i = 0; i <= static_cast<int>(TorchKind::Failed); ++i) {
    const auto kind = static_cast<TorchKind>(i);
    EXPECT_EQ(torch_kind_from_name(torch_kind_name(kind)), kind);
  }
  EXPECT_FALSE(torch_kind_from_name("Splendid"));
}

}  // namespace
}  // namespace kw::torch_worker
