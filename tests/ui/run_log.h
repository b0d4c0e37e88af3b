// SPDX-License-Identifier: GPL-3.0-or-later
// Run folders written by hand, as runs would have left them.
#pragma once

#include "core/train/record/event.h"

#include <filesystem>
#include <string>

namespace weft::test {

/// Writes config.json and events.jsonl line by line; the time goes on by 10 ms with each event.
class RunLog {
public:
    RunLog(std::filesystem::path folder, const std::string& config);

    RunLog& add(train::Payload payload);
    /// Steps [first, last] with this loss and an accuracy; an evaluation after each tenth.
    RunLog& steps(std::int64_t first, std::int64_t last, double loss);
    const std::filesystem::path& folder() const { return folder_; }

private:
    std::filesystem::path folder_;
    std::int64_t seq_ = 0;
    double time_ = 1000;
};

} // namespace weft::test
