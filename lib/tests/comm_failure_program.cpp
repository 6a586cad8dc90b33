// One rank fails in the way that argv[1] names, while the others wait for it: run by comm_failure_test.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "comm/communicator.h"
#include "comm/session.h"
#include "core/error.h"
#include "core/program.h"

using namespace odori;

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  const auto comm = create_communicator("flat");
  const std::string way = argc > 1 ? argv[1] : "";
  comm->barrier();

  if (way == "throw everywhere") fail("The cause of this failure.");
  if (way == "help") throw HelpRequested("Usage: as one pleases.\n");
  if (way == "blank") throw Error("The cause of this failure.", exit_code::unfilled);
  if (way == "early") {
    if (comm->rank() != 1) std::this_thread::sleep_for(std::chrono::seconds(7));
    return 0;
  }
  if (comm->rank() == 1) {
    if (way == "throw") fail("The cause of this failure.");
    if (way == "exit") std::exit(0);
    if (way == "killed") std::raise(SIGKILL);
    if (way == "communicator") create_communicator("no such thing");
  }
  comm->barrier();
  return 0;
} catch (...) {
  return report_failure();
}
