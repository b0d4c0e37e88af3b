// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says in passing: notes stay readable after they have gone, and the line at the
// bottom leads to the pages that explain it.
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/small_gpt.h"
#include "tests/ui/studio_fixture.h"
#include "ui/shell/status_bar.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/log_view.h"
#include "widgets/controls/messages.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>

namespace {

using namespace weft;
using test::kPatienceMs;

QPushButton* item(test::StudioFixture& fixture, const QString& text) {
    for (auto* button :
         fixture.window().findChild<ui::StatusBar*>()->findChildren<QPushButton*>()) {
        if (button->isVisible() && button->text().contains(text)) {
            return button;
        }
    }
    return nullptr;
}

/// The button of the note on screen.
QPushButton* note_button(test::StudioFixture& fixture, const QString& text) {
    for (auto* button : fixture.window().findChildren<QPushButton*>()) {
        if (button->isVisible() && button->text() == text) {
            return button;
        }
    }
    return nullptr;
}

/// Controls of which the note hides a part: what a click would not reach.
QStringList hidden_by(const QWidget* note, test::StudioFixture& fixture) {
    QStringList out;
    for (const auto* control : fixture.window().findChildren<QWidget*>()) {
        const bool reacts = qobject_cast<const QAbstractButton*>(control) != nullptr ||
                            qobject_cast<const QComboBox*>(control) != nullptr ||
                            qobject_cast<const QLineEdit*>(control) != nullptr ||
                            qobject_cast<const QAbstractSpinBox*>(control) != nullptr;
        if (!reacts || !control->isVisible() || note->isAncestorOf(control)) {
            continue;
        }
        QRect seen(control->mapTo(&fixture.window(), QPoint(0, 0)), control->size());
        for (const QWidget* around = control->parentWidget(); around != &fixture.window();
             around = around->parentWidget()) {
            seen &= QRect(around->mapTo(&fixture.window(), QPoint(0, 0)), around->size());
        }
        if (seen.intersects(note->geometry())) {
            out << test::place_of(control);
        }
    }
    return out;
}

} // namespace

class NotesTest : public QObject {
    Q_OBJECT

private slots:
    void what_a_note_said_is_in_the_console_when_it_has_gone() {
        test::StudioFixture fixture;
        fixture.window().open(QString::fromStdString((fixture.root() / "nowhere.json").string()));
        auto* toasts = fixture.window().findChild<widgets::ToastHost*>();
        QCOMPARE(toasts->visibleCount(), 1);
        toasts->dismissAll();
        QTRY_COMPARE(toasts->visibleCount(), 0);
        auto* log = fixture.window().findChild<widgets::LogView*>();
        QTRY_VERIFY(log->model()->rowCount() > 0);
        const widgets::LogLine& line = log->model()->line(log->model()->rowCount() - 1);
        QCOMPARE(line.level, widgets::LogLevel::Error);
        QVERIFY(line.text.contains("nowhere.json"));
        QVERIFY(line.time_ms > 0);
    }

    void an_edited_draft_that_a_preset_replaces_comes_back_by_the_note() {
        test::StudioFixture fixture;
        test::write_file(fixture.root() / "presets" / "other.json", test::tiny_config());
        fixture.reopen();
        const auto* toasts = fixture.window().findChild<widgets::ToastHost*>();
        fixture.studio().draft().open(fixture.preset());
        QTRY_VERIFY_WITH_TIMEOUT(fixture.window().findChild<QWidget*>("preset.other") != nullptr,
                                 kPatienceMs);
        fixture.click("preset.other"); // nothing was edited: nothing is said
        QCOMPARE(fixture.studio().draft().path().filename(), std::filesystem::path("other.json"));
        QCOMPARE(toasts->visibleCount(), 0);
        fixture.studio().draft().setField("training.global_batch_size", 48);
        const std::string edited = fixture.studio().draft().text();
        fixture.click("preset.tiny");
        QVERIFY(fixture.studio().draft().text() != edited);
        QCOMPARE(toasts->visibleCount(), 1);
        QPushButton* undo = nullptr;
        for (auto* button : fixture.window().findChildren<QPushButton*>()) {
            undo = button->isVisible() && button->text() == "Undo" ? button : undo;
        }
        QVERIFY(undo != nullptr);
        QTest::mouseClick(undo, Qt::LeftButton);
        QCOMPARE(fixture.studio().draft().text(), edited);
        QCOMPARE(fixture.studio().draft().path().filename(), std::filesystem::path("other.json"));
    }

    void a_note_goes_when_another_page_is_shown() {
        test::StudioFixture fixture;
        const auto* toasts = fixture.window().findChild<widgets::ToastHost*>();
        fixture.studio().draft().open(fixture.preset());
        fixture.studio().draft().setField("training.global_batch_size", 48);
        fixture.window().showPage("home");
        fixture.click("preset.tiny");
        QCOMPARE(toasts->visibleCount(), 1);
        QTRY_COMPARE(fixture.window().currentPage(), QString("home"));
        QTest::qWait(0); // the note has found its page
        fixture.window().showPage("train");
        QTRY_COMPARE_WITH_TIMEOUT(toasts->visibleCount(), 0, 3000); // by itself after 6 s
        fixture.window().open(QString::fromStdString((fixture.root() / "nowhere.json").string()));
        QCOMPARE(toasts->visibleCount(), 1);
        QTest::qWait(0);
        fixture.window().showPage("data");
        QTRY_COMPARE_WITH_TIMEOUT(toasts->visibleCount(), 0, 3000);
    }

