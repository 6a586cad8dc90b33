// SPDX-License-Identifier: Apache-2.0
// The devices of one process: gradients to the main device, parameters back.
#include <fmt/core.h>

#include "backend_support.h"

namespace odori::test {
namespace {

/// One flat vector on each device, with random numbers.
struct Vectors {
  Vectors(const std::vector<Device*>& devices, std::size_t n, RandomSequence& random) {
    for (Device* device : devices) {
      values.push_back(normal(n, random));
      buffers.push_back(device->allocate(n));
      device->write(buffers.back(), 0, values.back());
    }
    for (Buffer& buffer : buffers) pointers.push_back(&buffer);
  }
  std::vector<std::vector<float>> values;
  std::vector<Buffer> buffers;
  std::vector<Buffer*> pointers;
};

class GroupTest : public DeviceTest {
 protected:
  void make(int n_devices) {
    devices.clear();
    for (int i = 0; i < n_devices; ++i) devices.push_back(&pool.device(i));
    group = devices.front()->new_group(std::span(devices).subspan(1));
  }
  void arrive() {
    for (std::size_t i = 0; i < devices.size(); ++i) group->arrive(i);
  }
  std::vector<float> read(std::size_t i, const Buffer& from) {
    std::vector<float> values(from.size());
    devices[i]->read(from, 0, values);
    return values;
  }

  std::vector<Device*> devices;
  std::unique_ptr<DeviceGroup> group;
};

TEST_P(GroupTest, ReducesToMainAndSendsBack) {
  for (const int n_devices : {1, 2, 3, 4}) {
    make(n_devices);
    for (const std::size_t n : {0u, 1u, 1000u, 100'003u, 2'200'003u}) {
      if (n > 2'000'000 && n_devices != 3) continue;  // several slices on GPUs
      SCOPED_TRACE(fmt::format("{} numbers on {} devices", n, n_devices));
      Vectors gradients(devices, n, random), parameters(devices, n, random);
      const std::size_t slices = group->slices(n);
      arrive();
      for (std::size_t s = 0; s < slices; ++s) group->reduce(gradients.pointers, 1.0f / 3, s);
      for (std::size_t s = 0; s < slices; ++s) {
        group->await(s);
        devices.front()->axpy(2, gradients.buffers.front(), parameters.buffers.front(), slice(n, s, slices));
        group->send(parameters.pointers, s);
      }
      const std::vector<float> main = read(0, gradients.buffers.front());
      std::vector<float> updated = parameters.values.front();
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (const auto& values : gradients.values) sum += values[i];
        ASSERT_NEAR(main[i], sum / 3, 4e-6) << i;
        updated[i] += 2 * main[i];
      }
      const std::vector<float> sent = read(0, parameters.buffers.front());
      EXPECT_LT(relative_error(sent, updated), 1e-6);
      for (std::size_t i = 1; i < devices.size(); ++i)
        EXPECT_TRUE(read(i, parameters.buffers[i]) == sent) << "parameters of device " << i;
    }
  }
}

TEST_P(GroupTest, GivesTheSameBitsEachTime) {
  make(4);
  const std::size_t n = 100'003;
  const RandomSequence start = random;
  std::vector<float> first;
  for (int run = 0; run < 3; ++run) {
    random = start;
    Vectors gradients(devices, n, random);
    arrive();
    for (std::size_t s = 0; s < group->slices(n); ++s) group->reduce(gradients.pointers, 0.25f, s);
    for (std::size_t s = 0; s < group->slices(n); ++s) group->await(s);
    const std::vector<float> sum = read(0, gradients.buffers.front());
    if (run == 0) first = sum;
    EXPECT_TRUE(sum == first);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, GroupTest, testing::ValuesIn(devices_under_test()), name_of);

}  // namespace
}  // namespace odori::test
