// The program. Everything it does is in src/apps/cli.
#include "cli/main.h"

int main(int argc, char** argv) { return kw::cli::main(argc, argv); }
