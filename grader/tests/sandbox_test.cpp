// SPDX-License-Identifier: Apache-2.0
// Each limit holds, and what it holds back gets through without it. Also run as an ordinary user (as_ordinary_user.sh),
// since root needs another sandbox. Without bubblewrap all of it fails.
#include "runner/sandbox.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "blanks/blanks.h"
#include "loosened_sandbox.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

EndedInside inside(const std::string& script, const SandboxPolicy& policy = {}, const Without& without = {},
                   Limits limits = {}) {
  return LoosenedSandbox(without).run({.arguments = {"bash", "-c", script}}, policy, limits);
}

EndedInside python(const std::string& script, const SandboxPolicy& policy = {}, const Without& without = {}) {
  return LoosenedSandbox(without).run({.arguments = {"python3", "-c", script}}, policy, {.time = 20s});
}

bool holds(const Ended& ended, const char* words) { return ended.output.find(words) != std::string::npos; }

/// A folder that everyone may enter, outside of /tmp, of which a sandbox has its own.
class Sandboxed : public testing::Test {
 protected:
  void SetUp() override { fs::permissions(folder_, fs::perms(0777)); }
  fs::path file(const char* name, const char* text) const {
    std::ofstream(folder_ / name) << text;
    fs::permissions(folder_ / name, fs::perms(0666));
    return folder_ / name;
  }
  const TemporaryFolder own_{"/var/tmp/sandbox_test_"};
  const fs::path& folder_ = own_.path();
};

TEST_F(Sandboxed, LetsNoProcessWriteWhereItsMemoryIsProtected) {
  const EndedInside ended = python("open('/proc/self/maps').read(); open('/proc/self/mem', 'r+b')");
  EXPECT_EQ(ended.code, 1);
  EXPECT_TRUE(holds(ended, "Read-only file system")) << ended.output;
}

TEST_F(Sandboxed, EndsAndSpeaksAsItWouldOutside) {
  const EndedInside ended = inside("echo out; echo err >&2; exit 7");
  EXPECT_EQ(ended.code, 7);
  EXPECT_EQ(ended.output, "out\nerr\n");
  EXPECT_FALSE(ended.stopped);
  EXPECT_FALSE(ended.broke);
  EXPECT_EQ(inside("kill -SEGV $$").code, 128 + SIGSEGV);
}

TEST_F(Sandboxed, SeesOnlyWhatItsWallsName) {
  const fs::path secret = file("secret", "a secret");
  const std::string read = "cat " + secret.string(), write = "echo more >> " + secret.string();
  EXPECT_FALSE(holds(inside(read), "a secret"));
  EXPECT_TRUE(holds(inside(read, {.readable = {secret}}), "a secret"));
  EXPECT_NE(inside(write, {.readable = {secret}}).code, 0);
  EXPECT_EQ(read_file(secret), "a secret");
  EXPECT_EQ(inside(write, {.writable = {secret}}).code, 0);
  EXPECT_EQ(read_file(secret), "a secretmore\n");
  EXPECT_TRUE(holds(inside(read, {}, {"files"}), "a secret"));
}

TEST_F(Sandboxed, SeesNothingOfAHiddenFolderWhereverItLies) {
  // As if a kit lay there. One file of it is needed.
  const fs::path folder = "/usr/include/linux", needed = folder / "fs.h";
  const Command look{
      .arguments = {"bash", "-c", "ls -R /usr/include/linux; ls /usr/include/asm-generic; cat " + needed.string()}};
  const EndedInside ended = Sandbox({folder}).run(look, {.readable = {needed}});
  EXPECT_FALSE(holds(ended, "watchdog.h\n")) << ended.output.substr(0, 500);
  EXPECT_TRUE(holds(ended, "int-ll64.h")) << "what lies beside it is there";
  EXPECT_TRUE(holds(ended, "_LINUX_FS_H"));
  EXPECT_TRUE(holds(Sandbox().run(look, {}), "watchdog.h\n"));
  EXPECT_NE(Sandbox({folder}).run({.arguments = {"touch", (folder / "x").string()}}, {}).code, 0);
}

