// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnosis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace odori::doctor {
namespace {

using Diagnoses = std::vector<Diagnosis>;

std::string gpus_in_words(int n) { return n == 1 ? "1 GPU" : fmt::format("{} GPUs", n); }

void diagnose_gpus(const Facts& facts, Diagnoses& findings) {
  if (facts.gpus.empty()) {
    findings.push_back(
        {"gpus",
         Level::note,
         {fmt::format("No GPU was found ({}), so CPU threads are used as devices.",
                      facts.has_nvidia_smi ? "nvidia-smi lists none" : "there is no nvidia-smi"),
          fmt::format("GPU は見つかりません（{}）。CPU のスレッドをデバイスとして使います。",
                      facts.has_nvidia_smi ? "nvidia-smi に 1 台も表示されません" : "nvidia-smi がありません")},
         {"All exercises work without a GPU. On a cluster, run this inside a job that asks for one.",
          "演習はこのままできます。クラスタでは、GPU を要求したジョブの中で実行してください。"}});
    return;
  }
  std::vector<std::string> names;
  for (const Gpu& gpu : facts.gpus) names.push_back(fmt::format("{} ({:.0f} GiB)", gpu.name, gpu.memory_gib));
  const std::string list = fmt::format("{}", fmt::join(names, ", "));
  const int n = static_cast<int>(facts.gpus.size());
  if (facts.usable_gpus >= n) {
    findings.push_back({"gpus",
                        Level::good,
                        {fmt::format("{}: {}.", gpus_in_words(n), list), fmt::format("GPU {} 台: {}", n, list)},
                        {}});
  } else if (facts.build_cuda.empty()) {
    findings.push_back(
        {"gpus",
         Level::broken,
         {fmt::format("{} found ({}), but this build supports CPUs only.", gpus_in_words(n), list),
          fmt::format("GPU が {} 台あります（{}）が、このビルドは CPU だけに対応しています。", n, list)},
         {"Load or install the CUDA toolkit, cuDNN 9 and NCCL, then run ./odori setup -DODORI_CUDA=ON. It "
          "says what is still missing.",
          "CUDA Toolkit、cuDNN 9、NCCL をロードまたはインストールし、./odori setup -DODORI_CUDA=ON "
          "を実行してください。足りないものが表示されます。"}});
  } else {
    findings.push_back({"gpus",
                        Level::broken,
                        {fmt::format("{} found ({}), but the kit can use {}: {}", gpus_in_words(n), list,
                                     facts.usable_gpus, facts.why_no_gpu),
                         fmt::format("GPU が {} 台あります（{}）が、使えるのは {} 台です: {}", n, list,
                                     facts.usable_gpus, facts.why_no_gpu)},
                        {"Check CUDA_VISIBLE_DEVICES, and whether the job asked for these GPUs.",
                         "CUDA_VISIBLE_DEVICES の値と、ジョブが GPU を要求しているかを確認してください。"}});
  }
}

void diagnose_driver(const Facts& facts, Diagnoses& findings) {
  if (!facts.driver) return;
  const Driver& driver = *facts.driver;
  if (facts.build_cuda.empty() || major_version(driver.cuda) >= major_version(facts.build_cuda)) {
    findings.push_back({"driver",
                        Level::good,
                        {fmt::format("Driver {}, which runs CUDA up to {}{}.", driver.version, driver.cuda,
                                     facts.build_cuda.empty() ? "" : "; this build uses CUDA " + facts.build_cuda),
                         fmt::format("ドライバ {}（CUDA {} まで対応{}）", driver.version, driver.cuda,
                                     facts.build_cuda.empty() ? "" : "、このビルドは CUDA " + facts.build_cuda)},
                        {}});
    return;
  }
  findings.push_back(
      {"driver",
       Level::broken,
       {fmt::format("Driver {} runs CUDA up to {}, but this build needs CUDA {}.", driver.version, driver.cuda,
                    facts.build_cuda),
        fmt::format("ドライバ {} は CUDA {} までですが、このビルドは CUDA {} です。", driver.version, driver.cuda,
                    facts.build_cuda)},
       {fmt::format(
            "Build with a CUDA toolkit {}.x (module load, then a new build folder), or have the driver updated.",
            major_version(driver.cuda)),
        fmt::format(
            "CUDA Toolkit {}.x をロードして新しいビルドフォルダでビルドするか、ドライバの更新を依頼してください。",
            major_version(driver.cuda))}});
}

void diagnose_links(const Facts& facts, Diagnoses& findings) {
  if (facts.topology.links.empty()) return;
  std::vector<std::string> links;
  bool all_nvlink = true, far = false;
  for (const Link& link : facts.topology.links) {
    links.push_back(fmt::format("GPU{}-GPU{} {}", link.from, link.to, link.kind));
    all_nvlink = all_nvlink && link.kind.starts_with("NV");
    far = far || link.kind == "SYS" || link.kind == "NODE";
  }
  const std::string list = fmt::format("{}", fmt::join(links, ", "));
  Diagnosis finding{"links",
                    all_nvlink ? Level::good
                    : far      ? Level::slow
                               : Level::note,
                    {fmt::format("Between GPUs: {} ({}).", list, all_nvlink ? "NVLink" : "PCIe, at least in part"),
                     fmt::format("GPU 間の接続: {}（{}）", list, all_nvlink ? "NVLink" : "一部または全部が PCIe")},
                    {}};
  if (far)
    finding.remedy = {
        "Some pairs are connected only across sockets (SYS) or host bridges (NODE). Choose GPUs that are near each "
        "other with CUDA_VISIBLE_DEVICES.",
        "ソケット間（SYS）やホストブリッジ間（NODE）を通る組があります。CUDA_VISIBLE_DEVICES で近い GPU どうしを"
        "選んでください。"};
  findings.push_back(finding);
}

void diagnose_sockets(const Facts& facts, Diagnoses& findings) {
  std::vector<std::string> english, japanese;
  std::set<std::string> nodes;
  for (const NearGpu& near : facts.topology.near) {
    if (near.cores.empty()) continue;
    english.push_back(fmt::format("GPU{}: NUMA node {}, cores {}", near.gpu, near.numa_node, near.cores));
    japanese.push_back(fmt::format("GPU{}: NUMA ノード {}、コア {}", near.gpu, near.numa_node, near.cores));
    nodes.insert(near.numa_node);
  }
  if (english.empty()) return;
  Diagnosis finding{"sockets",
                    Level::note,
                    {fmt::format("Near each GPU: {}.", fmt::join(english, "; ")),
                     fmt::format("各 GPU に近い CPU: {}", fmt::join(japanese, "、"))},
                    {}};
  if (nodes.size() > 1)
    finding.remedy = {"Bind each rank to its GPU's socket: mpirun --map-by numa --bind-to numa.",
                      "各ランクを GPU と同じソケットに固定します: mpirun --map-by numa --bind-to numa"};
  findings.push_back(finding);
}

/// 1 MB at a time over PCIe 3, through host memory too, is several times as fast as this.
constexpr double slow_copy = 1.0;  // 10^9 bytes a second

void diagnose_gpu_copies(const Facts& facts, Diagnoses& findings) {
  if (facts.gpu_copies.empty() && facts.gpu_copies_failed.empty()) return;
  const Text remedy{
      "Access control services (ACS) of PCIe or an IOMMU may stand between the GPUs: an administrator can switch ACS "
      "off and "
      "boot with iommu=pt (NCCL's user guide, \"Troubleshooting\"). Until then, NCCL_P2P_DISABLE=1 copies through host "
      "memory.",
      "PCIe の ACS や IOMMU が GPU 間の直接転送を妨げている可能性があります。管理者に、ACS を無効にし、iommu=pt "
      "で起動するよう"
      "依頼してください（NCCL ユーザガイドの Troubleshooting）。それまでは NCCL_P2P_DISABLE=1 "
      "でホストメモリ経由になります。"};
  if (!facts.gpu_copies_failed.empty()) {
    findings.push_back({"gpu_copies",
                        Level::broken,
                        {"1 MB could not be copied from GPU to GPU. " + facts.gpu_copies_failed,
                         "GPU から GPU へ 1 MB をコピーできませんでした。出力: " + facts.gpu_copies_failed},
                        remedy});
    return;
  }
  std::vector<std::string> copies;
  bool right = true, slow = false;
  for (const GpuCopy& copy : facts.gpu_copies) {
    copies.push_back(fmt::format("{} -> {} {}", copy.from, copy.to,
                                 copy.right ? fmt::format("{:.1f} GB/s", copy.gb_per_second) : "WRONG VALUES"));
    right = right && copy.right;
    slow = slow || copy.gb_per_second < slow_copy;
  }
  findings.push_back({"gpu_copies",
                      !right ? Level::broken
                      : slow ? Level::slow
                             : Level::good,
                      {fmt::format("Copies of 1 MB between GPUs: {}.", fmt::join(copies, ", ")),
                       fmt::format("GPU 間の 1 MB のコピー: {}", fmt::join(copies, "、"))},
                      right && !slow ? Text{} : remedy});
}

void diagnose_nccl(const Facts& facts, Diagnoses& findings) {
  if (!facts.nccl) return;
  const NcclRun& run = *facts.nccl;
  if (run.transports.empty()) {
    findings.push_back(
        {"nccl",
         Level::broken,
         {fmt::format("Two ranks could not talk to each other over NCCL. {}",
                      run.warnings.empty() ? "It said nothing." : "It said: " + run.warnings.front()),
          fmt::format("2 つのランクが NCCL で通信できませんでした。{}",
                      run.warnings.empty() ? "" : "NCCL の警告: " + run.warnings.front())},
         {"NCCL_DEBUG=INFO mpirun -np 2 ... shows all of its messages; --communicator flat works without NCCL.",
          "NCCL_DEBUG=INFO を付けて実行すると詳細が表示されます。--communicator flat なら NCCL なしで動きます。"}});
    return;
  }
  std::vector<std::string> ways;
  bool socket = false;
  for (const auto& [way, channels] : run.transports) {
    ways.push_back(way);
    socket = socket || way == "NET/Socket";
  }
  Diagnosis finding{
      "nccl",
      socket ? Level::slow : Level::good,
      {fmt::format("NCCL {}: two ranks of this node talk over {}.", run.version, fmt::join(ways, ", ")),
       fmt::format("NCCL {}: このノードの 2 ランクは {} で通信します。", run.version, fmt::join(ways, ", "))},
      {}};
  if (socket && facts.gpus.size() < 2)
    finding.remedy = {
        "With one GPU, two ranks have to share it, and NCCL then uses sockets. No speedup can be measured here.",
        "GPU が 1 台なので 2 ランクで共有し、通信はソケット経由になります。速度向上はここでは測れません。"};
  else if (socket)
    finding.remedy = {
        "Sockets are the slowest way. Unset NCCL_P2P_DISABLE and NCCL_SHM_DISABLE, and give containers "
        "more shared memory (--shm-size).",
        "ソケット経由は最も遅い通信です。NCCL_P2P_DISABLE、NCCL_SHM_DISABLE を外し、コンテナでは共有メモリを"
        "増やしてください（--shm-size）。"};
  findings.push_back(finding);
}

void diagnose_gpu_use(const Facts& facts, Diagnoses& findings) {
  if (facts.gpu_use.empty()) return;
  std::vector<int> use = facts.gpu_use;
  std::nth_element(use.begin(), use.begin() + static_cast<std::ptrdiff_t>(use.size() / 2), use.end());
  const int median = use[use.size() / 2];
  Diagnosis finding{"gpu_use",
                    median > 90 ? Level::good : Level::slow,
                    {fmt::format("During a short training the GPU was busy {} % of the time.", median),
                     fmt::format("短い学習の間、GPU 使用率は {} % でした。", median)},
                    {}};
  if (median <= 90)
    finding.remedy = {
        "Above 90 % is good. Try a larger --batchsize, end other programs on this GPU (nvidia-smi), and "
        "use PROFILE=1 in a job script to see more.",
        "90 % を超えるのが目安です。--batchsize を大きくし、同じ GPU を使う他のプログラムを確認し（nvidia-smi）、"
        "ジョブスクリプトの PROFILE=1 で調べてください。"};
  findings.push_back(finding);
}

void diagnose_mpi(const Facts& facts, Diagnoses& findings) {
  if (!facts.has_mpirun) {
    findings.push_back(
        {"mpi",
         Level::broken,
         {"There is no mpirun in PATH, so task 2 can't run.", "PATH に mpirun がないため、タスク 2 を実行できません。"},
         {"Run module load openmpi, or install the Debian package openmpi-bin.",
          "module load openmpi を実行するか、openmpi-bin をインストールしてください。"}});
    return;
  }
  if (!facts.exchange_failed.empty()) {
    findings.push_back(
        {"mpi",
         Level::broken,
         {"Two ranks started with mpirun could not exchange 1 MB, so task 2 can't run.",
          "mpirun で起動した 2 つのランクの間で 1 MB を交換できなかったため、タスク 2 を実行できません。"},
         {"They say: " + facts.exchange_failed, "出力: " + facts.exchange_failed}});
    return;
  }
  const std::string version = facts.mpi_version.empty() ? "mpirun" : facts.mpi_version;
  const char* aware = !facts.cuda_aware ? "unknown" : *facts.cuda_aware ? "yes" : "no";
  const char* aware_ja = !facts.cuda_aware ? "不明" : *facts.cuda_aware ? "対応" : "非対応";
  findings.push_back(
      {"mpi",
       Level::good,
       {fmt::format("{}; CUDA-aware: {}. The kit doesn't need that: gradients on GPUs go over NCCL, or "
                    "through the host.",
                    version, aware),
        fmt::format("{}（CUDA-aware: {}）。GPU 上の勾配は NCCL またはホスト経由で送るので、対応は必須ではありません。",
                    version, aware_ja)},
       {}});
}

/// The kit itself starts the build's mpirun, by its path.
void diagnose_other_mpirun(const Facts& facts, Diagnoses& findings) {
  if (facts.other_mpirun.empty()) return;
  findings.push_back(
      {"mpirun",
       Level::note,
       {fmt::format(
            "The first mpirun in PATH is {}. It belongs to another MPI than {} ({}), which the kit was built with "
            "and which ./odori run starts.",
            facts.other_mpirun, facts.mpirun, facts.mpi_version),
        fmt::format(
            "PATH で最初に見つかる mpirun は {} です。これは、キットのビルドに使われ ./odori run が起動する {}（{}）"
            "とは別の MPI のものです。",
            facts.other_mpirun, facts.mpirun, facts.mpi_version)},
       {"Job scripts and your own calls take the first in PATH, where each rank would be alone. Put the folder of the "
        "build's mpirun first in PATH (or leave the conda environment), or build with the other MPI: rm -r build; "
        "./odori setup",
        "ジョブスクリプトや自分で打つ mpirun には PATH の最初のものが使われ、各ランクが単独で動いてしまいます。ビルドに"
        "使った mpirun のフォルダを PATH の先頭に置くか（conda 環境を抜けてもかまいません）、もう一方の MPI で"
        "ビルドし直してください: rm -r build; ./odori setup"}});
}

void diagnose_binding(const Facts& facts, Diagnoses& findings) {
  if (facts.bindings.empty()) return;
  const auto fewest = std::min_element(facts.bindings.begin(), facts.bindings.end(),
                                       [](const Binding& a, const Binding& b) { return a.cores < b.cores; });
  if (fewest->cores == 0) {
    findings.push_back(
        {"binding", Level::good, {"mpirun doesn't bind ranks to cores.", "mpirun はランクをコアに固定しません。"}, {}});
    return;
  }
  findings.push_back(
      {"binding",
       Level::note,
       {fmt::format("mpirun binds each rank to {} core{} by default.", fewest->cores, fewest->cores == 1 ? "" : "s"),
        fmt::format("mpirun は既定で各ランクを {} コアに固定します。", fewest->cores)},
       {"The kit starts mpirun with --bind-to none. Add it when you call mpirun yourself; else all threads of a rank "
        "share these cores.",
        "キットは --bind-to none を付けて実行します。自分で mpirun を呼ぶときも付けないと、ランクの全スレッドが"
        "これらのコアを共有します。"}});
}

void diagnose_cores(const Facts& facts, Diagnoses& findings) {
  Diagnosis finding{"cores",
                    facts.cores < 2                    ? Level::slow
                    : facts.cores < facts.online_cores ? Level::note
                                                       : Level::good,
                    {fmt::format("This process may use {} of the machine's {} cores.", facts.cores, facts.online_cores),
                     fmt::format("このマシンの {1} コアのうち {0} コアを使えます。", facts.cores, facts.online_cores)},
                    {}};
  if (facts.cores < 2)
    finding.remedy = {
        "Two CPU devices on one core give no speedup. Ask for more cores (ompthreads, -c, --cpus).",
        "1 コアでは CPU デバイスを 2 つにしても速くなりません。コアを増やしてください（ompthreads、-c、--cpus）。"};
  findings.push_back(finding);
}

/// Docker's default is 64 MiB. NCCL takes about 10 MB for each pair of GPUs that are not connected directly, and fails
/// with a bus error or "unhandled system error" where it gets less.
void diagnose_shared_memory(const Facts& facts, Diagnoses& findings) {
  Diagnosis finding{
      "shared_memory",
      facts.shared_mb < 60 + 200 * facts.usable_gpus ? Level::slow : Level::good,
      {fmt::format("/dev/shm has {:.0f} MB. Ranks of one machine, and NCCL's, exchange through it.", facts.shared_mb),
       fmt::format("/dev/shm は {:.0f} MB です。同じマシンのランクと NCCL は、これを介して通信します。",
                   facts.shared_mb)},
      {}};
  if (finding.level == Level::slow)
    finding.remedy = {
        "That is too little. In a container: docker run --shm-size=1g (or --ipc=host). Elsewhere: sudo mount -o "
        "remount,size=1g /dev/shm",
        "これでは足りません。コンテナでは docker run --shm-size=1g（または --ipc=host）、それ以外では sudo mount -o "
        "remount,size=1g /dev/shm で増やせます。"};
  findings.push_back(finding);
}

void diagnose_disk(const Facts& facts, Diagnoses& findings) {
  const bool full = facts.free_gb < 0.5;
  Diagnosis finding{"disk",
                    full ? Level::broken : Level::good,
                    {fmt::format("{:.1f} GB are free in {}.", facts.free_gb, facts.out),
                     fmt::format("{1} の空き容量は {0:.1f} GB です。", facts.free_gb, facts.out)},
                    {}};
  if (full)
    finding.remedy = {
        "Data sets and snapshots need 0.5 GB. Delete something, or work on another disk.",
        "データセットとスナップショットに 0.5 GB 必要です。空きを増やすか、別のディスクで作業してください。"};
  findings.push_back(finding);
}

}  // namespace

std::vector<Diagnosis> diagnose(const Facts& facts) {
  Diagnoses findings;
  for (const auto diagnose_one : {diagnose_gpus, diagnose_driver, diagnose_links, diagnose_sockets, diagnose_gpu_copies,
                                  diagnose_nccl, diagnose_gpu_use, diagnose_mpi, diagnose_other_mpirun,
                                  diagnose_binding, diagnose_cores, diagnose_shared_memory, diagnose_disk})
    diagnose_one(facts, findings);
  return findings;
}

}  // namespace odori::doctor
