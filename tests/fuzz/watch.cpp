// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/watch.h"

#include "core/base/error.h"
#include "tests/fuzz/mutate.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>

namespace weft::test {
namespace {

constexpr int kThrew = 90; // exit status

/// What both processes see.
struct Shared {
    std::uint64_t inputs = 0;
    std::size_t bytes = 0;
    std::array<char, 512> thrown{};
    std::array<char, kMostInputBytes> input{};
};

class SharedMemory {
public:
    SharedMemory()
        : address_(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0)) {
        if (address_ == MAP_FAILED) {
            throw std::bad_alloc();
        }
        shared_ = new (address_) Shared;
    }
    ~SharedMemory() { munmap(address_, sizeof(Shared)); }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    Shared& operator*() const { return *shared_; }

private:
    void* address_;
    Shared* shared_ = nullptr;
};

void limit_memory([[maybe_unused]] std::int64_t more) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + more);
    setrlimit(RLIMIT_AS, &limit);
#endif
}

/// In the other process. Its exit status.
int read_all(const Target& target,
             const std::function<std::optional<std::string>(std::uint64_t)>& next,
             const std::filesystem::path& folder, const WatchLimits& limits, Shared& shared) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGALRM, SIG_DFL);
    for (const int fault : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) {
        signal(fault, SIG_DFL); // not Qt Test's, which says where the test was
    }
    limit_memory(limits.memory_bytes);
    try {
        while (const auto input = next(shared.inputs)) {
            shared.bytes = std::min(input->size(), shared.input.size());
            std::copy_n(input->begin(), shared.bytes, shared.input.begin());
            ++shared.inputs;
            alarm(limits.input_seconds);
            try {
                target.read(*input, folder);
            } catch (const Error&) { // refused
            }
            alarm(0);
        }
    } catch (const std::exception& thrown) {
        std::strncpy(shared.thrown.data(), thrown.what(), shared.thrown.size() - 1);
        return kThrew;
    }
    return 0;
}

std::string harm_of(int status, const Shared& shared, const WatchLimits& limits) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        return "not done after " + std::to_string(limits.input_seconds) + " s";
    }
    if (WIFSIGNALED(status)) {
        return "killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
               strsignal(WTERMSIG(status)) + ")";
    }
    if (WEXITSTATUS(status) == kThrew) {
        return std::string("threw what is no weft::Error: ") + shared.thrown.data();
    }
    return WEXITSTATUS(status) == 0 ? ""
                                    : "ended with status " + std::to_string(WEXITSTATUS(status));
}

} // namespace

Watched watch(const Target& target,
              const std::function<std::optional<std::string>(std::uint64_t)>& next,
              const std::filesystem::path& folder, const WatchLimits& limits) {
    const SharedMemory memory;
    Shared& shared = *memory;
    const pid_t child = fork();
    if (child < 0) {
        return {.harm = std::string("no process could be started: ") + std::strerror(errno)};
    }
    if (child == 0) {
        _exit(read_all(target, next, folder, limits, shared));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    Watched out{.inputs = shared.inputs, .harm = harm_of(status, shared, limits)};
    if (!out.harm.empty()) {
        out.input.assign(shared.input.data(), shared.bytes);
    }
    return out;
}

} // namespace weft::test