TEST_F(Sandboxed, SeesOfTheMachineItsCoresAlone) {
  const EndedInside ended = inside("find /sys -maxdepth 3; nproc");
  EXPECT_TRUE(holds(ended, "/sys/devices/system/cpu"));
  for (const char* other : {"/sys/class", "/sys/fs", "/sys/kernel", "/sys/module", "/sys/bus", "/sys/firmware"})
    EXPECT_FALSE(holds(ended, other)) << other;
  EXPECT_TRUE(holds(ended, fmt::format("\n{}\n", std::thread::hardware_concurrency()).c_str())) << ended.output;
}

TEST_F(Sandboxed, LeavesNoFilesBehind) {
  const fs::path empty = folder_ / "empty";
  const std::string write =
      fmt::format("for f in {0} /tmp /dev/shm; do echo x > $f/odori_left_over; done", empty.string());
  EXPECT_EQ(inside(write, {.folders = {empty}}).code, 0);
  for (const fs::path& place : {empty, fs::path("/tmp"), fs::path("/dev/shm")})
    EXPECT_FALSE(fs::exists(place / "odori_left_over")) << place;
  for (const char* place : {"/", "/usr", "/etc", "/dev", "/proc/sys"})
    EXPECT_NE(inside(fmt::format("echo x > {}/odori_left_over", place)).code, 0) << place;
}

TEST_F(Sandboxed, HasNoNetworkButItsOwn) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 8), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  const std::string connect = fmt::format("exec 3<>/dev/tcp/127.0.0.1/{} && echo connected", ntohs(address.sin_port));
  EXPECT_FALSE(holds(inside(connect), "connected"));
  EXPECT_TRUE(holds(inside(connect, {}, {"network"}), "connected"));
  close(listener);
}

TEST_F(Sandboxed, StartsNoMoreProcessesThanItMay) {
  const std::string forks =
      "import os, time\nn = 0\ntry:\n  while n < 200:\n    if os.fork() == 0: time.sleep(9); os._exit(0)\n    n += 1\n"
      "except OSError: pass\nos.write(1, b'%d forks' % n)\ntime.sleep(5)\n";
  const EndedInside ended = python(forks, {.processes = 40});
  ASSERT_TRUE(ended.broke);
  EXPECT_EQ(ended.broke->key, "over_processes");
  EXPECT_FALSE(holds(ended, "200 forks"));
  EXPECT_TRUE(holds(python(forks, {.processes = 40}, {"processes"}), "200 forks"));
}

TEST_F(Sandboxed, TakesNoMoreMemoryThanItMay) {
  const SandboxPolicy policy{.memory = 200 << 20};
  const std::string one = "import time\nx = bytearray(300 << 20)\ntime.sleep(1)\nprint('had it')\n";
  const std::string four =
      "import os, time\nfor i in range(2): os.fork()\nx = bytearray(80 << 20)\ntime.sleep(1)\nprint('had it')\n";
  for (const std::string& script : {one, four}) {
    const EndedInside ended = python(script, policy);
    ASSERT_TRUE(ended.broke) << ended.output;
    EXPECT_EQ(ended.broke->key, "over_memory");
    EXPECT_FALSE(holds(ended, "had it"));
    EXPECT_TRUE(holds(python(script, policy, {"memory"}), "had it"));
  }
}

TEST_F(Sandboxed, FillsNoMoreDiskThanItMay) {
  const SandboxPolicy policy{.file = 1 << 20, .temporary = 4 << 20};
  const std::string flood = "for i in 1 2 3 4 5 6 7 8; do head -c 1000000 /dev/zero > {}/$i || exit; done; echo all";
  for (const char* place : {"/tmp", "/dev/shm"}) {
    EXPECT_FALSE(holds(inside(fmt::vformat(flood, fmt::make_format_args(place)), policy), "all")) << place;
    EXPECT_TRUE(holds(inside(fmt::vformat(flood, fmt::make_format_args(place)), policy, {"disk"}), "all"));
  }
  const fs::path given = file("given", "");
  const std::string fill = "head -c 3000000 /dev/zero > " + given.string();
  EXPECT_NE(inside(fill, {.writable = {given}, .file = 1 << 20}).code, 0);
  EXPECT_EQ(fs::file_size(given), std::uintmax_t{1 << 20});
  EXPECT_EQ(inside(fill, {.writable = {given}, .file = 1 << 20}, {"disk"}).code, 0);
}

