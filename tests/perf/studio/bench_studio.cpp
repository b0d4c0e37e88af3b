// SPDX-License-Identifier: GPL-3.0-or-later
// bench_studio [SECONDS]: how quickly the studio answers while training uses every core.
//   - from the visible window to the first loss point of the demo (target 2 s)
//   - a pause request to its acknowledgement (target 100 ms), several times
//   - the longest turn of the GUI thread's event loop (target 50 ms) and the 99th percentile
#include "ui/shell/main_window.h"
#include "ui/studio.h"

#include <QAbstractEventDispatcher>
#include <QApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstdio>

namespace {

using namespace weft;

/// Times every turn of the event loop from waking up to blocking again.
class LoopWatch : public QObject {
public:
    LoopWatch() {
        auto* dispatcher = QAbstractEventDispatcher::instance();
        connect(dispatcher, &QAbstractEventDispatcher::awake, this, [this] { clock_.start(); });
        connect(dispatcher, &QAbstractEventDispatcher::aboutToBlock, this, [this] {
            if (clock_.isValid()) {
                turns_ms_.push_back(static_cast<double>(clock_.nsecsElapsed()) * 1e-6);
            }
        });
    }
    void reset() { turns_ms_.clear(); }
    double percentile(double share) {
        std::sort(turns_ms_.begin(), turns_ms_.end());
        return turns_ms_.empty()
                   ? 0
                   : turns_ms_[static_cast<std::size_t>(share * static_cast<double>(turns_ms_.size() - 1))];
    }
    std::size_t turns() const { return turns_ms_.size(); }

private:
    QElapsedTimer clock_;
    std::vector<double> turns_ms_;
};

bool wait_for(const std::function<bool()>& condition, int limit_ms) {
    return QTest::qWaitFor(condition, limit_ms);
}

} // namespace

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM") && !qEnvironmentVariableIsSet("DISPLAY")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication application(argc, argv);
    const double seconds = argc > 1 ? std::atof(argv[1]) : 15;
    QTemporaryDir dir;
    const std::filesystem::path root = dir.path().toStdString();
    widgets::ThemeController theme;
    QElapsedTimer clock;
    clock.start();
    ui::Studio studio({root / "runs", WEFT_SOURCE_PRESETS, root / "state"});
    ui::MainWindow window(studio, theme);
    window.show();
    studio.index().refresh();
    if (!QTest::qWaitForWindowExposed(&window)) {
        std::puts("the window never appeared");
        return 1;
    }
    std::printf("window visible after            %6.0f ms\n", static_cast<double>(clock.elapsed()));
    LoopWatch watch;
    clock.restart();
    const ui::StartResult started = studio.startFile(std::filesystem::path(WEFT_SOURCE_PRESETS) /
                                                     "fashion-mlp.json");
    if (!started.started) {
        std::printf("not started: %s\n", qPrintable(started.problem));
        return 1;
    }
    if (!wait_for([&] { return studio.run().step() > 0; }, 60000)) {
        std::puts("no first point within a minute");
        return 1;
    }
    std::printf("click to first loss point       %6.0f ms  (target 2000)\n",
                static_cast<double>(clock.elapsed()));
    for (int i = 0; i < 5 && studio.isTraining(); ++i) {
        clock.restart();
        studio.pause();
        wait_for([&] { return studio.pendingCommand().isEmpty(); }, 10000);
        std::printf("pause acknowledged after        %6.1f ms  (target 100)\n",
                    static_cast<double>(clock.nsecsElapsed()) * 1e-6);
        wait_for([&] { return studio.run().state() == train::RunState::paused; }, 10000);
        studio.resume();
        wait_for([&] { return studio.run().state() == train::RunState::running; }, 10000);
    }
    watch.reset();
    wait_for([&] { return !studio.isTraining(); }, static_cast<int>(seconds * 1000));
    std::printf("GUI loop turns while training   %zu: median %.2f ms, p99 %.2f ms, longest %.2f ms  "
                "(target 50)\n",
                watch.turns(), watch.percentile(0.5), watch.percentile(0.99), watch.percentile(1.0));
    if (studio.isTraining()) {
        studio.stopNow();
        wait_for([&] { return !studio.isTraining(); }, 10000);
    }
    return 0;
}
