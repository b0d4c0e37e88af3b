// SPDX-License-Identifier: Apache-2.0
// A disk without room, for one process that runs.
#pragma once

#include <QtGlobal>

#include <sys/resource.h>
#include <sys/types.h>

namespace weft::test {

/// While it lives the process can make no file longer than `bytes`.
class FullDisk {
public:
    FullDisk(pid_t process, rlim_t bytes) : process_(process) {
        if (::prlimit(process_, RLIMIT_FSIZE, nullptr, &before_) != 0) {
            qFatal("the limits of process %d cannot be read", static_cast<int>(process_));
        }
        const rlimit limit{bytes, before_.rlim_max};
        if (::prlimit(process_, RLIMIT_FSIZE, &limit, nullptr) != 0) {
            qFatal("the limits of process %d cannot be set", static_cast<int>(process_));
        }
    }
    // The process may be gone.
    ~FullDisk() { static_cast<void>(::prlimit(process_, RLIMIT_FSIZE, &before_, nullptr)); }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

private:
    pid_t process_;
    rlimit before_{};
};

} // namespace weft::test
