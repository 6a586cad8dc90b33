// SPDX-License-Identifier: Apache-2.0
// Several devices in one process train as one device does on all their data, and say what is wrong with their input.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "train_support.h"

namespace odori {
namespace {

using namespace test;

void expect_same_training(int n_devices, GradientRule rule, float decay_on_one, const char* network = "tiny") {
  constexpr int batch = 12;
  const DatasetPtr train = images(12 * batch);
  Training many({.network = network, .n_devices = n_devices, .batch_size = batch / n_devices, .rule = rule},
                shares(train, n_devices, batch / n_devices));
  Training one({.network = network, .batch_size = batch, .decay = decay_on_one}, shares(train, 1, batch));
  Metrics of_many, of_one;
  for (int i = 1; i <= 10; ++i) {
    many.updater->update();
    one.updater->update();
    for (Classifier* replica : many.updater->models())
      ASSERT_LT(difference(replica->state(), one.model.state()), rounding()) << "after update " << i;
    of_many += many.updater->take_metrics();
    of_one += one.updater->take_metrics();
  }
  EXPECT_EQ(of_many.samples, 10 * batch);
  EXPECT_EQ(of_many.samples, of_one.samples);
  EXPECT_EQ(of_many.correct, of_one.correct);
  EXPECT_NEAR(of_many.loss(), of_one.loss(), rounding());
  EXPECT_GT(difference(Training({.network = network, .batch_size = batch}, shares(train, 1, batch)).model.state(),
                       one.model.state()),
            1e-3)
      << "the weights should have moved";
}

TEST(SeveralDevices, TrainAsOneDoesOnTheWholeBatch) {
  for (const int n_devices : {1, 2, 3, 4}) {
    SCOPED_TRACE(n_devices);
    expect_same_training(n_devices, GradientRule::mean, 5e-4f);
  }
}

TEST(SeveralDevices, WithTheOriginalsSumWeightDecayActsByOneOverN) {
  expect_same_training(2, GradientRule::sum, 5e-4f / 2);
  expect_same_training(3, GradientRule::sum, 5e-4f / 3);
}

TEST(SeveralDevices, GiveTheSameBitsEachTime) {
  const DatasetPtr train = images(100);
  std::vector<ModelState> results;
  for (int run = 0; run < 2; ++run) {
    Training training({.network = "mid", .n_devices = 2, .batch_size = 4}, train);
    for (int i = 0; i < 6; ++i) training.updater->update();
    results.push_back(training.model.state());
  }
  EXPECT_TRUE(results[0].parameters == results[1].parameters);
  EXPECT_TRUE(results[0].statistics == results[1].statistics);
}

TEST(SeveralDevices, HaveRandomNumbersOfTheirOwn) {
  Training training({.n_devices = 3, .batch_size = 4, .seed = 5}, images(16));
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(training.updater->models()[i]->random().stream, i);
    EXPECT_EQ(training.updater->models()[i]->random().seed, 5u);
  }
}

/// A device that does everything as another, but what a test changes.
class Wrapped : public Device {
 public:
  explicit Wrapped(Device& actual) : actual_(actual) {}
  DeviceKind kind() const override { return actual_.kind(); }
  Precision precision() const override { return actual_.precision(); }
  int id() const override { return actual_.id(); }
  std::string description() const override { return actual_.description(); }
  void bind_thread() override { actual_.bind_thread(); }
  void synchronize() override { actual_.synchronize(); }
  Buffer allocate(std::size_t n) override { return actual_.allocate(n); }
  void write(Buffer& to, std::size_t at, std::span<const float> from) override { actual_.write(to, at, from); }
  void read(const Buffer& from, std::size_t at, std::span<float> to) override { actual_.read(from, at, to); }
  void axpy(float a, const Buffer& x, Buffer& y, Range r) override { actual_.axpy(a, x, y, r); }
  void scale(float a, Buffer& y, Range r) override { actual_.scale(a, y, r); }
  void swap(Buffer& x, Buffer& y, Range r) override { actual_.swap(x, y, r); }
  void momentum_sgd(Buffer& p, const Buffer& g, Buffer& v, const MomentumGroups& groups, Range r,
                    std::size_t v_begin) override {
    actual_.momentum_sgd(p, g, v, groups, r, v_begin);
  }
  void adam(Buffer& p, const Buffer& g, Buffer& m, Buffer& v, const AdamFactors& factors, Range r,
            std::size_t m_begin) override {
    actual_.adam(p, g, m, v, factors, r, m_begin);
  }
  void look_ahead(Buffer& slow, Buffer& fast, float keep, Range r) override { actual_.look_ahead(slow, fast, keep, r); }
  void for_pieces(Range r, const std::function<void(Range)>& work) override { actual_.for_pieces(r, work); }
  std::unique_ptr<DeviceGroup> new_group(std::span<Device* const> others) override { return actual_.new_group(others); }
  Hardware hardware() const override { return actual_.hardware(); }
  Buffer allocate_host(std::size_t n) override { return actual_.allocate_host(n); }
  std::unique_ptr<Graph> new_graph(ModelMemory& memory, AlgorithmTable& algorithms) override {
    return actual_.new_graph(memory, algorithms);
  }

