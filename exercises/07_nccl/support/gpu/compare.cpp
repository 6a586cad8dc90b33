// SPDX-License-Identifier: Apache-2.0
// Training with the learner's functions, next to the same training on one GPU.
#include <algorithm>
#include <cmath>

#include "errors/error.h"
#include "gpus.h"
#include "memory.h"
#include "nccl_cases.h"
#include "nccl_timeline.h"
#include "observe/hooks.h"
#include "observe/refusal.h"
#include "reference.h"
#include "threads/watchdog.h"

namespace odori {
namespace {

void show_log(nccl_facts::Phase phase, const std::vector<emulator::LogEntry>& log) {
  if (!observe::enabled()) return;
  observe::on_event(nccl_facts::log, {phase});
  for (const emulator::LogEntry& entry : log) observe::on_event(emulator::to_json(entry));
}

/// What NCCL reports of the exchange, if that has failed.
std::string failure_of(ncclComm_t nccl) {
  ncclResult_t error = ncclSuccess;
  ncclCommGetAsyncError(nccl, &error);
  if (error == ncclSuccess || error == ncclInProgress) return {};
  observe::on_refusal(nccl_facts::exchange_failed);
  return fmt::format(
      "NCCL reports: {}. All ranks must call the same all-reduces in the same order, with the same number of elements.",
      ncclGetErrorString(error));
}

float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  float largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const float difference = std::abs(a[i] - b[i]);
    largest = difference <= largest ? largest : std::isnan(difference) ? INFINITY : difference;
  }
  return largest;
}

void print_comparison(const char* what, const std::vector<float>& differences, int updates) {
  constexpr float rounding = 1e-5f;
  std::string wrong;
  for (std::size_t i = 0; i < differences.size(); ++i)
    if (!(differences[i] <= rounding)) wrong += fmt::format("{}{}", wrong.empty() ? "" : ", ", i);
  fmt::print("Weights after {} update{}: {}", updates, updates == 1 ? "" : "s",
             wrong.empty() ? fmt::format("right on every {}\n", what) : fmt::format("WRONG on {} {}\n", what, wrong));
  if (!wrong.empty())
    fmt::print("  They differ by up to {:g} from those of one GPU that computes all the batches.\n",
               *std::ranges::max_element(differences));
}

/// One line for each stream: which operation it runs, from the left to the right.
void print_streams(const char* title, const std::vector<emulator::LogEntry>& log, double end_of_picture) {
  using namespace nccl_timeline;
  constexpr int columns = 72;
  const emulator::OperationGraph graph(log);
  const auto times = graph.timeline({.collective = nccl_times::all_reduce_bytes});
  const std::vector<int> begins = iteration_begins(log);
  if (begins.empty()) return;
  std::string compute(columns, ' '), communication(columns, ' ');
  double begin = 0;
  int layer = Perceptron::layers;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const LogEntry& entry = graph.entries()[i];
    if (entry.id < begins.back()) continue;
    if (entry.id == begins.back()) begin = times[i].start;
    const bool exchanges = entry.kind == OperationKind::collective;
    if (!exchanges && entry.kind != OperationKind::kernel) continue;
    if (exchanges) --layer;
    const char mark = exchanges            ? static_cast<char>('0' + std::max(layer, 0))
                      : is_backward(entry) ? entry.name.back()
                                           : entry.name[0];
    const auto column = [&](double time) {
      return std::clamp(static_cast<int>((time - begin) / end_of_picture * columns), 0, columns);
    };
    std::string& line = exchanges ? communication : compute;
    for (int c = column(times[i].start); c < std::max(column(times[i].end), column(times[i].start) + 1); ++c)
      if (c < columns) line[static_cast<std::size_t>(c)] = mark;
  }
  fmt::print("{}: {:.2f} ms\n  compute       |{}|\n  communication |{}|\n", title, 1e3 * seconds_of_iteration(log),
             compute, communication);
}

void print_timeline(const std::vector<emulator::LogEntry>& log) {
  if (log.empty()) return;
  const auto one_event = nccl_timeline::with_one_event(log);
  const double longest =
      std::max(nccl_timeline::seconds_of_iteration(log), nccl_timeline::seconds_of_iteration(one_event));
  fmt::print(
      "\nThe last iteration in virtual time (f forward, l loss, 3 2 1 0 a layer's backward and all-reduce, u "
      "update)\n");
  print_streams("Yours", log, longest);
  print_streams("With one event after all of backward", one_event, longest);
}

}  // namespace

