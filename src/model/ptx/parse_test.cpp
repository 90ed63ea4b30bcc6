#include "ptx/parse.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace kw::ptx {
namespace {

using Kind = Operand::Kind;
using ImmediateKind = Operand::ImmediateKind;

std::string in_module(const std::string& items) {
  return ".version 8.3\n.target sm_90\n.address_size 64\n" + items;
}

// Line 5 of the text is the first line of the body.
std::string in_kernel(const std::string& body) {
  return in_module(
             ".visible .entry k(.param .u64 k_param_0, .param .align 8 .b8 k_param_1[24]) {\n") +
         body + "\n}\n";
}

constexpr const char* kRegisters =
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .b16 %h<4>;\n";

Module parse_ok(const std::string& text) {
  Result<Module> module = parse(text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : module.error().message);
  return module ? std::move(module).value() : Module{};
}

Instruction only_instruction(const std::string& text) {
  Module module = parse_ok(in_kernel(kRegisters + text));
  if (module.functions.empty() || module.functions[0].instructions.size() != 1) {
    ADD_FAILURE() << "not one instruction: " << text;
    return {};
  }
  return module.functions[0].instructions[0];
}

// ---- instructions as text: each must be printed as the words listed ----

std::string show(const Function& function, const Operand& operand) {
  std::string text = operand.negated ? "!" : "";
  switch (operand.kind) {
    case Kind::Register:
      text += function.registers[operand.reg].name;
      break;
    case Kind::Immediate:
      text += operand.immediate == ImmediateKind::Integer
                  ? std::to_string(static_cast<int64_t>(operand.bits))
                  : (operand.immediate == ImmediateKind::Float32 ? "f:" : "d:") +
                        std::to_string(operand.bits);
      break;
    case Kind::Special:
      text += "special" + std::to_string(static_cast<int>(operand.special));
      break;
    case Kind::Symbol:
    case Kind::Address:
      text += operand.kind == Kind::Address ? "[" : "&";
      if (operand.reg >= 0) text += function.registers[operand.reg].name;
      if (operand.symbol >= 0) {
        text += operand.local_symbol ? function.variables[operand.symbol].name
                                     : "global" + std::to_string(operand.symbol);
      }
      if (operand.param >= 0) text += function.params[operand.param].name;
      if (operand.result >= 0) text += function.returns[operand.result].name;
      if (operand.function >= 0) text += "function" + std::to_string(operand.function);
      text += "+" + std::to_string(operand.offset);
      if (operand.kind == Kind::Address) text += "]";
      break;
    case Kind::Vector:
      break;
    case Kind::Label:
      text += "->" + function.labels[operand.label].name;
      break;
    case Kind::Discard:
      text += "_";
      break;
  }
  if (operand.kind == Kind::Vector || !operand.elements.empty()) {
    text += "{";
    for (const Operand& element : operand.elements) text += show(function, element) + " ";
    text += "}";
  }
  return text;
}

std::string show(const Function& function, const Instruction& instruction) {
  std::string text;
  if (instruction.guard >= 0) {
    text += std::string(instruction.guard_negated ? "@!" : "@") +
            function.registers[instruction.guard].name + " ";
  }
  text += instruction.opcode;
  for (const std::string& modifier : instruction.modifiers) text += "." + modifier;
  for (const Operand& operand : instruction.operands) text += " " + show(function, operand);
  return text;
}

struct Form {
  const char* text;
  const char* shown;  // of the last instruction
};

class Forms : public testing::TestWithParam<Form> {};

TEST_P(Forms, Reads) {
  const std::string body = std::string(kRegisters) +
                           ".shared .align 4 .b8 s[64]; .param .b32 p0; .param .b32 q0;\n"
                           "L0:\n" +
                           GetParam().text;
  const Module module =
      parse_ok(in_module(".global .u32 g[4];\n.extern .func (.param .b32 r) f (.param .b32 a);\n"
                         ".visible .entry k(.param .u64 k_param_0, .param .align 8 .b8 "
                         "k_param_1[24]) {\n") +
               body + "\n}\n");
  ASSERT_EQ(module.functions.size(), 2u);
  const Function& function = module.functions[1];
  ASSERT_FALSE(function.instructions.empty());
  EXPECT_EQ(show(function, function.instructions.back()), GetParam().shown);
}

const Form kForms[] = {
    {"ret;", "ret"},
    {"add.s32 %r1, %r2, 3;", "add.s32 %r1 %r2 3"},
    {"add.s32 %r1, %r2, -3;", "add.s32 %r1 %r2 -3"},
    {"mov.u32 %r1, 0xFFFFFFFF;", "mov.u32 %r1 4294967295"},
    {"mov.u64 %rd1, 0xFFFFFFFFFFFFFFFF;", "mov.u64 %rd1 -1"},
    {"mov.u32 %r1, 017;", "mov.u32 %r1 15"},
    {"mov.u32 %r1, 0;", "mov.u32 %r1 0"},
    {"mov.u32 %r1, 0U;", "mov.u32 %r1 0"},
    {"mov.u32 %r1, 12U;", "mov.u32 %r1 12"},
    {"mov.u32 %r1, 0b1011;", "mov.u32 %r1 11"},
    {"mov.u32 %r1, (1<<3)|0x10;", "mov.u32 %r1 24"},
    {"mov.u32 %r1, 7 * (2 + 3) - 10 / 3 % 2;", "mov.u32 %r1 34"},
    {"mov.u32 %r1, -7 / 2;", "mov.u32 %r1 -3"},
    {"mov.u32 %r1, ~0 ? 3 > 2 : 9;", "mov.u32 %r1 1"},
    {"mov.u64 %rd1, (.u64)-1 >> 60;", "mov.u64 %rd1 15"},
    {"mov.u64 %rd1, -16 >> 2;", "mov.u64 %rd1 -4"},
    {"mov.u32 %r1, WARP_SZ-1;", "mov.u32 %r1 31"},
    {"mov.f32 %f1, 0f3F800000;", "mov.f32 %f1 f:1065353216"},
    {"mov.f32 %f1, -0f3F800000;", "mov.f32 %f1 f:3212836864"},
    {"mov.f64 %rd1, 0d3FF0000000000000;", "mov.f64 %rd1 d:4607182418800017408"},
    {"mov.f32 %f1, 1.0;", "mov.f32 %f1 d:4607182418800017408"},
    {"mov.f32 %f1, 1e0;", "mov.f32 %f1 d:4607182418800017408"},
    {"mov.f32 %f1, 10.0E-1;", "mov.f32 %f1 d:4607182418800017408"},
    {"mov.f32 %f1, 0.5 + 0.5;", "mov.f32 %f1 d:4607182418800017408"},
    {"@%p1 bra L0;", "@%p1 bra ->L0"},
    {"@!%p2 bra.uni L0;", "@!%p2 bra.uni ->L0"},
    {"setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;", "setp.lt.and.s32 %p1 %p2 %r1 %r2 !%p3"},
    {"shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;", "shfl.sync.bfly.b32 %r1 %p1 %r2 16 31 -1"},
    {"ld.global.f32 %f1, [%rd1];", "ld.global.f32 %f1 [%rd1+0]"},
    {"ld.global.f32 %f1, [%rd1+16];", "ld.global.f32 %f1 [%rd1+16]"},
    {"ld.global.f32 %f1, [%rd1+-16];", "ld.global.f32 %f1 [%rd1+-16]"},
    {"ld.global.f32 %f1, [%rd1 - 16];", "ld.global.f32 %f1 [%rd1+-16]"},
    {"ld.global.f32 %f1, [g+8];", "ld.global.f32 %f1 [global0+8]"},
    {"ld.global.f32 %f1, g[2];", "ld.global.f32 %f1 [global0+8]"},
    {"mov.u64 %rd1, g[2];", "mov.u64 %rd1 &global0+8"},
    {"mov.u64 %rd1, g+4;", "mov.u64 %rd1 &global0+4"},
    {"mov.u64 %rd1, f;", "mov.u64 %rd1 &function0+0"},
    {"ld.shared.f32 %f1, [s+4];", "ld.shared.f32 %f1 [s+4]"},
    {"ld.shared.f32 %f1, [64];", "ld.shared.f32 %f1 [+64]"},
    {"ld.param.u64 %rd1, [k_param_1+8];", "ld.param.u64 %rd1 [k_param_1+8]"},
    {"ld.global.L1::no_allocate.L2::128B.v4.f32 {%f1,%f2,_,%f3}, [%rd1];",
     "ld.global.L1::no_allocate.L2::128B.v4.f32 {%f1 %f2 _ %f3 } [%rd1+0]"},
    {"mov.b32 %r1, {%h1, %h2};", "mov.b32 %r1 {%h1 %h2 }"},
    {"mov.u32 %r1, %tid.x;", "mov.u32 %r1 special0"},
    {"mov.u32 %r1, %nctaid.z;", "mov.u32 %r1 special11"},
    {"mov.u32 %r1, %laneid;", "mov.u32 %r1 special12"},
    {"mov.u32 %r1, %envreg31;", "mov.u32 %r1 special47"},
    {"cp.async.ca.shared.global [%r1], [%rd1], 4;", "cp.async.ca.shared.global [%r1+0] [%rd1+0] 4"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
     "{%r5,%r6}, {%f1,%f2,%f3,%f4};",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1 %f2 %f3 %f4 } {%r1 %r2 %r3 %r4 } "
     "{%r5 %r6 } {%f1 %f2 %f3 %f4 }"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], "
     "[%rd1, {%r2, %r3}], [%r4];",
     "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1+0] "
     "[%rd1+0]{%r2 %r3 } [%r4+0]"},
    {"call.uni (p0), f, (q0);", "call.uni {&p0+0 } &function0+0 {&q0+0 }"},
    {"call.uni f, (q0);", "call.uni {} &function0+0 {&q0+0 }"},
    {"call f;", "call {} &function0+0 {}"},
    {"proto: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (p0), %rd1, (q0), proto;",
     "call {&p0+0 } %rd1 {&q0+0 } ->proto"},
    {"ts: .branchtargets L0, L1, L0;\nL1: brx.idx %r1, ts;", "brx.idx %r1 ->ts"},
    {"red.global.add.f32 [%rd1], %f1; // comment ; here", "red.global.add.f32 [%rd1+0] %f1"},
    {"add.s32 %r1, /* two\nlines */ %r2, 1;", "add.s32 %r1 %r2 1"},
    {"no.such.opcode %r1;", "no.such.opcode %r1"},
};
INSTANTIATE_TEST_SUITE_P(Ptx, Forms, testing::ValuesIn(kForms));

