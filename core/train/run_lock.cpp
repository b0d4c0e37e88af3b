// SPDX-License-Identifier: Apache-2.0
// The lock of a run: an open-file-description lock of the kernel. Such a lock belongs to the open
// file and not to the process, so that two sessions of one process exclude each other too, and
// looking does not take it.
#include "core/base/file.h"
#include "core/train/run_folder.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::train {
namespace {

namespace fs = std::filesystem;
using config::Json;

struct flock whole_file(short type) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

std::string host_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown host";
}

std::string holder(const fs::path& path) {
    std::string text;
    try {
        text = read_file(path, 1 << 16);
    } catch (const Error&) {
        return "another process";
    }
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("pid") || !json.contains("host")) {
        return "another process";
    }
    return "process " + json["pid"].dump() + " on " + json["host"].dump();
}

// Whether `descriptor` is still the file that the path names: the holder before us removes its
// file.
bool is_current(int descriptor, const fs::path& path) {
    struct stat open_file {};
    struct stat named_file {};
    return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &named_file) == 0 &&
           open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

} // namespace

RunLock::RunLock(const fs::path& folder) : path_(folder / "lock") {
    for (;;) {
        descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (descriptor_ < 0) {
            throw Error(ErrorKind::runtime, path_.string(),
                        "cannot be created: " + system_error_text(errno),
                        "the run folder must be writable");
        }
        struct flock lock = whole_file(F_WRLCK);
        const bool taken = ::fcntl(descriptor_, F_OFD_SETLK, &lock) == 0;
        if (taken && is_current(descriptor_, path_)) {
            break;
        }
        const std::string who = taken ? std::string() : holder(path_);
        ::close(descriptor_);
        descriptor_ = -1;
        if (!taken) {
            throw Error(ErrorKind::runtime, folder.string(), "the run is being trained by " + who,
                        "stop it there first, or fork the run from one of its checkpoints");
        }
    }
    beat();
}

RunLock::~RunLock() {
    if (descriptor_ >= 0) {
        ::unlink(path_.c_str());
        ::close(descriptor_);
    }
}

void RunLock::beat() {
    const Json json = {
        {"pid", ::getpid()}, {"host", host_name()}, {"heartbeat", SystemClock().epoch_s()}};
    const std::string text = json.dump() + "\n";
    // Same length or longer each time; a failing write costs only the text, never the lock.
    if (::pwrite(descriptor_, text.data(), text.size(), 0) >= 0) {
        [[maybe_unused]] const int cut = ::ftruncate(descriptor_, static_cast<off_t>(text.size()));
    }
}

bool is_live(const fs::path& folder) {
    const int descriptor = ::open((folder / "lock").c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    struct flock lock = whole_file(F_RDLCK);
    const bool held = ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    ::close(descriptor);
    return held;
}

} // namespace weft::train
