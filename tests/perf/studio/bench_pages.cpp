// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, targets 1 and 2: from a click or a key to what it painted, on every page.
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/open_studio.h"
#include "tests/perf/studio/suites.h"
#include "ui/pages/page_list.h"

#include <QAbstractButton>
#include <QApplication>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QTest>
#include <QTimer>

#include <cstdio>
#include <functional>
#include <vector>

namespace {

using namespace weft;

/// Buttons whose press changes nothing but themselves, by what they are.
std::vector<QAbstractButton*> buttons(ui::Page* page) {
    std::vector<QAbstractButton*> out;
    for (auto* button : page->findChildren<QAbstractButton*>()) {
        if (button->isVisible() && button->isEnabled()) {
            out.push_back(button);
        }
    }
    return out;
}

/// A menu or dialog over the window; null: there is none.
QWidget* opened_window() {
    for (QWidget* window : QApplication::topLevelWidgets()) {
        const bool dialog = window->windowType() == Qt::Dialog || window->windowType() == Qt::Popup;
        if (dialog && window->isVisible()) {
            return window;
        }
    }
    return nullptr;
}

struct Painted {
    double ms = 0;
    bool opened = false; // a menu or a dialog
};

/// Until what a call opens is painted, or until it returns: a menu and a dialog have an event loop
/// of their own, which ends when they are closed.
Painted until_painted(const std::function<void()>& call) {
    QElapsedTimer clock;
    qint64 opened_ns = 0;
    QTimer opened;
    opened.setSingleShot(true);
    QObject::connect(&opened, &QTimer::timeout, &opened, [&] {
        while (QWidget* shown = opened_window()) {
            shown->repaint();
            opened_ns = clock.nsecsElapsed();
            shown->close();
        }
    });
    opened.start(0);
    clock.start();
    call();
    const qint64 returned_ns = clock.nsecsElapsed();
    bench::settle();
    return {static_cast<double>(opened_ns > 0 ? opened_ns : returned_ns) * 1e-6, opened_ns > 0};
}

/// Pressed, painted, let go beside it: nothing is done.
double press(QAbstractButton* button) {
    const Painted painted = until_painted([button] {
        QTest::mousePress(button, Qt::LeftButton);
        button->repaint();
    });
    QTest::mouseRelease(button, Qt::LeftButton, {}, QPoint(-50, -50));
    bench::settle();
    return painted.ms;
}

/// What was closed last may have had it.
void take_keyboard(QWidget& window) {
    window.activateWindow();
    bench::wait_for("the keyboard", [&window] { return window.isActiveWindow(); });
}

} // namespace

void bench_pages() {
    bench::OpenStudio open;
    open.studio().opener().open(bench::OpenStudio::preset("gpt-6x384.json"));
    bench::settle();
    std::vector<double> first;
    std::vector<double> again;
    std::vector<double> pressed;
    std::vector<double> resized;
    for (const ui::PageRecord* record : ui::allPages()) {
        const auto show = [&] {
            open.window().showPage(record->id);
            bench::settle();
        };
        first.push_back(bench::timed_once(show));
        bench::linger(500); // what comes from the background comes
        open.window().showPage("home");
        bench::settle();
        again.push_back(bench::timed_once(show));
        for (QAbstractButton* button : buttons(open.window().page(record->id))) {
            pressed.push_back(press(button));
        }
        for (const QSize size : {QSize(1024, 680), QSize(1440, 900)}) {
            resized.push_back(bench::timed_once([&] {
                open.window().resize(size);
                bench::settle();
            }));
        }
    }
    bench::print("1   a button pressed and painted", pressed, 50);
    bench::print("1   a page shown again", again, 100);
    bench::print("2   a page shown for the first time", first, 1000);
    bench::print("1   the window resized, a page painted", resized, 100);
    open.window().showPage("home");
    take_keyboard(open.window());
    std::vector<double> keys;
    for (int i = 0; i < 8; ++i) {
        for (const Qt::Key key : {Qt::Key_2, Qt::Key_3, Qt::Key_4, Qt::Key_5, Qt::Key_1}) {
            const QString before = open.window().currentPage();
            keys.push_back(bench::timed_once([&] {
                QTest::keyClick(&open.window(), key, Qt::ControlModifier);
                bench::settle();
            }));
            if (open.window().currentPage() == before) {
                std::puts("a key led nowhere");
            }
        }
    }
    bench::print("1   a key to another page, painted", keys, 100);
    std::vector<double> dialogs;
    for (int i = 0; i < 5; ++i) {
        for (const Qt::Key key : {Qt::Key_K, Qt::Key_Comma}) {
            take_keyboard(open.window());
            const Painted painted = until_painted([&] {
                QTest::keyClick(&open.window(), key, Qt::ControlModifier);
                bench::settle();
            });
            dialogs.push_back(painted.ms);
            if (!painted.opened) {
                std::puts("a key opened nothing");
            }
        }
    }
    bench::print("2   commands and settings opened", dialogs, 1000);
}