TEST(Instructions, TypesAndSpace) {
  const Instruction convert = only_instruction("cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;");
  EXPECT_EQ(convert.types, (std::vector<Type>{Type::E4m3x2, Type::F32}));
  EXPECT_TRUE(convert.has("satfinite"));
  EXPECT_FALSE(convert.has("sat"));
  EXPECT_EQ(only_instruction("ld.shared::cta.b32 %r1, [%r2];").space, Space::Shared);
  EXPECT_EQ(only_instruction("ld.b32 %r1, [%rd2];").space, Space::Generic);
  EXPECT_EQ(only_instruction("cp.async.cg.shared.global [%r1], [%rd1], 16;").space, Space::Shared);
}

TEST(Instructions, EnvironmentRegisterNumber) {
  EXPECT_EQ(only_instruction("mov.u32 %r1, %envreg31;").operands[1].bits, 31u);
}

// ---- scopes ----

TEST(Scopes, ShadowedRegistersGetTheirOwnIndex) {
  const Module module = parse_ok(in_kernel(
      ".reg .b32 r, %t<4>;\nmov.u32 r, 1;\n{ .reg .b64 r; .reg .f32 %t<2>; mov.u64 r, 2; mov.f32 "
      "%t1, 0f00000000; mov.b32 %t3, 1; }\nmov.u32 r, 3;\nmov.b32 %t1, 0;"));
  const Function& function = module.functions[0];
  const auto destination = [&](int i) { return function.instructions[i].operands[0].reg; };
  EXPECT_EQ(destination(0), destination(4));
  EXPECT_NE(destination(0), destination(1));
  EXPECT_NE(destination(2), destination(5));
  EXPECT_EQ(function.registers[destination(1)].type, Type::B64);
  EXPECT_EQ(function.registers[destination(2)].type, Type::F32);
  EXPECT_EQ(function.registers[destination(3)].type, Type::B32);
}

