// SPDX-License-Identifier: GPL-3.0-or-later
// studio_tour DIR [PART...]: pictures of the real program on real runs, light and dark, at the
// designed sizes: every page empty, loading, full and in error. README's pictures come from here,
// so that they never go stale. Parts are walked in the order given; without any, all of them.
#include "tests/perf/studio/tour.h"
#include "ui/pages/page.h"
#include "ui/plurals.h"

#include <QAbstractButton>
#include <QApplication>
#include <QDialog>
#include <QDir>
#include <QScrollArea>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <algorithm>
#include <cstdio>

namespace weft::tour {
namespace {

constexpr double kLargeText = 1.5;

struct Part {
    const char* name;
    void (*walk)(Tour&);
};

constexpr Part kParts[] = {
    {"empty", tourEmpty},       {"data", tourData},      {"model", tourModel},
    {"training", tourTraining}, {"plan", tourPlan},      {"mesh", tourMesh},
    {"devices", tourDevices},   {"train", tourTrain},    {"outcomes", tourOutcomes},
    {"runs", tourRuns},         {"dialogs", tourDialogs}};

int usage() {
    std::puts("usage: studio_tour DIR [PART...]; parts are");
    for (const Part& part : kParts) {
        std::printf("  %s\n", part.name);
    }
    return 2;
}

} // namespace

void wait_for(const std::function<bool()>& condition, int limit_ms) {
    if (!QTest::qWaitFor(condition, limit_ms)) {
        std::puts("waited in vain; the pictures show the state at hand");
    }
}

void settle(int ms) {
    QTest::qWait(ms);
}

void Tour::save(const QPixmap& picture, const QString& name) {
    if (!picture.save(QString("%1/%2.png").arg(folder_, name))) {
        std::printf("%s cannot be written\n", qPrintable(name));
    }
}

/// What scrolls a page as a whole; null where all of it is seen.
QScrollBar* Tour::scrollsPage(const QString& page) const {
    const QWidget* shown = window.page(page);
    for (const auto* area : shown->findChildren<QScrollArea*>()) {
        QScrollBar* bar = area->verticalScrollBar();
        if (area->isVisible() && area->width() > shown->width() * 0.8 && bar->maximum() > 0) {
            return bar;
        }
    }
    return nullptr;
}

void Tour::shoot(const QString& page, const QString& name) {
    window.showPage(page);
    for (const bool dark : {false, true}) {
        theme.setMode(dark ? widgets::ThemeController::Mode::Dark
                           : widgets::ThemeController::Mode::Light);
        for (const QSize size : {QSize(1440, 900), QSize(1024, 680)}) {
            window.resize(size);
            settle();
            const QString shown =
                QString("%1-%2-%3").arg(name, dark ? "dark" : "light").arg(size.width());
            save(window.grab(), shown);
            if (QScrollBar* bar = scrollsPage(page)) {
                bar->setValue(bar->maximum());
                settle();
                save(window.grab(), shown + "-below");
                bar->setValue(0);
            }
        }
    }
    theme.setMode(widgets::ThemeController::Mode::Light);
    window.resize(1440, 900);
}

void Tour::shootAll(const QString& page, const QString& name) {
    shoot(page, name);
    theme.setFontScale(kLargeText);
    settle(600); // every page is laid out anew
    shoot(page, name + "-large");
    theme.setFontScale(1.0);
    settle(600);
    QPixmap picture(window.size() * 2);
    picture.setDevicePixelRatio(2);
    window.render(&picture);
    save(picture, name + "-2x");
}

void Tour::snap(const QString& name, QWidget* over) {
    QWidget* shown = over != nullptr ? over : &window;
    shown->repaint();
    save(shown->grab(), name);
}

void Tour::shootDialog(const QString& name, const std::function<void()>& open) {
    for (const bool dark : {false, true}) {
        theme.setMode(dark ? widgets::ThemeController::Mode::Dark
                           : widgets::ThemeController::Mode::Light);
        // Some wait for their answer: the picture is taken and the dialog closed from outside.
        QTimer::singleShot(600, &window, [&] {
            for (QDialog* dialog : window.findChildren<QDialog*>()) {
                if (dialog->isVisible()) {
                    save(dialog->grab(), QString("%1-%2").arg(name, dark ? "dark" : "light"));
                    dialog->reject();
                }
            }
        });
        open();
        settle(1000);
    }
    theme.setMode(widgets::ThemeController::Mode::Light);
}

void Tour::openPreset(const char* name) {
    studio.opener().open(studio.paths().presets / (std::string(name) + ".json"));
}

void Tour::choose(const char* control, int segment) {
    const auto segments = find<QWidget>(control)->findChildren<QAbstractButton*>();
    segments.at(segment < 0 ? segments.size() + segment : segment)->click();
}

} // namespace weft::tour

int main(int argc, char** argv) {
    using namespace weft;
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication application(argc, argv);
    ui::installEnglishPlurals(application);
    std::vector<tour::Part> parts;
    for (int i = 2; i < argc; ++i) {
        const auto part =
            std::find_if(std::begin(tour::kParts), std::end(tour::kParts), [&](const auto& known) {
                return std::string_view(known.name) == argv[i];
            });
        if (part == std::end(tour::kParts)) {
            return tour::usage();
        }
        parts.push_back(*part);
    }
    if (argc < 2) {
        return tour::usage();
    }
    if (parts.empty()) {
        parts.assign(std::begin(tour::kParts), std::end(tour::kParts));
    }
    QDir().mkpath(argv[1]);
    QTemporaryDir dir;
    const std::filesystem::path root = dir.path().toStdString();
    widgets::ThemeController theme;
    ui::Studio studio({root / "runs", WEFT_SOURCE_PRESETS, root / "state", {}, WEFT_PROGRAM});
    ui::MainWindow window(studio, theme);
    window.show();
    studio.index().refresh();
    tour::Tour walk(studio, window, theme, argv[1]);
    for (const tour::Part& part : parts) {
        part.walk(walk);
    }
    return 0;
}
