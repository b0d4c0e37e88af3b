// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/checkpoint/disk_faults.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <limits>

#include <dlfcn.h>
#include <unistd.h>

namespace {

std::atomic<int> calls = std::numeric_limits<int>::min(); // counts up; the fault is at 0
std::atomic<bool> lasting = false;

/// Counts a call; true when it shall fail.
bool fails() {
    const int number = calls.fetch_add(1);
    const bool fault = number == 0 || (number > 0 && lasting);
    if (fault) {
        errno = ENOSPC;
    }
    return fault;
}

template <typename Fn>
Fn* original(Fn* /*like*/, const char* name) {
    return reinterpret_cast<Fn*>(dlsym(RTLD_NEXT, name));
}

} // namespace

// The program's definitions win over those of the C library, also for calls from other libraries.
extern "C" {

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
    static auto* const real = original(&pwrite, "pwrite");
    return fails() ? -1 : real(file, bytes, size, offset);
}

ssize_t write(int file, const void* bytes, size_t size) {
    static auto* const real = original(&write, "write");
    return file > STDERR_FILENO && fails() ? -1 : real(file, bytes, size);
}

int fsync(int file) {
    static auto* const real = original(&fsync, "fsync");
    return fails() ? -1 : real(file);
}

int rename(const char* from, const char* to) noexcept {
    static auto* const real = original(&rename, "rename");
    return fails() ? -1 : real(from, to);
}

} // extern "C"

namespace weft::checkpoint::test {

DiskFault::DiskFault(int n, Fault fault) {
    lasting = fault == Fault::from_then_on;
    calls = -n;
}

DiskFault::~DiskFault() {
    calls = std::numeric_limits<int>::min();
    lasting = false;
}

bool DiskFault::happened() const {
    return calls > 0;
}

} // namespace weft::checkpoint::test
