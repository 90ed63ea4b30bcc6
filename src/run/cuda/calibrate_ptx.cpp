// Calibration needs loops whose instructions are known exactly. A compiler could remove or reorder
// them, and users may have no compiler, so they are PTX text made here. The driver compiles it.
// Results of loops go into a store that almost never happens, so that ptxas keeps the arithmetic.
// Operands are random: zeros would take less power and let the clock rise.
// Three images: FMA for every GPU, mma from sm_80, wgmma for sm_90 alone. One image for all would
// be refused by GPUs that lack one of the instructions. The cost: register names are assigned by
// hand.
#include "cuda/calibrate_ptx.h"

#include <fmt/core.h>

namespace kw::cuda {
namespace {

std::string header(const char* version, const char* target) {
  return fmt::format("\n.version {}\n.target {}\n.address_size 64\n", version, target);
}

/// %at is the thread's index, %step four times the number of threads of the grid, %row 16 bytes
/// times that number of threads.
constexpr const char* kPlace = R"(
  .reg .pred %p;
  .reg .b32 %r<24>;
  .reg .b64 %at, %n, %step, %row, %rd<24>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %at, %r0, %r1;
  cvt.u64.u32 %rd0, %r2;
  add.u64 %at, %at, %rd0;
  mul.wide.u32 %step, %r3, %r1;
  shl.b64 %row, %step, 4;
  shl.b64 %step, %step, 2;
  ld.param.u64 %n, [count];
)";

struct Traffic {
  const char* entry;
  const char* parameters;  // besides count
  int reads;               // buffers to read: [from0], [from1]
  bool writes;
};

/// How a loop handles 16-byte words: four at a time, so that few threads have enough loads in
/// flight, or one, for grids with a thread per word.
struct AccessVariant {
  const char* suffix;
  int words;
  const char* hint;  // of loads and stores
};

std::string traffic(const Traffic& kind, const AccessVariant& variant) {
  const int words = variant.words;
  std::string text = fmt::format(".visible .entry {}{}({}, .param .u64 count)\n{{\n{}", kind.entry,
                                 variant.suffix, kind.parameters, kPlace);
  if (words == 1) text += "  shr.u64 %step, %step, 2;\n";
  for (int b = 0; b < kind.reads; ++b)
    text += fmt::format("  ld.param.u64 %rd{}, [from{}];\n", 1 + b, b);
  if (kind.writes) text += "  ld.param.u64 %rd3, [to];\n";
  text += "  mov.u32 %r20, 0;\nloop:\n  setp.ge.u64 %p, %at, %n;\n  @%p bra done;\n";
  text += "  shl.b64 %rd4, %at, 4;\n";
  for (int b = 0; b < kind.reads; ++b) {
    text += fmt::format("  add.u64 %rd{}, %rd{}, %rd4;\n", 5 + b, 1 + b);
  }
  text += "  add.u64 %rd7, %rd3, %rd4;\n";
  std::string loads, uses;
  for (int u = 0; u < words; ++u) {
    for (int b = 0; b < kind.reads; ++b) {
      loads += fmt::format("  ld.global{5}.v4.u32 {{%v{0}, %v{1}, %v{2}, %v{3}}}, [%rd{4}];\n",
                           16 * b + 4 * u, 16 * b + 4 * u + 1, 16 * b + 4 * u + 2,
                           16 * b + 4 * u + 3, 5 + b, variant.hint);
      loads += fmt::format("  add.u64 %rd{0}, %rd{0}, %row;\n", 5 + b);
    }
    for (int w = 0; w < 4; ++w) {
      const int v = 4 * u + w;
      if (kind.reads == 2) uses += fmt::format("  add.u32 %v{0}, %v{0}, %v{1};\n", v, 16 + v);
      if (!kind.writes) uses += fmt::format("  xor.b32 %r20, %r20, %v{};\n", v);
      if (kind.reads == 0) uses += fmt::format("  cvt.u32.u64 %v{}, %at;\n", v);
    }
    if (kind.writes) {
      uses += fmt::format("  st.global{}.v4.u32 [%rd7], {{%v{}, %v{}, %v{}, %v{}}};\n",
                          variant.hint, 4 * u, 4 * u + 1, 4 * u + 2, 4 * u + 3);
      uses += "  add.u64 %rd7, %rd7, %row;\n";
    }
  }
  text += loads + uses + "  add.u64 %at, %at, %step;\n  bra loop;\ndone:\n";
  if (!kind.writes) {
    // Keeps the loads alive; almost never true.
    text +=
        "  setp.ne.u32 %p, %r20, 0x5eed1e55;\n  @%p bra end;\n  ld.param.u64 %rd3, [sink];\n"
        "  st.global.u32 [%rd3], %r20;\nend:\n";
  }
  text += "  ret;\n}\n";
  const std::string registers = "  .reg .b32 %v<32>;\n";
  text.insert(text.find("{\n") + 2, registers);
  // The address of a write uses %rd3 even if there is no write.
  if (!kind.writes) text.insert(text.find("loop:"), "  mov.u64 %rd3, 0;\n");
  return text;
}

/// Writes random words: zeros would change caches and power.
std::string random_words() {
  return std::string(".visible .entry kw_random(.param .u64 to, .param .u64 count)\n{\n") + kPlace +
         R"(  ld.param.u64 %rd1, [to];
  shr.u64 %step, %step, 2;
loop:
  setp.ge.u64 %p, %at, %n;
  @%p bra done;
  shl.b64 %rd2, %at, 4;
  add.u64 %rd2, %rd1, %rd2;
  cvt.u32.u64 %r4, %at;
  mul.lo.u32 %r5, %r4, 0x9e3779b1;
  shr.u32 %r6, %r5, 15;
  xor.b32 %r5, %r5, %r6;
  mul.lo.u32 %r6, %r5, 0x85ebca77;
  mul.lo.u32 %r7, %r6, 0xc2b2ae3d;
  xor.b32 %r8, %r5, %r7;
  st.global.v4.u32 [%rd2], {%r5, %r6, %r7, %r8};
  add.u64 %at, %at, %step;
  bra loop;
done:
  ret;
}
)";
}

