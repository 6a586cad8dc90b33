// SPDX-License-Identifier: Apache-2.0
// A learner's commands: ./odori check, status, reset, solution, watch, ready
#include "errors/error.h"
#include "learner/commands.h"
#include "program/program.h"

using namespace odori;

int main(int argc, char** argv) try {
  catch_interrupts();
  const grader::Flags flags = grader::parse_flags(argc, argv);
  if (flags.command == "status") return grader::status(flags);
  if (flags.command == "reset") return grader::reset(flags);
  if (flags.command == "solution") return grader::solution(flags);
  if (flags.command == "watch") return grader::watch(flags);
  if (flags.command == "ready") return grader::ready(flags);
  return grader::check(flags);
} catch (...) {
  return report_failure();
}
