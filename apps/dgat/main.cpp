// dgat: one process.
#include "program.h"

int main(int argc, char** argv) {
  return dgat::app::run_program(argc, argv);
}