/// Begins an arithmetic kernel: %r1 holds the iterations, %r5 a random word per thread.
std::string open_peak(const std::string& entry, const std::string& registers) {
  return fmt::format(R"(.visible .entry {}(.param .u64 sink, .param .u32 iterations)
{{
  .reg .pred %p, %accumulate;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
{}  ld.param.u32 %r1, [iterations];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r4, %r3, 1024, %r2;
  mul.lo.u32 %r5, %r4, 0x9e3779b1;
  shr.u32 %r6, %r5, 15;
  xor.b32 %r5, %r5, %r6;
  mul.lo.u32 %r5, %r5, 0x85ebca77;
)",
                     entry, registers);
}

/// Combines `count` registers in the first one.
std::string combined(const char* instruction, char name, int count) {
  std::string text;
  for (int i = 1; i < count; ++i)
    text += fmt::format("  {0} %{1}0, %{1}0, %{1}{2};\n", instruction, name, i);
  return text;
}

/// Ends it: `fold` comes after the loop, and `value` (a b32 register) keeps the arithmetic alive.
std::string close_peak(const std::string& fold, const char* value) {
  return fmt::format(R"(  add.s32 %r1, %r1, -1;
  setp.gt.s32 %p, %r1, 0;
  @%p bra loop;
{}  mov.b32 %r7, {};
  setp.ne.u32 %p, %r7, 0x5eed1e55;
  @%p bra end;
  ld.param.u64 %rd0, [sink];
  st.global.u32 [%rd0], %r7;
end:
  ret;
}}
)",
                     fold, value);
}

/// The same for 64-bit registers, which are added.
std::string close_wide_peak(char name, int count) {
  return close_peak(
      combined("add.rn.f64", name, count) + fmt::format("  mov.b64 {{%r8, %r9}}, %{}0;\n", name),
      "%r8");
}

