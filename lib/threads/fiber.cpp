// SPDX-License-Identifier: Apache-2.0
#include "threads/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

// The address sanitizer has to know on which stack the thread is.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace odori {

Fiber::Fiber(std::function<Fiber&()> function, std::size_t stack_bytes)
    : function_(std::move(function)), begun_(false) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  stack_bytes_ = (stack_bytes + page - 1) / page * page;
  memory_bytes_ = page + stack_bytes_;
  memory_ = ::mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory_ == MAP_FAILED || ::mprotect(memory_, page, PROT_NONE) != 0) {
    const int reason = errno;
    if (memory_ != MAP_FAILED) ::munmap(memory_, memory_bytes_);
    throw std::system_error(reason, std::generic_category());
  }
  ::getcontext(&start_);
  start_.uc_stack.ss_sp = static_cast<std::byte*>(memory_) + page;
  start_.uc_stack.ss_size = stack_bytes_;
  stack_ = start_.uc_stack.ss_sp;
  const auto self = reinterpret_cast<std::uintptr_t>(this);  // makecontext passes integers
  ::makecontext(&start_, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
}

Fiber::~Fiber() {
  if (memory_) ::munmap(memory_, memory_bytes_);
}

void Fiber::enter(unsigned high, unsigned low) {
  auto& self = *reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | low);
  self.arrive(nullptr);
  Fiber& next = self.function_();
  self.ended_ = true;
  self.switch_to(next);
}

void Fiber::switch_to(Fiber& next) {
  auto& exceptions = *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
  exceptions_ = std::exchange(exceptions, next.exceptions_);
  next.from_ = this;
  void* frames = nullptr;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(ended_ ? nullptr : &frames, next.stack_, next.stack_bytes_);
#endif
  // A system call at the start of a fiber only: swapcontext makes one at each switch.
  if (_setjmp(suspended_) == 0) {
    if (std::exchange(next.begun_, true)) _longjmp(next.suspended_, 1);
    ::setcontext(&next.start_);
  }
  arrive(frames);
}

void Fiber::arrive([[maybe_unused]] void* frames) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(frames, &from_->stack_, &from_->stack_bytes_);
#endif
}

}  // namespace odori
