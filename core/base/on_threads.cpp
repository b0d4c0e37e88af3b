// SPDX-License-Identifier: Apache-2.0
#include "core/base/on_threads.h"

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace weft {

void for_each_on(int threads, std::size_t count, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::exception_ptr> faults(count);
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                faults[i] = std::current_exception();
                next = count;
            }
        }
    };
    {
        std::vector<std::jthread> helpers;
        for (int i = 1; i < threads && static_cast<std::size_t>(i) < count; ++i) {
            helpers.emplace_back(run);
        }
        run();
    }
    for (const std::exception_ptr& fault : faults) {
        if (fault != nullptr) {
            std::rethrow_exception(fault);
        }
    }
}

} // namespace weft
