// SPDX-License-Identifier: Apache-2.0
// Looks at this machine, and says what each finding means for the kit and what to do about it.
//
//   ./odori doctor [--lang ja] [--json FILE] [--quick]
//
//   [ good ] 1 GPU: NVIDIA H200 (140 GiB).
//   [ slow ] NCCL 2.28.9: two ranks of this node talk over NET/Socket.
//            -> With one GPU, two ranks have to share it, and NCCL then uses sockets. ...
//
//   This machine is ready for all tasks; ...
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "comm/communicator.h"
#include "comm/session.h"
#include "doctor/probe.h"
#include "errors/error.h"
#include "files/file.h"
#include "files/json.h"
#include "flags/command_line.h"
#include "program/program.h"
#include "report/machine.h"

using namespace odori;
using namespace odori::doctor;

namespace {

constexpr int environment = 20;  // something keeps the kit, or this machine's GPUs, from working

struct Flags {
  std::string json;
  bool quick = false;
};

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  CommandLine line("Looks at this machine: GPUs, driver, MPI, NCCL, binding, cores, disk; and says what to do.",
                   "./odori doctor", argc, argv);
  line.add_option("--json", flags.json, "Write the findings into this file as well");
  line.add_flag("--quick", flags.quick, "Leave out the short training runs on the GPUs");
  line.parse();
  return flags;
}

/// What probe.cpp starts as two ranks: 1 MB both ways.
void exchange(int argc, char** argv) {
  const MpiSession mpi(argc, argv);
  const auto comm = create_communicator("flat");
  require(comm->size() == 2, "mpirun -np 2 started a job of {} rank.", comm->size());
  const int own = comm->rank(), other = 1 - own;
  const std::vector<float> sent(std::size_t{1} << 18, static_cast<float>(own));
  std::vector<float> received(sent.size(), -1.0f);
  comm->exchange(sent, other, received, other);
  require(std::ranges::all_of(received, [other](float value) { return value == static_cast<float>(other); }),
          "Rank {} received other values than rank {} sent.", own, other);
  if (own == 0) fmt::print("{}\n", exchanged);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 2 && std::string_view(argv[1]) == exchange_command) {
    exchange(argc, argv);
    return exit_code::ok;
  }
  if (argc == 2 && std::string_view(argv[1]) == copies_command) {
    copy_between_gpus();
    return exit_code::ok;
  }
  const Flags flags = parse_flags(argc, argv);
  const auto findings = diagnose(probe({.trainings = !flags.quick, .out = "out"}));
  fmt::print("{}\n{}", describe(this_machine()), to_text(findings, language()));
  if (!flags.json.empty()) write_file(flags.json, json_text(to_json(findings, language()), 2) + "\n");
  return works(findings) ? exit_code::ok : environment;
} catch (...) {
  return report_failure();
}
