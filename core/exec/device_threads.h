// SPDX-License-Identifier: Apache-2.0
// One thread per simulated device, for the life of the executor: kernels of some libraries belong
// to the thread that made them. Private to core/exec.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::exec {

class DeviceThreads {
public:
    /// Throws std::system_error where the system starts no more threads.
    explicit DeviceThreads(int count);
    ~DeviceThreads();
    DeviceThreads(const DeviceThreads&) = delete;
    DeviceThreads& operator=(const DeviceThreads&) = delete;

    /// Calls job(device) on every device's thread and waits for all. Throws what the first device
    /// to fail threw. One caller at a time.
    void run(const std::function<void(int)>& job);

private:
    void work(int device);
    void end();

    std::mutex mutex_;
    std::condition_variable start_;
    std::condition_variable done_;
    const std::function<void(int)>* job_ = nullptr;
    std::uint64_t round_ = 0;
    int running_ = 0;
    bool ending_ = false;
    std::exception_ptr fault_;
    std::vector<std::thread> threads_;
};

} // namespace weft::exec
