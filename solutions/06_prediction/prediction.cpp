// Task 6: predict how long a training run takes, with another network and more devices, and with which all-reduce.
//
// Goal:    formulas for how the time grows with the batch, what another network takes, what the exchange of gradients
//          adds, where more devices stop helping, and which all-reduce a library chooses.
// Time:    20 minutes.
// Reading: deck 2 of the slides; lib/comm/cost.h.
// Command: ./odori run prediction --model mid
// Output:  two measured iterations of one device, a table of what your formulas predict from them, the memory that a
//          device needs with ZeRO and tensor parallelism, and the error of two predictions, in percent.
//
// The exchange follows the alpha-beta model (R. W. Hockney, 1994): a message takes latency + bytes / bandwidth. The
// ring's formula is yours. Those of the tree, of the hierarchical all-reduce and of memory come from lib/comm/cost.h.
#include "odori.h"
#include "prediction_support.h"

using namespace odori;

/// One device takes fixed + per_image * batch seconds for an iteration: a line through two measured ones.
cost::Compute line_through(const cost::Measured& small, const cost::Measured& large) {
  // BLANK 1: What time does each further image add? Both have .batch and .seconds.
  const double per_image = (large.seconds - small.seconds) / (large.batch - small.batch);
  // END BLANK
  return {small.seconds - per_image * small.batch, per_image};  // .fixed, the rest, and .per_image
}

/// Another network, which is not measured, predicted from this one, the proxy. Both costs have .operations (of a
/// training step on one image) and .parameters.
cost::Compute of_other_network(const cost::Compute& time, const NetworkCost& proxy, const NetworkCost& other) {
  // BLANK 2: What does an image of the other network take? Most of the time goes into arithmetic.
  const double per_image = time.per_image * other.operations / proxy.operations;
  // END BLANK
  return {time.fixed, per_image};
}

/// Seconds of an all-reduce of `bytes` bytes between n devices, by the ring of task 3. `wire`: between neighbours.
double ring_time(int n, double bytes, const cost::Link& wire) {
  // BLANK 3: How long does it take? A device sends its messages one after the other. Each waits wire.latency seconds,
  //          and then brings one of n equal chunks (a part of a byte counts too), with wire.bandwidth bytes a second.
  return 2 * (n - 1) * (wire.latency + bytes / n / wire.bandwidth);
  // END BLANK
}

/// An iteration of n devices that share one batch (strong scaling).
double shared_iteration(const cost::Compute& time, double batch, int n, double exchange) {
  // BLANK 4: What does it take? The devices share the images (a part of one counts too), and nothing else.
  return time.fixed + time.per_image * batch / n + exchange;
  // END BLANK
}

/// Larger batches mean fewer iterations, and so pay `fixed` less often: an epoch takes images * (fixed / batch +
/// per_image) seconds, and never less than images * per_image.
double batch_where_gain_ends(const cost::Compute& time, double share) {
  // BLANK 5: The smallest whole batch whose epoch takes at most `share` (0.1: 10 %) more than images * per_image?
  return std::ceil(time.fixed / (share * time.per_image));
  // END BLANK
}

/// Chooses an algorithm for an all-reduce, as NCCL and MPI do. Each of `candidates` (at least one) has a .name, and .seconds(n, bytes).
Candidate choose(const std::vector<Candidate>& candidates, int n, double bytes) {
  // BLANK 6: Which of them would a library choose to all-reduce `bytes` on n devices?
  return *std::ranges::min_element(candidates, {}, [&](const Candidate& one) { return one.seconds(n, bytes); });
  // END BLANK
}

int main(int argc, char** argv) try {
  int shared_batch = 8192, images = 50000, per_node = 4, percent = 10;
  std::string other_name = "vgg", between = "10gbit,50us", within = "100gbit,5us";
  const Arguments args = parse_arguments(
      argc, argv,
      {.name = "prediction",
       .about = "Task 6: predict how long a training takes, and see how far off that is.",
       .trains = false,
       .own = {{"--shared-batch", "Images of an iteration that all devices share", &shared_batch, 1},
               {"--images", "Training images of an epoch", &images, 1},
               {"--other-model", "The network of which nothing is measured", &other_name},
               {"--devices-per-node", "Devices of each node", &per_node, 1, 1024},
               {"--network", "What joins the nodes: bandwidth and latency", &between},
               {"--within", "What joins the devices of a node", &within},
               {"--percent", "The percent that an epoch may take more than its images alone, and a tenth of it",
                &percent, 1}}});
  const auto predict = [](const Given& given) {
    const NetworkCost proxy = cost_of(given.network), other = cost_of(given.other);
    const double bytes = 4 * proxy.parameters;
    Prediction prediction{given};
    const cost::Compute time = line_through(given.small, given.large);
    prediction.compute = time;
    prediction.compute_of_other = of_other_network(time, proxy, other);
    for (const int n : device_counts(given.per_node)) {
      const double ring = ring_time(n, bytes, given.wire(n));
      const Candidate chosen = choose(candidates_for(given, n, ring_time), n, bytes);
      prediction.curve.push_back({n, ring, shared_iteration(time, given.batch, n, ring), chosen.name,
                                  shared_iteration(time, given.batch, n, chosen.seconds(n, bytes))});
    }
    prediction.batch_within_percent = batch_where_gain_ends(time, given.percent / 100.0);
    prediction.batch_within_tenth_of_it = batch_where_gain_ends(time, given.percent / 1000.0);
    return prediction;
  };
  if (predict_for_check(predict)) return 0;

  const NetworkSpec network = create_network(args.model, 10, args.image_size);
  const NetworkSpec other = create_network(other_name, 10, args.image_size);
  const cost::Link network_link = cost::link_from(between), node_link = cost::link_from(within);
  const int batch = args.batchsize;
  const auto [small, large] = measure_two(network, batch, 4 * batch, args.devices);
  const Prediction prediction =
      predict({network, other, images, shared_batch, per_node, node_link, network_link, small, large, percent});
  show(prediction);

  // Batches that no line was drawn through. Two devices of one process exchange gradients in memory.
  const cost::Compute time = prediction.compute;
  const cost::Link memory{.latency = 1e-5, .bandwidth = 1e10};
  const double exchange = ring_time(2, 4 * cost_of(network).parameters, memory);
  show_error("1 device, twice the batch", shared_iteration(time, 2 * batch, 1, 0), network, 2 * batch, 1, args.devices);
  show_error("2 devices, twice the batch", shared_iteration(time, 2 * batch, 2, exchange), network, batch, 2,
             args.devices);
  return 0;
} catch (...) {
  return report_failure();
}
