// SPDX-License-Identifier: Apache-2.0
// Verdicts of self-tests between processes.
#pragma once

#include "core/train/self_test/self_test.h"

#include <filesystem>
#include <optional>

namespace weft::train {

/// A file for each key. What goes wrong with one costs no more than another test.
class Verdicts {
public:
    /// The folder is made when a verdict is kept; empty: none is.
    explicit Verdicts(std::filesystem::path folder) : folder_(std::move(folder)) {}

    std::optional<SelfTestResult> find(const std::string& key) const;
    void keep(const std::string& key, const SelfTestResult& result) const;

private:
    std::filesystem::path path_of(const std::string& key) const;

    std::filesystem::path folder_;
};

} // namespace weft::train