TEST(Scopes, OnlyUsedRegistersAreKept) {
  const Module module =
      parse_ok(in_kernel(".reg .b32 %r<4000000000>; .reg .b32 never; mov.b32 %r3999999999, 1;"));
  ASSERT_EQ(module.functions[0].registers.size(), 1u);
  EXPECT_EQ(module.functions[0].registers[0].name, "%r3999999999");
}

TEST(Scopes, RangesWhoseNamesEndInDigits) {
  const Module module =
      parse_ok(in_kernel(".reg .b32 %r<2>; .reg .b64 %r1<3>; mov.b64 %r12, 1; mov.b32 %r1, 1;"));
  EXPECT_EQ(module.functions[0].registers[0].type, Type::B64);
  EXPECT_EQ(module.functions[0].registers[1].type, Type::B32);
}

TEST(Scopes, LabelsBelongToTheirBlock) {
  const Module module = parse_ok(
      in_kernel("{ bra DONE; DONE: exit; }\n{ bra DONE; bra OUT; DONE: exit; }\nOUT: ret;"));
  const Function& function = module.functions[0];
  const auto target = [&](int i) {
    return function.labels[function.instructions[i].operands[0].label].instruction;
  };
  EXPECT_EQ(target(0), 1);
  EXPECT_EQ(target(2), 4);
  EXPECT_EQ(target(3), 5);
}

