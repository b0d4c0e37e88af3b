// SPDX-License-Identifier: Apache-2.0
#include "core/base/hdf5_child.h"

#include "core/base/hdf5_rows.h"

#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <set>
#include <tuple>
#include <vector>

namespace weft {
namespace {

constexpr const char* kArgument = "--read-hdf5-as-a-child";
// Exit status: the file has a fault that can be told; memory ended.
constexpr int kFaultTold = 64;
constexpr int kNoMemory = 65;

constexpr int64_t kWholeBytes = int64_t{32} << 20; // arrays of a file that are read whole, together
constexpr rlim_t kMostMemory = rlim_t{4} << 30;
constexpr int kSeconds = 20;                           // to be done, and
constexpr int64_t kBytesPerSecond = int64_t{50} << 20; // for the size of the file

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kAddressesAreCheap = false; // a sanitizer reserves them by the terabyte
#else
constexpr bool kAddressesAreCheap = true;
#endif

bool is_child = false;

// --- in the child ----------------------------------------------------------------------------

void set_limit(decltype(RLIMIT_AS) which, rlim_t most) {
    const rlimit limit{most, most};
    setrlimit(which, &limit);
}

/// What reading a file and leaving takes; anything else fails with EPERM.
void allow_reading_only() {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (filter == nullptr) {
        return;
    }
    for (const int call : {SCMP_SYS(read),         SCMP_SYS(pread64),
                           SCMP_SYS(readv),        SCMP_SYS(preadv),
                           SCMP_SYS(lseek),        SCMP_SYS(fstat),
                           SCMP_SYS(stat),         SCMP_SYS(lstat),
                           SCMP_SYS(newfstatat),   SCMP_SYS(statx),
                           SCMP_SYS(access),       SCMP_SYS(readlink),
                           SCMP_SYS(getcwd),       SCMP_SYS(close),
                           SCMP_SYS(flock),        SCMP_SYS(fcntl),
                           SCMP_SYS(mmap),         SCMP_SYS(munmap),
                           SCMP_SYS(mremap),       SCMP_SYS(madvise),
                           SCMP_SYS(brk),          SCMP_SYS(futex),
                           SCMP_SYS(sched_yield),  SCMP_SYS(clock_gettime),
                           SCMP_SYS(gettimeofday), SCMP_SYS(getrandom),
                           SCMP_SYS(getpid),       SCMP_SYS(gettid),
                           SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
                           SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
                           SCMP_SYS(tgkill),       SCMP_SYS(restart_syscall),
                           SCMP_SYS(exit),         SCMP_SYS(exit_group)}) {
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
    }
    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    constexpr int kWrites = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(open), 1,
                     SCMP_A1(SCMP_CMP_MASKED_EQ, kWrites, 0));
    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
                     SCMP_A2(SCMP_CMP_MASKED_EQ, kWrites, 0));
    seccomp_load(filter); // where there is none, the limits and the process of its own remain
    seccomp_release(filter);
}

/// Some rows of a large array, the first and the last among them; its index is read for that.
void read_some_rows(const Path& path, const Hdf5Array& array) {
    constexpr int64_t kPlaces = 8;
    const Hdf5Rows rows(path, array);
    const int64_t all = array.shape.front();
    const int64_t row_bytes = array.bytes / all;
    const int64_t together = std::clamp<int64_t>(kWholeBytes / std::max<int64_t>(row_bytes, 1), 1,
                                                 std::min(rows.rows_together(), all));
    std::vector<std::byte> out(static_cast<size_t>(together * row_bytes));
    for (int64_t i = 0; i <= kPlaces; ++i) {
        rows.read((all - together) * i / kPlaces, together, out);
    }
}

