// SPDX-License-Identifier: Apache-2.0
// What ./odori doctor understands of other programs' words, and what it concludes.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "doctor/diagnosis.h"
#include "program/process.h"

namespace odori::doctor {
namespace {

TEST(DoctorParse, Gpus) {
  const auto gpus = parse_gpus("0, NVIDIA H200, 143771, 9.0\n1, NVIDIA A100-SXM4-80GB, 81920, 8.0\n");
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].name, "NVIDIA H200");
  EXPECT_NEAR(gpus[0].memory_gib, 140.4, 0.01);
  EXPECT_EQ(gpus[1], (Gpu{1, "NVIDIA A100-SXM4-80GB", 80, "8.0"}));
  EXPECT_TRUE(parse_gpus("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n").empty());
}

TEST(DoctorParse, Driver) {
  const std::string head =
      "Fri Nov 20 21:00:00 2026\n"
      "+-----------------------------------------------------------------------------------------+\n"
      "| NVIDIA-SMI 580.159.03             Driver Version: 580.159.03     CUDA Version: 13.0     |\n"
      "+-----------------------------------------+------------------------+----------------------+\n";
  EXPECT_EQ(parse_driver(head), (Driver{"580.159.03", "13.0"}));
  EXPECT_FALSE(parse_driver("No devices were found"));
}

// As on a node with two GPUs, one a socket, and a network card; the head is underlined on a terminal.
const char* topology_of_two =
    "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tSYS\tPXB\t0-27,56-83\t0\t\tN/A\n"
    "GPU1\tSYS\t X \tSYS\t28-55,84-111\t1\t\tN/A\n"
    "NIC0\tPXB\tSYS\t X \t\t\t\t\n\n"
    "Legend:\n\n  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n";

TEST(DoctorParse, TopologyOfTwoSockets) {
  const Topology topology = parse_topology(topology_of_two);
  EXPECT_EQ(topology.links, (std::vector<Link>{{0, 1, "SYS"}}));
  EXPECT_EQ(topology.near, (std::vector<NearGpu>{{0, "0-27,56-83", "0"}, {1, "28-55,84-111", "1"}}));
}

TEST(DoctorParse, TopologyOfNvlink) {
  const Topology topology = parse_topology(
      "\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tNV18\tNV18\t0-15\t0\n"
      "GPU1\tNV18\t X \tNV18\t0-15\t0\n"
      "GPU2\tNV18\tNV18\t X \t0-15\t0\n");
  EXPECT_EQ(topology.links, (std::vector<Link>{{0, 1, "NV18"}, {0, 2, "NV18"}, {1, 2, "NV18"}}));
  EXPECT_TRUE(parse_topology("\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-15\t\tN/A\n").links.empty());
}

TEST(DoctorParse, BindingsOfOpenMpi4) {
  EXPECT_EQ(parse_bindings("[n1:24606] MCW rank 1 bound to socket 0[core 2[hwt 0-1]], socket 0[core 3[hwt 0-1]]: "
                           "[../../BB/BB][../../../..]\n"
                           "[n1:24606] MCW rank 0 bound to socket 0[core 0[hwt 0-1]]: [BB/../../..][../../../..]\n"
                           "[n1:24606] MCW rank 2 is not bound (or bound to all available processors)\n"),
            (std::vector<Binding>{{0, 1}, {1, 2}, {2, 0}}));
}

TEST(DoctorParse, BindingsOfOpenMpi5) {
  EXPECT_EQ(parse_bindings("[n1.site:3333100] Rank 0 bound to package[0][core:2]\n"
                           "[n1.site:3333100] Rank 1 bound to package[0][core:0-3,8] package[1][core:12]\n"
                           "[n1.site:3333100] Rank 2 is not bound (or bound to all available processors)\n"),
            (std::vector<Binding>{{0, 1}, {1, 6}, {2, 0}}));
}

TEST(DoctorParse, Mpi) {
  EXPECT_EQ(parse_mpi_version("mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/\n"),
            "Open MPI 4.1.4");
  EXPECT_EQ(parse_mpi_version("HYDRA build details:\n    Version: 4.0.2\n"), "");
  EXPECT_EQ(parse_cuda_aware("mca:mpi:base:param:mpi_built_with_cuda_support:value:true\n"), true);
  EXPECT_EQ(parse_cuda_aware("mca:mpi:base:param:mpi_built_with_cuda_support:value:false\n"), false);
  EXPECT_EQ(parse_cuda_aware("sh: 1: ompi_info: not found"), std::nullopt);
}

