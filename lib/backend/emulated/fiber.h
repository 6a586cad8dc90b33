// SPDX-License-Identifier: Apache-2.0
// Provides a fiber: a function that runs on its own stack and can yield to its caller.
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

  /// Runs the fiber until it yields or is done: resumes it if it has yielded, otherwise starts `work`. The function
  /// object must live until it is done.
  void run(const std::function<void()>& work);
  /// Returns to the caller of run(). Called on the fiber.
  void yield();

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
