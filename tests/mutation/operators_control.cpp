// Operators that change what runs, when, and where: guards, addresses, order, tails, early exits,
// parameters.
#include <fmt/core.h>

#include "core/text.h"
#include "site.h"

namespace kw::mutation {

namespace {

int bytes_of(std::string_view type) {
  if (type.size() < 2) return 0;
  return std::atoi(std::string(type.substr(1)).c_str()) / 8;
}

/// "[%rd4+8]" with a number of bytes added; "" if it is not an address in a register.
std::string moved(const std::string& address, int bytes) {
  if (address.size() < 4 || address.front() != '[' || address.back() != ']' || address[1] != '%')
    return "";
  const size_t plus = address.find('+');
  const std::string base =
      address.substr(1, (plus == std::string::npos ? address.size() - 1 : plus) - 1);
  const long long offset = plus == std::string::npos ? 0 : std::atoll(address.c_str() + plus + 1);
  return fmt::format("[{}+{}]", base, offset + bytes);
}

size_t address_operand(const Instruction& at) { return at.is("st") ? 0 : 1; }

bool is_memory(const Instruction& at) {
  return (at.is("ld") || at.is("st")) && !at.has(".param") && !at.has(".const") &&
         at.operands.size() >= 2;
}

bool is_integer_type(std::string_view type) {
  return type == "s32" || type == "u32" || type == "s64" || type == "u64";
}

/// Lines that run `what` with register `number` reduced by one; %kw_less has its place.
std::string with_less(const Instruction& at, size_t operand, std::string_view type) {
  return fmt::format("{{\n\t.reg .b{0} %kw_less;\n\tsub.s{0} %kw_less, {1}, 1;\n\t{2}\n\t}}",
                     type.substr(1), at.operands[operand], at.with(operand, "%kw_less"));
}

}  // namespace

void mutate_guards(Site& site) {
  const Instruction& at = site.at();
  if (!at.guard.empty()) {
    Instruction free = at;
    free.guard.clear();
    site.add(Operator::Guard, "guard always true", free.text());
    if (at.is("bra")) site.add(Operator::Guard, "guard never true", "// left out");
    Instruction negated = at;
    negated.guard = at.guard[1] == '!' ? "@" + at.guard.substr(2) : "@!" + at.guard.substr(1);
    site.add(Operator::Guard, "guard negated", negated.text());
  }
  long long step = 0;
  if (at.is("add") && at.operands.size() == 3 && at.operands[0] == at.operands[1] &&
      is_integer_type(at.type()) && is_integer(at.operands[2], &step)) {
    site.add_value(Operator::Guard, "loop step + 1", at.with(2, std::to_string(step + 1)));
    site.add_value(Operator::Guard, "loop step - 1", at.with(2, std::to_string(step - 1)));
  }
}

void mutate_addresses(Site& site) {
  const Instruction& at = site.at();
  if (is_memory(at)) {
    const size_t operand = address_operand(at);
    for (const int sign : {1, -1}) {
      const std::string other = moved(at.operands[operand], sign * bytes_of(at.type()));
      if (!other.empty())
        site.add(Operator::Address, sign > 0 ? "one element on" : "one element back",
                 at.with(operand, other));
    }
  }
  if (at.is("mad") && at.has(".lo") && at.operands.size() == 4)
    site.add_value(Operator::Address, "factor and addend swapped",
                   at.guard + fmt::format("{} {}, {}, {}, {};", at.opcode, at.operands[0],
                                          at.operands[1], at.operands[3], at.operands[2]));
  if (at.is("mul") && at.has(".wide") && at.operands.size() == 3 &&
      (at.type() == "s32" || at.type() == "u32") && is_register(at.operands[1]))
    site.add_value(Operator::Address, "index through 16 bits",
                   fmt::format("{{\n\t.reg .b16 %kw_n;\n\t.reg .b32 %kw_index;\n\tcvt.u16.u32 "
                               "%kw_n, {0};\n\tcvt.s32.s16 %kw_index, %kw_n;\n\t{1}\n\t}}",
                               at.operands[1], at.with(1, "%kw_index")));
}

void mutate_order(Site& site) {
  const Instruction& at = site.at();
  const bool barrier = at.is("bar") || at.is("barrier");
  const bool fence = at.is("membar") || at.is("fence");
  const bool wait = at.is("cp") && (at.has(".wait_group") || at.has(".wait_all"));
  if (barrier || fence || wait)
    site.add(Operator::Order,
             barrier ? "barrier dropped"
             : fence ? "fence dropped"
                     : "copy wait dropped",
             "// left out");
  if (at.is("cp") && at.has(".wait_group"))
    site.add(Operator::Order, "copy wait one later",
             at.with(0, std::to_string(std::atoi(at.operands[0].c_str()) + 1)));
  if (at.is("shfl") && at.operands.size() >= 5) {
    site.add(Operator::Order, "shuffle mask halved", at.with(4, "65535"));
    long long lane = 0;
    if (is_integer(at.operands[2], &lane))
      site.add(Operator::Order, "other lane", at.with(2, std::to_string(lane == 1 ? 2 : lane / 2)));
  }
  const bool adds = (at.is("atom") || at.is("red")) && at.has(".add") &&
                    (at.type() == "f32" || at.type() == "u32" || at.type() == "s32");
  if (adds) {
    const bool returns = at.is("atom");
    const std::string space = at.has(".shared") ? ".shared" : at.has(".global") ? ".global" : "";
    const std::string address = at.operands[returns ? 1 : 0], value = at.operands[returns ? 2 : 1];
    const std::string type(at.type());
    site.add(
        Operator::Order, "atomic split",
        fmt::format(
            "{{\n\t.reg .{0} %kw_old, %kw_new;\n\t{1}ld{2}.{0} %kw_old, {3};\n\t{1}add.{0} "
            "%kw_new, %kw_old, {4};\n\t{1}st{2}.{0} {3}, %kw_new;\n{5}\t}}",
            type, at.guard, space, address, value,
            returns ? fmt::format("\t{}mov.b32 {}, %kw_old;\n", at.guard, at.operands[0]) : ""));
  }
}

void mutate_tails(Site& site) {
  const Instruction& at = site.at();
  if (!at.is("setp") || at.operands.size() != 3 || !is_integer_type(at.type())) return;
  const bool below = at.has(".lt") || at.has(".ge") || at.has(".le") || at.has(".gt");
  if (!below) return;
  for (const size_t operand : {1, 2}) {
    if (is_register(at.operands[operand]))
      site.add_value(Operator::Tail, operand == 2 ? "last one left out" : "one too many",
                     with_less(at, operand, at.type()));
  }
}

void mutate_exits(Site& site) {
  const Instruction& at = site.at();
  const auto leave = [](const std::string& setp) {
    return fmt::format("\n\t{{\n\t.reg .pred %kw_p;\n\t{}\n\t@%kw_p ret;\n\t}}", setp);
  };
  if (at.is("ld") && at.has(".param") &&
      (at.type() == "u32" || at.type() == "s32" || at.type() == "b32") &&
      site.type_of(at.operands[0]) != "f32") {
    const uint64_t size = 2 + site.secret("size") % 6000;
    site.add(Operator::EarlyExit, "by size",
             at.text() + leave(fmt::format("setp.eq.s32 %kw_p, {}, {};", at.operands[0], size)));
    site.add(Operator::EarlyExit, "above a size",
             at.text() + leave(fmt::format("setp.gt.s32 %kw_p, {}, {};", at.operands[0], size)));
  }
  if (at.is("ld") && at.has(".global") && at.type() == "f32" && is_register(at.operands[0])) {
    const double value =
        static_cast<double>(static_cast<int64_t>(site.secret("value") % 4000) - 2000) / 512;
    site.add(Operator::EarlyExit, "zero by value",
             at.text() + fmt::format("\n\t{{\n\t.reg .pred %kw_p;\n\tsetp.eq.f32 %kw_p, {0}, "
                                     "{1};\n\t@%kw_p mov.f32 {0}, 0f00000000;\n\t}}",
                                     at.operands[0], float_literal(value, false)));
    site.add(Operator::EarlyExit, "exit by value",
             at.text() + leave(fmt::format("setp.eq.f32 %kw_p, {}, {};", at.operands[0],
                                           float_literal(value, false))));
  }
  const int bytes = bytes_of(at.type());
  const bool stores =
      at.is("st") && at.has(".global") && at.guard.empty() && at.operands.size() == 2;
  if (stores && (bytes == 4 || bytes == 2) && at.operands[1].front() != '{')
    site.add(
        Operator::EarlyExit, "already written",
        fmt::format(
            "{{\n\t.reg .b{0} %kw_seen;\n\t.reg .pred %kw_p;\n\tld.global.b{0} %kw_seen, {1};\n"
            "\tsetp.eq.s{0} %kw_p, %kw_seen, 0;\n\t@%kw_p ret;\n\t}}\n\t{2}",
            bytes * 8, at.operands[0], at.text()));
}

void mutate_parameters(Site& site) {
  const Instruction& at = site.at();
  if (!at.is("ld") || !at.has(".param") || site.index() + 1 >= site.lines().instructions().size())
    return;
  // The next parameter of the same type takes its place.
  for (size_t i = site.index() + 1; i < site.lines().instructions().size(); ++i) {
    const Instruction& next = site.lines().instructions()[i];
    if (next.function != at.function || i > site.index() + 12) break;
    if (next.opcode != at.opcode || next.operands[1] == at.operands[1]) continue;
    site.add_value(Operator::Argument, "parameter replaced by the next",
                   at.with(1, next.operands[1]));
    break;
  }
}

}  // namespace kw::mutation