TEST(DoctorParse, NcclOverSharedGpuMemoryAndNetworks) {
  const NcclRun near = parse_nccl(
      "n1:711:711 [0] NCCL INFO cudaDriverVersion 13000\n"
      "n1:711:711 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
      "n1:711:760 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read\n"
      "n1:712:761 [1] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via P2P/IPC\n"
      "n1:712:761 [1] NCCL INFO Connected all rings\n");
  EXPECT_EQ(near.version, "2.28.9");
  EXPECT_EQ(near.transports, (std::map<std::string, int>{{"P2P", 2}}));
  const NcclRun far = parse_nccl(
      "NCCL version 2.18.5+cuda12.2\n"
      "n1:711:760 [0] NCCL INFO Channel 00/02 : 0[0] -> 1[0] via SHM/direct/direct\n"
      "n1:711:760 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA\n"
      "n1:711:760 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[0] [send] via NET/Socket/0\n"
      "n2:713:762 [0] transport/net_socket.cc:41 NCCL WARN NET/Socket : no interface found\n");
  EXPECT_EQ(far.version, "2.18.5");
  EXPECT_EQ(far.transports, (std::map<std::string, int>{{"SHM", 1}, {"NET/IB", 1}, {"NET/Socket", 1}}));
  EXPECT_EQ(far.warnings, (std::vector<std::string>{"NET/Socket : no interface found"}));
}

TEST(DoctorParse, GpuCopies) {
  EXPECT_EQ(parse_gpu_copies("GPU 0 to GPU 1: 18.204 GB/s, right\nGPU 1 to GPU 0: 0.120 GB/s, wrong\n"),
            (std::vector<GpuCopy>{{0, 1, 18.204, true}, {1, 0, 0.12, false}}));
  EXPECT_TRUE(parse_gpu_copies("odori_doctor: There is no GPU.\n").empty());
}

// Of the program itself, on emulated GPUs.
TEST(DoctorProbe, CopiesFromEachGpuToTheNext) {
  const Ended ended =
      run_process({.arguments = {ODORI_DOCTOR, "copy_between_gpus"},
                   .environment = {{"ODORI_GPU_PLUGIN", ODORI_EMULATED_GPU}, {"ODORI_EMULATED_GPUS", "3"}}},
                  {.time = std::chrono::seconds(60)});
  const auto copies = parse_gpu_copies(ended.output);
  ASSERT_EQ(copies.size(), 3u) << ended.output;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(copies[i].from, i);
    EXPECT_EQ(copies[i].to, (i + 1) % 3);
    EXPECT_TRUE(copies[i].right);
  }
}

TEST(DoctorParse, Percents) { EXPECT_EQ(parse_percents("97\n100\n[N/A]\n3\n"), (std::vector<int>{97, 100, 3})); }

/// A node with two near GPUs on which all is well.
Facts good_node() {
  Facts facts;
  facts.build_cuda = "13.0";
  facts.usable_gpus = 2;
  facts.has_nvidia_smi = true;
  facts.gpus = {{0, "NVIDIA H200", 140.4, "9.0"}, {1, "NVIDIA H200", 140.4, "9.0"}};
  facts.driver = Driver{"580.159.03", "13.0"};
  facts.topology = {{{0, 1, "NV18"}}, {{0, "0-15", "0"}, {1, "0-15", "0"}}};
  facts.gpu_copies = {{0, 1, 18.2, true}, {1, 0, 17.9, true}};
  facts.nccl = NcclRun{"2.28.9", {{"P2P", 8}}, {}};
  facts.gpu_use = {97, 98, 20};
  facts.has_mpirun = true;
  facts.mpi_version = "Open MPI 4.1.4";
  facts.cuda_aware = false;
  facts.bindings = {{0, 0}, {1, 0}};
  facts.cores = facts.online_cores = 16;
  facts.free_gb = 100;
  facts.shared_mb = 8000;
  facts.out = "/home/a/odori/out";
  return facts;
}

/// The level and the remedy of one check.
struct Judgement {
  Level level;
  std::string remedy;
};
Judgement of(const Facts& facts, const std::string& check) {
  const auto findings = diagnose(facts);
  const auto found =
      std::find_if(findings.begin(), findings.end(), [&](const Diagnosis& f) { return f.check == check; });
  if (found == findings.end()) throw std::runtime_error("no finding " + check);
  return {found->level, found->remedy.english};
}

