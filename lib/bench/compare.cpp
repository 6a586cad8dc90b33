// SPDX-License-Identifier: Apache-2.0
// Compares all communicators: what it costs to average a network's gradients, and of how much of an iteration.
//
//   ./odori compare --ranks 2 --nodes 2 --link 1gbit,50us
//   mpirun build/bin/odori_compare                           in a job: between its hosts
//
// In each round every rank computes an iteration, and then all communicators average its gradients once, one after the
// other. A time is that of the slowest rank; the prediction's latency and bandwidth are those of messages between two
// ranks, measured here too. When the ranks are through, the first goes on alone, with ParallelUpdater, task 1's way: as
// many devices in one process as there were ranks on its machine. It can't be asked for its exchange alone, which is
// what an iteration takes longer than without any.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "bench/measure.h"
#include "bench/one_process.h"
#include "comm/algorithm.h"
#include "comm/communicator.h"
#include "comm/cost.h"
#include "comm/session.h"
#include "errors/error.h"
#include "files/file.h"
#include "files/json.h"
#include "flags/command_line.h"
#include "program/program.h"
#include "report/comparison.h"
#include "report/costs.h"
#include "report/html.h"

using namespace odori;

namespace {

struct Flags {
  std::string model = "vgg", out = "out/compare", json, device = "auto";
  int batchsize = 32, rounds = 5;
};

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  CommandLine line(
      Text{"Measures what it costs to average gradients with each communicator, between the ranks that mpirun starts.",
           "mpirun が起動したランクの間で勾配を平均する時間を、コミュニケータごとに測る"},
      "./odori compare", argc, argv);
  line.add_choice("--model", flags.model, network_names(), line.say({"The network", "ネットワーク"}));
  line.add_choice(
      "--device", flags.device, {"auto", "cpu", "cuda"},
      line.say({"auto (GPUs if there are any), cpu or cuda", "auto（GPU があれば GPU）、cpu、cuda のどれか"}));
  line.add_number("--batchsize", flags.batchsize, 1, 1 << 20,
                  line.say({"Images per device and iteration", "デバイスごと、反復ごとの画像の数"}));
  line.add_number("--rounds", flags.rounds, 1, 1000,
                  line.say({"Rounds; their medians are reported", "計測の回数。中央値を表示する"}));
  line.add_option("--out", flags.out,
                  line.say({"Folder for result.json and the page, report.html",
                            "result.json とページ report.html を書くフォルダ"}))
      .capture_default_str();
  line.add_option("--json", flags.json,
                  line.say({"Write the result into this file as well", "結果をこのファイルにも書く"}));
  line.parse({"--ranks", "--nodes", "--link"});
  return flags;
}

DevicePoolOptions devices_of(const Flags& flags) {
  const bool gpus = flags.device == "cuda" || (flags.device == "auto" && gpu_count() > 0);
  return {.request = gpus ? DeviceRequest::cuda : DeviceRequest::cpu};
}

std::string text_of(const ExchangeCosts& costs) { return json_text(nlohmann::json(costs), 2) + "\n"; }

/// The messages and bytes of the rank that sends most.
MeasuredExchange::Sent busiest(Communicator& all, const Traffic& before, const Traffic& after) {
  MeasuredExchange::Sent most;
  for (const Traffic& of : all.all_gather(Traffic{after.messages - before.messages, after.bytes - before.bytes})) {
    most.messages = std::max(most.messages, of.messages);
    most.bytes = std::max(most.bytes, of.bytes);
  }
  return most;
}

/// A communicator and what was seen of it.
struct Way {
  std::unique_ptr<Communicator> comm;  // null: refused
  MeasuredExchange exchange;
  std::vector<double> milliseconds;
};

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const std::string& name : communicator_names()) {
    Way way{.comm = nullptr, .exchange = {.name = name}, .milliseconds = {}};
    try {
      way.comm = create_communicator(name);
    } catch (const CannotBeUsed& error) {
      way.exchange.refused = error.why().english, way.exchange.refused_ja = error.why().japanese;
    }
    ways.push_back(std::move(way));
  }
  return ways;
}

void use(MeasuredExchange& exchange, const std::vector<double>& milliseconds) {
  const bench::Spread time = bench::spread_of(milliseconds);
  exchange.milliseconds = time.median, exchange.least = time.min, exchange.most = time.max;
}

