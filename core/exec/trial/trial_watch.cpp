// SPDX-License-Identifier: Apache-2.0
#include "core/exec/trial/trial_watch.h"

#include "core/base/text.h"

#include <utility>

namespace weft::exec {

TrialWatch::TrialWatch(std::string what, double patience_s, const weft_collectives* collectives)
    : what_(std::move(what)), patience_s_(patience_s), collectives_(collectives) {}

void TrialWatch::add(weft_group* group) {
    const std::lock_guard lock(mutex_);
    groups_.push_back(group);
}

void TrialWatch::remove(weft_group* group) {
    const std::lock_guard lock(mutex_);
    std::erase(groups_, group);
}

void TrialWatch::end(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (reason_.empty()) {
        reason_ = reason;
        ended_s_ = clock_.steady_s();
        for (weft_group* group : groups_) {
            collectives_->abort(group);
        }
    }
}

Error TrialWatch::failed(int, const Error& fault) {
    end(fault.where() + ": " + fault.text());
    return fault;
}

void TrialWatch::waiting(int, double seconds) {
    if (seconds > patience_s_) {
        end("it does not end, for more than " + format_duration(patience_s_));
    }
    const std::lock_guard lock(mutex_);
    if (!reason_.empty()) {
        throw Error(ErrorKind::device, what_, reason_,
                    "run `weft doctor` to see what this machine offers");
    }
}

bool TrialWatch::gave_up() const {
    constexpr double kGrace_s = 1;
    const std::lock_guard lock(mutex_);
    return !reason_.empty() && clock_.steady_s() - ended_s_ > kGrace_s;
}

} // namespace weft::exec