 private:
  Device& actual_;
};

/// A group that does everything as another, but what a test changes.
class WrappedGroup : public DeviceGroup {
 public:
  explicit WrappedGroup(std::unique_ptr<DeviceGroup> actual) : actual_(std::move(actual)) {}
  std::string description() const override { return actual_->description(); }
  std::size_t slices(std::size_t n) const override { return actual_->slices(n); }
  bool each_thread_exchanges() const override { return actual_->each_thread_exchanges(); }
  void arrive(std::size_t i) override { actual_->arrive(i); }
  void reduce(std::span<Buffer* const> b, float a, std::size_t slice) override { actual_->reduce(b, a, slice); }
  void await(std::size_t slice) override { actual_->await(slice); }
  void send(std::span<Buffer* const> b, std::size_t slice) override { actual_->send(b, slice); }

 private:
  std::unique_ptr<DeviceGroup> actual_;
};

/// A main device whose group is a Group.
template <typename Group>
class WithGroup : public Wrapped {
 public:
  using Wrapped::Wrapped;
  std::unique_ptr<DeviceGroup> new_group(std::span<Device* const> others) override {
    return std::make_unique<Group>(Wrapped::new_group(others));
  }
};

/// As a GPU: the main device's thread alone exchanges all slices.
class OneThread : public WrappedGroup {
 public:
  using WrappedGroup::WrappedGroup;
  bool each_thread_exchanges() const override { return false; }
};

TEST(SeveralDevices, MainDevicesThreadMayExchangeEverythingByItself) {
  const DatasetPtr train = images(64);
  DevicePool pool(device_under_test());
  WithGroup<OneThread> main(pool.use(0));
  Classifier model(create_network("tiny", 10), 4, 0);
  model.to_device(main);
  MomentumSGD optimizer(0.05f);
  optimizer.setup(model);
  optimizer.add_hook(std::make_unique<WeightDecay>(5e-4f));
  ParallelUpdater by_itself(shares(train, 2, 4), optimizer, {{"main", 0}, {"other", 1}}, pool);
  Training by_all({.n_devices = 2, .batch_size = 4}, shares(train, 2, 4));
  for (int i = 0; i < 5; ++i) by_itself.update(), by_all.updater->update();
  EXPECT_TRUE(by_itself.models()[0]->state().parameters == by_all.model.state().parameters);
  EXPECT_TRUE(by_itself.models()[1]->state().parameters == by_all.model.state().parameters);
}

std::vector<Classifier*> on_parabolas;

/// Replaces the first gradient of device i by that of the loss (w - i)^2 / 2, just before the exchange.
class Parabolas : public OneThread {
 public:
  using OneThread::OneThread;
  void reduce(std::span<Buffer* const> gradients, float a, std::size_t slice) override {
    for (std::size_t i = 0; i < gradients.size() && slice == 0; ++i)
      gradients[i]->data()[0] = on_parabolas[i]->memory().parameters.data()[0] - static_cast<float>(i);
    OneThread::reduce(gradients, a, slice);
  }
};

/// w after each of four updates from 1, with momentum 0.9, learning rate 0.1 and weight decay 0.01.
std::vector<float> trajectory(GradientRule rule) {
  DevicePool pool({.request = DeviceRequest::cpu});
  WithGroup<Parabolas> main(pool.use(0));
  Classifier model(create_network("tiny", 10), 1, 0);
  model.to_device(main);
  model.memory().parameters.data()[0] = 1;
  MomentumSGD optimizer(0.1f, 0.9f);
  optimizer.setup(model);
  optimizer.add_hook(std::make_unique<WeightDecay>(0.01f));
  ParallelUpdater updater(shares(images(8), 2, 1), optimizer, {{"main", 0}, {"other", 1}}, pool, rule);
  on_parabolas = updater.models();
  std::vector<float> w;
  for (int i = 0; i < 4; ++i) {
    updater.update();
    w.push_back(updater.models()[1]->memory().parameters.data()[0]);
  }
  return w;
}

void expect_near(const std::vector<float>& seen, const std::vector<double>& expected) {
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], expected[i], 2e-7) << "after update " << i + 1;
}

