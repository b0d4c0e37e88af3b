// SPDX-License-Identifier: Apache-2.0
// A stack of its own for a thread of an emulated block: such threads take turns on the thread of
// the caller, where they say so.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <functional>

namespace weft::test {

/// Runs one function after another on a stack that is kept.
class Fiber {
public:
    Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;
    ~Fiber();

    /// Goes on with the work, or begins it, until it yields or ends. Returns whether it has ended.
    bool resume(const std::function<void()>& work);
    /// Called by the work: back to where resume was called.
    void yield();

private:
    static void enter(unsigned high, unsigned low);
    [[noreturn]] void loop();
    void begin();

    void* stack_;
    bool begun_ = false; // its stack holds the loop
    bool ended_ = false;
    const std::function<void()>* work_ = nullptr;
    std::jmp_buf inside_, outside_;
    // What the sanitizers have to be told of.
    void* outer_fake_ = nullptr;
    void* inner_fake_ = nullptr;
    const void* outer_bottom_ = nullptr;
    std::size_t outer_size_ = 0;
    void* inner_thread_ = nullptr;
    void* outer_thread_ = nullptr;
};

} // namespace weft::test
