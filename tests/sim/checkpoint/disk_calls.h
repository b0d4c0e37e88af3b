// SPDX-License-Identifier: Apache-2.0
// Stands between this test program and the system's calls that change a disk: the n-th of them can
// be made to fail, as a full or broken disk does. Standard streams are left alone.
#pragma once

namespace weft::checkpoint::test {

enum class Fault { once, from_then_on };

/// While it lives the n-th call (from 0) fails with "no space left on device".
class DiskFault {
public:
    DiskFault(int n, Fault fault);
    ~DiskFault();
    DiskFault(const DiskFault&) = delete;
    DiskFault& operator=(const DiskFault&) = delete;

    /// Whether there were enough calls for the fault to happen.
    bool happened() const;
};

} // namespace weft::checkpoint::test
