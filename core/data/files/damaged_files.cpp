// SPDX-License-Identifier: Apache-2.0
#include "core/data/files/damaged_files.h"

#include "core/base/text.h"

namespace weft::data {

std::string fault_of(const Error& error) {
    return shown(error.where(), 200) + ": " + error.text();
}

std::string told_as_bad(std::size_t bad, std::size_t listed,
                        const std::vector<std::string>& named) {
    return format_thousands(static_cast<std::int64_t>(bad)) + " of " +
           format_thousands(static_cast<std::int64_t>(listed)) +
           " images cannot be used: " + join(named, "; ") + (bad > named.size() ? "; ..." : "");
}

bool too_many_bad(std::size_t bad, std::size_t listed, double most_bad) {
    return bad == listed || static_cast<double>(bad) > most_bad * static_cast<double>(listed);
}

void DamagedFiles::add(std::size_t file, const Error& fault) {
    const std::lock_guard lock(mutex_);
    faults_[file] = fault_of(fault);
    const std::size_t bad = left_out_ + faults_.size();
    if (!too_many_bad(bad, listed_, most_bad_)) {
        throw DamagedSample(fault);
    }
    std::vector<std::string> named;
    for (const auto& [number, text] : faults_) {
        if (named.size() < kMostNamedBad) {
            named.push_back(text);
        }
    }
    throw Error(ErrorKind::data, fault.where(),
                fault.text() + "; with it " + told_as_bad(bad, listed_, named),
                "Repair them, or begin anew with a larger data.train.most_bad.");
}

void DamagedFiles::remove(std::size_t file) {
    const std::lock_guard lock(mutex_);
    faults_.erase(file);
}

} // namespace weft::data
