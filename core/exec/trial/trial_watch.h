// SPDX-License-Identifier: Apache-2.0
// Ends what hangs in a trial, and tells all why. Private to core/exec/trial.
#pragma once

#include "core/base/clock.h"
#include "core/exec/open_device.h"

#include <mutex>
#include <string>
#include <vector>

namespace weft::exec {

class TrialWatch final : public DeviceWatch {
public:
    /// `what` does not end when somebody has waited for it longer than `patience_s`. `collectives`
    /// outlive it; null: the devices exchange nothing.
    TrialWatch(std::string what, double patience_s, const weft_collectives* collectives = nullptr);

    void add(weft_group* group);
    void remove(weft_group* group);
    void end(const std::string& reason);

    Error failed(int place, const Error& fault) override;
    void waiting(int place, double seconds) override;
    bool gave_up() const override;

private:
    const std::string what_;
    const double patience_s_;
    const weft_collectives* const collectives_;
    const SystemClock clock_;
    mutable std::mutex mutex_;
    std::string reason_;
    double ended_s_ = 0;
    std::vector<weft_group*> groups_;
};

} // namespace weft::exec
