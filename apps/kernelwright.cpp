// The program. Everything it does is in src/apps/commands.
#include "commands/main.h"

int main(int argc, char** argv) { return kw::commands::main(argc, argv); }
