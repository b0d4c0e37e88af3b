// SPDX-License-Identifier: Apache-2.0
// Files of a set that are damaged: up to a share they are left out and named, more are an error.
#pragma once

#include "core/data/dataset.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace weft::data {

inline constexpr std::size_t kMostNamedBad = 5;

/// "file: what is wrong with it"
std::string fault_of(const Error& error);

/// "2 of 25 images cannot be used: ...", by the first of the faults.
std::string told_as_bad(std::size_t bad, std::size_t listed, const std::vector<std::string>& named);

bool too_many_bad(std::size_t bad, std::size_t listed, double most_bad);

/// Which files are damaged of a set that is read while others work with it. Any thread.
class DamagedFiles {
public:
    /// Of `listed` files `left_out` were, before any of the others was read.
    DamagedFiles(std::size_t listed, std::size_t left_out, double most_bad)
        : listed_(listed), left_out_(left_out), most_bad_(most_bad) {}

    /// Throws the fault as a DamagedSample, or, once they are too many, as an Error{data} with all
    /// that were found.
    [[noreturn]] void add(std::size_t file, const Error& fault);
    /// It is whole, or has been mended.
    void remove(std::size_t file);

private:
    const std::size_t listed_;
    const std::size_t left_out_;
    const double most_bad_;
    std::mutex mutex_;
    std::map<std::size_t, std::string> faults_; // by the number of the file
};

} // namespace weft::data
