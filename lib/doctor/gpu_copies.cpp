// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <array>
#include <chrono>
#include <numeric>
#include <vector>

#include "backend/device_group.h"
#include "backend/device_pool.h"
#include "backend/gpus.h"
#include "doctor/probe.h"

namespace odori::doctor {
namespace {

void copy(Device& from, Device& to) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t n = std::size_t{1} << 18;
  constexpr int repeats = 20;
  std::array<Device*, 1> others{&to};
  const auto group = from.new_group(others);
  Buffer source = from.allocate(n), target = to.allocate(n);
  std::vector<float> sent(n), received(n);
  std::iota(sent.begin(), sent.end(), 1.0f);
  from.write(source, 0, sent);
  const std::array<Buffer*, 2> buffers{&source, &target};
  const auto send = [&] {
    for (std::size_t slice = 0; slice < group->slices(n); ++slice) group->send(buffers, slice);
    from.synchronize();
    to.synchronize();
  };
  send();  // connects them
  const auto begin = Clock::now();
  for (int i = 0; i < repeats; ++i) send();
  const std::chrono::duration<double> took = Clock::now() - begin;
  to.read(target, 0, received);
  to.synchronize();
  fmt::print("GPU {} to GPU {}: {:.3f} GB/s, {}\n", from.id(), to.id(), repeats * 4e-9 * n / took.count(),
             received == sent ? "right" : "wrong");
}

}  // namespace

void copy_between_gpus() {
  const int n = gpu_count();
  DevicePool pool({.request = DeviceRequest::cuda});
  for (int from = 0; n > 1 && from < n; ++from) copy(pool.device(from), pool.device((from + 1) % n));
}

}  // namespace odori::doctor