TEST_F(Sandboxed, IsHeardOnlyUpToALimit) {
  const std::string flood = "head -c 3000000 /dev/zero";
  EXPECT_EQ(inside(flood, {}, {}, {.output_bytes = 1000}).output.size(), 1000u);
  EXPECT_EQ(inside(flood, {}, {"output"}, {.output_bytes = 1000}).output.size(), 3'000'000u);
}

TEST_F(Sandboxed, EndsInTime) {
  const EndedInside ended = inside("trap '' TERM; sleep 3; echo rested", {}, {}, {.time = 300ms});
  EXPECT_TRUE(ended.stopped);
  EXPECT_FALSE(ended.broke);
  EXPECT_FALSE(holds(ended, "rested"));
  EXPECT_TRUE(holds(inside("sleep 1; echo rested", {}, {"time"}, {.time = 300ms}), "rested"));
  const char* const computes = "for ((i = 0; i < 200000; ++i)); do :; done; echo computed";
  EXPECT_TRUE(inside(computes, {}, {}, {.processor_time = 100ms}).stopped);
  EXPECT_TRUE(holds(inside(computes, {}, {"time"}, {.processor_time = 100ms}), "computed"));
}

/// The processes on this machine that were started with this word.
std::vector<int> processes_with(const std::string& word) {
  std::vector<int> found;
  for (const auto& entry : fs::directory_iterator("/proc"))
    if (const int pid = std::atoi(entry.path().filename().c_str()); pid > 0 && pid != getpid())
      if (read_file(entry.path() / "cmdline").find(word) != std::string::npos) found.push_back(pid);
  return found;
}

TEST_F(Sandboxed, LeavesNoProcessesBehind) {
  const std::string word = fmt::format("30.{:09}", getpid());
  const std::string escape = fmt::format("setsid setsid sleep {} >/dev/null 2>&1 & sleep 0.2; exit 0", word);
  EXPECT_EQ(inside(escape).code, 0);
  EXPECT_TRUE(processes_with(word).empty());
  EXPECT_TRUE(inside(escape + "; wait", {}, {}, {.time = 100ms}).code != 0 || processes_with(word).empty());
  inside(escape, {}, {"escape"});
  const std::vector<int> left = processes_with(word);
  EXPECT_FALSE(left.empty());
  for (const int pid : left) kill(pid, SIGKILL);
}

TEST_F(Sandboxed, DoesNotOutliveWhoeverStartedIt) {
  const std::string word = fmt::format("31.{:09}", getpid());
  const Sandbox sandbox;
  // The danger is in the first 30 ms, while the sandbox is being built.
  for (int i = 0; i < 90; ++i) {
    const pid_t grader = fork();
    ASSERT_GE(grader, 0);
    if (grader == 0) {
      sandbox.run({.arguments = {"sleep", word}}, {});
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500 * (i % 60)));
    kill(grader, SIGKILL);
    waitpid(grader, nullptr, 0);
  }
  std::vector<int> left = processes_with(word);
  for (int i = 0; i < 100 && !left.empty(); ++i) std::this_thread::sleep_for(50ms), left = processes_with(word);
  EXPECT_TRUE(left.empty());
  for (const int pid : left) kill(pid, SIGKILL);
}

TEST_F(Sandboxed, SeesNoProcessButItsOwn) {
  const std::string look =
      fmt::format("ls -d /proc/[0-9]* | wc -l; kill -0 {0} && echo there; cat /proc/{0}/cmdline", getpid());
  const EndedInside ended = inside(look);
  EXPECT_LT(std::atoi(ended.output.c_str()), 10);
  EXPECT_FALSE(holds(ended, "there"));
  EXPECT_FALSE(holds(ended, "sandbox_test"));
  EXPECT_TRUE(holds(inside(look, {}, {"escape"}), "sandbox_test"));
}

TEST_F(Sandboxed, HasNoDescriptorOfItsParents) {
  const fs::path secret = file("secret", "a secret");
  const int open_file = open(secret.c_str(), O_RDONLY);  // NOLINT: it is to be inherited
  const std::string read = fmt::format("cat /proc/self/fd/{0}; cat <&{0}", open_file);
  EXPECT_FALSE(holds(inside(read), "a secret"));
  EXPECT_TRUE(holds(inside(read, {}, {"descriptors"}), "a secret"));
  close(open_file);
}

