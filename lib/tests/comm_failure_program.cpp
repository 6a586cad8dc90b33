// SPDX-License-Identifier: Apache-2.0
// One rank fails in the way that argv[1] names, while the others wait for it: run by comm_failure_test.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backend/device_pool.h"
#include "comm/communicator.h"
#include "comm/session.h"
#include "distributed/scatter.h"
#include "errors/error.h"
#include "program/program.h"
#include "program/rank_table.h"

using namespace odori;

void average(Communicator& comm) {
  DevicePool pool({.request = DeviceRequest::cpu});
  Device& device = pool.device(0);
  Buffer buffer = device.allocate(4);
  const Range all{0, 4};
  comm.all_reduce_mean(device, buffer, {&all, 1});
}

/// Mistakes in the calls that all ranks have to make.
void differ(const std::string& way, Communicator& comm) {
  const bool first = comm.rank() == 0;
  std::vector<double> values(way == "other length" && first ? 2 : 3);
  std::vector<float> floats(4);
  if (way == "on one rank" && first) comm.barrier();
  if (way == "other order") first ? comm.sum(values) : comm.barrier();
  if (way == "other length" || way == "other order") comm.sum(values);
  if (way == "other root") comm.broadcast(std::as_writable_bytes(std::span(values)), comm.rank());
  if (way == "no broadcast" && comm.rank() != 1) comm.broadcast(std::as_writable_bytes(std::span(values)));
  if (way == "scattered by one" && first) scatter_dataset(nullptr, comm);
  if (way == "group" || way == "other root of a group") {
    const ProcessGroup pair = comm.group().split(comm.rank() == 2 ? 1 : 0);
    if (way == "group" && comm.rank() == 1) pair.all_reduce(floats);
    if (comm.rank() < 2) pair.broadcast(floats, way == "group" ? 0 : comm.rank());
  }
  if (way == "group and job") comm.rank() == 1 ? comm.group().all_reduce(floats) : comm.barrier();
  if (way == "second communicator" && first) create_communicator("naive");
  comm.all_gather(comm.rank());
}

/// As a container may: process_vm_readv and process_vm_writev return EPERM from now on.
void refuse_reads() {
  std::array<sock_filter, 5> filter{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
                                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{filter.size(), filter.data()};
  require(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
              ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0,
          "This system does not filter system calls.");
}

int main(int argc, char** argv) try {
  const std::string_view place = std::getenv("OMPI_COMM_WORLD_RANK");
  if (argc > 1 && std::string_view(argv[1]) == "exit before MPI" && place == "1") return 0;
  if (argc > 1 && std::string_view(argv[1]) == "no reads") refuse_reads();
  const MpiSession mpi(argc, argv);
  const auto comm = create_communicator("flat");
  const std::string way = argc > 1 ? argv[1] : "";
  comm->barrier();

  if (way == "goes on" && comm->rank() == 0)
    std::atexit([] {  // into a file: on a busy machine mpirun, which passes on what is printed, might be gone before
      std::ofstream(std::getenv("ODORI_PID_FILE")) << ::getpid();
      ::kill(::getppid(), SIGKILL);
      std::this_thread::sleep_for(std::chrono::seconds(120));
    });
  if (way == "throw everywhere") fail("The cause of this failure.");
  if (way == "help") throw HelpRequested("Usage: as one pleases.\n");
  if (way == "blank") throw Error("The cause of this failure.", exit_code::unfilled);
  if (way == "early") {
    if (comm->rank() != 1) std::this_thread::sleep_for(std::chrono::seconds(7));
    return 0;
  }
  differ(way, *comm);
  const std::vector<int> processes = comm->all_gather(::getpid());
  if (way == "continued" && comm->rank() == 2) {
    std::this_thread::sleep_for(std::chrono::seconds(4));
    ::kill(processes[1], SIGCONT);
  }
  if (way == "the first is stopped" && comm->rank() == 0) std::raise(SIGSTOP);
  std::vector<float> numbers(3);
  const int right = (comm->rank() + 1) % comm->size();
  if (way == "all send") comm->send(numbers, right);
  if (way == "all receive") comm->receive(numbers, right);
  if (way == "wrong neighbour") comm->exchange(std::vector<float>(3), right, numbers, right);
  if (way == "shorter" || way == "longer") {
    if (comm->rank() == 0) comm->send(std::vector<float>(way == "shorter" ? 2 : 100'000), 1);
    if (comm->rank() == 1) comm->receive(numbers, 0);
  }
  if (way == "no reads") {
    const std::vector<float> sent(1 << 18, static_cast<float>(comm->rank()));
    std::vector<float> received(sent.size());
    comm->exchange(sent, right, received, (comm->rank() + comm->size() - 1) % comm->size());
    require(received.back() == static_cast<float>((comm->rank() + comm->size() - 1) % comm->size()),
            "Wrong values arrived.");
  }
  if (way == "no message" && comm->rank() == 0) comm->receive(numbers, 1);
  if (way == "message after message") {
    const auto own = create_communicator(
        [right](std::span<float> values, Communicator& ranks) {
          const int left = (ranks.rank() + ranks.size() - 1) % ranks.size();
          std::vector<float> received(values.size());
          ranks.exchange(values, right, received, left);
          ranks.barrier();
        },
        "own");
    average(*own);
    average(*create_communicator("ring"));
    if (comm->rank() == 0) comm->send(numbers, 1);
    if (comm->rank() == 1) comm->receive(numbers, 0), comm->receive(numbers, 7);
  }
  if (way == "no partner" && comm->rank() != 1) comm->rank() == 0 ? comm->receive(numbers, 1) : comm->barrier();
  if (comm->rank() == 1) {
    if (way == "return" || way == "no partner") return 0;
    if (way == "slow") std::this_thread::sleep_for(std::chrono::seconds(8));
    if (way == "stopped" || way == "continued") {
      fmt::print("PID {}.\n", ::getpid());
      std::fflush(stdout);
      std::raise(SIGSTOP);
    }
    if (way == "another call") comm->scatter({}, std::vector<std::size_t>(processes.size(), 1), 0);
    for (int i = 0; i < 80 && (way == "at work" || way == "busy"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      if (way == "at work") rank_table::heartbeat();
    }
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
