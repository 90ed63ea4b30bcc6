// Tests what is sent to the torch process for baselines and how its answer is read, with a fake
// process. Needs no torch and no GPU.
#include "timing/torch_baselines.h"

#include <gtest/gtest.h>

#include <fmt/core.h>

#include "gpu/messages.h"

namespace kw::timing {
namespace {

using tensor::HostTensor;
using torch_worker::TorchKind;

// Greets, takes one request with its shared memory, and answers as the case says. REPLY is a frame
// of the clock in hexadecimal.
constexpr const char* kHead = R"py(
import array, json, os, socket, struct, sys
channel, REPLY = socket.socket(fileno=3), bytes.fromhex(sys.argv[1])
fds = array.array('i')
def exactly(n):
    data = b''
    while len(data) < n:
        piece, extra, _, _ = channel.recvmsg(n - len(data), socket.CMSG_SPACE(64))
        for _, _, found in extra: fds.frombytes(found)
        if not piece: os._exit(0)
        data += piece
    return data
def receive(): return json.loads(exactly(struct.unpack('<I', exactly(4))[0]))
def send(reply):
    body = json.dumps(reply).encode()
    channel.sendall(struct.pack('<I', len(body)) + body)
receive()
hello = receive()
send({'id': hello['id'], 'kind': 'Ok'})
request = receive()
arena = fds[-1]
def answer(modes, frames, *later):
    places, data = [], b''
    for i in range(frames):
        places.append({'name': f'reply{i}', 'dtype': 'uint8', 'shape': [len(REPLY)], 'offset': len(data), 'bytes': len(REPLY)})
        data += REPLY
    places.append({'name': 'eager/out', 'dtype': 'uint8', 'shape': [2], 'offset': len(data), 'bytes': 2})
    data += b'\x05\x06'
    os.ftruncate(arena, len(data))
    os.pwrite(arena, data, 0)
    send({'id': request['id'], 'kind': 'Ok', 'rounds': [modes, *later], 'outputs': places})
def mode(name, **more): return {'mode': name, 'kind': 'Ok', 'message': '', 'traceback': '', 'host_us': [], **more}
)py";

HostTensor tensor_of(uint8_t value) {
  HostTensor made = tensor::make_tensor(tensor::DType::Uint8, {64}).value();
  for (std::byte& each : made.data) each = static_cast<std::byte>(value);
  return made;
}

struct Fixture {
  HostTensor x = tensor_of(1), same = tensor_of(1), y = tensor_of(2);
  std::vector<HostTensor> entry;
  kernel::Program program;
  ports::Compiled compiled;
  BaselineRequest request;

  Fixture() {
    entry = {x, HostTensor{}};
    compiled.image = "ptx";
    program.module_name = "k.cu";
    request.call.device = "cuda";
    request.call.arguments = {{"x", &same, {}}};
    request.pool = {{&same}, {&y}};
    request.candidates = {{&compiled, &program, {&entry}}};
    request.modes = {"eager", "reduce-overhead", "compile"};
  }

