// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/batch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "errors/error.h"
#include "program/program.h"

namespace odori::grader {
namespace {

using Clock = std::chrono::steady_clock;
using Mark = std::function<TaskRecord(const Answer&)>;  // called by several threads

void run_phase(const Batch& batch, const Audience& audience, bool timing, const std::vector<const Answer*>& answers,
               int jobs, const Mark& mark) {
  const auto began = Clock::now();
  std::mutex mutex;
  Progress progress{.timing = timing, .of = answers.size()};
  const auto take = [&](const TaskRecord& record) {
    auto before = batch.records.read(record.student, record.task);
    if (before && before->content == record.content) before.reset();
    batch.records.write(record);
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    ++progress.done;
    progress.seconds_left =
        seconds / static_cast<double>(progress.done) * static_cast<double>(progress.of - progress.done);
    audience.record(record, before, progress);
  };
  const auto work = [&](std::size_t i) {
    const std::string name = answers[i]->record.student + ' ' + answers[i]->record.task;
    {
      const std::lock_guard lock(mutex);
      progress.under_way.insert(name);
    }
    const TaskRecord record = mark(*answers[i]);
    const std::lock_guard lock(mutex);
    progress.under_way.erase(name);
    take(record);
  };
  const auto wait = [&] {
    const std::lock_guard lock(mutex);
    progress.waits_for = batch.marker.waits_for();
    audience.progress(progress);
  };
  work_through(answers.size(), jobs, work, wait, [&] { batch.marker.stop(); });
}

}  // namespace

void run_batch(const Batch& batch, const std::vector<Answer>& answers, const Audience& audience) {
  std::vector<const Answer*> unmarked, untimed;
  for (const Answer& answer : answers) {
    const auto record = batch.records.read(answer.record.student, answer.record.task);
    if (!record || record->content != answer.record.content || record->state == RecordState::ungraded)
      unmarked.push_back(&answer);
  }
  run_phase(batch, audience, false, unmarked, batch.jobs, [&](const Answer& answer) {
    return answer.record.state == RecordState::absent ? answer.record : batch.marker.mark(answer);
  });
  if (!batch.timings) return;
  for (const Answer& answer : answers) {
    const auto record = batch.records.read(answer.record.student, answer.record.task);
    if (record && record->state == RecordState::marked && !record->timed && answer.task().measures_speedup)
      untimed.push_back(&answer);
  }
  run_phase(batch, audience, true, untimed, 1, [&](const Answer& answer) {
    return batch.marker.time(answer, batch.records.read(answer.record.student, answer.record.task).value(),
                             batch.records.of(answer.record.student));
  });
}

void work_through(std::size_t n, int jobs, const std::function<void(std::size_t)>& work,
                  const std::function<void()>& wait, const std::function<void()>& stop) {
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<bool> failed = false;
  std::atomic<std::size_t> next = 0;
  const auto guarded = [&](const std::function<void()>& what) {
    try {
      what();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      failed = true;
      stop();
    }
  };
  std::atomic<std::size_t> n_working = std::min<std::size_t>(n, static_cast<std::size_t>(std::max(jobs, 1)));
  std::vector<std::jthread> threads;
  for (std::size_t i = 0, workers = n_working; i < workers; ++i)
    // A thread lives as long as the children that it started: they end with it.
    threads.emplace_back([&] {
      for (std::size_t at; !failed && (at = next++) < n;) guarded([&] { work(at); });
      --n_working;
    });
  while (n_working > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (failed) continue;
    guarded([&] {
      if (interrupted()) throw Error(Text{"Interrupted.", "中断しました。"}, exit_code::interrupted);
      wait();
    });
  }
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace odori::grader
