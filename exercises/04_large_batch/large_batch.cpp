// Task 4: train with larger and larger batches, and find out which learning rate goes with them.
//
// Goal:    answers to two questions. Which learning rate keeps the accuracy when the batch grows? And which batch size
//          reaches an accuracy in the fewest seconds?
// Time:    60 minutes.
// Reading: deck 3 of the slides, linear scaling; P. Goyal et al., 2017.
// Command: ./odori run large_batch --model tiny --batchsize 8 --learnrate 0.0025 --epoch 10 --fraction 0.4
// Output:  a line for each batch and learning rate with images/s, accuracy, and the seconds until 0.9 times the best
//          accuracy; a page with a chart of accuracy by batch.
//
// The more devices, the larger the batch of an update, and the fewer updates in an epoch. Here the batch grows as if
// there were more ranks: each accumulates the gradients of several batches before an exchange.
//
// Fill in the blanks: replace each PUT_YOUR_CODE by your own code.
#include "large_batch_support.h"
#include "odori.h"

using namespace odori;

/// The batch of an update divided by base_batch, the batch that --learnrate was tuned for.
double batch_factor(int batchsize, int accumulate, int ranks, int base_batch) {
  // BLANK 1: What is the factor? Each rank adds up `accumulate` batches of `batchsize` images before an update.
  return PUT_YOUR_CODE;
  // END BLANK
}

/// The linear scaling rule (P. Goyal et al., 2017).
double scaled_rate(double base_rate, double k) {
  // BLANK 2: The batch is k times as large, and an epoch has 1/k as many updates. Which rate makes up for it?
  return PUT_YOUR_CODE;
  // END BLANK
}

/// The rate of update 0, 1, 2, ..., with warm-up. At the start of training the full scaled rate can diverge, so it is
/// reached in steps. P. Goyal et al. needed that at scale: ResNet-50 on ImageNet, 8,192 images a batch. In this task's
/// small runs it changes the accuracy by no more than another seed does.
double warmed_up_rate(double base_rate, double scaled, int update, int updates_of_epoch, int warmup_epochs) {
  // BLANK 3: What is it? It begins at base_rate, goes on by the same step after each update, and is `scaled` as soon as
  //          warmup_epochs are over (at once if that is 0). With a small batch, `scaled` is below base_rate.
  PUT_YOUR_CODE;
  // END BLANK
}

/// Some libraries update by the sum of n batches' gradients instead of their mean.
double rate_for_sum(double rate, int n) {
  // BLANK 4: Which rate makes the same step by the sum, as `rate` does by the mean?
  return PUT_YOUR_CODE;
  // END BLANK
}

/// The mean gradient of the next m batches of each rank.
std::vector<float> accumulated_gradients(LargeBatchUpdater& updater, int m) {
  std::vector<float> total(updater.n_gradients());
  for (int batch = 0; batch < m; ++batch) {
    std::vector<float> gradients = updater.next_gradients();  // the mean of one batch
    // BLANK 5: What becomes of `total`? It is as long as `gradients`, whose last few elements can be
    //          unused padding.
    PUT_YOUR_CODE;
    // END BLANK
  }
  // BLANK 6: `total` is now this rank's sum. Make it the mean of the m batches of every rank, by one exchange:
  //          updater.average_over_ranks(total) replaces each element by its mean over the ranks.
  PUT_YOUR_CODE;
  // END BLANK
  return total;
}

/// Training runs of one batch size. Each has .images_per_second, .training_loss, and .held_out_accuracy on new images.
Trial choose(const std::vector<Trial>& trials) {
  // BLANK 7: Which one would you choose? One of these values decides; of trials that are equal in it any will do.
  return PUT_YOUR_CODE;
  // END BLANK
}

/// One update with m batches of each rank, n of all ranks: by the mean of their gradients or by their sum.
void update_by(const std::string& gradients, LargeBatchUpdater& updater, int m, int n, double rate) {
  std::vector<float> total = accumulated_gradients(updater, m);
  if (gradients == "sum") {
    for (float& gradient : total) gradient *= static_cast<float>(n);
    rate = rate_for_sum(rate, n);
  }
  updater.use(total, rate);
}

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  int base_batch = 16, accumulate = 16, warmup_epochs = 3;
  std::string only, gradients = "mean";
  const Arguments args = parse_arguments(
      argc, argv,
      {.name = "large_batch",
       .about = "Task 4: accuracy by batch, with the rate fixed, scaled, and warmed up.",
       .one_training = false,
       .own = {{"--base-batch", "The batch of all ranks that --learnrate was tuned for", &base_batch, 1},
               {"--accumulate", "Batches of a rank that make an update: 1, 4, 16 ... up to this", &accumulate, 1},
               {"--warmup-epochs", "Epochs in which the rate rises to the scaled one", &warmup_epochs},
               {"--only", "Train once, with --accumulate and this schedule: fixed, scaled or warm_up", &only},
               {"--gradients", "mean, or sum of all batches' gradients", OneOf{&gradients, {"mean", "sum"}}}}});
  const std::unique_ptr<Communicator> comm = create_communicator("flat");
  const LargeBatchRules rules{batch_factor, scaled_rate, warmed_up_rate, rate_for_sum, choose};
  if (apply_for_check(rules, *comm)) return 0;

  TrainTest whole;
  if (comm->rank() == 0) whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  const DatasetPtr train = scatter_dataset(whole.train, *comm, {.shuffle = true, .seed = args.seed});
  const DatasetPtr test = scatter_dataset(whole.test, *comm, {.shuffle = true, .seed = args.seed});
  DevicePool pool(args.devices);
  const auto train_once = [&](const std::string& schedule, int m) {
    const auto rank = static_cast<std::uint32_t>(comm->rank());
    SerialIterator train_iter(train, args.batchsize, {.seed = args.seed, .stream = rank});
    SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});
    Classifier model(create_network(args.model, train->n_classes(), args.image_size), args.batchsize, args.seed, rank);
    model.to_device(pool.use(comm->intra_rank()), args.autotune);
    MomentumSGD optimizer(args.learnrate);
    optimizer.setup(model);
    optimizer.add_hook(std::make_unique<WeightDecay>(5e-4f));
    const int n = m * comm->size(), updates_of_epoch = static_cast<int>(train->size()) / (args.batchsize * m);
    const double base = args.learnrate, k = batch_factor(args.batchsize, m, comm->size(), base_batch);
    const double scaled = schedule == "fixed" ? base : scaled_rate(base, k);
    const int warmup = schedule == "warm_up" ? warmup_epochs : 0;
    LargeBatchUpdater updater(train_iter, optimizer, *comm, [&](LargeBatchUpdater& self) {
      const int update = static_cast<int>(self.iteration());
      update_by(gradients, self, m, n, warmed_up_rate(base, scaled, update, updates_of_epoch, warmup));
    });
    Trial trial{.schedule = schedule, .batch = args.batchsize * n};
    Trainer trainer(updater, args.epoch, args.out, true);  // also where it diverges: that is a result
    auto evaluator = std::make_unique<Evaluator>(test_iter, model, comm->intra_rank());
    trainer.extend(create_multi_node_evaluator(std::move(evaluator), *comm));
    trainer.extend(TrialReport(trial));
    trainer.run();
    return trial;
  };
  compare_trials(train_once, rules, {accumulate, only, warmup_epochs, args.epoch, args.out}, *comm);
  return 0;
} catch (...) {
  return report_failure();
}