  /// `reply` is the clock's answer to every frame.
  Result<BaselinesTimed> timed(const gpu::Reply& reply, const std::string& script) const {
    std::string hex;
    for (char c : gpu::encode(reply)) hex += fmt::format("{:02x}", static_cast<uint8_t>(c));
    torch_worker::TorchOptions options;
    options.command = {"python3", "-I", "-u", "-c", kHead + script, hex};
    torch_worker::TorchProcess torch(options);
    return time_baselines(torch, request);
  }
};

gpu::Reply three_results() {
  gpu::Reply reply;
  for (double us : {1.0, 2.0, 3.0}) {
    ports::TimedResult result;
    result.samples.microseconds = {us};
    reply.time.results.push_back(result);
    reply.slots.emplace_back();
  }
  reply.info.uuid = "GPU-1";
  return reply;
}

TEST(FakeBaselines, ResultsGoToCandidatesThenToModes) {
  const Fixture f;
  const auto timed =
      f.timed(three_results(),
              "answer([mode('eager', order=1), mode('reduce-overhead', host_us=[7.5]), "
              "mode('compile', order=0)], len(request['loads']) + 1)");
  ASSERT_TRUE(timed) << timed.error().message;
  ASSERT_EQ(timed->outcome.kind, TorchKind::Ok) << timed->outcome.message;
  ASSERT_EQ(timed->rounds.at(0).candidates.size(), 1U);
  EXPECT_EQ(timed->rounds.at(0).candidates[0].samples.microseconds, (std::vector<double>{1}));
  ASSERT_EQ(timed->rounds.at(0).baselines.size(), 3U);
  EXPECT_EQ(timed->rounds.at(0).baselines[0].timed->samples.microseconds, (std::vector<double>{3}));
  EXPECT_EQ(timed->rounds.at(0).baselines[0].outputs.at(0).name, "out");
  EXPECT_EQ(tensor::get_element(timed->rounds.at(0).baselines[0].outputs.at(0).tensor, 1), 6);
  EXPECT_FALSE(timed->rounds.at(0).baselines[1].timed.has_value());
  EXPECT_EQ(timed->rounds.at(0).baselines[1].host_us, (std::vector<double>{7.5}));
  EXPECT_EQ(timed->rounds.at(0).baselines[2].timed->samples.microseconds, (std::vector<double>{2}));
  EXPECT_EQ(timed->device.uuid, "GPU-1");
}

TEST(FakeBaselines, EveryRoundHasItsOwnResults) {
  Fixture f;
  f.request.seeds = {5, 6};
  const std::string script =
      "modes = [mode('eager', order=1), mode('reduce-overhead'), mode('compile', order=0)]\n"
      "assert request['rounds'] == [4, 5], request\n";
  const auto timed = f.timed(three_results(), script + "answer(modes, 3, modes)");
  ASSERT_TRUE(timed) << timed.error().message;
  ASSERT_EQ(timed->rounds.size(), 2U);
  EXPECT_EQ(timed->rounds[1].baselines[0].timed->samples.microseconds, (std::vector<double>{3}));
  EXPECT_EQ(timed->rounds[0].baselines[0].outputs.size(), 1U);
  EXPECT_TRUE(timed->rounds[1].baselines[0].outputs.empty());
  EXPECT_FALSE(f.timed(three_results(), script + "answer(modes, 2)"));
}

TEST(FakeBaselines, EqualInputsTravelOnce) {
  const Fixture f;
  // The candidate's x, torch's equal x, and y make two inputs. The library and two frames follow.
  const auto timed = f.timed(
      three_results(),
      "more = request['tensors'][request['more']:]\n"
      "assert request['inputs'] == [0, 1] and request['pool'] == [[0], [1]], request\n"
      "assert (request['library'], request['loads'], request['rounds']) == (2, [3], [4]), request\n"
      "library = more[2]\n"
      "assert os.pread(arena, 4, library['offset']) == b'\\x7fELF'\n"
      "answer([mode('eager', order=0), mode('reduce-overhead'), mode('compile', order=1)], 2)");
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_EQ(timed->outcome.kind, TorchKind::Ok)
      << timed->outcome.message << timed->outcome.traceback;
}

TEST(FakeBaselines, EqualBytesOfAnotherKindAreAnotherInput) {
  Fixture f;
  f.same.dtype = tensor::DType::Int8;
  const auto timed = f.timed(
      three_results(),
      "assert request['inputs'] == [0, 1, 2] and request['pool'] == [[1], [2]], request\n"
      "answer([mode('eager', order=0), mode('reduce-overhead'), mode('compile', order=1)], 2)");
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_EQ(timed->outcome.kind, TorchKind::Ok) << timed->outcome.traceback;
}

TEST(FakeBaselines, AFailingModeKeepsItsOutcome) {
  const Fixture f;
  gpu::Reply reply = three_results();
  reply.time.results.pop_back();
  reply.slots.pop_back();
  const auto timed =
      f.timed(reply,
              "bad = {'mode': 'compile', 'kind': 'Raised', 'message': 'no', 'traceback': 't'}\n"
              "answer([mode('eager', order=0), mode('reduce-overhead'), bad], 2)");
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_EQ(timed->rounds.at(0).baselines[2].outcome.kind, TorchKind::Raised);
  EXPECT_EQ(timed->rounds.at(0).baselines[2].outcome.message, "no");
  EXPECT_FALSE(timed->rounds.at(0).baselines[2].timed.has_value());
  EXPECT_TRUE(timed->rounds.at(0).baselines[0].timed.has_value());
}

TEST(FakeBaselines, WhatTheClockMetIsPassedOn) {
  const Fixture f;
  gpu::Reply reply;
  reply.time.status = ports::RunStatus::Faulted;
  reply.time.message = "k.cu: illegal address";
  const auto timed = f.timed(
      reply,
      "answer([mode('eager', order=0), mode('reduce-overhead'), mode('compile', order=1)], 2)");
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_EQ(timed->rounds.at(0).status, ports::RunStatus::Faulted);
  EXPECT_EQ(timed->rounds.at(0).message, "k.cu: illegal address");
  EXPECT_TRUE(timed->rounds.at(0).candidates.empty());
}

TEST(FakeBaselines, AnErrorOfTheClockIsAnError) {
  const Fixture f;
  gpu::Reply reply;
  reply.error = "the driver does not take the image";
  reply.blame = Blame::Input;
  const auto timed = f.timed(
      reply,
      "answer([mode('eager', order=0), mode('reduce-overhead'), mode('compile', order=1)], 2)");
  ASSERT_FALSE(timed);
  EXPECT_EQ(timed.error().blame, Blame::Input);
}

TEST(FakeBaselines, LeftOutAnswersAreNoticed) {
  const Fixture f;
  for (const char* script :
       {"answer([mode('eager', order=0)], 2)",
        "answer([mode('eager', order=9), mode('reduce-overhead'), mode('compile')], 2)",
        "answer([mode('eager', order=-1), mode('reduce-overhead'), mode('compile')], 2)",
        "send({'id': request['id'], 'kind': 'Ok', 'rounds': [[mode(m) for m in request['modes']]], "
        "'outputs': []})"}) {
    const auto timed = f.timed(three_results(), script);
    ASSERT_FALSE(timed) << script;
    EXPECT_EQ(timed.error().blame, Blame::Bug);
  }
}

TEST(FakeBaselines, WithoutCudaIsAnOutcome) {
  const Fixture f;
  const auto timed =
      f.timed({}, "send({'id': request['id'], 'kind': 'NoCuda', 'message': 'torch sees no GPU'})");
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_EQ(timed->outcome.kind, TorchKind::NoCuda);
}

}  // namespace
}  // namespace kw::timing
