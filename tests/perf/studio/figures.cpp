// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/perf/studio/figures.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QTest>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <unistd.h>

namespace bench {
namespace {

std::mutex awaited_mutex;
std::string awaited_now;

void note_awaited(const char* what) {
    const std::scoped_lock lock(awaited_mutex);
    awaited_now = what;
}

bool ended(const char* what, const std::function<bool()>& wait) {
    note_awaited(what);
    const bool there = wait();
    note_awaited("");
    if (!there) {
        std::printf("  gave up after %d s: %s\n", kPatienceMs / 1000, what);
        std::fflush(stdout);
    }
    return there;
}

} // namespace

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

double ms_since(const QElapsedTimer& clock) {
    return static_cast<double>(clock.nsecsElapsed()) * 1e-6;
}

bool wait_for(const char* what, const std::function<bool()>& condition) {
    return ended(what, [&] { return QTest::qWaitFor(condition, kPatienceMs); });
}

bool show_until(const char* what, const std::function<bool()>& condition) {
    return ended(what, [&] {
        QTimer wake; // what made the condition hold may be the last event for long
        wake.start(1);
        QElapsedTimer clock;
        clock.start();
        bool there = condition();
        while (!there && clock.elapsed() < kPatienceMs) {
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
            there = condition();
        }
        QCoreApplication::sendPostedEvents();
        return there;
    });
}

void linger(int ms) {
    QTest::qWait(ms);
}

std::string awaited() {
    const std::scoped_lock lock(awaited_mutex);
    return awaited_now;
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
