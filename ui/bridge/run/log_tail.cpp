// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/log_tail.h"

#include "core/base/file.h"

namespace weft::ui {
namespace {

constexpr std::int64_t kLogTailMostBytes = 1 << 20; // per call

} // namespace

LogTail::LogTail(std::filesystem::path path, std::int64_t offset)
    : path_(std::move(path)), offset_(offset) {}

void LogTail::read(std::mutex& mutex, std::vector<std::string>& lines) {
    std::error_code problem;
    const auto size = path_.empty() ? 0 : std::filesystem::file_size(path_, problem);
    if (problem || static_cast<std::int64_t>(size) <= offset_) {
        return;
    }
    std::vector<std::string> came;
    const std::int64_t end = static_cast<std::int64_t>(size);
    if (end - offset_ > kLogTailMostBytes) {
        came.push_back("… " + std::to_string(end - kLogTailMostBytes - offset_) +
                       " bytes are left out here; " + path_.string() + " has them");
        offset_ = end - kLogTailMostBytes;
    }
    std::string text(static_cast<std::size_t>(end - offset_), '\0');
    File(path_, File::Mode::read).read_at(std::as_writable_bytes(std::span(text)), offset_);
    std::size_t begin = 0;
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', begin)) {
        came.push_back(text.substr(begin, at - begin));
        begin = at + 1;
    }
    offset_ += static_cast<std::int64_t>(begin);
    const std::lock_guard guard(mutex);
    lines.insert(lines.end(), came.begin(), came.end());
}

} // namespace weft::ui
