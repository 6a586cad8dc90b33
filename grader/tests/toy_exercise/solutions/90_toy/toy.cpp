// An exercise without a job script and without a speedup, for the test that adds one to a copy of the kit.
#include "odori.h"
#include "toy_support.h"

using namespace odori;

class Sum {
 public:
  void send(int part) { value_ += part; }
  int value() const { return value_; }

 private:
  int value_ = 0;
};

int sum_of(const std::vector<int>& parts) {
  Sum sum;
  for (const int part : parts) {
    // BLANK 1: Where does each part go?
    sum.send(part);
    // END BLANK
  }
  return sum.value();
}

template <typename Number>
Number half_of(Number number) {
  // BLANK 2: What is half of it?
  return number / 2;
  // END BLANK
}

int main(int argc, char** argv) try {
  const Arguments args =
      parse_arguments(argc, argv, {.name = "toy", .about = "A toy.", .several_devices = true});
  const trace::File trace(args.trace, 0);
  DevicePool pool(args.devices);
  pool.use(0);
  const auto [train, test] = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});

  const int batch = sum_of({1, args.batchsize - 1});
  show_half(half_of<float>);
  // BLANK 3: How many images does an update take?
  const int images = batch;
  // END BLANK
  SerialIterator train_iter(train, images, {.seed = args.seed});
  SerialIterator test_iter(test, images, {.repeat = false, .shuffle = false});
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, images, args.seed);
  model.to_device(pool.current(), args.autotune);

  // BLANK 4: How fast does it learn?
  const float rate = args.learnrate;
  // END BLANK
  MomentumSGD optimizer(half_of(2 * rate));
  optimizer.setup(model);

  // BLANK 5: How much of each weight decays in an update?
  const float decay = 5e-4f;
  // END BLANK
  optimizer.add_hook(std::make_unique<WeightDecay>(decay));
  StandardUpdater updater(train_iter, optimizer);
  Trainer trainer(updater, args.epoch, args.out, args.keep_going);
  trainer.extend(Evaluator(test_iter, model, 0));
  trainer.run();
  return 0;
} catch (...) {
  return report_failure();
}
