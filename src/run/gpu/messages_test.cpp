#include "gpu/messages.h"

#include <gtest/gtest.h>

namespace kw::gpu {
namespace {

Request full_request() {
  Request request;
  request.verb = Verb::Time;
  request.ordinal = 3;
  request.arena_bytes = 1 << 30;
  request.image = 17;
  request.kind = ports::ImageKind::Cubin;
  request.bytes = std::string(
      "\x7f"
      "ELF\0 bytes",
      11);
  request.seed = 0xfeedfacecafebeef;
  request.options.timeout_seconds = 2.5;
  request.options.misalign_bytes = 16;
  request.options.hash_seed = 0xabcdef0123456789;
  request.protocol_options.max_samples = 77;
  request.protocol_options.cold_cache = false;
  ProgramMessage message;
  message.image = 17;
  message.program.module_name = "rms_norm.cu";
  kernel::Buffer buffer;
  buffer.name = "x";
  buffer.role = kernel::Role::Scratch;
  buffer.dtype = tensor::DType::Bf16;
  buffer.shape = {2, 3};
  buffer.strides = {4, 1};
  buffer.bytes = 14;
  buffer.align = 2;
  buffer.fill = kernel::Fill::ZeroKept;
  buffer.present = false;
  message.program.buffers = {buffer, buffer};
  kernel::Launch launch;
  launch.kernel = "k<2>";
  launch.entry = "_Z1kILi2EEvv";
  launch.grid = {7, 8, 9};
  launch.block = {32, 2, 1};
  launch.cluster = {1, 2, 1};
  launch.shared_bytes = 100000;
  launch.cooperative = launch.pdl = true;
  launch.line = 12;
  launch.params = {{1, {}, "x"}, {-1, {1, 2, 3, 4}, "eps"}};
  message.program.launches = {launch};
  message.pool = {{{17, {}}, {0, {64, 8}}}, {{18, {}}, {0, {128, 8}}}};
  message.outputs = {{{256, 1}, {512, 2}}};
  request.drops = {5, 6};
  request.uploads = {{17, {0, 64}}};
  request.programs = {message};
  return request;
}

Reply full_reply() {
  Reply reply;
  reply.error = "why";
  reply.blame = Blame::Environment;
  reply.context_lost = true;
  reply.info.name = "GPU";
  reply.info.uuid = "GPU-1";
  reply.info.l2_bytes = 60 << 20;
  reply.info.image = ports::ImageKind::Cubin;
  reply.run.status = ports::RunStatus::Hung;
  reply.run.message = "it hung";
  reply.run.printed = "hello";
  reply.run.seconds = 1.25;
  record::Finding finding;
  finding.kind = record::FindingKind::WriteToInput;
  finding.certainty = record::Certainty::Warning;
  finding.message = "m";
  finding.kernel = "k";
  finding.launch = 4;
  finding.buffer = "x";
  finding.element = 99;
  finding.count = 3;
  finding.at = {"a.cu", 5, 0};
  reply.run.findings = {finding};
  ports::TimedResult result;
  result.samples.method = "graph";
  result.samples.microseconds = {1.5, 2.5};
  result.samples.sm_clock_mhz = 1980;
  result.audits = {{0, 1, {7, 8}}, {1, 0, {9, 10}}};
  result.copied = {{1, 0, {}}};
  result.findings = {finding};
  reply.time.results = {result};
  reply.slots = {{2}};
  reply.lost = {17};
  reply.run.hashes = {0, 77};
  return reply;
}

TEST(Messages, RequestsArriveAsSent) {
  const Request sent = full_request();
  auto got = decode_request(encode(sent));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(encode(*got), encode(sent));
  EXPECT_EQ(got->verb, Verb::Time);
  EXPECT_EQ(got->bytes, sent.bytes);
  const ProgramMessage& program = got->programs.at(0);
  EXPECT_EQ(program.program.buffers.at(1).strides, (std::vector<int64_t>{4, 1}));
  EXPECT_FALSE(program.program.buffers[1].present);
  EXPECT_EQ(program.program.launches.at(0).params.at(1).bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(program.program.launches[0].grid, (kernel::Dim3{7, 8, 9}));
  EXPECT_EQ(program.outputs.at(0).at(1).offset, 512u);
  EXPECT_EQ(program.pool.at(1).at(0).key, 18u);
  EXPECT_EQ(got->uploads.at(0).range.bytes, 64u);
  EXPECT_EQ(got->protocol_options.max_samples, 77);
  EXPECT_FALSE(got->protocol_options.cold_cache);
}

TEST(Messages, RepliesArriveAsSent) {
  const Reply sent = full_reply();
  auto got = decode_reply(encode(sent));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(encode(*got), encode(sent));
  EXPECT_EQ(got->blame, Blame::Environment);
  EXPECT_EQ(got->run.findings.at(0).element, 99);
  EXPECT_EQ(got->run.status, ports::RunStatus::Hung);
  EXPECT_EQ(got->run.hashes, (std::vector<uint64_t>{0, 77}));
  const ports::TimedResult& result = got->time.results.at(0);
  EXPECT_EQ(result.samples.microseconds, (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(result.audits.at(1).hashes, (std::vector<uint64_t>{9, 10}));
  EXPECT_EQ(result.copied.at(0).sample, 1);
  EXPECT_EQ(result.findings.at(0).buffer, "x");
  EXPECT_EQ(got->slots.at(0), (std::vector<int32_t>{2}));
  EXPECT_EQ(got->lost, (std::vector<InputKey>{17}));
}

TEST(Messages, TruncatedOnesAreRefused) {
  const std::string request = encode(full_request());
  for (size_t size = 0; size < request.size(); ++size) {
    EXPECT_FALSE(decode_request(request.substr(0, size)).has_value()) << size;
  }
  const std::string reply = encode(full_reply());
  for (size_t size = 0; size < reply.size(); ++size) {
    EXPECT_FALSE(decode_reply(reply.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(decode_request(request + "x").has_value());
  EXPECT_FALSE(decode_reply(reply + "x").has_value());
}

TEST(Messages, DamagedOnesNeverHarm) {
  const std::string request = encode(full_request());
  for (size_t at = 0; at < request.size(); ++at) {
    for (char value : {'\xff', '\x80', '\x7f'}) {
      std::string damaged = request;
      damaged[at] = value;
      auto got = decode_request(damaged);
      // A request that was decoded can be encoded again.
      EXPECT_TRUE(!got || decode_request(encode(*got)).has_value());
    }
  }
}

}  // namespace
}  // namespace kw::gpu