void read_file_of_others(const Path& path) {
    int64_t left = kWholeBytes;
    for (const Hdf5Array& array : list_hdf5_arrays(path)) {
        if (!array.problem.empty() || array.offset >= 0) {
            continue; // not read at all, or without the library
        }
        if (array.bytes <= left) {
            left -= array.bytes;
            std::vector<std::byte> out(static_cast<size_t>(array.bytes));
            read_hdf5_array(path, array, out);
        }
        if (!array.shape.empty() && array.bytes > 0) {
            read_some_rows(path, array);
        }
    }
}

int serve_as_child(const char* path) {
    is_child = true;
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_FSIZE, 0);
    if (kAddressesAreCheap) {
        set_limit(RLIMIT_AS, kMostMemory);
    }
    allow_reading_only();
    try {
        read_file_of_others(path);
        return 0;
    } catch (const Error&) {
        return kFaultTold;
    } catch (const std::bad_alloc&) {
        return kNoMemory;
    }
}

/// Before main(): whichever program this is linked into.
__attribute__((constructor)) void become_child(int argc, char** argv, char** /*environment*/) {
    if (argc == 3 && std::strcmp(argv[1], kArgument) == 0) {
        _exit(serve_as_child(argv[2]));
    }
}

// --- in the parent ---------------------------------------------------------------------------

/// A file in one state.
using State = std::tuple<dev_t, ino_t, off_t, time_t, long>;

State state_of(const Path& path) {
    struct stat found {};
    if (stat(path.c_str(), &found) != 0) {
        return {}; // reading it tells why
    }
    return {found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

[[noreturn]] void fail_child(const Path& path, const std::string& what) {
    throw Error(ErrorKind::data, path.string(),
                "libhdf5 " + what + " (in a process of its own, so nothing else was touched)",
                "The file is damaged or made to do harm; copy or write it again.");
}

/// Starts this program on the file; its process.
pid_t start(const Path& path) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        posix_spawn_file_actions_addopen(&files, stream, "/dev/null",
                                         stream == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
    }
    posix_spawnattr_t how;
    posix_spawnattr_init(&how);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&how, &none);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::string argument = kArgument;
    std::string name = path.string();
    std::string self = "/proc/self/exe";
    std::array<char*, 4> arguments = {self.data(), argument.data(), name.data(), nullptr};
    pid_t child = -1;
    const int error = posix_spawn(&child, self.c_str(), &files, &how, arguments.data(), environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) {
        throw Error(ErrorKind::data, path.string(),
                    std::string("no process could be started to read it first: ") +
                        std::strerror(error),
                    "Close other programs, or raise the limit of processes (ulimit -u).");
    }
    return child;
}

/// Its exit status; killed where it takes longer.
int wait_for(pid_t child, int milliseconds, bool& too_long) {
    const int fd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
    if (fd >= 0) {
        pollfd ended{fd, POLLIN, 0};
        int found = 0;
        do {
            found = poll(&ended, 1, milliseconds);
        } while (found < 0 && errno == EINTR);
        too_long = found == 0;
        close(fd);
    }
    if (too_long) {
        kill(child, SIGKILL);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

} // namespace

void read_in_child_first(const Path& path) {
    static std::mutex mutex;
    static std::set<State> read;
    if (is_child) {
        return;
    }
    const State state = state_of(path);
    {
        const std::lock_guard lock(mutex);
        if (read.contains(state)) {
            return;
        }
    }
    const int64_t seconds = kSeconds + std::get<2>(state) / kBytesPerSecond;
    bool too_long = false;
    const int status =
        wait_for(start(path), static_cast<int>(std::min<int64_t>(seconds, 3600) * 1000), too_long);
    if (too_long) {
        fail_child(path, "was still reading after " + std::to_string(seconds) + " s");
    }
    if (!WIFEXITED(status)) {
        fail_child(path, std::string("crashed: ") + strsignal(WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) == kNoMemory) {
        fail_child(path, "asked for more than 4 GiB of memory");
    }
    if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != kFaultTold) {
        fail_child(path, "ended with status " + std::to_string(WEXITSTATUS(status)));
    }
    const std::lock_guard lock(mutex);
    read.insert(state);
}

} // namespace weft
