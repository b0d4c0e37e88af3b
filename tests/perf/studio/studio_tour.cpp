// SPDX-License-Identifier: GPL-3.0-or-later
// studio_tour DIR: pictures of the real program on a real run, light and dark, at the designed sizes.
// README's hero picture and the tour come from here, so that they never go stale.
#include "ui/shell/main_window.h"
#include "ui/studio.h"

#include <QApplication>
#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <cstdio>

namespace {

using namespace weft;

void wait_for(const std::function<bool()>& condition, int limit_ms) {
    if (!QTest::qWaitFor(condition, limit_ms)) {
        std::puts("waited in vain; the pictures show the state at hand");
    }
}

struct Tour {
    ui::Studio& studio;
    ui::MainWindow& window;
    widgets::ThemeController& theme;
    QString folder;

    void shoot(const QString& page, const QString& name) {
        window.showPage(page);
        for (const bool dark : {false, true}) {
            theme.setMode(dark ? widgets::ThemeController::Mode::Dark
                               : widgets::ThemeController::Mode::Light);
            for (const QSize size : {QSize(1440, 900), QSize(1024, 680)}) {
                window.resize(size);
                QTest::qWait(150); // lets queued replots and background reads arrive
                const QString path = QString("%1/%2-%3-%4.png")
                                         .arg(folder, name, dark ? "dark" : "light")
                                         .arg(size.width());
                if (!window.grab().save(path)) {
                    std::printf("%s cannot be written\n", qPrintable(path));
                }
            }
        }
        window.resize(1440, 900);
    }
};

} // namespace

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication application(argc, argv);
    if (argc < 2) {
        std::puts("usage: studio_tour DIR");
        return 2;
    }
    QDir().mkpath(argv[1]);
    QTemporaryDir dir;
    const std::filesystem::path root = dir.path().toStdString();
    widgets::ThemeController theme;
    ui::Studio studio({root / "runs", WEFT_SOURCE_PRESETS, root / "state"});
    ui::MainWindow window(studio, theme);
    window.show();
    studio.index().refresh();
    Tour tour{studio, window, theme, argv[1]};
    QTest::qWait(4000); // presets are planned in the background
    tour.shoot("home", "home-first");
    tour.shoot("train", "train-empty");
    tour.shoot("checkpoints", "checkpoints-empty");

    if (!studio.startFile(std::filesystem::path(WEFT_SOURCE_PRESETS) / "fashion-mlp.json").started) {
        std::puts("the demo did not start");
        return 1;
    }
    wait_for([&] { return studio.run().step() > 0; }, 60000);
    wait_for(
        [&] { return studio.run().progress() > 0.6 || !studio.isTraining(); }, 300000);
    tour.shoot("train", "train-running");
    tour.shoot("checkpoints", "checkpoints-running");
    studio.pause();
    wait_for([&] { return studio.run().state() == train::RunState::paused; }, 20000);
    tour.shoot("train", "train-paused");
    studio.stopAndSave();
    wait_for([&] { return !studio.isTraining(); }, 60000);
    QTest::qWait(500);
    tour.shoot("home", "home");
    tour.shoot("checkpoints", "checkpoints");
    return 0;
}