class Rank {
 public:
  explicit Rank(const Flags& flags)
      : flags_(flags),
        images_(static_cast<std::size_t>(flags.batchsize)),
        batch_(images_.batch(flags.batchsize)),
        trainee_(pool_.use(all_->intra_rank()), flags.model, flags.batchsize, batch_, {}) {
    for (const NamedView& parameter : trainee_.model.parameters())
      pieces_.push_back({parameter.view.offset, parameter.view.offset + parameter.view.size()});
  }

  ExchangeCosts measure() {
    if (all_->rank() == 0) say_what_comes();
    std::vector<double> compute;
    for (int round = -1; round < flags_.rounds; ++round) {  // the first is a rehearsal
      const double iteration = slowest([&] { trainee_.iterate(1); });
      if (round >= 0) compute.push_back(iteration);
      for (Way& way : ways_) {
        if (!way.comm) continue;
        const double exchange = slowest([&] { mean(*way.comm); });
        if (round >= 0) way.milliseconds.push_back(exchange);
      }
    }
    ExchangeCosts costs{.machine = this_machine(),
                        .date = now(),
                        .model = flags_.model,
                        .device = pool_.current().description(),
                        .link = all_->link(),
                        .ranks = all_->size(),
                        .nodes = all_->inter_size(),
                        .batchsize = flags_.batchsize,
                        .rounds = flags_.rounds,
                        .gradient_bytes = static_cast<std::int64_t>(trainee_.model.memory().gradients.bytes()),
                        .compute_milliseconds = bench::spread_of(compute).median,
                        .exchanges = {}};
    costs.within = seen_between(0, true), costs.between = seen_between(0, false);
    for (Way& way : ways_) {
      if (way.comm) finish(way);
      way.exchange.predicted = predicted(way.exchange, costs);
      costs.exchanges.push_back(way.exchange);
    }
    return costs;
  }

  Communicator& all() { return *all_; }

 private:
  void say_what_comes() const {
    fmt::print("{}\n", in_language({"Measuring {} communicators between {} rank{}, {} round{} ...",
                                    "{0} 種類のコミュニケータを {1} ランクの間で {3} 回ずつ測っています …"},
                                   ways_.size(), all_->size(), all_->size() == 1 ? "" : "s", flags_.rounds,
                                   flags_.rounds == 1 ? "" : "s"));
    std::fflush(stdout);
  }
  void mean(Communicator& comm) {
    comm.all_reduce_mean(trainee_.model.device(), trainee_.model.memory().gradients, pieces_);
    trainee_.model.device().synchronize();
  }
  /// The milliseconds of the slowest rank, from a common start.
  template <typename Work>
  double slowest(const Work& work) {
    all_->barrier();
    const std::vector<double> all = all_->all_gather(1e3 * bench::seconds_of(work));
    return *std::max_element(all.begin(), all.end());
  }
  /// What messages take between `rank` and the first other rank that is on its node, or that isn't; nothing if there is
  /// none. The least of some tries: other work only adds to it.
  std::optional<MeasuredLink> seen_between(int rank, bool on_its_node) {
    const std::vector<int> nodes = all_->all_gather(all_->inter_rank());
    const auto of = [&](int other) { return (nodes[at(other)] == nodes[at(rank)]) == on_its_node && other != rank; };
    int other = 0;
    while (other < all_->size() && !of(other)) ++other;
    if (other == all_->size()) return {};
    const auto seconds = [&](std::size_t floats) {
      std::vector<float> sent(floats), received(floats);
      const int here = all_->rank(), there = here == rank ? other : rank;
      double least = std::numeric_limits<double>::infinity();
      for (int i = 0; i < 10; ++i) {
        all_->barrier();
        const bool is_one = here == rank || here == other;
        const double took = bench::seconds_of([&] {
          if (is_one) all_->exchange(sent, there, received, there);
        });
        if (is_one) least = std::min(least, took);
      }
      const std::vector<double> all = all_->all_gather(least);
      return all[at(rank)];
    };
    constexpr std::size_t many = 1 << 20;
    const double one = seconds(1), all = seconds(many);
    return MeasuredLink{1e6 * one, many * sizeof(float) / 1e6 / std::max(all - one, 1e-9)};
  }
  std::optional<double> predicted(const MeasuredExchange& of, const ExchangeCosts& costs) const {
    if (!of.refused.empty() || !of.counted || costs.ranks % costs.nodes != 0) return {};
    const auto link = [](const std::optional<MeasuredLink>& seen) {
      return seen ? cost::Link{seen->microseconds / 1e6, seen->megabytes_per_second * 1e6} : cost::Link();
    };
    const auto seconds =
        cost::all_reduce(of.name, {costs.nodes, costs.ranks / costs.nodes, link(costs.within), link(costs.between)},
                         {static_cast<double>(costs.gradient_bytes), static_cast<int>(pieces_.size())});
    return seconds ? std::optional(1e3 * *seconds) : std::nullopt;
  }
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  void finish(Way& way) {
    use(way.exchange, way.milliseconds);
    way.exchange.counted = way.exchange.name != "pure_nccl";  // NCCL doesn't tell
    const TrafficOfRank before = way.comm->traffic();
    mean(*way.comm);
    const TrafficOfRank after = way.comm->traffic();
    way.exchange.within_node = busiest(*all_, before.sent_within_node, after.sent_within_node);
    way.exchange.to_other_nodes = busiest(*all_, before.sent_to_other_nodes, after.sent_to_other_nodes);
  }

