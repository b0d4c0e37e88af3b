// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/run_curves.h"

#include "core/base/error.h"
#include "ui/bridge/background.h"

#include <algorithm>

namespace weft::ui {
namespace {

constexpr std::size_t kAtOnce = 64;                        // curves per trip to the background
constexpr std::size_t kMostPoints = std::size_t{16} << 20; // kept, over all curves

using Curves = std::map<std::string, std::vector<train::MetricPoint>>;

/// Empty where the run cannot be read.
Curves readRunCurves(const std::filesystem::path& folder, const std::vector<std::string>& metrics) {
    try {
        return train::read_curves(folder, metrics);
    } catch (const Error&) {
        return {};
    }
}

} // namespace

Curve RunCurves::find(const train::RunSummary& run, const std::string& metric) {
    const Key key{run.folder, metric};
    const auto found = known_.find(key);
    if (found != known_.end() && found->second.stamp == run.stamp) {
        return found->second.curve;
    }
    const Wanted wanted{key, run.stamp};
    if (asked_.insert(wanted).second) {
        wanted_.push_back(wanted);
        if (!reading_) {
            reading_ = true; // with all that is asked for in this turn
            QMetaObject::invokeMethod(
                this,
                [this] {
                    reading_ = false;
                    readNext();
                },
                Qt::QueuedConnection);
        }
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
            std::map<std::filesystem::path, std::vector<std::string>> by_run;
            for (const Wanted& wanted : batch) {
                by_run[wanted.key.folder].push_back(wanted.key.metric);
            }
            std::map<std::filesystem::path, Curves> read;
            for (const auto& [folder, metrics] : by_run) {
                read[folder] = readRunCurves(folder, metrics);
            }
            std::vector<Curve> curves;
            for (const Wanted& wanted : batch) {
                curves.push_back(std::make_shared<const std::vector<train::MetricPoint>>(
                    std::move(read[wanted.key.folder][wanted.key.metric])));
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
                asked_.erase(batch[i]);
                wanted_.pop_front();
            }
            emit arrived();
            readNext();
        });
}

} // namespace weft::ui
