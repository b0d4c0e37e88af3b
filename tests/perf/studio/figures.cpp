// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/perf/studio/figures.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <unistd.h>

namespace bench {

std::vector<double> timed(int times, const std::function<void(int)>& call) {
    std::vector<double> out;
    for (int i = 0; i < times; ++i) {
        out.push_back(timed_once([&] { call(i); }));
    }
    return out;
}

double timed_once(const std::function<void()>& call) {
    QElapsedTimer clock;
    clock.start();
    call();
    return static_cast<double>(clock.nsecsElapsed()) * 1e-6;
}

bool wait_for(const std::function<bool()>& condition, int limit_ms) {
    return QTest::qWaitFor(condition, limit_ms);
}

void show_until(const std::function<bool()>& condition) {
    QElapsedTimer clock;
    clock.start();
    while (!condition() && clock.elapsed() < kPatienceMs) {
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    QCoreApplication::sendPostedEvents();
}

void settle() {
    QCoreApplication::processEvents();
    QCoreApplication::sendPostedEvents();
}

double resident_mib() {
    std::ifstream file("/proc/self/statm");
    double size = 0;
    double resident = 0;
    file >> size >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

void section(const char* text) {
    std::printf("%s\n", text);
}

void print(const char* what, std::vector<double> ms, double target) {
    std::sort(ms.begin(), ms.end());
    const auto at = [&](double share) {
        return ms[static_cast<std::size_t>(share * static_cast<double>(ms.size() - 1))];
    };
    std::printf("  %-44s median %8.2f, p99 %8.2f, worst %8.2f ms  (target %.1f: x%.2f)\n", what,
                at(0.5), at(0.99), at(1.0), target, at(0.99) / target);
    std::fflush(stdout);
}

void print(const char* what, double figure, const char* unit, double target) {
    std::printf("  %-44s %8.2f %s  (target %.1f: x%.2f)\n", what, figure, unit, target,
                figure / target);
    std::fflush(stdout);
}

} // namespace bench