  const Flags& flags_;
  std::unique_ptr<Communicator> all_ = create_communicator("flat");
  std::vector<Way> ways_ = all_ways();
  DevicePool pool_{devices_of(flags_)};
  bench::RandomImages images_;
  Batch batch_;
  bench::Trainee trainee_;
  std::vector<Range> pieces_;
};

/// How many ranks stand on this machine, whatever nodes it plays.
int ranks_here(Communicator& all) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::vector<std::size_t> hosts = all.all_gather(std::hash<std::string>()(host.data()));
  return static_cast<int>(std::count(hosts.begin(), hosts.end(), hosts[static_cast<std::size_t>(all.rank())]));
}

/// Between all ranks. Nothing on those that aren't the first.
std::optional<ExchangeCosts> measure_ranks(const Flags& flags, int& n_here) {
  Rank rank(flags);
  n_here = ranks_here(rank.all());
  ExchangeCosts costs = rank.measure();
  return rank.all().rank() == 0 ? std::optional(std::move(costs)) : std::nullopt;
}

/// As many devices in one process.
MeasuredExchange task_1(const Flags& flags, int devices) {
  MeasuredExchange exchange{.name = "ParallelUpdater", .counted = false, .devices = devices};
  const bool gpus = devices_of(flags).request == DeviceRequest::cuda;
  const int n_devices = gpus ? gpu_count() : this_machine().cores;
  if (devices > n_devices) {
    exchange.refused = fmt::format("{} devices of one process would have to share this machine's {} {}", devices,
                                   n_devices, fmt::format("{}{}", gpus ? "GPU" : "core", n_devices == 1 ? "" : "s"));
    exchange.refused_ja = fmt::format("1 プロセスの {} デバイスがこのマシンの {} {}を取り合うことになるため", devices,
                                      n_devices, gpus ? "GPU " : "コア");
    return exchange;
  }
  bench::InOneProcess process(flags.model, flags.batchsize, devices, devices_of(flags));
  std::vector<double> milliseconds;
  const auto of = [&](double rate) { return 1e3 * devices * flags.batchsize / rate; };
  for (int round = 0; round < flags.rounds; ++round) {
    const double alone = of(process.ceiling(1));
    milliseconds.push_back(std::max(0.0, of(process.parallel(1)) - alone));
  }
  use(exchange, milliseconds);
  return exchange;
}

void report(const ExchangeCosts& costs, const Flags& flags) {
  std::error_code ignored;  // writing tells
  std::filesystem::create_directories(flags.out, ignored);
  for (const std::string& path : {flags.out + "/result.json", flags.json})
    if (!path.empty()) write_file(path, text_of(costs));
  write_file(flags.out + "/report.html", to_page(costs, read_chart_js()));
  fmt::print("{}{}\n", to_text(costs),
             in_language({"Written: {0}/result.json and, as a page, {0}/report.html",
                          "結果: {0}/result.json、ページ: {0}/report.html"},
                         flags.out));
}

}  // namespace

int main(int argc, char** argv) try {
  Flags flags;
  std::optional<ExchangeCosts> costs;
  int n_here = 1;
  {
    const MpiSession mpi(argc, argv);
    flags = parse_flags(argc, argv);
    costs = measure_ranks(flags, n_here);
  }
  if (!costs) return 0;
  if (n_here > 1) costs->exchanges.push_back(task_1(flags, n_here));
  report(*costs, flags);
  return 0;
} catch (...) {
  return report_failure();
}
