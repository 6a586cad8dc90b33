// The grader: ./odori check TASK
#include "core/error.h"
#include "core/program.h"
#include "learner/check.h"
#include "learner/flags.h"

using namespace odori;

int main(int argc, char** argv) try {
  catch_interrupts();
  return grader::check(grader::parse_flags(argc, argv));
} catch (...) {
  return report_failure();
}
