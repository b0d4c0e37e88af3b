// SPDX-License-Identifier: GPL-3.0-or-later
// Times the delivery of every event: what one slot, timer or repaint keeps the GUI thread from.
#pragma once

#include <QApplication>

#include <vector>

namespace bench {

class TimedApplication : public QApplication {
public:
    using QApplication::QApplication;

    bool notify(QObject* receiver, QEvent* event) override;
    void reset() { events_ms_.clear(); }
    /// Prints what was since the last time: frame work of UX.md 5, target 3.
    void report(const char* what);
    static TimedApplication& self() { return *static_cast<TimedApplication*>(qApp); }

private:
    int depth_ = 0;
    std::vector<double> events_ms_;
};

} // namespace bench
