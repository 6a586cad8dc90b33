// SPDX-License-Identifier: Apache-2.0
// A function with its own stack, which is suspended and resumed in one thread.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <functional>

namespace odori {

class Fiber {
 public:
  /// Represents the calling code, on its current stack.
  Fiber() = default;
  /// `function` must not throw. When it ends, the fiber that it returns is resumed. The stack is committed page by
  /// page, and has a guard page. Throws std::system_error if the system has no memory for it.
  Fiber(std::function<Fiber&()> function, std::size_t stack_bytes);
  /// The function must have ended, or not have begun: objects on its stack are not destroyed.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Suspends this fiber, which must be the running one, and begins or resumes `next`.
  void switch_to(Fiber& next);
  bool ended() const { return ended_; }

 private:
  static void enter(unsigned high, unsigned low);
  void arrive(void* frames);

  /// The C++ runtime's exceptions being handled, which it keeps per thread (Itanium C++ ABI, 2.2.2). Saved per fiber,
  /// since a fiber may suspend itself in a handler.
  struct Exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };

  std::function<Fiber&()> function_;
  void* memory_ = nullptr;  // the guard page, then the stack
  std::size_t memory_bytes_ = 0;
  ucontext_t start_{};   // of a function that has not begun
  jmp_buf suspended_{};  // of one that has
  bool begun_ = true;
  Exceptions exceptions_;
  bool ended_ = false;
  Fiber* from_ = nullptr;  // the last one that switched to this one
  // For AddressSanitizer, which provides the bounds of a fiber without memory_ at the first switch away from it.
  const void* stack_ = nullptr;
  std::size_t stack_bytes_ = 0;
};

}  // namespace odori