TEST(DoctorJudge, AGoodNodeNeedsNothing) {
  for (const Diagnosis& finding : diagnose(good_node())) {
    EXPECT_TRUE(finding.level == Level::good || finding.level == Level::note) << finding.what.english;
    EXPECT_EQ(finding.remedy.english, "") << finding.check;
  }
  EXPECT_TRUE(works(diagnose(good_node())));
}

TEST(DoctorJudge, AMachineWithoutGpusWorks) {
  Facts facts = good_node();
  facts.usable_gpus = 0;
  facts.has_nvidia_smi = false;
  facts.gpus = {}, facts.driver = {}, facts.topology = {}, facts.gpu_copies = {}, facts.nccl = {}, facts.gpu_use = {};
  EXPECT_EQ(of(facts, "gpus").level, Level::note);
  EXPECT_TRUE(works(diagnose(facts)));
  EXPECT_EQ(diagnose(facts).size(), 6u);
}

TEST(DoctorJudge, GpusThatTheBuildCannotUse) {
  Facts facts = good_node();
  facts.usable_gpus = 0, facts.why_no_gpu = "the driver is older than CUDA 13.0.";
  facts.driver = Driver{"535.10", "12.2"};
  EXPECT_EQ(of(facts, "gpus").level, Level::broken);
  EXPECT_NE(of(facts, "driver").remedy.find("toolkit 12.x"), std::string::npos);
  EXPECT_FALSE(works(diagnose(facts)));
  facts.build_cuda = "";
  EXPECT_NE(of(facts, "gpus").remedy.find("./odori setup -DODORI_CUDA=ON"), std::string::npos);
}

TEST(DoctorJudge, FarGpusAndSockets) {
  Facts facts = good_node();
  facts.topology = parse_topology(topology_of_two);
  EXPECT_EQ(of(facts, "links").level, Level::slow);
  EXPECT_NE(of(facts, "sockets").remedy.find("--bind-to numa"), std::string::npos);
}

TEST(DoctorJudge, CopiesBetweenGpus) {
  Facts facts = good_node();
  facts.gpu_copies = {{0, 1, 18.2, true}, {1, 0, 0.4, true}};
  EXPECT_EQ(of(facts, "gpu_copies").level, Level::slow);
  EXPECT_NE(of(facts, "gpu_copies").remedy.find("ACS"), std::string::npos);
  facts.gpu_copies[1] = {1, 0, 17.9, false};
  EXPECT_EQ(of(facts, "gpu_copies").level, Level::broken);
  EXPECT_NE(to_text(diagnose(facts), "en").find("1 -> 0 WRONG VALUES"), std::string::npos);
  facts.gpu_copies = {};
  facts.gpu_copies_failed = "no end within 60 s.";
  EXPECT_EQ(of(facts, "gpu_copies").level, Level::broken);
  EXPECT_TRUE(readiness_of(diagnose(facts)).task_1);
}

TEST(DoctorJudge, Nccl) {
  Facts facts = good_node();
  facts.nccl->transports = {{"NET/Socket", 2}};
  EXPECT_EQ(of(facts, "nccl").level, Level::slow);
  EXPECT_NE(of(facts, "nccl").remedy.find("NCCL_P2P_DISABLE"), std::string::npos);
  facts.gpus.pop_back();
  EXPECT_NE(of(facts, "nccl").remedy.find("have to share it"), std::string::npos);
  facts.nccl->transports = {};
  facts.nccl->warnings = {"Duplicate GPU detected"};
  EXPECT_EQ(of(facts, "nccl").level, Level::broken);
}

TEST(DoctorJudge, GpuUseBelowNinetyPercent) {
  Facts facts = good_node();
  facts.gpu_use = {90, 90, 100};
  EXPECT_EQ(of(facts, "gpu_use").level, Level::slow);
  facts.gpu_use = {91, 0, 99};
  EXPECT_EQ(of(facts, "gpu_use").level, Level::good);
}

