// task.toml: read as data, or refused with a place.
#include "drive.h"
#include "task_formats/task_toml.h"

namespace kw::fuzz {

const std::vector<std::string> kPieces = {"[task]\n",
                                          "[inputs.x]\n",
                                          "[[shapes]]\n",
                                          "[dims.N]\n",
                                          "name = \"x\"\n",
                                          "dtype = \"fp32\"\n",
                                          "shape = [\"N\"]\n",
                                          "= ",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          "\"",
                                          "'''",
                                          "\n",
                                          "-1",
                                          "1e999",
                                          "0x7f",
                                          "9223372036854775808",
                                          "2026-11-19",
                                          "true",
                                          "reference = \"../../x.py\"\n",
                                          "min = ",
                                          "max = ",
                                          "a.b.c = ",
                                          "#",
                                          "\\u0000",
                                          "\xff"};

void check(const std::string& bytes) {
  const auto task = task_formats::parse_task_toml(bytes, "task.toml");
  require(task || task.error().blame == Blame::Input, "bad data is bad input");
  require(task || task.error().message.find("task.toml") != std::string::npos, "the file is named");
}

}  // namespace kw::fuzz
