// Machine code as the disassembler prints it: functions whose facts can be counted, or an Error.
#include "drive.h"
#include "profile/sass.h"
#include "profile/sass_text.h"

namespace kw::fuzz {

const std::vector<std::string> kPieces = {"\t\tFunction : k\n",
                                          "/*0000*/",
                                          "/*fffffffffffffff0*/",
                                          "@P0 ",
                                          "BRA 0x10",
                                          "BRA `(.L_x_1)",
                                          ".L_x_1:",
                                          "LDG.E.128 R4, [R2.64]",
                                          "EXIT",
                                          ";",
                                          "/* 0x000fe200078e00ff */",
                                          "HMMA.16816.F32",
                                          "\n",
                                          "-0x1",
                                          "UR4",
                                          "Fatbin elf code:",
                                          "R255",
                                          "0x",
                                          "*/",
                                          "/*"};

void check(const std::string& bytes) {
  const auto functions = profile::parse_sass(bytes);
  if (!functions) return require(!functions.error().message.empty(), "an Error says something");
  for (const auto& function : *functions) (void)profile::sass_facts(function);
  const auto facts = profile::total_facts(*functions);
  (void)profile::facts_text(facts, "  ");
  (void)profile::fact_changes(facts, facts);
}

}  // namespace kw::fuzz
