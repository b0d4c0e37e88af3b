// SPDX-License-Identifier: Apache-2.0
#include "core/base/log.h"

#include "core/base/error.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <mutex>

namespace weft {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
    switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
    case LogLevel::off: return spdlog::level::off;
    }
    return spdlog::level::off;
}

LogLevel from_spdlog(spdlog::level::level_enum level) {
    switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug: return LogLevel::debug;
    case spdlog::level::info: return LogLevel::info;
    case spdlog::level::warn: return LogLevel::warning;
    default: return LogLevel::error;
    }
}

class ListenerSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit ListenerSink(std::function<void(LogLevel, std::string_view)> listener)
        : listener_(std::move(listener)) {}

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        listener_(from_spdlog(message.level),
                  std::string_view(message.payload.data(), message.payload.size()));
    }
    void flush_() override {}

    std::function<void(LogLevel, std::string_view)> listener_;
};

spdlog::sink_ptr console_sink(const LogSettings& settings) {
    spdlog::sink_ptr sink;
    if (settings.colour) {
        sink =
            std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>(spdlog::color_mode::always);
    } else {
        sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    }
    sink->set_level(to_spdlog(settings.console));
    sink->set_pattern("%^%l%$: %v");
    return sink;
}

spdlog::sink_ptr file_sink(const LogSettings& settings) {
    try {
        auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
            settings.file.string(), static_cast<size_t>(settings.file_bytes),
            static_cast<size_t>(settings.files_kept));
        sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l [%t] %v");
        return sink;
    } catch (const spdlog::spdlog_ex& problem) {
        throw Error(ErrorKind::runtime, settings.file.string(),
                    std::string("cannot open the log file: ") + problem.what(),
                    "Check that the folder exists and can be written to.");
    }
}

} // namespace

Log::Log() : logger_(std::make_shared<spdlog::logger>("weft")) {
    logger_->set_level(spdlog::level::off);
}

Log::Log(const LogSettings& settings) : Log() {
    logger_->set_level(spdlog::level::debug);
    logger_->sinks().push_back(console_sink(settings));
    if (!settings.file.empty()) {
        logger_->sinks().push_back(file_sink(settings));
    }
    if (settings.listener) {
        logger_->sinks().push_back(std::make_shared<ListenerSink>(settings.listener));
    }
    logger_->flush_on(spdlog::level::warn);
}

void Log::debug(std::string_view text) const {
    logger_->log(spdlog::level::debug, spdlog::string_view_t(text.data(), text.size()));
}

void Log::info(std::string_view text) const {
    logger_->log(spdlog::level::info, spdlog::string_view_t(text.data(), text.size()));
}

void Log::warning(std::string_view text) const {
    logger_->log(spdlog::level::warn, spdlog::string_view_t(text.data(), text.size()));
}

void Log::error(std::string_view text) const {
    logger_->log(spdlog::level::err, spdlog::string_view_t(text.data(), text.size()));
}

void Log::flush() const {
    logger_->flush();
}

} // namespace weft
