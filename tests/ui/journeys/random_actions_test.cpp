// SPDX-License-Identifier: GPL-3.0-or-later
// Hands that know nothing: clicks, keys, wheel, commands and sizes at random over the whole studio
// while a run trains. Nothing may crash, throw, or keep the window from answering.
// WEFT_RANDOM_SEEDS sets how many times (a heavy test does it fifty times; under the sanitizers one
// can too).
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/guarded_application.h"

#include <QDesktopServices>
#include <QDir>
#include <QElapsedTimer>
#include <QFileDialog>
#include <QPointer>
#include <QTimer>
#include <QUrl>
#include <QWheelEvent>
#include <QWindow>

#include <algorithm>
#include <random>

namespace {

using namespace weft;

constexpr int kActions = 200;
constexpr int kStallMs = 100;
constexpr int kBeatMs = 10;
constexpr int kBlockedBeats = 3; // an action that lasts longer waits in a dialog or menu of its own

/// Takes what the studio would open in other programs.
class Desktop : public QObject {
    Q_OBJECT
public:
    Desktop() {
        for (const char* scheme : kSchemes) {
            QDesktopServices::setUrlHandler(scheme, this, "take");
        }
    }
    ~Desktop() override {
        for (const char* scheme : kSchemes) {
            QDesktopServices::unsetUrlHandler(scheme);
        }
    }

public slots:
    void take(const QUrl&) {}

private:
    static constexpr const char* kSchemes[] = {"file", "http", "https", "mailto"};
};

/// Does random things. Dialogs and menus wait in event loops of their own, in which it goes on.
class RandomHands : public QObject {
    Q_OBJECT
public:
    RandomHands(test::StudioFixture& fixture, unsigned seed) : fixture_(fixture), random_(seed) {
        beat_.setInterval(kBeatMs);
        beat_.setTimerType(Qt::PreciseTimer);
        connect(&beat_, &QTimer::timeout, this, &RandomHands::beat);
        beat_.start();
        since_beat_.start();
        watch();
    }

    void work(int actions) {
        const int until = done_ + actions;
        while (done_ < until) {
            act();
        }
        const auto top = [] {
            QWidget* popup = QApplication::activePopupWidget();
            return popup != nullptr ? popup : QApplication::activeModalWidget();
        };
        for (int i = 0; i < kActions && top() != nullptr; ++i) {
            top()->close();
            QCoreApplication::processEvents();
        }
    }

    /// How often the window did not answer for longer than kStallMs, and after what.
    const QStringList& stalls() const { return stalls_; }

private:
    int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

    // A timer does not fire inside its own slot; a new one each time does.
    void watch() {
        QTimer::singleShot(kBeatMs, this, [this] {
            watch();
            blocked_beats_ = done_ == seen_done_ && depth_ > 0 ? blocked_beats_ + 1 : 0;
            seen_done_ = done_;
            if (blocked_beats_ >= kBlockedBeats) {
                blocked_beats_ = 0;
                act();
            }
        });
    }

    void beat() {
        const qint64 gap = since_beat_.restart();
        if (gap > kStallMs + kBeatMs) {
            stalls_ << QString("%1 ms: %2").arg(gap).arg(what_);
        }
    }

    void act() {
        ++done_;
        ++depth_;
        if (!fixture_.window().isVisible()) {
            fixture_.window().show();
        }
        // In a dialog for files they would rename and remove what is not the test's.
        if (auto* files = qobject_cast<QFileDialog*>(QApplication::activeModalWidget())) {
            files->reject();
        }
        switch (pick(20)) {
        case 0: resize(); break;
        case 1: command(); break;
        case 2: palette(); break;
        case 3: wheel(); break;
        case 4:
        case 5: type(); break;
        case 6:
        case 7:
        case 8:
        case 9: key(); break;
        case 10: click(Qt::RightButton); break;
        default: click(Qt::LeftButton); break;
        }
        // What it set off has its turn before the next: the beat comes at the latest.
        QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
        QCoreApplication::processEvents(QEventLoop::AllEvents, kBeatMs);
        --depth_;
    }

