// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/run_curves.h"

#include "core/base/error.h"
#include "ui/bridge/background.h"

#include <algorithm>

namespace weft::ui {
namespace {

constexpr std::size_t kAtOnce = 32;                        // curves per trip to the background
constexpr std::size_t kMostPoints = std::size_t{16} << 20; // kept, over all curves

Curve readRunCurve(const std::filesystem::path& folder, const std::string& metric) {
    try {
        return std::make_shared<const std::vector<train::MetricPoint>>(
            train::read_curve(folder, metric));
    } catch (const Error&) {
        return std::make_shared<const std::vector<train::MetricPoint>>();
    }
}

} // namespace

Curve RunCurves::find(const train::RunSummary& run, const std::string& metric) {
    const Key key{run.folder, metric};
    const auto found = known_.find(key);
    if (found != known_.end() && found->second.stamp == run.stamp) {
        return found->second.curve;
    }
    const bool asked = std::any_of(wanted_.begin(), wanted_.end(), [&](const Wanted& wanted) {
        return wanted.key == key && wanted.stamp == run.stamp;
    });
    if (!asked) {
        wanted_.push_back({key, run.stamp});
        readNext();
    }
    return found != known_.end() ? found->second.curve : nullptr; // what was known meanwhile
}

void RunCurves::readNext() {
    if (reading_ || wanted_.empty()) {
        return;
    }
    reading_ = true;
    const std::size_t count = std::min(wanted_.size(), kAtOnce);
    std::vector<Wanted> batch(wanted_.begin(),
                              wanted_.begin() + static_cast<std::ptrdiff_t>(count));
    runInBackground(
        this,
        [batch] {
            std::vector<Curve> curves;
            for (const Wanted& wanted : batch) {
                curves.push_back(readRunCurve(wanted.key.folder, wanted.key.metric));
            }
            return curves;
        },
        [this, batch](std::vector<Curve> curves) {
            reading_ = false;
            std::size_t points = 0;
            for (const auto& [key, known] : known_) {
                points += known.curve->size();
            }
            if (points > kMostPoints) {
                known_.clear(); // what is looked at is read again
            }
            for (std::size_t i = 0; i < batch.size(); ++i) {
                known_[batch[i].key] = {batch[i].stamp, std::move(curves[i])};
                wanted_.pop_front();
            }
            emit arrived();
            readNext();
        });
}

} // namespace weft::ui