void train_and_compare(Perceptron& network, ncclComm_t nccl, Communicator& comm, Train train) {
  refusal::require(nccl_facts::no_communicator, nccl != nullptr,
                   "There is no NCCL communicator: ncclCommInitRank has to create it.");
  const int iterations = network.memory().iterations;
  gpus::start_log(comm.rank());
  {
    const observe::CollectiveScope call("train()");
    Watchdog watch({"The exchange of gradients over NCCL", ""}, watchdog_limit(), [nccl] { return failure_of(nccl); });
    const Watchdog::During during(watch);
    train(network, nccl, iterations);
  }
  const auto log = gpus::stop_log();
  show_log(nccl_facts::training, log);
  const observe::CollectiveScope call("train_and_compare()");
  const std::vector<float> weights = to_host(network.memory().parameters, Perceptron::Memory::all_parameters());
  observe::on_values(weights);
  observe::on_values(network.memory().reported_losses);

  std::vector<float> right(weights.size());
  if (comm.rank() == 0) {
    const auto n = static_cast<float>(comm.size());
    const Reference reference = train_on_one_gpu(comm.size(), iterations, 1 / n);
    right = reference.weights;
    if (observe::enabled()) {
      observe::on_values(right);
      observe::on_values(train_on_one_gpu(comm.size(), iterations, 1).weights);
      observe::on_values(train_on_one_gpu(comm.size(), iterations, 1 / n / n).weights);
      observe::on_values(reference.losses);
    }
  }
  comm.broadcast(std::as_writable_bytes(std::span(right)), 0);
  const std::vector<float> differences = comm.all_gather(largest_difference(weights, right));
  if (comm.rank() != 0) return;
  print_comparison("rank", differences, iterations);
  print_timeline(log);
}

void try_one_process(Communicator& comm, AllReduceInOneProcess all_reduce) {
  int n = 0;
  CUDA_CHECK(cudaGetDeviceCount(&n));
  if (comm.rank() == 0) {
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    std::vector<std::unique_ptr<Perceptron>> networks;
    std::vector<int> devices;
    std::vector<ncclComm_t> comms(static_cast<std::size_t>(n));
    std::vector<Gpu> all;
    for (int i = 0; i < n; ++i) devices.push_back(i);
    NCCL_CHECK(ncclCommInitAll(comms.data(), n, devices.data()));
    gpus::start_log(0);
    for (const int i : devices) {
      CUDA_CHECK(cudaSetDevice(i));
      Perceptron& network = *networks.emplace_back(std::make_unique<Perceptron>(i, 1));
      Gpu& gpu = all.emplace_back(
          Gpu{i, network.gradients(0), Perceptron::Memory::all_parameters(), comms[static_cast<std::size_t>(i)]});
      cudaEvent_t backward_done = nullptr;
      for (cudaStream_t* stream : {&gpu.compute, &gpu.communication})
        CUDA_CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
      for (cudaEvent_t* event : {&gpu.exchanged, &backward_done})
        CUDA_CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
      network.forward(0, gpu.compute);
      for (int layer = Perceptron::layers - 1; layer >= 0; --layer) network.backward(layer, gpu.compute);
      CUDA_CHECK(cudaEventRecord(backward_done, gpu.compute));
      CUDA_CHECK(cudaStreamWaitEvent(gpu.communication, backward_done));
    }
    CUDA_CHECK(cudaSetDevice(device));
    all_reduce(all);
    for (const Gpu& gpu : all) {
      CUDA_CHECK(cudaSetDevice(gpu.device));
      networks[static_cast<std::size_t>(gpu.device)]->update(gpu.compute);
    }
    show_log(nccl_facts::one_process_phase, gpus::stop_log());
    std::vector<float> weights, differences;
    const std::vector<float> right = train_on_one_gpu(n, 1, 1 / static_cast<float>(n)).weights;
    for (const Gpu& gpu : all) {
      CUDA_CHECK(cudaSetDevice(gpu.device));
      const std::vector<float> its =
          to_host(networks[static_cast<std::size_t>(gpu.device)]->memory().parameters, right.size());
      weights.insert(weights.end(), its.begin(), its.end());
      differences.push_back(largest_difference(its, right));
    }
    observe::on_event(nccl_facts::one_process, {n});
    observe::on_values(weights);
    observe::on_values(right);
    fmt::print("\nOne process with {} GPU{}. ", n, n == 1 ? "" : "s");
    print_comparison("GPU", differences, 1);
    for (const ncclComm_t nccl : comms) NCCL_CHECK(ncclCommDestroy(nccl));
    CUDA_CHECK(cudaSetDevice(device));
  }
  comm.barrier();
}

}  // namespace odori
