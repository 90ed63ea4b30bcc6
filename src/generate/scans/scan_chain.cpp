// Blocks of one launch pass totals to each other (decoupled look-back). Each block first publishes
// the total of its part of a row, then the total up to the end of its part. Flags tell which one is
// there. A ticket gives out parts in order, so a block only waits for blocks that have started.
#include <fmt/core.h>

#include "emit/emit.h"
#include "scans/scan.h"

namespace kw::generate {

namespace {

/// "totals[at]", with its position if states have one.
std::string state_at(const Joining& joining, const std::string& at) {
  return joining.of(fmt::format("totals[{}]", at),
                    fmt::format("static_cast<Index>(places[{}])", at));
}

void write_handed_on(CudaWriter& w, const Joining& joining, const std::string& at,
                     const std::string& state, const std::string& flag) {
  w.line("totals[{}] = {};", at, joining.value(state));
  if (joining.has_place()) w.line("places[{}] = {};", at, joining.place(state));
  w.line("store_release(flags + own, {});", flag);
}

}  // namespace

std::string chain_text(const Joining& joining, const std::string& prefix) {
  const char* all = "0xffffffffu";
  CudaWriter w;
  w.comment(
      "What lies before part `own` of its row. Every lane of the warp asks one of 32 parts: "
      "flag 1 means its total is known, 2 that all up to its end is.");
  w.line("template <typename Index>");
  w.line("__device__ __forceinline__ {}", joining.type());
  {
    const auto function = w.block(
        "{}_before(const {}* totals, {}const unsigned int* flags, Index own, Index part)", prefix,
        register_type(joining.dtype()), joining.has_place() ? "const long long* places, " : "");
    w.line("const int lane = threadIdx.x % 32;");
    w.line("{} carry = {};", joining.type(), joining.identity());
    {
      const auto loop = w.block("for (Index back = 0; back < part; back += 32)");
      w.line("const Index steps = back + 32 - lane, other = own - steps;");
      w.line("unsigned int flag = 2;");
      w.line("{} found = {};", joining.type(), joining.identity());
      {
        const auto there = w.block("if (steps <= part)");
        w.line("do flag = load_acquire(flags + other);");
        w.line("while (flag == 0);");
        w.line("found = {};", state_at(joining, "2 * other + flag - 1"));
      }
      w.line("const unsigned int whole = __ballot_sync({}, flag == 2);", all);
      w.line("if (whole != 0 && lane < 31 - __clz(whole)) found = {};", joining.identity());
      w.line("found = {};", joining.upto("found", "lane", all, "32"));
      w.line("found = {};", joining.from_lane("found", "31", all, "32"));
      w.line("carry = back == 0 ? found : {};", joining.join("found", "carry"));
      w.line("if (whole != 0) break;");
    }
    w.line("return carry;");
  }
  return w.text();
}

void write_chain_link(CudaWriter& w, const Joining& joining, const std::string& prefix) {
  w.line("const {} total = {};", joining.type(),
         joining.from_lane("sofar", "31", "0xffffffffu", "32"));
  {
    const auto first = w.block("if (warp == 0)");
    {
      const auto one = w.block("if (member == 0 && part > 0)");
      write_handed_on(w, joining, "2 * own", "total", "1");
    }
    w.line("if (part > 0) carry = {}_before(totals, {}flags, own, part);", prefix,
           joining.has_place() ? "places, " : "");
    const auto one = w.block("if (member == 0)");
    w.line("const {} whole = part == 0 ? total : {};", joining.type(),
           joining.join("carry", "total"));
    write_handed_on(w, joining, "2 * own + 1", "whole", "2");
    w.line("handed = carry;");
  }
  w.line("__syncthreads();");
  w.line("carry = handed;");
}

void write_ticket(CudaWriter& w, const Joining& joining, const std::string& length,
                  const std::string& tile) {
  w.line("__shared__ {} handed;", joining.type());
  w.line("__shared__ unsigned int ticket;");
  w.line("if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);");
  w.line("__syncthreads();");
  w.line("const Index parts = ({0} + {1} - 1) / ({1}), own = ticket;", length, tile);
  w.line("const Index row = own / parts, part = own % parts;");
  w.line("const Index start = part * {};", tile);
}

}  // namespace kw::generate