TEST(SeveralDevices, SumNoGradientsForAdam) {
  EXPECT_SENTENCE(Training({.n_devices = 2, .rule = GradientRule::sum, .optimizer = "adam"}, images(16)),
                  "for momentum alone: adam scales its steps by the gradients. Leave --compat out.");
}

TEST(SeveralDevices, FollowTheGoldenNumbersOfBothRules) {
  expect_near(trajectory(GradientRule::sum), {0.9495, 0.85862525, 0.74054614, 0.60985005});
  expect_near(trajectory(GradientRule::mean), {0.949, 0.857251, 0.73809455, 0.60630619});
}

std::string last_line(const std::string& text) { return text.substr(text.rfind('\n') + 1); }

TEST(SeveralDevices, SumDividesTheLearningRateAndSaysSo) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Training training({.n_devices = 2, .batch_size = 4, .rule = GradientRule::sum}, images(16));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << "a table says it, and who only measures makes none";
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "UserWarning: optimizer.lr is changed to 0.025 by MultiprocessParallelUpdater for new batch size.\n");
  EXPECT_EQ(last_line(training.updater->setting()),
            "Gradients: sum over 2 devices; the learning rate is 0.05 / 2 = 0.025, and weight decay acts by 1 / 2.");
  EXPECT_FLOAT_EQ(training.optimizer.learning_rate(), 0.025f);

  Training mean({.n_devices = 2, .batch_size = 4}, images(16));
  EXPECT_EQ(last_line(mean.updater->setting()), "Gradients: mean over 2 devices; the learning rate stays 0.05.");
  EXPECT_FLOAT_EQ(mean.optimizer.learning_rate(), 0.05f);
}

TEST(SeveralDevices, SayHowGpusAreLinkedAndWhetherTheyAreShared) {
  Training training({.n_devices = 3, .batch_size = 4}, images(16));
  const std::string said = training.updater->setting();
  if (!on_gpus()) {
    EXPECT_EQ(said.find("Links: "), std::string::npos) << said;
    EXPECT_FALSE(training.updater->shares_devices());
    return;
  }
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_EQ(said.find("Links: "), 0u) << said;
  EXPECT_EQ(said.find(" is linked to GPU 1") != std::string::npos, gpu_count() > 1) << said;
  EXPECT_EQ(said.find("share GPU 0") != std::string::npos, gpu_count() < 3) << said;
  EXPECT_EQ(training.updater->shares_devices(), gpu_count() < 3);
}

/// Fails when example `bad` is asked for.
class Faulty : public Images {
 public:
  explicit Faulty(std::size_t n, std::int64_t bad) : Images(n), bad_(bad) {}
  Example operator[](std::size_t i) const override {
    if (static_cast<std::int64_t>(i) == bad_) fail("Example {} can't be read.", i);
    return Images::operator[](i);
  }

 private:
  std::int64_t bad_;
};

TEST(SeveralDevices, AnErrorOnAnyDevicesThreadReachesTheCaller) {
  for (const int device : {0, 1, 2}) {
    SCOPED_TRACE(device);
    const int bad = 12 + device;  // of the second batch of that device
    Training training({.n_devices = 3, .batch_size = 4}, shares(std::make_shared<Faulty>(48, bad), 3, 4));
    training.updater->update();
    EXPECT_SENTENCE(training.updater->update(), fmt::format("Example {} can't be read.", bad));
  }  // and the threads end
}

