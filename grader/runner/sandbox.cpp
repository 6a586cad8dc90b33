// SPDX-License-Identifier: Apache-2.0
#include "runner/sandbox.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string_view>

#include "program/usage.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

// What a compiler, Open MPI and CUDA look for besides libraries; not the users' names, nor the machine's keys.
constexpr std::array settings{"/etc/ld.so.cache", "/etc/ld.so.conf",   "/etc/ld.so.conf.d", "/etc/alternatives",
                              "/etc/openmpi",     "/etc/pmix",         "/etc/localtime",    "/etc/libibverbs.d",
                              "/etc/nccl.conf",   "/etc/nsswitch.conf"};
constexpr std::array system_folders{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
// What of this process's environment a command inside gets. A secret would have to be called so.
constexpr std::array variables{"PATH",   "LD_LIBRARY_PATH", "LANG",
                               "LC_ALL", "LC_MESSAGES",     "ODORI_LANG",
                               "TZ",     "OPAL_PREFIX",     "CUDA_VISIBLE_DEVICES"};
constexpr std::array prefixes{"OMPI_", "NVIDIA_", "NCCL_", "OMP_"};

/// Of /sys: what Open MPI, oneDNN and the C library look for. With GPUs, their driver looks for much more.
constexpr std::array topology{"/sys/devices/system/cpu", "/sys/devices/system/node"};

void add(Arguments& arguments, std::initializer_list<std::string> more) { arguments.insert(arguments.end(), more); }

// Memory that belongs to no process and no file system of the sandbox's wouldn't be counted, and what else is here
// has been a way out of namespaces before. Refused as if this kernel hadn't it, so that libraries do without.
constexpr std::array refused_calls{SYS_memfd_create,   SYS_memfd_secret,   SYS_shmget,  SYS_msgget,      SYS_semget,
                                   SYS_io_uring_setup, SYS_keyctl,         SYS_add_key, SYS_request_key, SYS_bpf,
                                   SYS_userfaultfd,    SYS_perf_event_open};

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#endif

constexpr auto filter = [] {
  std::array<sock_filter, 6 + refused_calls.size()> steps{};
  std::size_t n = 0;
  const auto jump = [](int what, std::uint32_t value, std::size_t yes, std::size_t no) {
    return sock_filter BPF_JUMP(BPF_JMP | what | BPF_K, value, static_cast<std::uint8_t>(yes),
                                static_cast<std::uint8_t>(no));
  };
  steps[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
  steps[n++] = jump(BPF_JEQ, architecture, 0, refused_calls.size() + 2);
  steps[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (std::size_t i = 0; i < refused_calls.size(); ++i)
    steps[n++] = jump(BPF_JEQ, static_cast<std::uint32_t>(refused_calls[i]), refused_calls.size() - i, 0);
  steps[n++] = jump(BPF_JGE, 0x40000000, 0, 1);  // x32's numbers for the same calls
  steps[n++] = BPF_STMT(BPF_RET, SECCOMP_RET_ERRNO | ENOSYS);
  steps[n++] = BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW);
  return steps;
}();

void refuse_calls() {
  const sock_fprog program{static_cast<unsigned short>(filter.size()), const_cast<sock_filter*>(filter.data())};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/// For root: a user that nobody else is, one for each command, in a range that distributions leave alone, or where
/// this machine has no such ids (in some containers), at its ids' end.
unsigned unused_user() {
  static std::atomic<unsigned> counter = 0;
  constexpr std::uint64_t first = 1'900'000'000, each = 32, n = each << 22;
  std::uint64_t inside = 0, outside = 0, count = 0, end = 0;
  for (std::ifstream map("/proc/self/uid_map"); map >> inside >> outside >> count;) end = std::max(end, inside + count);
  const std::uint64_t own = static_cast<std::uint64_t>(getpid()) * each + counter++ % each;
  return static_cast<unsigned>(end >= first + n ? first + own : 60'000 + own % 4'000);
}

}  // namespace

Finding with_load(Finding finding, std::optional<double> load, unsigned cores) {
  constexpr std::array<std::string_view, 4> can_be_busy{"no_start", "kit_fails", "no_namespaces", "sandbox_too_slow"};
  double seen = load.value_or(0);
  if (!load) std::ignore = getloadavg(&seen, 1);
  if (std::ranges::find(can_be_busy, finding.key) != can_be_busy.end() && seen > 2 * cores) {
    finding.values.try_emplace("note", "machine_busy");
    finding.values["load"] = fmt::format("{:.0f}", seen);
    finding.values["cores"] = std::to_string(cores);
  }
  return finding;
}

Sandbox::Sandbox(const std::vector<fs::path>& hidden) {
  std::error_code none;
  for (const fs::path& folder : hidden) {
    const fs::path real = fs::canonical(folder, none);
    if (!none && fs::is_directory(real) && real.parent_path() != "/" && is_there_already(real)) hidden_.push_back(real);
  }
  const Ended there = run_process({.arguments = {"bwrap", "--version"}});
  if (there.code != 0) throw EnvironmentFault({"no_bubblewrap", {}});
  const Ended tried = run({.arguments = {"true"}}, {});
  if (tried.stopped)
    throw EnvironmentFault(with_load({"sandbox_too_slow", {{"seconds", fmt::format("{:.0f}", tried.seconds)}}}));
  if (tried.code != 0) throw EnvironmentFault(with_load({"no_namespaces", {{"reason", end_of(tried.output)}}}));
}

/// With a system's folder, that is.
bool Sandbox::is_there_already(const fs::path& path) const {
  std::error_code none;
  const fs::path real = fs::weakly_canonical(path, none);
  const auto holds = [&](const fs::path& folder) {
    return std::mismatch(folder.begin(), folder.end(), real.begin(), real.end()).first == folder.end();
  };
  return std::any_of(system_folders.begin(), system_folders.end(), holds) &&
         std::none_of(hidden_.begin(), hidden_.end(), holds);
}

Command Sandbox::enclosed(const Command& command, const SandboxPolicy& policy) const {
  const bool root = geteuid() == 0;
  const std::string temporary = std::to_string(policy.temporary);
  Arguments arguments;
  // bubblewrap asks to end with whoever started it only after some milliseconds: what it has begun until then would
  // stay for ever. It doesn't as the first process of a namespace that ends with it. Since 0.12 it looks itself up in
  // /proc, which must be that namespace's.
  add(arguments, {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"});
  if (!root) add(arguments, {"--user", "--map-current-user"});
  add(arguments, {"bwrap", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"});
  const auto empty = [&](const fs::path& folder) {
    add(arguments, {"--perms", "1777", "--size", temporary, "--tmpfs", folder.string()});
  };
  std::set<fs::path> made;
  // Folders on the way to a path: bubblewrap would close them to all but the user who makes them.
  const auto open_way = [&](const fs::path& path) {
    fs::path way = "/";
    for (const fs::path& name : path.parent_path().relative_path())
      if (made.insert(way /= name).second) add(arguments, {"--perms", "0755", "--dir", way.string()});
  };
  const auto show = [&](const char* how, const fs::path& path) {
    open_way(path);
    add(arguments, {how, path.string(), path.string()});
  };
  if (!root) add(arguments, {"--unshare-user", "--disable-userns", "--cap-drop", "ALL"});
  add(arguments, {"--unshare-net", "--unshare-pid", "--die-with-parent", "--new-session"});

  for (const fs::path folder : system_folders) {
    if (fs::is_symlink(folder))
      add(arguments, {"--symlink", fs::read_symlink(folder).string(), folder.string()});
    else if (fs::is_directory(folder))
      add(arguments, {"--ro-bind", folder.string(), folder.string()});
  }
  for (const fs::path& folder : hidden_) add(arguments, {"--perms", "0755", "--tmpfs", folder.string()});
  for (const char* path : settings) show("--ro-bind-try", path);
  add(arguments, {"--dev", "/dev"});
  // Not tried on a machine with GPUs yet.
  bool gpus = false;
  for (const auto& entry : fs::directory_iterator("/dev"))
    if (entry.path().filename().string().starts_with("nvidia")) gpus = true, show("--dev-bind", entry.path());
  if (gpus)
    show("--ro-bind", "/sys");
  else
    for (const char* path : topology) show("--ro-bind-try", path);
  empty("/dev/shm");
  // The first process is bubblewrap's, with all these arguments.
  add(arguments, {"--proc", "/proc", "--ro-bind", "/dev/null", "/proc/1/cmdline"});
  empty("/tmp");
  made.clear();
  for (const fs::path& folder : policy.folders) open_way(folder), empty(folder);
  for (const fs::path& path : policy.readable)
    if (!is_there_already(path)) show("--ro-bind", path);
  for (const fs::path& path : policy.writable) show("--bind", path);
  if (!command.folder.empty()) open_way(command.folder / "any");
  // What bubblewrap made itself is a file system in memory too, and without a limit.
  add(arguments, {"--remount-ro", "/dev", "--remount-ro", "/"});
  // By /proc/self/mem a process can write where its memory is protected: into the library's code, say.
  if (!root) add(arguments, {"--remount-ro", "/proc"});
  for (const fs::path& folder : hidden_) add(arguments, {"--remount-ro", folder.string()});
  add(arguments, {"--chdir", command.folder.empty() ? "/tmp" : command.folder.string()});

  // Limits of processes don't hold for root, and what root may do, bubblewrap's namespaces alone don't keep it from.
  if (root) {
    const std::string user = std::to_string(unused_user());
    add(arguments, {"setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--bounding-set=-all",
                    "--inh-caps=-all", "--no-new-privs", "bwrap", "--unshare-user", "--disable-userns", "--dev-bind",
                    "/", "/", "--remount-ro", "/proc", "--die-with-parent"});
  }
  // unshare too asks for that a moment too late. So the last step before the command looks whether its input has ended,
  // as it does with this process.
  add(arguments, {"bash", "-c", "read -t 0 && exit 1; exec \"$@\" </dev/null", "bash"});
  // Memory: should the watch come too late. Address space, unlike data, is what GPUs' libraries take hundreds of GB of.
  add(arguments, {"prlimit", "--core=0", "--nofile=4096", fmt::format("--nproc={}", policy.processes),
                  fmt::format("--fsize={}", policy.file), fmt::format("--data={}", 2 * policy.memory)});
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  Command outer{.arguments = std::move(arguments), .environment = {}, .before = refuse_calls, .lifeline = true};
  // Of this process's own: for bubblewrap too, whose environment can be read inside.
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry, name = text.substr(0, text.find('='));
    const auto begins = [&](const char* prefix) { return name.starts_with(prefix); };
    if (std::find(variables.begin(), variables.end(), name) == variables.end() &&
        std::none_of(prefixes.begin(), prefixes.end(), begins))
      outer.environment[name] = "";
  }
  outer.environment["HOME"] = "/tmp";
  for (const auto& [name, value] : command.environment) outer.environment[name] = value;
  return outer;
}

EndedInside Sandbox::run(const Command& command, const SandboxPolicy& policy, const Limits& limits) const {
  int process = -1;
  std::optional<Finding> broke;
  Limits watched = limits;
  watched.started = [&](int id) { process = id; };
  watched.give_up = [&] {
    const Usage usage = usage_of(process);
    const double gib = static_cast<double>(policy.memory) / (1 << 30);
    if (usage.memory > policy.memory)
      broke = Finding{"over_memory", {{"limit", fmt::format("{:.2g}", gib)}}};
    else if (usage.tasks >= policy.processes)
      broke = Finding{"over_processes", {{"limit", std::to_string(policy.processes)}}};
    return broke || (limits.give_up && limits.give_up());
  };
  Ended ended = run_process(enclosed(command, policy), watched);
  return {std::move(ended), std::move(broke)};
}

EndedInside run_inside(const Sandbox* sandbox, const Command& command, const SandboxPolicy& policy,
                       const Limits& limits) {
  return sandbox ? sandbox->run(command, policy, limits) : EndedInside{run_process(command, limits)};
}

}  // namespace odori::grader