    QWidget* top() {
        if (QWidget* popup = QApplication::activePopupWidget()) {
            return popup;
        }
        if (QWidget* modal = QApplication::activeModalWidget()) {
            return modal;
        }
        QWidgetList windows;
        for (QWidget* widget : QApplication::topLevelWidgets()) {
            const bool tip = widget->windowType() == Qt::ToolTip;
            if (widget->isVisible() && widget->windowHandle() != nullptr && !tip) {
                windows << widget;
            }
        }
        // Mostly the main window, sometimes another that is open beside it.
        return windows.isEmpty() || pick(4) != 0 ? &fixture_.window()
                                                 : windows.at(pick(int(windows.size())));
    }

    /// A place in the window on top: the middle of something, or anywhere in it.
    QPoint place(QWidget& window) {
        QList<QWidget*> seen;
        for (QWidget* widget : window.findChildren<QWidget*>()) {
            if (widget->window() == &window && !widget->visibleRegion().isEmpty()) {
                seen << widget;
            }
        }
        if (seen.isEmpty()) {
            return window.rect().center();
        }
        const QWidget& widget = *seen.at(pick(int(seen.size())));
        const QRect part = widget.visibleRegion().boundingRect();
        const QPoint at = pick(3) != 0
                              ? part.center()
                              : part.topLeft() + QPoint(pick(part.width()), pick(part.height()));
        return widget.mapTo(&window, at);
    }

    void say(const QString& what) { what_ = QString("action %1, %2").arg(done_).arg(what); }

    void click(Qt::MouseButton button) {
        QWidget* window = top();
        const QPoint at = place(*window);
        const QWidget* hit = window->childAt(at);
        say((button == Qt::RightButton ? "right click on " : "click on ") +
            test::place_of(hit != nullptr ? hit : window));
        static constexpr Qt::KeyboardModifier kModifiers[] = {
            Qt::NoModifier, Qt::NoModifier, Qt::NoModifier, Qt::ControlModifier, Qt::ShiftModifier};
        const Qt::KeyboardModifiers modifiers = kModifiers[pick(5)];
        if (window->windowHandle() == nullptr) {
            return;
        }
        if (pick(8) == 0) {
            QTest::mouseDClick(window->windowHandle(), button, modifiers, at);
        } else {
            // What goes down may close the window: then nothing comes up in it.
            const QPointer<QWindow> handle = window->windowHandle();
            QTest::mousePress(handle, button, modifiers, at);
            if (handle != nullptr) {
                QTest::mouseRelease(handle, button, modifiers, at);
            }
        }
    }

    void wheel() {
        QWidget* window = top();
        const QPoint at = place(*window);
        say("wheel");
        QWidget* hit = window->childAt(at);
        QWidget& target = hit != nullptr ? *hit : *window;
        const QPointF local = target.mapFrom(window, at);
        static constexpr Qt::KeyboardModifier kModifiers[] = {Qt::NoModifier, Qt::ControlModifier};
        QWheelEvent event(local, target.mapToGlobal(local), {}, {0, pick(2) == 0 ? 120 : -120},
                          Qt::NoButton, kModifiers[pick(2)], Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(&target, &event);
    }

    void key() {
        static constexpr Qt::Key kKeys[] = {
            Qt::Key_Tab,   Qt::Key_Backtab, Qt::Key_Return, Qt::Key_Escape,   Qt::Key_Space,
            Qt::Key_Up,    Qt::Key_Down,    Qt::Key_Left,   Qt::Key_Right,    Qt::Key_Delete,
            Qt::Key_Home,  Qt::Key_End,     Qt::Key_PageUp, Qt::Key_PageDown, Qt::Key_F2,
            Qt::Key_Slash, Qt::Key_Plus,    Qt::Key_Minus,  Qt::Key_Z,        Qt::Key_A,
            Qt::Key_F,     Qt::Key_Menu,    Qt::Key_1,      Qt::Key_5,        Qt::Key_6};
        static constexpr Qt::KeyboardModifier kModifiers[] = {
            Qt::NoModifier,      Qt::NoModifier,    Qt::NoModifier,
            Qt::ControlModifier, Qt::ShiftModifier, Qt::AltModifier};
        const Qt::Key key = kKeys[pick(int(std::size(kKeys)))];
        const Qt::KeyboardModifiers modifiers = kModifiers[pick(int(std::size(kModifiers)))];
        say("key " + QKeySequence(key | modifiers).toString());
        press(key, modifiers);
    }

    /// One event each, without those of the modifiers: what was on top may be gone by the time that
    /// the key comes up, and a window on its way out has no handle.
    void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier,
               const QString& text = {}) {
        for (const bool down : {true, false}) {
            if (QWindow* window = top()->windowHandle()) {
                QTest::simulateEvent(window, down, key, modifiers, text, false);
            }
        }
    }

