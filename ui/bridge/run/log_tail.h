// SPDX-License-Identifier: GPL-3.0-or-later
// What a worker printed, line by line as it comes. Of a flood the newest lines; the file has all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace weft::ui {

class LogTail {
public:
    /// Begins at `offset` of the file; an empty path has no lines.
    LogTail(std::filesystem::path path, std::int64_t offset);
    /// Appends the complete lines that came since to `lines`, which `mutex` guards.
    void read(std::mutex& mutex, std::vector<std::string>& lines);

private:
    std::filesystem::path path_;
    std::int64_t offset_;
};

} // namespace weft::ui
