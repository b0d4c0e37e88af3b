// SPDX-License-Identifier: Apache-2.0
#include "core/train/measure/save_steps.h"

#include <algorithm>

namespace weft::train {
namespace {

/// The lower of the two in the middle.
std::optional<double> median_ms(std::vector<double> times) {
    if (times.empty()) {
        return std::nullopt;
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

} // namespace

void SaveSteps::completed(double step_ms) {
    for (Save& save : saves_) {
        save.during_ms.push_back(step_ms);
    }
    if (saves_.empty()) {
        quiet_ms_.push_back(step_ms);
        if (quiet_ms_.size() > kQuietSteps) {
            quiet_ms_.pop_front();
        }
    }
}

void SaveSteps::save_begun(std::int64_t step) {
    saves_.push_back({step, median_ms({quiet_ms_.begin(), quiet_ms_.end()}), {}});
}

SaveNeighbours SaveSteps::save_ended(std::int64_t step) {
    const auto found = std::find_if(saves_.begin(), saves_.end(),
                                    [step](const Save& save) { return save.step == step; });
    if (found == saves_.end()) {
        return {};
    }
    SaveNeighbours out{found->before_ms, median_ms(found->during_ms), std::nullopt};
    if (!found->during_ms.empty()) {
        out.longest_ms = *std::max_element(found->during_ms.begin(), found->during_ms.end());
    }
    saves_.erase(found);
    return out;
}

} // namespace weft::train
