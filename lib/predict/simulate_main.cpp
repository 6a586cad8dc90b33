// SPDX-License-Identifier: Apache-2.0
// ./odori simulate: runs a learner's program on simulated ranks, and shows times, bytes and a timeline.
//
//   odori_simulate --task TASK --program PROGRAM [flags], as the driver calls it
//
// The program gets a plan (simulate/plan.h). Its support code knows what can be simulated, and writes a report.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "comm/cost.h"
#include "errors/error.h"
#include "errors/text.h"
#include "files/file.h"
#include "files/json.h"
#include "predict/iteration_flags.h"
#include "program/process.h"
#include "program/program.h"
#include "report/html.h"
#include "report/simulation.h"
#include "simulate/plan.h"

using namespace odori;

namespace {

constexpr int most_ranks = 4096;

struct Flags : IterationFlags {
  std::string task, program, out = "out/simulate";
  int ranks = 1024, micro_batches = 32;
  std::vector<std::string> stragglers;  // RANK:FACTOR
  bool kits_answer = false, full_size = false;
};

void add_flags(CommandLine& line, Flags& flags) {
  line.add_option("--task", flags.task).hidden();  // the driver gives these three
  line.add_option("--program", flags.program).hidden();
  line.add_flag("--solution", flags.kits_answer).hidden();
  line.add_number("--ranks", flags.ranks, 2, most_ranks,
                  line.say({"Ranks, a device each; more than --gpus-per-node: a multiple of it",
                            "ランク数（各 1 デバイス）。--gpus-per-node を超えるときはその倍数"}));
  line.add_option("--straggler", flags.stragglers,
                  line.say({"RANK:FACTOR: this rank computes that many times longer; may be given several times",
                            "ランク:倍率。このランクの計算時間をその倍数にする（複数指定可）"}))
      .take_all()
      .one_value_each();
  line.add_number(
      "--microbatches", flags.micro_batches, 1, 1 << 12,
      line.say({"Micro-batches of an iteration, for pipeline", "1 反復のマイクロバッチの数（pipeline 用）"}));
  line.add_flag("--full-size", flags.full_size,
                line.say({"Send all elements of the gradients; without it, a few that are charged as all",
                          "勾配の全要素を送る。なければ、一部だけを送り、全要素分の時間を数える"}));
  line.add_option("--out", flags.out, line.say({"The folder for the page", "ページを書くフォルダ"}))
      .capture_default_str();
}

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  flags.gpus_per_node = 8;
  flags.network = "100gbit,5us";
  flags.within = "200gbit,2us";
  CommandLine line(
      Text{"Runs the function that you wrote in a task on simulated ranks, up to thousands in one process. "
           "Values are really sent; time is that of a virtual clock.",
           "タスクで書いた関数を、1 プロセスの中でシミュレートした最大数千のランクで実行する。値は実際に送受信し、"
           "時間は仮想時計で測る"},
      "./odori simulate", argc, argv);
  add_flags(line, flags);
  add_cluster_flags(line, flags);
  add_iteration_flags(line, flags);
  line.parse();
  return flags;
}

std::map<int, double> stragglers_of(const Flags& flags) {
  std::map<int, double> stragglers;
  for (const std::string& text : flags.stragglers) {
    const std::vector<std::string> parts = split(text, ':');
    const int rank = parts.size() == 2 ? number_of<int>(parts[0]).value_or(-1) : -1;
    const double factor = parts.size() == 2 ? number_of<double>(parts[1]).value_or(0) : 0;
    if (rank < 0 || rank >= flags.ranks || !(factor > 0 && factor <= 1e6))
      throw UsageError(
          {fmt::format("--straggler takes a rank from 0 to {} and a factor above 0, as in 7:1.5, not \"{}\".",
                       flags.ranks - 1, text),
           fmt::format("--straggler には 0 から {} までのランクと正の倍率を 7:1.5 のように指定します（指定された値は"
                       "「{}」）。",
                       flags.ranks - 1, text)});
    stragglers[rank] = factor;
  }
  return stragglers;
}

