// SPDX-License-Identifier: Apache-2.0
// Runs a call on a device that works by itself.
#pragma once

#include "kernels/weft_device.h"
#include "tests/kernels/cases/harness.h"

namespace weft::test {

/// A device with a stream, entered by the thread that made it. Throws std::runtime_error with what
/// the platform says.
class DeviceForCalls {
public:
    DeviceForCalls(const weft_platform& platform, int index);
    ~DeviceForCalls();
    DeviceForCalls(const DeviceForCalls&) = delete;
    DeviceForCalls& operator=(const DeviceForCalls&) = delete;

    /// As run of harness.h, once, with everything carried there and back. Every operand stands
    /// between guard bytes, whose change the result tells.
    Result run(const weft_backend& backend, const Call& call);
    /// False after a fault that ends all work on it.
    bool usable() const { return platform_.finish(stream_) == WEFT_OK; }

private:
    weft_status run_kernel(const weft_backend& backend, weft_kernel* kernel, const Call& call,
                           std::int64_t workspace_bytes, Result& result);

    const weft_platform& platform_;
    weft_device* device_ = nullptr;
    weft_stream* stream_ = nullptr;
};

} // namespace weft::test
