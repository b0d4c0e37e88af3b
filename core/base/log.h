// SPDX-License-Identifier: Apache-2.0
// The log: made once in app/, passed down by reference, no global. Safe from any thread.
// Debug goes to the file, the console shows what the level asks for, a listener (the studio's
// Console page) gets every line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace spdlog {
class logger;
}

namespace weft {

enum class LogLevel { debug, info, warning, error, off };

struct LogSettings {
    LogLevel console = LogLevel::warning; // stderr
    bool colour = false;                  // decided in app/ from the terminal and NO_COLOR
    std::filesystem::path file;           // empty: no file; gets everything from debug up
    int64_t file_bytes = 8 << 20;         // then it is rotated
    int files_kept = 3;
    /// Called from the thread that logs; must not log itself.
    std::function<void(LogLevel, std::string_view)> listener;
};

class Log {
public:
    /// Writes nowhere.
    Log();
    /// Throws Error{runtime} when the file cannot be opened.
    explicit Log(const LogSettings& settings);

    void debug(std::string_view text) const;
    void info(std::string_view text) const;
    void warning(std::string_view text) const;
    void error(std::string_view text) const;
    void flush() const;

private:
    std::shared_ptr<spdlog::logger> logger_;
};

} // namespace weft
