// Arguments that several tools share, and the two halves of the table. Internal to mcp.
#pragma once

#include <vector>

#include "mcp/tool.h"

namespace kw::mcp {

/// Tasks and kernels: what a call asks, it answers.
std::vector<Tool> kernel_tools();
/// Runs, optimisations and jobs: what stays after a call.
std::vector<Tool> run_tools();

inline constexpr const char* kDevices = "auto,gpu,vgpu";
inline constexpr const char* kCompilers = "nvrtc,nvcc,clang";
inline constexpr double kMostSeed = 9007199254740991;
inline constexpr double kHour = 3600;
inline constexpr Argument kReference[] = {
    {"reference", Kind::Reference, "--reference",
     "what it must compute: a Python file with a PyTorch function or model, or a task folder",
     true}};
inline constexpr Argument kTask[] = {
    {"function", Kind::Id, "--function", "which function or class of the reference"},
    {"inputs", Kind::Texts, "--input",
     "inputs the reference's file does not describe: \"x:fp16[B,D]\" or \"eps=1e-5\""},
    {"dims", Kind::Dims, "--dims",
     "the shape, e.g. {\"B\": 4096, \"D\": 1024}; default: the task's own"}};
inline constexpr Argument kBuild[] = {
    {"target", Kind::Id, "--target", "compile for this target, e.g. sm_90a"},
    {"compiler", Kind::Choice, "--compiler", "default: the first found", false, kCompilers},
    {"timeout", Kind::Number, "--timeout", "seconds for each compile and each run", false, "", 0.1,
     kHour}};
inline constexpr Argument kDevice[] = {
    {"device", Kind::Choice, "--device",
     "auto: a GPU if there is one; vgpu: the virtual GPU, with every check on", false, kDevices}};
inline constexpr Argument kSeed[] = {
    {"seed", Kind::Whole, "--seed",
     "draw inputs from this seed: repeatable, and so never certified", false, "", 0, kMostSeed}};
inline constexpr Argument kCrossCheck[] = {
    {"cross_check", Kind::Choice, "--cross-check",
     "let PyTorch evaluate the reference too; this runs the reference's Python (--allow-python)",
     false, "auto,always,never"}};
inline constexpr Argument kQuick[] = {
    {"quick", Kind::Flag, "--quick",
     "one process and few samples: for screening, never certified"}};
inline constexpr Argument kLasting[] = {
    {"background", Kind::Waiting, "",
     "give a job handle at once; ask job_status and job_result later"},
    {"wait_seconds", Kind::Waiting, "", "give a job handle if it takes longer than this", false, "",
     0, 86400}};
inline constexpr Argument kFull[] = {
    {"full", Kind::Waiting, "", "leave nothing out of the result: raw samples, counters by line"}};

}  // namespace kw::mcp
