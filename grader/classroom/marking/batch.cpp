#include "classroom/marking/batch.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "errors/error.h"
#include "program/program.h"

namespace odori::grader {
namespace {

using Clock = std::chrono::steady_clock;

/// One phase, as it is told of.
class Phase {
 public:
  Phase(const Batch& batch, Audience& audience, bool timing, std::vector<const Answer*> answers)
      : batch_(batch), audience_(audience), answers_(std::move(answers)) {
    progress_.timing = timing;
    progress_.of = answers_.size();
  }

  /// `mark` is called by several threads.
  void run(int jobs, const std::function<TaskRecord(const Answer&)>& mark) {
    if (answers_.empty()) return;
    work_through(
        answers_.size(), jobs,
        [&](std::size_t i) {
          const During during(*this, answers_[i]->student + ' ' + answers_[i]->task->name);
          return mark(*answers_[i]);
        },
        [&](const TaskRecord& record) { take(record); }, [&] { tell(); }, [&] { batch_.marker.stop(); });
  }

 private:
  class During {
   public:
    During(Phase& phase, std::string what) : phase_(phase), what_(std::move(what)) {
      const std::lock_guard lock(phase_.mutex_);
      phase_.progress_.under_way.push_back(what_);
    }
    ~During() {
      const std::lock_guard lock(phase_.mutex_);
      std::erase(phase_.progress_.under_way, what_);
    }
    During(const During&) = delete;
    During& operator=(const During&) = delete;

   private:
    Phase& phase_;
    std::string what_;
  };

  void take(const TaskRecord& record) {
    auto before = batch_.records.read(record.student, record.task);
    if (before && before->content == record.content) before.reset();
    batch_.records.write(record, before ? Records::Old::kept : Records::Old::replaced);
    audience_.record(record, before, one_more_done());
  }

  Progress one_more_done() {
    const std::lock_guard lock(mutex_);
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    ++progress_.done;
    progress_.seconds_left =
        seconds / static_cast<double>(progress_.done) * static_cast<double>(progress_.of - progress_.done);
    return progress_;
  }

  void tell() {
    std::unique_lock lock(mutex_);
    Progress progress = progress_;
    lock.unlock();
    progress.waits_for = batch_.marker.waits_for();
    audience_.progress(progress);
  }

  const Batch& batch_;
  Audience& audience_;
  std::vector<const Answer*> answers_;
  const Clock::time_point began_ = Clock::now();
  std::mutex mutex_;
  Progress progress_;
};

TaskRecord absent(const Answer& answer) {
  TaskRecord record = record_of(answer);
  record.state = RecordState::absent;
  record.timed = true;
  record.flags.push_back({"flag_absent", {{"task", answer.task->name}}});
  return record;
}

}  // namespace

void run_batch(const Batch& batch, const std::vector<Answer>& answers, Audience& audience) {
  std::vector<const Answer*> unmarked, untimed;
  for (const Answer& answer : answers) {
    const auto record = batch.records.read(answer.student, answer.task->name);
    if (!record || record->content != answer.content || record->state == RecordState::ungraded)
      unmarked.push_back(&answer);
  }
  Phase(batch, audience, false, unmarked).run(batch.jobs, [&](const Answer& answer) {
    return answer.handed_in.absent() ? absent(answer) : batch.marker.mark(answer);
  });
  if (!batch.timings) return;
  for (const Answer& answer : answers) {
    const auto record = batch.records.read(answer.student, answer.task->name);
    if (record && record->state == RecordState::marked && !record->timed && answer.task->measures_speedup)
      untimed.push_back(&answer);
  }
  Phase(batch, audience, true, untimed).run(1, [&](const Answer& answer) {
    return batch.marker.time(answer, batch.records.read(answer.student, answer.task->name).value(),
                             batch.records.of(answer.student));
  });
}

void work_through(std::size_t n, int jobs, const std::function<TaskRecord(std::size_t)>& work,
                  const std::function<void(TaskRecord)>& take, const std::function<void()>& wait,
                  const std::function<void()>& stop) {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<TaskRecord> results;
  std::exception_ptr failure;
  std::size_t next = 0, n_working = 0;
  const auto fail_with = [&](std::exception_ptr exception) {
    const std::lock_guard lock(mutex);
    if (!failure) failure = std::move(exception);
    next = n;
  };
  // A thread lives as long as the children that it started: they end with it.
  const auto worker = [&] {
    for (;;) {
      std::unique_lock lock(mutex);
      if (next == n) break;
      const std::size_t i = next++;
      lock.unlock();
      try {
        TaskRecord result = work(i);
        const std::lock_guard holding(mutex);
        results.push_back(std::move(result));
      } catch (...) {
        fail_with(std::current_exception());
      }
      changed.notify_one();
    }
    const std::lock_guard lock(mutex);
    --n_working;
    changed.notify_one();
  };
  std::vector<std::jthread> threads;
  n_working = std::min<std::size_t>(n, static_cast<std::size_t>(std::max(jobs, 1)));
  for (std::size_t i = 0, workers = n_working; i < workers; ++i) threads.emplace_back(worker);
  for (bool stopped = false;;) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::milliseconds(100));
    if (results.empty() && n_working == 0) break;
    std::deque<TaskRecord> fresh = std::exchange(results, {});
    lock.unlock();
    try {
      // What is finished is kept, also while all ends.
      for (TaskRecord& record : fresh) take(std::move(record));
      if (interrupted()) throw Error("Interrupted.", exit_code::interrupted);
      if (!stopped) wait();
    } catch (...) {
      fail_with(std::current_exception());
    }
    lock.lock();
    if (failure && !std::exchange(stopped, true)) stop();
  }
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace odori::grader