std::vector<cost::Cluster> clusters_of(const Flags& flags) {
  const int each = std::min(flags.gpus_per_node, flags.ranks);
  if (flags.ranks % each != 0)
    throw UsageError(
        {fmt::format("{} ranks do not fill nodes of {}. Choose --ranks as a multiple of --gpus-per-node.", flags.ranks,
                     each),
         fmt::format("{} ランクを {} ランクずつのノードに分けられません。--ranks は --gpus-per-node の倍数に"
                     "してください。",
                     flags.ranks, each)});
  return simulate::clusters_up_to(flags.ranks, each, cost::link_from(flags.within), cost::link_from(flags.network));
}

/// Each rank has its gradients, and may have as much again for what it receives.
void require_memory(const Flags& flags, double gradient_bytes) {
  const double needed = 2 * flags.ranks * gradient_bytes / (1 << 30), there = this_machine().memory_gib;
  if (needed > there)
    throw UsageError(
        {fmt::format("--full-size needs {:.1f} GiB for {} ranks with {:.1f} MB of gradients each, and this machine "
                     "has {:.1f} GiB. Choose fewer --ranks, or leave --full-size out.",
                     needed, flags.ranks, gradient_bytes / 1e6, there),
         fmt::format("--full-size には {:.1f} GiB のメモリが必要です（{} ランク、勾配は各 {:.1f} MB）。このマシンの"
                     "メモリは {:.1f} GiB です。--ranks を減らすか、--full-size を外してください。",
                     needed, flags.ranks, gradient_bytes / 1e6, there)});
}

/// Its output is shown. Returns its exit code.
int run_program(const Flags& flags, const simulate::Plan& plan) {
  const nlohmann::json asked{{"simulate", plan}};
  return run_process({.arguments = {flags.program, "--epoch", "0"},
                      .environment = {{"ODORI_TEST_CASES", json_text(asked)},
                                      {"ODORI_NODES", ""},
                                      {"ODORI_LINK", ""},
                                      // One process without mpirun.
                                      {"OMPI_MCA_ess_singleton_isolated", "1"},
                                      {"OMPI_MCA_plm_rsh_agent", "sh"}},
                      .shown = true,
                      .foreground = true},
                     {.time = std::nullopt})
      .code;
}

}  // namespace

int main(int argc, char** argv) try {
  const Flags flags = parse_flags(argc, argv);
  if (flags.program.empty())
    throw UsageError(Text{"Which task? ./odori simulate ring runs your all-reduce.",
                          "どのタスクですか。./odori simulate ring は、自分の all-reduce を実行します。"});
  const std::string page = fmt::format("{}/{}.html", flags.out, flags.task);
  const NetworkSpec network = create_network(flags.model, 10, flags.image_size);
  simulate::Plan plan{.clusters = clusters_of(flags),
                      .model = flags.model,
                      .gradient_bytes = 4 * cost_of(network).parameters,
                      .batch = static_cast<double>(flags.batchsize),
                      .micro_batches = flags.micro_batches,
                      .stragglers = stragglers_of(flags),
                      .kits_answer = flags.kits_answer,
                      .full_size = flags.full_size};
  if (flags.full_size) require_memory(flags, plan.gradient_bytes);
  const TemporaryFolder results(flags.out + "/.results");
  plan.folder = results.path();
  plan.seconds = compute_of(flags, network).seconds(plan.batch);
  const int code = run_program(flags, plan);
  if (code >= 128)
    throw Error({fmt::format("{} was ended by signal {}. A simulated rank has a stack of 256 KiB: large arrays "
                             "belong in a std::vector. ./odori check {} explains crashes.",
                             flags.program, code - 128, flags.task),
                 fmt::format("{} はシグナル {} で終了しました。シミュレートした各ランクのスタックは 256 KiB です。"
                             "大きな配列には std::vector を使ってください。異常終了の原因は ./odori check {} で"
                             "調べられます。",
                             flags.program, code - 128, flags.task)});
  if (code != exit_code::ok) return code;  // it has said why

  const std::string text = read_file(results.path() / "report.json");
  require(!text.empty(),
          {"{} ended without a report: it has nothing that can be simulated.",
           "{} には、シミュレートできるものがありません（結果を書かずに終わりました）。"},
          flags.program);
  const SimulationReport report = parse_json(text);
  fmt::print("{}", to_text(report, language()));
  const timeline::Timeline drawn = timeline::shortened(timeline::read(results.path()));
  replace_file(page, to_page(report, drawn, {flags.task, language(), this_machine(), now()}, read_chart_js(),
                             timeline::read_d3()));
  fmt::print("{}\n", page);
  return 0;
} catch (...) {
  return report_failure();
}