/// A random operand: the thread's word shuffled, with its sign and mantissa, and the exponent of
/// one.
std::string operand(const std::string& reg, int number, const char* keep, const char* one) {
  return fmt::format("  mul.lo.u32 %r6, %r5, {};\n  and.b32 %r6, %r6, {};\n  or.b32 {}, %r6, {};\n",
                     2654435761u + 2u * static_cast<unsigned>(number), keep, reg, one);
}

/// Independent chains of fused multiply-adds, one per register.
std::string fma_loop(PeakKernel& kernel, const char* type, int chains, double flops_each) {
  const bool wide = std::string(type) == "f64";
  const std::string reg = wide ? ".b64" : ".b32";
  std::string text =
      open_peak(kernel.entry, fmt::format("  .reg {} %x<{}>, %m, %c;\n", reg, chains));
  if (wide) {
    text += "  mov.b64 %m, 0x3ff0000000000001;\n  mov.b64 %c, 0x3e00000000000000;\n";
    for (int i = 0; i < chains; ++i)
      text += fmt::format("  add.u32 %r6, %r5, {0};\n  cvt.rn.f64.u32 %x{0}, %r6;\n", i);
  } else if (std::string(type) == "f32") {
    text += "  mov.b32 %m, 0x3f800001;\n  mov.b32 %c, 0x38d1b717;\n";
    for (int i = 0; i < chains; ++i)
      text += operand(fmt::format("%x{}", i), i, "0x807fffff", "0x3f800000");
  } else {
    text += "  mov.b32 %m, 0x3bff3bff;\n  mov.b32 %c, 0x14001400;\n";
    for (int i = 0; i < chains; ++i)
      text += operand(fmt::format("%x{}", i), i, "0x83ff83ff", "0x3c003c00");
  }
  text += "loop:\n";
  constexpr int kRepeats = 8;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (int i = 0; i < chains; ++i)
      text += fmt::format("  fma.rn.{0} %x{1}, %x{1}, %m, %c;\n", type, i);
  }
  kernel.operations = flops_each * chains * kRepeats;
  return text + (wide ? close_wide_peak('x', chains)
                      : close_peak(combined("xor.b32", 'x', chains), "%x0"));
}

struct Mma {
  const char* entry;
  const char* precision;
  const char* shape;  // "m16n8k16"
  const char* types;  // of D, A, B, C
  int a, b, c;        // 32-bit registers
  const char* keep;
  const char* one;
  double operations;  // per warp
};

/// Eight independent products per warp; A and B never change.
std::string mma_loop(const Mma& mma, PeakKernel& kernel) {
  constexpr int kChains = 8;
  const bool integer = std::string(mma.precision) == "int8";
  kernel.operations = mma.operations * kChains / 32;
  std::string text = open_peak(mma.entry, fmt::format("  .reg .b32 %a<{}>, %b<{}>, %d<{}>;\n",
                                                      mma.a, mma.b, mma.c * kChains));
  for (int i = 0; i < mma.a; ++i) text += operand(fmt::format("%a{}", i), i, mma.keep, mma.one);
  for (int i = 0; i < mma.b; ++i) text += operand(fmt::format("%b{}", i), 7 + i, mma.keep, mma.one);
  for (int i = 0; i < mma.c * kChains; ++i) text += fmt::format("  mov.b32 %d{0}, {0};\n", i);
  text += "loop:\n";
  const auto list = [](const char* name, int first, int count) {
    std::string registers;
    for (int i = 0; i < count; ++i)
      registers += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, first + i);
    return "{" + registers + "}";
  };
  for (int chain = 0; chain < kChains; ++chain) {
    const std::string d = list("d", chain * mma.c, mma.c);
    text += fmt::format("  mma.sync.aligned.{}.row.col{}.{} {}, {}, {}, {};\n", mma.shape,
                        integer ? ".satfinite" : "", mma.types, d, list("a", 0, mma.a),
                        list("b", 0, mma.b), d);
  }
  return text + close_peak(combined("xor.b32", 'd', mma.c * kChains), "%d0");
}

