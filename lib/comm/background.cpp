// SPDX-License-Identifier: Apache-2.0
#include "comm/background.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "comm/mpi_check.h"
#include "errors/error.h"

namespace odori {

class Background::Worker {
 public:
  /// The process's one, or none.
  static std::weak_ptr<Worker>& shared() {
    static std::weak_ptr<Worker> worker;
    return worker;
  }
  static bool& is_this_thread() {
    static thread_local bool is = false;
    return is;
  }

  std::int64_t start(std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    changed_.notify_all();
    return ++n_started_;
  }
  void wait_until_ended(std::int64_t ticket) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return n_started_ - static_cast<std::int64_t>(calls_.size()) >= ticket; });
  }
  void wait_until_idle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return calls_.empty(); });
  }
  std::exception_ptr failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  void work(const std::stop_token& stop) {
    is_this_thread() = true;
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !calls_.empty(); })) {
      const std::function<void()>& call = calls_.front();  // stays there until it has ended
      const bool has_failed = failure_ != nullptr;
      lock.unlock();
      std::exception_ptr failure;
      try {
        if (!has_failed) call();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure) failure_ = failure;
      calls_.pop_front();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> calls_;  // the first is being made
  std::int64_t n_started_ = 0;
  std::exception_ptr failure_;  // what follows a call that failed isn't made: the ranks no longer agree
  std::jthread thread_{[this](const std::stop_token& stop) { work(stop); }};  // last: it ends before what it uses
};

Background::Background() : worker_(Worker::shared().lock()) {
  int level = MPI_THREAD_SINGLE;
  ODORI_MPI(MPI_Query_thread(&level));
  require(level >= MPI_THREAD_SERIALIZED,
          "This MPI can't be called by a second thread (MPI_THREAD_SERIALIZED), so that nothing can be exchanged while "
          "a rank computes. Leave --double-buffering and --bucket-mib out.");
  if (!worker_) Worker::shared() = worker_ = std::make_shared<Worker>();
}

Background::~Background() { worker_->wait_until_idle(); }

std::int64_t Background::start(std::function<void()> call) { return worker_->start(std::move(call)); }

void Background::wait() {
  worker_->wait_until_idle();
  throw_failure();
}

void Background::wait(std::int64_t ticket) {
  worker_->wait_until_ended(ticket);
  throw_failure();
}

void Background::wait_quietly(std::int64_t ticket) noexcept { worker_->wait_until_ended(ticket); }

void Background::throw_failure() const {
  if (const std::exception_ptr failure = worker_->failure()) std::rethrow_exception(failure);
}

void Background::wait_for_all() noexcept {
  if (Worker::is_this_thread()) return;
  if (const auto worker = Worker::shared().lock()) worker->wait_until_idle();
}

}  // namespace odori
