// Task 6: predict how long a training run takes, with other batches, another network and more devices.
//
// Goal:    formulas for how the time grows with the batch, what another network takes, what the exchange of gradients
//          adds, and where more devices stop helping.
// Time:    20 minutes.
// Reading: deck 2 of the slides; lib/comm/cost.h.
// Command: ./odori run prediction --model mid
// Output:  two measured iterations of one device, a table of what your formulas predict from them, and the error of two
//          of these predictions, in percent.
//
// The exchange follows the alpha-beta model (R. W. Hockney, 1994): a message takes latency + bytes / bandwidth. It is
// the ring of task 3. For many devices MPI and NCCL choose trees; lib/comm/cost.h and ./odori predict have MPI's.
#include "odori.h"
#include "prediction_support.h"

using namespace odori;

/// How many iterations go through all images once. The last batch is filled up with images of the next epoch.
double iterations_of_epoch(int images, int batch) {
  // BLANK 1: How many iterations does an epoch have? It ends when every image was in a batch.
  return (images + batch - 1) / batch;
  // END BLANK
}

/// One device takes fixed + per_image * batch seconds for an iteration: a line through two measured ones. They are such
/// that `fixed` comes out above 0; no answer has to check that.
cost::Compute line_through(const cost::Measured& small, const cost::Measured& large) {
  // BLANK 2: What time does each further image add? Both have .batch and .seconds.
  const double per_image = (large.seconds - small.seconds) / (large.batch - small.batch);
  // END BLANK
  // BLANK 3: What is left of an iteration's time without its images?
  const double fixed = small.seconds - per_image * small.batch;
  // END BLANK
  return {fixed, per_image};
}

/// Another network, of which nothing was measured: from this one, the proxy. Both costs have .operations (of an image's
/// training step) and .parameters.
cost::Compute of_other_network(const cost::Compute& time, const NetworkCost& proxy, const NetworkCost& other) {
  // BLANK 4: What does an image of the other network take? Most of the time goes into arithmetic.
  const double per_image = time.per_image * other.operations / proxy.operations;
  // END BLANK
  return {time.fixed, per_image};
}

/// The all-reduce of `bytes` of gradients between n devices, by the ring of task 3, over such a wire.
double exchange_time(int n, double bytes, const cost::Link& wire) {
  // BLANK 5: How many messages does each device send, one after the other?
  const int messages = 2 * (n - 1);
  // END BLANK
  // BLANK 6: How long do they take? Each message waits wire.latency seconds, and then brings one of n equal chunks (a
  //          part of a byte counts too), with wire.bandwidth bytes a second.
  return messages * (wire.latency + bytes / n / wire.bandwidth);
  // END BLANK
}

/// An iteration of n devices that share one batch (strong scaling).
double shared_iteration(const cost::Compute& time, double batch, int n, double exchange) {
  // BLANK 7: What does it take? The devices share the images (a part of one counts too), and nothing else.
  return time.fixed + time.per_image * batch / n + exchange;
  // END BLANK
}

/// Larger batches mean fewer iterations, and so pay `fixed` less often: an epoch takes images * (fixed / batch +
/// per_image) seconds, and never less than images * per_image.
double batch_where_gain_ends(const cost::Compute& time, double share) {
  // BLANK 8: The smallest whole batch whose epoch takes at most `share` (0.1: 10 %) more than images * per_image?
  return std::ceil(time.fixed / (share * time.per_image));
  // END BLANK
}

int main(int argc, char** argv) try {
  int images = 50000, percent = 10;
  std::string other_name = "vgg", joined_by = "10gbit,50us";
  const Arguments args = parse_arguments(
      argc, argv,
      {.name = "prediction",
       .about = "Task 6: predict how long a training takes, and see how far off that is.",
       .trains = false,
       .own = {{"--images", "Training images of an epoch", &images, 1},
               {"--other-model", "The network of which nothing is measured", &other_name},
               {"--network", "What joins the devices: bandwidth and latency", &joined_by},
               {"--percent", "The percent that an epoch may take more than its images alone, and a tenth of it",
                &percent, 1}}});
  const auto predict = [](const Given& given) {
    const NetworkCost proxy = cost_of(given.network), other = cost_of(given.other);
    Prediction prediction{given.network.name, given.other.name, given.images, given.batch};
    prediction.iterations = iterations_of_epoch(given.images, given.batch);
    const cost::Compute time = line_through(given.small, given.large);
    prediction.compute = time;
    prediction.compute_of_other = of_other_network(time, proxy, other);
    for (const int n : device_counts) {
      const double exchange = exchange_time(n, 4 * proxy.parameters, given.wire);
      prediction.curve.push_back({n, exchange, shared_iteration(time, given.batch, n, exchange)});
    }
    prediction.percent = given.percent;
    prediction.batch_within_percent = batch_where_gain_ends(time, given.percent / 100.0);
    prediction.batch_within_tenth_of_it = batch_where_gain_ends(time, given.percent / 1000.0);
    return prediction;
  };
  if (predict_for_check(predict)) return 0;

  const NetworkSpec network = create_network(args.model, 10, args.image_size);
  const NetworkSpec other = create_network(other_name, 10, args.image_size);
  const cost::Link wire = cost::link_from(joined_by);
  const int batch = args.batchsize;
  const auto [small, large] = measure_two(network, batch, 4 * batch, args.devices);
  const Prediction prediction = predict({network, other, images, batch, wire, small, large, percent});
  show(prediction);

  // Batches that no line was drawn through. Two devices of one process exchange gradients in memory.
  const cost::Compute time = prediction.compute;
  const cost::Link memory{.latency = 1e-5, .bandwidth = 1e10};
  const double exchange = exchange_time(2, 4 * cost_of(network).parameters, memory);
  show_error("1 device, twice the batch", shared_iteration(time, 2 * batch, 1, 0), network, 2 * batch, 1, args.devices);
  show_error("2 devices, twice the batch", shared_iteration(time, 2 * batch, 2, exchange), network, batch, 2,
             args.devices);
  return 0;
} catch (...) {
  return report_failure();
}