/// fp64 on the tensor cores: registers are 64 bits wide.
std::string dmma_loop(PeakKernel& kernel) {
  constexpr int kChains = 8;
  kernel.operations = 512.0 * kChains / 32;
  std::string text =
      open_peak(kernel.entry, fmt::format("  .reg .b64 %a, %b, %d<{}>;\n", 2 * kChains));
  text += "  cvt.rn.f64.s32 %a, %r5;\n  cvt.rn.f64.s32 %b, %r4;\n";
  for (int i = 0; i < 2 * kChains; ++i) text += fmt::format("  mov.b64 %d{0}, {0};\n", i);
  text += "loop:\n";
  for (int i = 0; i < kChains; ++i) {
    text += fmt::format(
        "  mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {{%d{0}, %d{1}}}, {{%a}}, {{%b}}, "
        "{{%d{0}, %d{1}}};\n",
        2 * i, 2 * i + 1);
  }
  return text + close_wide_peak('d', 2 * kChains);
}

struct Wgmma {
  const char* entry;
  const char* precision;
  const char* shape;  // "m64n256k16"
  const char* types;
  const char* keep;
  const char* one;
  double operations;  // per warp group
  bool transposable;  // 16-bit types state which operands are transposed
  bool integer;
};

/// Hopper's warp group products, operands in shared memory, four steps deep. Only the rate matters,
/// so the tiles hold random words in the plain layout: cores of 128 bytes, 128 bytes apart along k
/// and 256 along m or n.
std::string wgmma_loop(const Wgmma& w, PeakKernel& kernel) {
  constexpr int kSteps = 4;
  kernel.operations = w.operations * kSteps / 128;
  const char* type = w.integer ? "s32" : "f32";
  std::string text = open_peak(w.entry,
                               "  .reg .b64 %la<4>, %lb<4>;\n  .reg .b32 %d<128>;\n"
                               "  .shared .align 1024 .b8 tile[40960];\n");
  text += fmt::format(R"(  mov.u32 %r8, tile;
  mov.u32 %r9, %r2;
fill:
  shl.b32 %r10, %r9, 2;
  add.u32 %r10, %r10, %r8;
  mul.lo.u32 %r11, %r9, 0x9e3779b1;
  shr.u32 %r12, %r11, 13;
  xor.b32 %r11, %r11, %r12;
  mul.lo.u32 %r11, %r11, 0x85ebca77;
  and.b32 %r11, %r11, {};
  or.b32 %r11, %r11, {};
  st.shared.u32 [%r10], %r11;
  add.u32 %r9, %r9, 128;
  setp.lt.u32 %p, %r9, 10240;
  @%p bra fill;
  fence.proxy.async;
  bar.sync 0;
  setp.eq.u32 %accumulate, 0, 0;
  shr.u32 %r10, %r8, 4;
  and.b32 %r10, %r10, 0x3fff;
  cvt.u64.u32 %rd1, %r10;
  or.b64 %rd1, %rd1, 0x0000001000080000;
)",
                      w.keep, w.one);
  // A has 2 KiB per step from the start, B 8 KiB from 8 KiB on; descriptors count 16 bytes.
  for (int step = 0; step < kSteps; ++step) {
    text += fmt::format("  add.u64 %la{0}, %rd1, {1};\n  add.u64 %lb{0}, %rd1, {2};\n", step,
                        128 * step, 512 + 512 * step);
  }
  std::string registers;
  for (int i = 0; i < 128; ++i) {
    text += fmt::format("  mov.b32 %d{}, 0;\n", i);
    registers += fmt::format("{}%d{}", i == 0 ? "" : ", ", i);
  }
  text += "loop:\n  wgmma.fence.sync.aligned;\n";
  for (int step = 0; step < kSteps; ++step) {
    text += fmt::format(
        "  wgmma.mma_async.sync.aligned.{}.{}.{} {{{}}}, %la{}, %lb{}, %accumulate{};\n", w.shape,
        type, w.types, registers, step, step,
        w.integer        ? ""
        : w.transposable ? ", 1, 1, 0, 0"
                         : ", 1, 1");
  }
  text += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  return text + close_peak(combined("xor.b32", 'd', 128), "%d0");
}

