// SPDX-License-Identifier: Apache-2.0
#include "core/data/files/file_memory.h"

#include "core/base/clock.h"

#include <cmath>

#include <sys/stat.h>

namespace weft::data {
namespace {

constexpr double kSettlingSeconds = 2; // the coarsest clock of a file system, FAT's

} // namespace

std::optional<FileStamp> stamp_of(const Path& path) {
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
        return std::nullopt;
    }
    const auto seconds = static_cast<double>(info.st_mtim.tv_sec);
    if (std::abs(SystemClock().epoch_s() - seconds) <= kSettlingSeconds) {
        return std::nullopt;
    }
    return FileStamp{info.st_dev, info.st_ino, info.st_size,
                     std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

} // namespace weft::data