TEST(Scopes, LabelAtTheEnd) {
  const Module module = parse_ok(in_kernel("bra END; END:"));
  EXPECT_EQ(module.functions[0].labels[0].instruction, 1);
}

TEST(Scopes, BranchTargets) {
  const Module module =
      parse_ok(in_kernel("A: ret; B: ret; T: .branchtargets B, A; .reg .b32 r; brx.idx r, T;"));
  const Function& function = module.functions[0];
  EXPECT_EQ(function.labels[function.instructions[2].operands[1].label].branch_targets,
            (std::vector<int>{1, 0}));
}

TEST(Scopes, StaticsOfABodyLiveInTheModule) {
  const Module module =
      parse_ok(in_kernel(".global .u32 count = 7; .reg .b64 d; mov.u64 d, count;"));
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_EQ(module.variables[0].init, (std::vector<uint8_t>{7, 0, 0, 0}));
  EXPECT_FALSE(module.functions[0].instructions[0].operands[1].local_symbol);
}

// ---- variables ----

struct VariableCase {
  const char* text;
  int64_t bytes;
  int align;
  std::vector<uint8_t> init;
};

class Variables : public testing::TestWithParam<VariableCase> {};

TEST_P(Variables, Read) {
  const Module module = parse_ok(in_module(GetParam().text));
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_EQ(module.variables[0].bytes, GetParam().bytes);
  EXPECT_EQ(module.variables[0].align, GetParam().align);
  EXPECT_EQ(module.variables[0].init, GetParam().init);
}

