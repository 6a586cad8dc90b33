// SPDX-License-Identifier: Apache-2.0
#include "more_debugging_support.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <numeric>
#include <utility>

#include "errors/error.h"
#include "more_debugging_cases.h"
#include "observe/hooks.h"
#include "program/rank_table.h"

namespace odori {
namespace {

std::vector<float> parameters_of(const Classifier& model) {
  std::vector<float> all;
  for (const std::vector<float>& parameter : model.state().parameters)
    all.insert(all.end(), parameter.begin(), parameter.end());
  return all;
}

void report(const char* event, const std::string& file) {
  constexpr std::size_t ids = 1 << 20;
  observe::on_event(event, {static_cast<std::int64_t>(rank_table::calls()),
                            static_cast<std::int64_t>(std::hash<std::string>()(file) % ids)});
}

}  // namespace

Reordered::Reordered(DatasetPtr base, std::size_t size) : base_(std::move(base)), order_(size) {
  require(size > 0 && size <= base_->size(),
          "An order of {} examples was asked for, of a data set of {}. Ask for 1 to {}.", size, base_->size(),
          base_->size());
  std::iota(order_.begin(), order_.end(), 0);
}

void Reordered::set_order(std::vector<std::int64_t> order) {
  require(order.size() == size(), "The order has {} positions. It needs {}.", order.size(), size());
  const auto is_outside = [&](std::int64_t i) { return i < 0 || i >= static_cast<std::int64_t>(size()); };
  require(std::ranges::none_of(order, is_outside), "The order holds a position outside of 0 to {}.", size() - 1);
  order_ = std::move(order);
}

void write_parameters(const std::string& file, const Classifier& model) {
  report(parameters_written, file);
  const std::vector<float> all = parameters_of(model);
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  constexpr std::size_t piece = 1024;
  for (std::size_t at = 0; at < all.size(); at += piece)
    out.write(reinterpret_cast<const char*>(all.data() + at),
              static_cast<std::streamsize>(std::min(piece, all.size() - at) * sizeof(float)));
  out.close();
  require(out.good(), "The file {} can't be written. Give --out a folder that you may write to, on a disk with space.",
          file);
}

void read_parameters(const std::string& file, Classifier& model) {
  report(parameters_read, file);
  std::ifstream in(file, std::ios::binary);
  require(in.good(), "There is no file {}. A rank has to write it first: write_parameters().", file);
  ModelState state = model.state();
  std::size_t n = 0, read = 0;
  for (std::vector<float>& parameter : state.parameters) {
    in.read(reinterpret_cast<char*>(parameter.data()), static_cast<std::streamsize>(parameter.size() * sizeof(float)));
    read += static_cast<std::size_t>(in.gcount()) / sizeof(float);
    n += parameter.size();
  }
  require(read == n, "The file {} ends after {} of {} parameters. Read it when it is complete.", file, read, n);
  model.restore(state);
}

void print_result(Classifier& model, const DatasetPtr& test, int batchsize, Communicator& comm) {
  observe::on_values(parameters_of(model));
  SerialIterator iterator(test, batchsize, {.repeat = false, .shuffle = false});
  while (const Batch* const batch = iterator.next()) model.evaluate(*batch);
  const Metrics own = model.take_metrics();
  std::vector<double> sums{static_cast<double>(own.correct), static_cast<double>(own.samples)};
  comm.sum(sums);
  if (comm.rank() == 0) fmt::print("The model of the file: accuracy {:.4f}\n", sums[0] / sums[1]);
}

}  // namespace odori
