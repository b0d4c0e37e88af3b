// SPDX-License-Identifier: Apache-2.0
#include "core/exec/device_threads.h"

namespace weft::exec {

DeviceThreads::DeviceThreads(int count) {
    try {
        for (int device = 0; device < count; ++device) {
            threads_.emplace_back([this, device] { work(device); });
        }
    } catch (...) {
        end();
        throw;
    }
}

DeviceThreads::~DeviceThreads() {
    end();
}

void DeviceThreads::end() {
    {
        const std::lock_guard guard(mutex_);
        ending_ = true;
    }
    start_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void DeviceThreads::run(const std::function<void(int)>& job) {
    std::unique_lock lock(mutex_);
    job_ = &job;
    fault_ = nullptr;
    running_ = static_cast<int>(threads_.size());
    ++round_;
    start_.notify_all();
    done_.wait(lock, [this] { return running_ == 0; });
    job_ = nullptr;
    if (fault_ != nullptr) {
        std::rethrow_exception(fault_);
    }
}

void DeviceThreads::work(int device) {
    std::uint64_t seen = 0;
    while (true) {
        const std::function<void(int)>* job = nullptr;
        {
            std::unique_lock lock(mutex_);
            start_.wait(lock, [&] { return ending_ || round_ != seen; });
            if (ending_) {
                return;
            }
            seen = round_;
            job = job_;
        }
        std::exception_ptr fault;
        try {
            (*job)(device);
        } catch (...) {
            fault = std::current_exception();
        }
        const std::lock_guard guard(mutex_);
        // What fails first is the cause; the others fail because of it.
        fault_ = fault_ == nullptr ? fault : fault_;
        if (--running_ == 0) {
            done_.notify_one();
        }
    }
}

} // namespace weft::exec