TEST(DoctorJudge, MpiBindingCoresAndDisk) {
  Facts facts = good_node();
  facts.bindings = {{0, 1}, {1, 2}};
  facts.cores = 1;
  facts.free_gb = 0.1;
  facts.has_mpirun = false;
  EXPECT_EQ(of(facts, "binding").level, Level::note);
  EXPECT_EQ(of(facts, "cores").level, Level::slow);
  EXPECT_EQ(of(facts, "disk").level, Level::broken);
  EXPECT_EQ(of(facts, "mpi").level, Level::broken);
  EXPECT_THROW(of(facts, "mpirun"), std::runtime_error);  // none in a good node
  facts = good_node();
  facts.mpirun = "/usr/bin/mpiexec";
  facts.other_mpirun = "/opt/conda/bin/mpirun (HYDRA build details:)";
  EXPECT_EQ(of(facts, "mpirun").level, Level::note);
  EXPECT_TRUE(readiness_of(diagnose(facts)).task_2);
  EXPECT_NE(to_text(diagnose(facts), "en").find("/opt/conda/bin/mpirun"), std::string::npos);
  facts = good_node();
  EXPECT_EQ(of(facts, "shared_memory").remedy, "");
  facts.shared_mb = 67.1;  // Docker's
  EXPECT_EQ(of(facts, "shared_memory").level, Level::slow);
  facts.usable_gpus = 0;
  EXPECT_EQ(of(facts, "shared_memory").remedy, "");
  facts = good_node();
  facts.exchange_failed = "odori: lo is down.";
  EXPECT_EQ(of(facts, "mpi").level, Level::broken);
  EXPECT_EQ(of(facts, "mpi").remedy, "They say: odori: lo is down.");
  EXPECT_FALSE(readiness_of(diagnose(facts)).task_2);
}

TEST(DoctorReport, TheLastSentenceSaysForWhichTasksTheMachineIsReady) {
  const auto last = [](const Facts& facts, const char* language) {
    const auto findings = diagnose(facts);
    const std::string text = to_text(findings, language), sentence = readiness_of(findings).sentence.in(language);
    EXPECT_TRUE(text.ends_with("\n\n" + sentence + "\n")) << text;
    EXPECT_EQ(to_json(findings, language)["ready"]["text"], sentence);
    return sentence;
  };
  Facts facts = good_node();
  EXPECT_EQ(last(facts, "en"), "This machine is ready for all tasks.");
  EXPECT_EQ(last(facts, "ja"), "このマシンはすべてのタスクの準備ができています。");
  facts.gpu_use = {50};
  EXPECT_NE(last(facts, "en").find("ready for all tasks; what is marked [ slow ]"), std::string::npos);
  facts.usable_gpus = 0;
  EXPECT_EQ(last(facts, "en"),
            "This machine is ready for all tasks on CPU devices, but not on its GPUs. Missing: GPUs that the kit can "
            "use.");
  facts.has_mpirun = false;
  EXPECT_EQ(to_json(diagnose(facts), "en")["ready"]["task_1"], true);
  EXPECT_EQ(to_json(diagnose(facts), "en")["ready"]["task_2"], false);
  EXPECT_EQ(last(facts, "en"),
            "This machine is ready for task 1, but not for task 2. Missing: GPUs that the kit can use, an mpirun that "
            "works.");
  EXPECT_NE(last(facts, "ja").find("足りないもの: キットから使える GPU、使える mpirun"), std::string::npos);
  facts.free_gb = 0.1;
  EXPECT_EQ(last(facts, "en").find("This machine is not ready for the tasks. Missing: "), 0u) << last(facts, "en");
}

TEST(DoctorReport, BothLanguagesAndJson) {
  Facts facts = good_node();
  facts.gpu_use = {50};
  const auto findings = diagnose(facts);
  EXPECT_NE(to_text(findings, "en")
                .find("[ slow ] During a short training the GPU was busy 50 % of the time.\n"
                      "         -> Above 90 % is good."),
            std::string::npos);
  EXPECT_NE(to_text(findings, "ja").find("[ 低速 ] 短い学習の間、GPU 使用率は 50 % でした。\n"), std::string::npos);
  for (const Diagnosis& finding : findings) EXPECT_EQ(finding.remedy.english.empty(), finding.remedy.japanese.empty());
  const nlohmann::json json = to_json(findings, "en");
  EXPECT_EQ(json["works"], true);
  EXPECT_EQ(json["findings"].size(), findings.size());
  EXPECT_EQ(json["findings"][0]["check"], "gpus");
}

}  // namespace
}  // namespace odori::doctor
