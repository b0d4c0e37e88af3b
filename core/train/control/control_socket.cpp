// SPDX-License-Identifier: Apache-2.0
#include "core/train/control/control_socket.h"

#include "core/base/error.h"
#include "core/base/file.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPathBytes = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::size_t kNameBytes = sizeof("/4194304-99.sock") - 1; // the longest that we give
constexpr int kMostWaiting = 16;

[[noreturn]] void fail(const fs::path& path, const std::string& what, int number) {
    throw Error(ErrorKind::usage, "--control " + path.string(),
                what + ": " + system_error_text(number),
                "Name a socket in a folder of your own, such as $XDG_RUNTIME_DIR/weft.sock.");
}

bool has_room(const fs::path& folder) {
    return !folder.empty() && folder.native().size() + kNameBytes <= kMostPathBytes;
}

// Made by us and closed to others; a link or a folder of somebody else's is neither.
bool make_private(const fs::path& folder) {
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return false;
    }
    struct stat status {};
    return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == ::geteuid() && (status.st_mode & 077) == 0;
}

sockaddr_un address_of(const fs::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), std::min(path.native().size(), kMostPathBytes));
    return address;
}

bool nobody_listens_at(const fs::path& path) {
    const int probe = connect_to(path);
    if (probe >= 0) {
        ::close(probe);
        return false;
    }
    return errno == ECONNREFUSED;
}

// Names begin with the number of the process that listens there.
bool is_remnant(const fs::path& path) {
    struct stat status {};
    const auto pid = static_cast<pid_t>(std::strtol(path.filename().c_str(), nullptr, 10));
    const bool gone = pid == ::getpid() || (::kill(pid, 0) != 0 && errno == ESRCH);
    return pid > 0 && gone && path.extension() == ".sock" && ::lstat(path.c_str(), &status) == 0 &&
           S_ISSOCK(status.st_mode) && nobody_listens_at(path);
}

void remove_remnants(const fs::path& folder) {
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(folder, problem)) {
        if (is_remnant(entry.path())) {
            ::unlink(entry.path().c_str());
        }
    }
}

} // namespace

fs::path control_folder(const fs::path& runtime, const fs::path& temp) {
    if (!runtime.empty() && has_room(runtime / "weft") && make_private(runtime / "weft")) {
        return runtime / "weft";
    }
    const fs::path own = temp / ("weft-" + std::to_string(::geteuid()));
    if (!has_room(own)) {
        throw Error(ErrorKind::runtime, own.string(), "is too long a name for a folder of sockets",
                    "set XDG_RUNTIME_DIR to a short path of your own");
    }
    if (!make_private(own)) {
        throw Error(ErrorKind::runtime, own.string(),
                    "cannot be made, or is not a folder of your own with mode 0700",
                    "set XDG_RUNTIME_DIR to a folder of your own");
    }
    return own;
}

fs::path free_control_path(const fs::path& folder) {
    remove_remnants(folder);
    const std::string stem = std::to_string(::getpid());
    fs::path path = folder / (stem + ".sock");
    struct stat status {};
    // Taken only where processes with numbers of their own (containers) share the folder.
    for (int i = 1; ::lstat(path.c_str(), &status) == 0 && i < 100; ++i) {
        path = folder / (stem + "-" + std::to_string(i) + ".sock");
    }
    return path;
}

int listen_at(const fs::path& path) {
    if (path.empty() || path.native().size() > kMostPathBytes) {
        fail(path, "the path of a socket has 1 to " + std::to_string(kMostPathBytes) + " bytes",
             ENAMETOOLONG);
    }
    struct stat existing {};
    if (::lstat(path.c_str(), &existing) == 0 && S_ISSOCK(existing.st_mode) &&
        nobody_listens_at(path)) {
        ::unlink(path.c_str());
    }
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) {
        throw Error(ErrorKind::runtime, path.string(),
                    "no socket can be opened: " + system_error_text(errno),
                    "Close files or raise the limit with `ulimit -n`.");
    }
    const sockaddr_un address = address_of(path);
    // The mode of the open socket becomes that of its file: private from its first moment.
    ::fchmod(listener, 0600);
    if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const int number = errno;
        ::close(listener);
        fail(path, "the socket cannot be made", number);
    }
    if (::listen(listener, kMostWaiting) != 0) {
        const int number = errno;
        ::close(listener);
        ::unlink(path.c_str());
        fail(path, "nobody can connect", number);
    }
    return listener;
}

int connect_to(const fs::path& path) {
    if (path.native().size() > kMostPathBytes) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const sockaddr_un address = address_of(path);
    if (descriptor >= 0 &&
        ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const int number = errno;
        ::close(descriptor);
        errno = number;
        return -1;
    }
    return descriptor;
}

} // namespace weft::train
