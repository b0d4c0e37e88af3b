// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/perf/studio/timed_application.h"

#include <QElapsedTimer>

#include <algorithm>
#include <cstdio>

namespace bench {

bool TimedApplication::notify(QObject* receiver, QEvent* event) {
    if (depth_ > 0) {
        return QApplication::notify(receiver, event); // counted by the event around it
    }
    QElapsedTimer clock;
    clock.start();
    ++depth_;
    const bool handled = QApplication::notify(receiver, event);
    --depth_;
    events_ms_.push_back(static_cast<double>(clock.nsecsElapsed()) * 1e-6);
    return handled;
}

void TimedApplication::report(const char* what) {
    std::sort(events_ms_.begin(), events_ms_.end());
    const auto at = [&](double share) {
        return events_ms_.empty() ? 0.0
                                  : events_ms_[static_cast<std::size_t>(
                                        share * static_cast<double>(events_ms_.size() - 1))];
    };
    std::printf("  %-44s %zu GUI events: p95 %.2f (16), p99 %.2f (33), longest %.2f ms "
                "(target 100: x%.2f)\n",
                what, events_ms_.size(), at(0.95), at(0.99), at(1.0), at(1.0) / 100);
    std::fflush(stdout);
    reset();
}

} // namespace bench