TEST(SeveralDevices, AllThreadsAreThroughBeforeAnErrorIsThrown) {
  DevicePool pool({.request = DeviceRequest::cpu});
  DeviceTeam team({&pool.device(0), &pool.device(1), &pool.device(2)});
  std::atomic<int> done = 0;
  EXPECT_SENTENCE(team.run([&](std::size_t i) {
    if (i == 0) fail("at once");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ++done;
    fail("later");
  }),
                  "at once");
  EXPECT_EQ(done, 2);
  team.run([&](std::size_t) { ++done; });
  EXPECT_EQ(done, 5) << "the team goes on working";
}

class Refused : public testing::Test {
 protected:
  Refused() {
    model.to_device(pool.use(0));
    optimizer.setup(model);
  }
  void expect(const std::string& words, std::vector<SerialIterator> iterators,
              const std::map<std::string, int>& devices) {
    EXPECT_SENTENCE(ParallelUpdater(iterators, optimizer, devices, pool, GradientRule::sum), words);
    EXPECT_FLOAT_EQ(optimizer.learning_rate(), 0.1f) << "nothing may be changed before everything is checked";
  }
  DevicePool pool{{.request = DeviceRequest::cpu}};
  Classifier model{create_network("tiny", 10), 4, 0};
  MomentumSGD optimizer{0.1f};
  DatasetPtr train = images(16);
};

TEST_F(Refused, DevicesThatCannotBe) {
  expect("No device is named \"main\", the one that updates the model. The names given are: \"gpu0\", \"gpu1\".",
         shares(train, 2, 4), {{"gpu0", 0}, {"gpu1", 1}});
  expect("The names given are: none at all.", shares(train, 2, 4), {});
  expect("Device 1 is given twice, as \"gpu1\" and as \"gpu2\".", shares(train, 3, 4),
         {{"main", 0}, {"gpu1", 1}, {"gpu2", 1}});
  expect("The model is on device 0, but \"main\" is device 1.", shares(train, 2, 4), {{"main", 1}, {"gpu0", 0}});
  expect("There is no device -1", shares(train, 2, 4), {{"main", 0}, {"gpu1", -1}});
}

TEST_F(Refused, IteratorsThatDoNotFit) {
  const std::map<std::string, int> devices{{"main", 0}, {"gpu1", 1}};
  expect("There are 3 iterators, but 2 devices in the map. Every device needs one iterator", shares(train, 3, 4),
         devices);
  expect("There are 0 iterators, but 2 devices in the map.", {}, devices);
  expect("sets of different sizes, 8 and 7 images", shares(every(images(15), 0, 1), 2, 4), devices);
  expect("batches of 2 images, but the model was made for 4", shares(train, 2, 2), devices);
  std::vector<SerialIterator> once = shares(train, 2, 4);
  once[1] = SerialIterator(every(train, 1, 2), 4, {.repeat = false});
  expect("has to start again after each epoch", once, devices);
}

TEST_F(Refused, OneDeviceLikewise) {
  EXPECT_SENTENCE(StandardUpdater(shares(images(3), 1, 4).front(), optimizer), "A batch of 4 images is larger");
  Classifier other(create_network("tiny", 100), 4, 0);
  other.to_device(pool.use(0));
  optimizer.setup(other);
  EXPECT_SENTENCE(StandardUpdater(shares(train, 1, 4).front(), optimizer),
                  "10 classes, but the network was made for 100");
  Classifier larger(create_network("mid", 10, 64), 4, 0);
  larger.to_device(pool.use(0));
  optimizer.setup(larger);
  EXPECT_SENTENCE(StandardUpdater(shares(train, 1, 4).front(), optimizer),
                  "32 x 32, but the network was made for 64 x 64");
}

TEST(PrintDevices, PutsMainFirst) {
  testing::internal::CaptureStdout();
  print_devices({{"gpu1", 1}, {"main", 0}, {"zz", 2}});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "{'main': 0, 'gpu1': 1, 'zz': 2}\n");
}

}  // namespace
}  // namespace odori