PeakImage plain_image() {
  PeakImage image{0, false, header("6.4", "sm_75"), {}};
  const auto add = [&](PeakKernel kernel, const char* type, int chains, double flops) {
    image.ptx += fma_loop(kernel, type, chains, flops);
    image.kernels.push_back(kernel);
  };
  add({"kw_peak_fp32", "fp32", "fma", 256, 8, 0}, "f32", 16, 2);
  add({"kw_peak_fp64", "fp64", "fma", 256, 8, 0}, "f64", 8, 2);
  add({"kw_peak_half2", "fp16", "fma.f16x2", 256, 8, 0}, "f16x2", 16, 4);
  return image;
}

PeakImage ampere_image() {
  PeakImage image{80, false, header("7.0", "sm_80"), {}};
  const Mma rows[] = {
      {"kw_peak_mma_fp16", "fp16", "m16n8k16", "f32.f16.f16.f32", 4, 2, 4, "0x83ff83ff",
       "0x3c003c00", 4096},
      {"kw_peak_mma_bf16", "bf16", "m16n8k16", "f32.bf16.bf16.f32", 4, 2, 4, "0x807f807f",
       "0x3f803f80", 4096},
      {"kw_peak_mma_tf32", "tf32", "m16n8k8", "f32.tf32.tf32.f32", 4, 2, 4, "0x807fe000",
       "0x3f800000", 2048},
      {"kw_peak_mma_int8", "int8", "m16n8k32", "s32.s8.s8.s32", 4, 2, 4, "0xffffffff", "0", 8192},
  };
  for (const Mma& row : rows) {
    PeakKernel kernel{row.entry, row.precision, std::string("mma.") + row.shape, 256, 4, 0};
    image.ptx += mma_loop(row, kernel);
    image.kernels.push_back(kernel);
  }
  PeakKernel kernel{"kw_peak_mma_fp64", "fp64", "mma.m8n8k4", 256, 4, 0};
  image.ptx += dmma_loop(kernel);
  image.kernels.push_back(kernel);
  return image;
}

PeakImage hopper_image() {
  PeakImage image{90, true, header("8.0", "sm_90a"), {}};
  const Wgmma rows[] = {
      {"kw_peak_wgmma_fp16", "fp16", "m64n256k16", "f16.f16", "0x83ff83ff", "0x3c003c00", 524288,
       true, false},
      {"kw_peak_wgmma_bf16", "bf16", "m64n256k16", "bf16.bf16", "0x807f807f", "0x3f803f80", 524288,
       true, false},
      {"kw_peak_wgmma_tf32", "tf32", "m64n256k8", "tf32.tf32", "0x807fe000", "0x3f800000", 262144,
       false, false},
      {"kw_peak_wgmma_fp8", "fp8", "m64n256k32", "e4m3.e4m3", "0x87878787", "0x38383838", 1048576,
       false, false},
      {"kw_peak_wgmma_int8", "int8", "m64n256k32", "s8.s8", "0xffffffff", "0", 1048576, false,
       true},
  };
  for (const Wgmma& row : rows) {
    PeakKernel kernel{row.entry, row.precision, std::string("wgmma.") + row.shape, 128, 3, 0};
    image.ptx += wgmma_loop(row, kernel);
    image.kernels.push_back(kernel);
  }
  return image;
}

}  // namespace

std::string traffic_ptx() {
  std::string text = header("6.4", "sm_75") + ".visible .entry kw_empty() { ret; }\n";
  text += random_words();
  const Traffic kinds[] = {
      {"kw_read", ".param .u64 from0, .param .u64 sink", 1, false},
      {"kw_write", ".param .u64 to", 0, true},
      {"kw_copy", ".param .u64 from0, .param .u64 to", 1, true},
      {"kw_add", ".param .u64 from0, .param .u64 from1, .param .u64 to", 2, true},
  };
  const AccessVariant variants[] = {{"", 4, ""}, {"_one", 1, ""}, {"_streamed", 1, ".cs"}};
  for (const Traffic& kind : kinds) {
    for (const AccessVariant& variant : variants) text += traffic(kind, variant);
  }
  return text;
}

std::vector<PeakImage> peak_images() { return {plain_image(), ampere_image(), hopper_image()}; }

}  // namespace kw::cuda
