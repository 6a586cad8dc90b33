// SPDX-License-Identifier: Apache-2.0
#include "distributed/exchange/context.h"

#include <fmt/core.h>

#include <bit>
#include <cstdio>
#include <functional>
#include <numeric>
#include <utility>

#include "comm/background.h"
#include "errors/error.h"
#include "trace/trace.h"

namespace odori {
namespace {

class BackgroundQueue : public AsyncQueue {
 public:
  void start(Buffer& /*buffer*/, std::span<const Range> /*ranges*/, std::function<void()> all_reduce) override {
    background_.start(std::move(all_reduce));
  }
  void wait() override { background_.wait(); }

 private:
  Background background_;
};

}  // namespace

ExchangeContext::ExchangeContext(Communicator& communicator, Device& on, Buffer& flat_gradients,
                                 Buffer& flat_parameters, std::vector<Range> places, Dtype type)
    : comm(communicator),
      device(on),
      gradients(flat_gradients),
      parameters(flat_parameters),
      ranges(std::move(places)),
      dtype(type) {
  comm.require_takes(dtype);
}

ExchangeContext::~ExchangeContext() = default;

void ExchangeContext::all_reduce_mean(Buffer& buffer, std::span<const Range> places) {
  all_reduce_mean_on(device, buffer, places);
}

void ExchangeContext::all_reduce_mean_on(Device& stream, Buffer& buffer, std::span<const Range> places) {
  if (dtype == Dtype::fp32)
    comm.all_reduce_mean(stream, buffer, places);
  else
    not_finite_ += comm.all_reduce_mean_in(dtype, stream, buffer, places);
}

void ExchangeContext::enable_async() {
  if (!queue_) queue_ = std::make_unique<BackgroundQueue>();
  if (!stream_) stream_ = device.create_stream();
}

void ExchangeContext::start(Buffer& buffer, std::span<const Range> places) {
  require(queue_ != nullptr, "A strategy that starts all-reduces has to call enable_async() in its setup().");
  queue_->start(buffer, places, [this, &buffer, places, computed = device.record_event()] {
    trace::set_device(device.id());
    Device& stream = stream_ ? *stream_ : device;
    stream.wait_event(computed);
    all_reduce_mean_on(stream, buffer, places);
  });
}

void ExchangeContext::wait() {
  require(queue_ != nullptr, "A strategy that waits for all-reduces has to call enable_async() in its setup().");
  queue_->wait();
  // The last step of an all-reduce may be queued on the stream and not have run yet.
  if (stream_) device.wait_event(stream_->record_event());
}

bool ExchangeContext::all_finite() {
  const std::int64_t not_finite = std::exchange(not_finite_, 0);
  if (not_finite == 0) return true;
  const std::int64_t n = ++report.overflows;
  trace::instant("overflow", trace::Args().add("gradients", not_finite).add("so_far", n));
  if (std::has_single_bit(static_cast<std::uint64_t>(n)) && comm.rank() == 0) {
    const std::size_t all = std::transform_reduce(ranges.begin(), ranges.end(), std::size_t{0}, std::plus<>(),
                                                  [](const Range& range) { return range.size(); });
    fmt::print(stderr,
               "{} of the {} gradients of an update are infinite or nan in {}: nothing was updated by them. That "
               "happened {} time{} so far.{}\n",
               not_finite, all, to_string(dtype), n, n == 1 ? "" : "s",
               dtype == Dtype::fp16 ? " Beyond 65504 fp16 is infinite; --allreduce-dtype bf16 has fp32's range." : "");
  }
  return false;
}

}  // namespace odori
