// A thread of control on a stack of its own, which runs until it yields.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace odori::emulator {

class Fiber {
 public:
  Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Goes on with the fiber until it yields; a fresh one, or one that is done, begins `work`.
  void run(const std::function<void()>& work);
  /// Called inside the fiber: back to who runs it.
  void yield();
  bool done() const { return done_; }

 private:
  static void enter(unsigned int low, unsigned int high);
  void loop();

  static constexpr std::size_t stack_bytes = 256 * 1024;
  std::unique_ptr<std::byte[]> stack_;
  ucontext_t start_;
  jmp_buf inside_, outside_;
  const void* outside_stack_ = nullptr;  // for AddressSanitizer
  std::size_t outside_stack_bytes_ = 0;
  const std::function<void()>* work_ = nullptr;
  bool started_ = false, done_ = true;
};

}  // namespace odori::emulator