TEST_F(Sandboxed, HasNoVariablesButThoseItNeeds) {
  setenv("ODORI_TEST_TOKEN", "a secret", 1);
  const Command command{.arguments = {"env"}, .environment = {{"ODORI_NODES", "0,1"}}};
  const EndedInside ended = Sandbox().run(command, {});
  EXPECT_FALSE(holds(ended, "a secret"));
  EXPECT_TRUE(holds(ended, "ODORI_NODES=0,1"));
  EXPECT_TRUE(holds(LoosenedSandbox({"environment"}).run(command, {}), "a secret"));
}

TEST_F(Sandboxed, LearnsNothingFromTheProcessesOfItsWalls) {
  setenv("ODORI_TEST_TOKEN", "a secret", 1);
  const fs::path shown = file("a_file_of_the_walls", "");
  const EndedInside ended =
      inside("for p in /proc/[0-9]*; do [ $p = /proc/$$ ] || cat $p/cmdline $p/environ; done; echo end",
             {.readable = {shown}});
  EXPECT_FALSE(holds(ended, "a secret")) << ended.output;
  EXPECT_FALSE(holds(ended, "a_file_of_the_walls")) << ended.output;
  EXPECT_TRUE(holds(ended, "end"));
}

TEST_F(Sandboxed, IsNobodyAndCannotBecomeMore) {
  const EndedInside ended =
      inside("id -u; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; unshare -Ur true && echo more");
  EXPECT_NE(std::atoi(ended.output.c_str()), 0) << ended.output;
  EXPECT_TRUE(holds(ended, "CapEff:\t0000000000000000"));
  EXPECT_TRUE(holds(ended, "CapBnd:\t0000000000000000"));
  EXPECT_TRUE(holds(ended, "NoNewPrivs:\t1"));
  EXPECT_FALSE(holds(ended, "more"));
}

TEST_F(Sandboxed, KeepsNoMemoryWhereNobodyCountsIt) {
  const std::string hide =
      "import os; os.memfd_create('hidden'); print('was ' + 'given')";  // a traceback shows the line
  EXPECT_FALSE(holds(python(hide), "was given"));
  EXPECT_TRUE(holds(python(hide, {}, {"syscalls"}), "was given"));
}

TEST_F(Sandboxed, SeveralAtOnce) {
  std::vector<std::jthread> threads;
  std::array<EndedInside, 6> ended;
  for (std::size_t i = 0; i < ended.size(); ++i)
    threads.emplace_back([&, i] { ended[i] = inside("sleep 0.2; echo $$ " + std::to_string(i)); });
  threads.clear();
  for (std::size_t i = 0; i < ended.size(); ++i)
    EXPECT_TRUE(ended[i].output.ends_with(fmt::format(" {}\n", i))) << ended[i].output;
}

TEST_F(Sandboxed, SaysWhyThereAreNoWalls) {
  const std::string path = std::getenv("PATH");
  const auto key_of_fault = [] {
    try {
      Sandbox();
    } catch (const EnvironmentFault& fault) {
      return fault.finding().key;
    }
    return std::string("none");
  };
  setenv("PATH", folder_.c_str(), 1);
  EXPECT_EQ(key_of_fault(), "no_bubblewrap");
  file("bwrap", "#!/bin/sh\n[ \"$1\" = --version ] || { echo 'bwrap: No permissions' >&2; exit 1; }\n");
  fs::permissions(folder_ / "bwrap", fs::perms(0777));
  EXPECT_EQ(key_of_fault(), "no_namespaces");
  setenv("PATH", (folder_.string() + ":" + path).c_str(), 1);
  EXPECT_EQ(key_of_fault(), "no_namespaces");
  // As bubblewrap 0.12, it finds itself in /proc.
  file("bwrap", "#!/bin/sh\n[ \"$1\" = --version ] || { read -r own _ </proc/self/stat && [ \"$own\" = $$ ]; }\n");
  EXPECT_EQ(key_of_fault(), "none");
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(key_of_fault(), "none");
}

}  // namespace
}  // namespace odori::grader