    void a_note_covers_no_control_of_any_page_data() {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<double>("text");
        QTest::newRow("1440") << QSize(1440, 900) << 1.0;
        QTest::newRow("1024") << QSize(1024, 680) << 1.0;
        QTest::newRow("1024, large text") << QSize(1024, 680) << widgets::kLargestText;
    }

    void a_note_covers_no_control_of_any_page() {
        QFETCH(QSize, size);
        QFETCH(double, text);
        test::StudioFixture fixture;
        ui::Preferences preferences = fixture.studio().settings().values();
        preferences.font_scale = text;
        QCOMPARE(fixture.studio().settings().set(preferences), QString());
        fixture.window().resize(size);
        fixture.studio().draft().setDocument(test::small_gpt(test::kTwoByTwo), fixture.root());
        QVERIFY(fixture.studio().draft().isValid());
        auto* toasts = fixture.window().findChild<widgets::ToastHost*>();
        QAction undo("Take this back");
        for (const auto& [page, part] : {std::pair{"home", -1},
                                         {"data", -1},
                                         {"model", -1},
                                         {"training", -1},
                                         {"plan", 0},
                                         {"plan", 1},
                                         {"plan", 2},
                                         {"train", -1},
                                         {"checkpoints", -1},
                                         {"runs", -1}}) {
            fixture.window().showPage(page);
            if (part >= 0) {
                static_cast<widgets::SegmentedControl*>(fixture.find("planTab"))
                    ->setCurrentIndex(part);
                QTRY_VERIFY_WITH_TIMEOUT(!fixture.find("planMessage")->isVisible(), kPatienceMs);
            }
            toasts->show(widgets::MessageKind::Success,
                         "The draft now has: 2d over data=2 × model=2, ZeRO 1", &undo,
                         fixture.window().page(page));
            QPushButton* button = note_button(fixture, undo.text());
            QVERIFY(button != nullptr);
            const QWidget* note = button->parentWidget();
            QTRY_VERIFY2(hidden_by(note, fixture).isEmpty(),
                         qPrintable(QString("%1 %2: %3")
                                        .arg(page)
                                        .arg(part)
                                        .arg(hidden_by(note, fixture).join(", "))));
            QVERIFY(fixture.window().rect().contains(note->geometry()));
            toasts->dismissAll();
            QTRY_COMPARE(toasts->visibleCount(), 0);
        }
    }

    void items_of_the_status_bar_lead_to_the_page_that_explains_them_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("page");
        QTest::newRow("run") << "no run"
                             << "train";
        QTest::newRow("machine") << "core"
                                 << "plan";
        QTest::newRow("disk") << "disk"
                              << "checkpoints";
    }

    void items_of_the_status_bar_lead_to_the_page_that_explains_them() {
        QFETCH(QString, text);
        QFETCH(QString, page);
        test::StudioFixture fixture;
        QTRY_VERIFY_WITH_TIMEOUT(item(fixture, text) != nullptr, kPatienceMs);
        QTest::mouseClick(item(fixture, text), Qt::LeftButton);
        QCOMPARE(fixture.window().currentPage(), page);
    }

    void the_status_bar_is_one_stop_with_arrows_within() {
        test::StudioFixture fixture;
        QTRY_VERIFY_WITH_TIMEOUT(item(fixture, "disk") != nullptr, kPatienceMs);
        fixture.window().activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&fixture.window()));
        auto* status = fixture.window().findChild<ui::StatusBar*>();
        int stops = 0;
        for (const auto* button : status->findChildren<QPushButton*>()) {
            stops += button->isVisible() && (button->focusPolicy() & Qt::TabFocus) != 0 &&
                     (button->text().contains("run") || button->text().contains("core") ||
                      button->text().contains("disk"));
        }
        QCOMPARE(stops, 1);
        item(fixture, "no run")->setFocus(Qt::TabFocusReason);
        for (int i = 0; i < 2; ++i) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Right);
        }
        QCOMPARE(QApplication::focusWidget(), item(fixture, "disk"));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Right); // there is no further one
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Space);
        QCOMPARE(fixture.window().currentPage(), QString("checkpoints"));
    }

    void memory_of_a_run_leads_to_its_plan() {
        test::StudioFixture fixture;
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        fixture.window().resize(1440, 900);
        fixture.window().showPage("home");
        QTRY_VERIFY_WITH_TIMEOUT(item(fixture, "arena") != nullptr, kPatienceMs);
        item(fixture, "arena")->click();
        QCOMPARE(fixture.window().currentPage(), QString("plan"));
        item(fixture, "loss")->click();
        QCOMPARE(fixture.window().currentPage(), QString("train"));
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
    }
};

WEFT_TEST(NotesTest)
#include "notes_test.moc"