const VariableCase kVariables[] = {
    {".global .u32 x;", 4, 4, {}},
    {".visible .global .align 16 .b8 x[24];", 24, 16, {}},
    {".const .f32 x[2] = {1, 0f40000000};", 8, 4, {0, 0, 128, 63, 0, 0, 0, 64}},
    {".const .f64 x = 0f3F800000;", 8, 8, {0, 0, 0, 0, 0, 0, 240, 63}},
    {".global .b16 x[2][2] = {{1}, {2, 3}};", 8, 2, {1, 0, 0, 0, 2, 0, 3, 0}},
    {".global .b16 x[2][2] = {1, 2, 3};", 8, 2, {1, 0, 2, 0, 3, 0}},
    {".global .s8 x[] = {-1, 2, -(3)};", 3, 1, {255, 2, 253}},
    {".global .v4 .f32 x = {1, 0, 0, 0};",
     16,
     16,
     {0, 0, 128, 63, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {".extern .shared .align 16 .b8 x[];", 0, 16, {}},
    {".weak .global .attribute(.managed) .align 4 .u32 x;", 4, 4, {}},
    {".extern .global .u32 x; .visible .global .u32 x = 3;", 4, 4, {3, 0, 0, 0}},
};
INSTANTIATE_TEST_SUITE_P(Ptx, Variables, testing::ValuesIn(kVariables));

TEST(Initialisers, AddressesMayBeDeclaredLater) {
  const Module module =
      parse_ok(in_module(".global .u64 t[4] = {generic(x), x+8, f, 5};\n.global .u32 x[4];\n"
                         ".func f() { ret; }\n"));
  const Variable& table = module.variables[0];
  ASSERT_EQ(table.patches.size(), 3u);
  EXPECT_TRUE(table.patches[0].generic);
  EXPECT_EQ(table.patches[0].variable, 1);
  EXPECT_EQ(table.patches[1].at, 8);
  EXPECT_EQ(table.patches[1].offset, 8);
  EXPECT_EQ(table.patches[2].function, 0);
  EXPECT_EQ(table.init[24], 5);
  EXPECT_EQ(table.init.size(), 32u);
}

TEST(Initialisers, BytesOfAnAddress) {
  const Module module = parse_ok(
      in_module(".global .u32 x;\n.global .b8 t[3] = {7, 0xFF(x), 0xFF0000(generic(x)+4)};\n"));
  const Variable& table = module.variables[1];
  ASSERT_EQ(table.patches.size(), 2u);
  EXPECT_EQ(table.patches[0].bytes, 1);
  EXPECT_EQ(table.patches[0].shift, 0);
  EXPECT_EQ(table.patches[1].at, 2);
  EXPECT_EQ(table.patches[1].shift, 16);
  EXPECT_EQ(table.patches[1].offset, 4);
}

// ---- functions ----

TEST(Functions, HeaderDirectives) {
  const Module module = parse_ok(
      in_module(".pragma \"nounroll\";\n.visible .entry k(.param .u64 .ptr .global .align 16 a)\n"
                ".maxntid 256, 2\n.reqntid 64\n.minnctapersm 2\n.maxnreg 40\n.explicitcluster\n"
                ".reqnctapercluster 2, 1, 1\n.pragma \"x\";\n{ ret; }\n"));
  const Function& k = module.functions[0];
  EXPECT_EQ(k.max_threads[0] * 100 + k.max_threads[1] * 10 + k.max_threads[2], 25621);
  EXPECT_EQ(k.required_threads[0], 64);
  EXPECT_EQ(k.required_cluster[0], 2);
  EXPECT_EQ(k.min_blocks, 2);
  EXPECT_EQ(k.max_registers, 40);
  EXPECT_TRUE(k.explicit_cluster);
}

TEST(Functions, DeclarationAndDefinitionAreOne) {
  const Module module = parse_ok(
      in_module(".func (.param .b32 r) f (.param .b32 a);\n.entry k() { call f; ret; }\n"
                ".func (.param .b32 r) f (.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; "
                "st.param.b32 [r], x; ret; }\n.extern .func .noreturn g;\n"));
  ASSERT_EQ(module.functions.size(), 3u);
  const Function& f = module.functions[0];
  EXPECT_FALSE(f.is_declaration);
  EXPECT_EQ(f.instructions[0].operands[1].param, 0);
  EXPECT_EQ(f.instructions[1].operands[0].result, 0);
  EXPECT_TRUE(module.functions[2].is_declaration);
  EXPECT_TRUE(module.functions[2].is_noreturn);
  EXPECT_EQ(module.find_function("k"), 1);
  EXPECT_EQ(module.find_function("nobody"), -1);
}

// ---- source positions ----

TEST(Positions, InlinedCodeHasItsChain) {
  const Module module =
      parse_ok(in_kernel(".loc 1 20 3\nret;\n"
                         ".loc 2 50 1, function_name $L__info0, inlined_at 1 20 3\nret;\n"
                         ".loc 3 70 9, function_name $L__info1+4, inlined_at 2 50 1\nret;\n"
                         ".loc 3 71 9, function_name $L__info1, inlined_at 2 50 1\nret;\n") +
               ".file 1 \"user.cu\"\n.file 2 \"a.h\", 123, 456\n.file 3 \"b.h\"\n"
               ".section .debug_str { $L__info0: .b8 97,0 }\n");
  const Function& k = module.functions[0];
  EXPECT_EQ(k.instructions[0].inlined_at, -1);
  const Instruction& deepest = k.instructions[2];
  EXPECT_EQ(module.files[deepest.file], "b.h");
  EXPECT_EQ(deepest.line, 70);
  const InlineFrame& middle = k.inline_frames[deepest.inlined_at];
  EXPECT_EQ(module.files[middle.file], "a.h");
  EXPECT_EQ(middle.line, 50);
  const InlineFrame& outermost = k.inline_frames[middle.inlined_at];
  EXPECT_EQ(module.files[outermost.file], "user.cu");
  EXPECT_EQ(outermost.line, 20);
  EXPECT_EQ(outermost.inlined_at, -1);
  EXPECT_EQ(k.instructions[3].inlined_at, deepest.inlined_at);
  EXPECT_EQ(deepest.ptx_line, 10);
}

// ---- refusals ----

struct Refusal {
  const char* text;  // a kernel body; after '!' or when empty, the whole text
  const char* message;
};

class ParseRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(ParseRefusals, SaysWhy) {
  const std::string text = GetParam().text;
  const bool whole = text.empty() || text[0] == '!';
  const Result<Module> module =
      parse(whole ? (text.empty() ? "" : text.substr(1)) : in_kernel(kRegisters + text));
  ASSERT_FALSE(module.has_value());
  EXPECT_EQ(module.error().blame, Blame::Input);
  EXPECT_NE(module.error().message.find(GetParam().message), std::string::npos)
      << module.error().message;
}

const Refusal kRefusals[] = {
    {"", "ptx line 1: no .version line: this is not PTX"},
    {"!hello", "ptx line 1: expected a directive, found 'hello'"},
    {"!.version 8", "expected .version MAJOR.MINOR"},
    {"!.version 8.0\n.address_size 32", "only .address_size 64 is supported"},
    {"!.version 8.0\n.alias a, b;", "ptx line 2: .alias is not supported"},
    {"!.version 8.0\n.texref t;", "directive '.texref' is not known at module scope"},
    {"!.version 8.0\n.entry k() {", "ptx line 2: '{' is never closed"},
    {"!.version 8.0\n.entry k() { ret; }\n.entry k() { ret; }", "'k' is declared twice"},
    {"!.version 8.0\n.func f(.reg .u32 x) { ret; }", "parameters in registers"},
    {"!.version 8.0\n.global .u32 x; .global .u32 x;", "'x' is declared twice"},
    {"!.version 8.0\n.global .u64 x = y;", "unknown name 'y' in an initialiser"},
    {"!.version 8.0\n.global .u32 x = x;", "an address needs an element of 64 bits"},
    {"!.version 8.0\n.global .b8 x[2] = {1,2,3};", "3 initial values for 2 elements"},
    {"!.version 8.0\n.global .b8 x[2] = {{1},{2}};", "too many braces"},
    {"!.version 8.0\n.global .b8 x[1000000000][1000000000];", "'x' is larger than 1 GB"},
    {"!.version 8.0\n.global .align 3 .b8 x;", "alignment 3 is not a power of two"},
    {"!.version 8.0\n/* open", "an unterminated comment"},
    {"add.s32 %r1, %r99, 3;", "ptx line 6: unknown register '%r99'"},
    {"add.s32 %r1, nobody, 3;", "unknown name 'nobody'"},
    {"mov.u32 %r1, %tid;", "'%tid' as a vector is not supported"},
    {"mov.u32 %r1, %tid.w;", "unknown register '%tid.w'"},
    {"mov.u32 %r1, %envreg32;", "unknown register '%envreg32'"},
    {"vadd.s32.u32.s32 %r1, %r2.b0, %r3;", "'%r2.b0': parts of a register are not supported"},
    {"bra NOWHERE;", "unknown label 'NOWHERE'"},
    {"{ IN: ret; } bra IN;", "unknown label 'IN'"},
    {"A: A: ret;", "label 'A' is declared twice"},
    {"@%r1 bra A;", "guard '%r1' is not a predicate register"},
    {"add.s32 %r1, !%r2, 3;", "'!' needs a predicate register"},
    {"add.s32 %r1, %r2", "expected ';', found '}'"},
    {"add.s32 %r1, %r2, 1/0;", "division by zero"},
    {"add.s32 %r1, %r2, 0f12;", "'0f12' is not a number PTX knows"},
    {"mov.u64 %rd1, 99999999999999999999;", "is not a number PTX knows"},
    {"mov.b32 %r1, {{%h1}, %h2};", "expected a register or a constant"},
    {".reg .v4 .f32 %v;", "vector registers are not supported"},
    {".reg .b32 %r<3>;", "'%r' is declared twice in one scope"},
    {".reg .b32 a, a;", "'a' is declared twice in one scope"},
    {".shared .u32 x = 3;", "'x' cannot have initial values"},
    {"call 7;", "the target of a call must be a function or a register"},
    {"ld.global.f32 %f1, [%tid.x];", "'%tid' is not an address"},
    {".tex %r1;", "directive '.tex' is not known inside a function"},
    {"add .s32 %r1, %r2, 1;", "blank before modifier '.s32'"},
};
INSTANTIATE_TEST_SUITE_P(Ptx, ParseRefusals, testing::ValuesIn(kRefusals));

TEST(Problems, AllUpToTenAreListed) {
  std::string body;
  for (int i = 0; i < 3; ++i) body += "mov.u32 %r" + std::to_string(50 + i) + ", 1;\n";
  const Result<Module> few = parse(in_kernel(kRegisters + body + "ret;"));
  EXPECT_EQ(few.error().message,
            "ptx line 6: unknown register '%r50'\nptx line 7: unknown register '%r51'\n"
            "ptx line 8: unknown register '%r52'");
  for (int i = 0; i < 30; ++i) body += "mov.u32 nothing, 1;\n";
  const Result<Module> many = parse(in_kernel(kRegisters + body));
  const std::string& message = many.error().message;
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 9);
}

TEST(Limits, DeepNestingIsRefused) {
  EXPECT_FALSE(parse(in_kernel(std::string(100000, '{'))).has_value());
  EXPECT_FALSE(parse(in_kernel(".reg .b32 r; mov.b32 r, " + std::string(100000, '('))).has_value());
  EXPECT_FALSE(parse(in_kernel(".reg .b32 r; mov.b32 r, " + std::string(100000, '-'))).has_value());
  EXPECT_FALSE(parse(in_kernel(".reg .b32 r; mov.b32 r, " + std::string(100000, '!'))).has_value());
}

// ---- output of compilers ----

TEST(CompilerTexts, AllParse) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KW_SOURCE_DIR "/tests/ptx")) {
    if (entry.path().extension() != ".ptx") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const Result<Module> module = parse(text.str());
    EXPECT_TRUE(module.has_value()) << entry.path() << "\n"
                                    << (module ? "" : module.error().message);
    ++count;
  }
  EXPECT_GE(count, 11);
}

}  // namespace
}  // namespace kw::ptx
