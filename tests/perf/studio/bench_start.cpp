// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, target 15: this program starts itself again, as a studio that ends when Home answers.
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/open_studio.h"
#include "tests/perf/studio/suites.h"

#include <QCoreApplication>
#include <QProcess>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <unistd.h>

namespace {

constexpr int kStarts = 7;

/// Milliseconds since the kernel started this process (in clock ticks, mostly of 10 ms).
double process_age_ms() {
    std::ifstream file("/proc/self/stat");
    std::string stat(std::istreambuf_iterator<char>(file), {});
    std::istringstream fields(stat.substr(stat.rfind(')') + 2));
    std::string skipped;
    for (int field = 3; field < 22; ++field) {
        fields >> skipped;
    }
    double start_ticks = 0;
    fields >> start_ticks;
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6 -
           start_ticks * 1e3 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

} // namespace

void bench_window() {
    bench::OpenStudio open;
    bench::wait_for("the runs listed", [&] { return open.studio().index().isLoaded(); });
    bench::settle();
    const double age = process_age_ms();
    bench::linger(1000);
    std::printf("%f %f\n", age, bench::resident_mib());
}

void bench_start() {
    std::vector<double> ages;
    std::vector<double> memory;
    for (int i = 0; i < kStarts; ++i) {
        QProcess again;
        again.start(QCoreApplication::applicationFilePath(), {"window"});
        again.waitForFinished(bench::kPatienceMs);
        const QList<QByteArray> figures =
            again.readAllStandardOutput().trimmed().split('\n').last().split(' ');
        if (figures.size() == 2) {
            ages.push_back(figures[0].toDouble());
            memory.push_back(figures[1].toDouble());
        }
    }
    if (ages.empty()) {
        std::puts("the studio did not start");
        return;
    }
    bench::print("15  to an interactive Home, warm", ages, 400);
    bench::print("15  memory of a studio at rest", memory.front(), "MiB", 150e6 / (1 << 20));
}