    void press(char letter) {
        press(Qt::Key(QChar(letter).toUpper().unicode()), Qt::NoModifier, QString(letter));
    }

    void type() {
        static constexpr const char* kTexts[] = {"0",        "-1", "1e-3", "999999999", "relu",
                                                 "[32, 16]", "",   "/",    "a b",       "nan"};
        const QString text = kTexts[pick(int(std::size(kTexts)))];
        say("typing " + text);
        press(Qt::Key_A, Qt::ControlModifier);
        for (const QChar letter : text) {
            press(letter.toLatin1());
        }
        press(pick(2) == 0 ? Qt::Key_Return : Qt::Key_Tab);
    }

    void command() {
        const auto& all = fixture_.window().actions().all();
        QAction* action = all.at(pick(int(all.size())));
        say("command " + action->objectName() + " " + action->text());
        // A dialog on top takes the keys and clicks that a command would come from.
        if (action->isEnabled() && QApplication::activeModalWidget() == nullptr) {
            action->trigger();
        }
    }

    void palette() {
        say("palette");
        press(Qt::Key_K, Qt::ControlModifier);
        press(char('a' + pick(26)));
        for (int i = pick(6); i > 0; --i) {
            press(Qt::Key_Down);
        }
        press(Qt::Key_Return);
    }

    void resize() {
        static constexpr QSize kSizes[] = {{1440, 900}, {1024, 680}, {960, 640}, {1900, 1000}};
        say("size");
        fixture_.window().resize(kSizes[pick(int(std::size(kSizes)))]);
    }

    test::StudioFixture& fixture_;
    std::mt19937 random_;
    QTimer beat_;
    QElapsedTimer since_beat_;
    QString what_;
    QStringList stalls_;
    int done_ = 0;
    int depth_ = 0;
    int seen_done_ = 0;
    int blocked_beats_ = 0;
};

} // namespace

class RandomActionsTest : public QObject {
    Q_OBJECT

private slots:
    void nothing_breaks() {
        bool given = false;
        const int asked = qEnvironmentVariableIntValue("WEFT_RANDOM_SEEDS", &given);
        const int seeds = given ? asked : 1;
        const int first = qEnvironmentVariableIntValue("WEFT_RANDOM_FIRST");
        auto& application = static_cast<ui::GuardedApplication&>(*qApp);
        const QString home = QDir::currentPath();
        Desktop desktop;
        QStringList stalls;
        for (int seed = first; seed < first + seeds; ++seed) {
            QStringList faults;
            const auto before = application.setFaultListener([&](const std::exception* fault) {
                faults << (fault != nullptr ? fault->what() : "an exception of no known type");
            });
            {
                test::StudioFixture fixture;
                QDir::setCurrent(ui::pathText(fixture.root())); // where file dialogs begin
                fixture.window().askBeforeClose = [] {
                    return ui::MainWindow::CloseChoice::Cancel;
                };
                fixture.studio().control().startFile(fixture.preset());
                QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 0, test::kRunPatienceMs);
                RandomHands hands(fixture, static_cast<unsigned>(seed));
                hands.work(kActions);
                for (const QString& stall : hands.stalls()) {
                    stalls << QString("seed %1, %2").arg(seed).arg(stall);
                }
                QDir::setCurrent(home);
            }
            application.setFaultListener(before);
            QVERIFY2(faults.isEmpty(),
                     qPrintable(QString("seed %1: %2").arg(seed).arg(faults.join("; "))));
        }
        qInfo("%d stalls over %d ms%s%s", int(stalls.size()), kStallMs,
              stalls.isEmpty() ? "" : ":\n", qPrintable(stalls.join("\n")));
    }
};

WEFT_TEST(RandomActionsTest)
#include "random_actions_test.moc"
