// SPDX-License-Identifier: GPL-3.0-or-later
// What the window itself says: its menus, the palette of commands, boxes of text, Home's notes.
#include "core/train/record/run_folder.h"
#include "tests/support/weft_test.h"
#include "tests/ui/filled_buttons.h"
#include "tests/ui/run_log.h"
#include "tests/ui/studio_fixture.h"
#include "ui/forms/field_box.h"
#include "ui/pages/page_list.h"
#include "ui/shell/message_box.h"
#include "ui/shell/page_help.h"
#include "widgets/controls/command_palette.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QShortcut>
#include <QTimer>

#include <algorithm>
#include <optional>

namespace {

using namespace weft;

// Lines of both kinds of label below a widget.
QStringList texts(const QWidget& of) {
    QStringList result;
    for (const auto* label : of.findChildren<QLabel*>()) {
        result << label->text();
    }
    for (const auto* label : of.findChildren<widgets::ElidedLabel*>()) {
        result << label->text();
    }
    return result;
}

// A key with the focus on `at`.
void press_on(ui::MainWindow& window, QWidget& at, Qt::Key key,
              Qt::KeyboardModifiers held = Qt::NoModifier) {
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    at.setFocus();
    QTest::keyClick(&at, key, held);
}

} // namespace

class ShellTest : public QObject {
    Q_OBJECT

private slots:
    void the_ampersand_in_a_pages_title_is_seen_and_no_mnemonic() {
        test::StudioFixture fixture;
        const QAction* go = fixture.window().actions().get("page.plan");
        QCOMPARE(go->text(), "Go to Mesh && Plan");
        QVERIFY(go->toolTip().startsWith("Go to Mesh & Plan ("));
        fixture.window().actions().get(ui::action::kPalette)->trigger();
        auto* palette = fixture.window().findChild<widgets::CommandPalette*>();
        QVERIFY(palette->visibleTexts().contains("Go to Mesh & Plan"));
        palette->hide();
    }

    void the_ampersand_in_a_runs_name_is_seen_in_the_picker() {
        test::StudioFixture fixture;
        const test::RunLog log(fixture.root() / "runs" / "R&D", test::tiny_config());
        fixture.studio().index().refresh();
        QTRY_COMPARE(fixture.studio().index().runs().size(), std::size_t{1});
        QStringList seen;
        QTimer reader; // the menu has a loop of its own
        connect(&reader, &QTimer::timeout, this, [&seen] {
            if (auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget())) {
                for (const QAction* entry : menu->actions()) {
                    seen << entry->iconText(); // without marks of mnemonics
                }
                menu->close();
            }
        });
        reader.start(10);
        fixture.click("runPicker");
        QVERIFY2(seen.filter("R&D").size() == 1, qPrintable(seen.join('|')));
    }

    void what_is_often_wanted_has_words_in_the_toolbar_the_rest_a_tool_tip() {
        test::StudioFixture fixture;
        const auto button = [&](const char* name) {
            return static_cast<QPushButton*>(fixture.find(name));
        };
        for (const int width : {1440, 1024}) {
            fixture.window().resize(width, 680);
            for (const char* words : {"run.start.button", "run.pause.button"}) {
                QVERIFY(!button(words)->text().isEmpty());
                QVERIFY(button(words)->width() >= button(words)->sizeHint().width());
            }
        }
        for (const char* rare : {"run.step.button", "run.checkpoint.button"}) {
            QVERIFY(button(rare)->text().isEmpty() && !button(rare)->icon().isNull());
            QVERIFY(button(rare)->toolTip().startsWith(button(rare)->accessibleName()));
            QVERIFY(button(rare)->x() > button("run.pause.button")->x());
            QCOMPARE(button(rare)->property("weftKind").toInt(),
                     static_cast<int>(widgets::ButtonKind::Flat));
        }
    }

    // What comes next is one thing: the demo, and with a draft Start.
    void home_has_one_filled_button() {
        test::StudioFixture fixture;
        fixture.window().showPage("home");
        QTRY_COMPARE(test::filled_buttons(fixture.window()), QStringList{"runDemo"});
        fixture.studio().draft().open(fixture.preset());
        fixture.window().showPage("home");
        QTRY_COMPARE(test::filled_buttons(fixture.window()), QStringList{"run.start.button"});
    }

    void the_palette_does_not_offer_itself() {
        test::StudioFixture fixture;
        QAction* own = fixture.window().actions().get(ui::action::kPalette);
        own->trigger();
        auto* palette = fixture.window().findChild<widgets::CommandPalette*>();
        QVERIFY(!palette->visibleTexts().contains(own->text()));
        QVERIFY(palette->visibleTexts().contains("Settings…"));
        palette->hide();
    }

    void a_command_that_cannot_be_used_says_why_in_its_row() {
        test::StudioFixture fixture;
        fixture.window().actions().get(ui::action::kPalette)->trigger();
        auto* palette = fixture.window().findChild<widgets::CommandPalette*>();
        const auto row = [palette](const QString& name) {
            return palette->list()->model()->index(
                static_cast<int>(palette->visibleTexts().indexOf(name)), 0);
        };
        const QModelIndex save = row("Save configuration");
        const QModelIndex settings = row("Settings…");
        QVERIFY(save.isValid() && settings.isValid());
        QCOMPARE(save.data(Qt::AccessibleDescriptionRole).toString(),
                 QString("Choose a preset or open a configuration first"));
        QVERIFY(settings.data(Qt::AccessibleDescriptionRole).toString().isEmpty());
        // There is a line for it.
        const int one = palette->list()->visualRect(settings).height();
        QVERIFY(palette->list()->visualRect(save).height() > one);
        palette->hide();
        // Later it can be used.
        QCOMPARE(fixture.studio().opener().open(fixture.preset()), QString());
        fixture.window().actions().get(ui::action::kPalette)->trigger();
        QVERIFY(
            row("Save configuration as…").data(Qt::AccessibleDescriptionRole).toString().isEmpty());
        palette->hide();
    }

    void f1_explains_the_page_and_the_field_in_focus() {
        test::StudioFixture fixture;
        QCOMPARE(fixture.studio().opener().open(fixture.preset()), QString());
        fixture.window().showPage("training");
        const auto boxes = fixture.window().page("training")->findChildren<ui::FieldBox*>();
        const auto found = std::find_if(boxes.begin(), boxes.end(), [](const ui::FieldBox* box) {
            return box->isVisible() && box->field().name == "learning_rate";
        });
        QVERIFY(found != boxes.end());
        auto* line = (*found)->editor()->findChild<QLineEdit*>();
        press_on(fixture.window(), *line, Qt::Key_F1);
        const QWidget* help = fixture.window().findChild<QWidget*>("helpDialog");
        QVERIFY(help != nullptr && help->isVisible());
        const QString said = texts(*help).join('\n');
        QVERIFY(said.contains(QString::fromStdString((*found)->field().help)));
        QVERIFY(said.contains("Default: "));
        QVERIFY(said.contains(ui::pageHelp("training").purpose));
        QVERIFY(said.contains("Range: "));
        // It follows the pages, and says of keys what the user made of them.
        ui::Preferences values = fixture.studio().settings().values();
        values.shortcuts.insert(ui::action::kProblems, "F9");
        fixture.studio().settings().set(values);
        fixture.window().showPage("runs");
        const QString next = texts(*help).join('\n');
        QVERIFY(next.contains(ui::pageHelp("runs").purpose));
        QVERIFY(next.contains("F9"));
        QVERIFY(!next.contains("Default: "));
    }

    void every_page_has_help_that_names_its_own_keys() {
        test::StudioFixture fixture;
        for (const ui::PageRecord* record : ui::allPages()) {
            const ui::PageHelp help = ui::pageHelp(record->id);
            QVERIFY2(!help.purpose.isEmpty(), record->id);
            for (const auto* shortcut :
                 fixture.window().page(record->id)->findChildren<QShortcut*>()) {
                const bool named =
                    std::any_of(help.keys.begin(), help.keys.end(), [&](const ui::PageKeys& one) {
                        return std::find(one.keys.begin(), one.keys.end(), shortcut->key()) !=
                               one.keys.end();
                    });
                QVERIFY2(named, qPrintable(record->id + (": " + shortcut->key().toString())));
            }
        }
    }

    void alt_left_goes_back_to_the_page_before_and_alt_right_returns() {
        test::StudioFixture fixture;
        ui::MainWindow& window = fixture.window();
        const QAction* back = window.actions().get(ui::action::kBack);
        const QAction* forward = window.actions().get(ui::action::kForward);
        QVERIFY(!back->isEnabled() && !forward->isEnabled());
        window.showPage("data");
        window.showPage("model");
        press_on(window, window, Qt::Key_Left, Qt::AltModifier);
        QCOMPARE(window.currentPage(), QString("data"));
        press_on(window, window, Qt::Key_Left, Qt::AltModifier);
        QCOMPARE(window.currentPage(), QString("home"));
        QVERIFY(!back->isEnabled());
        press_on(window, window, Qt::Key_Right, Qt::AltModifier);
        QCOMPARE(window.currentPage(), QString("data"));
        QVERIFY(forward->isEnabled());
        window.showPage("runs"); // another way from here: what was ahead is forgotten
        QVERIFY(!forward->isEnabled());
        press_on(window, window, Qt::Key_Left, Qt::AltModifier);
        QCOMPARE(window.currentPage(), QString("data"));
    }

    void f11_fills_the_screen_with_a_chart_wherever_the_focus_is() {
        test::StudioFixture fixture;
        test::RunLog log(fixture.root() / "runs" / "made", test::tiny_config());
        log.steps(1, 3, 0.5);
        fixture.studio().showRun(log.folder());
        QTRY_COMPARE(fixture.studio().run().steps().step.size(), std::size_t{3});
        QTRY_VERIFY(fixture.find("smoothing")->isVisible());
        press_on(fixture.window(), fixture.window(), Qt::Key_F11);
        const auto full = []() -> QWidget* {
            for (QWidget* window : QApplication::topLevelWidgets()) {
                if (window->objectName() == "fullScreenChart" && window->isVisible()) {
                    return window;
                }
            }
            return nullptr;
        };
        QVERIFY(full() != nullptr);
        QTest::keyClick(full(), Qt::Key_Escape);
        QTRY_VERIFY(full() == nullptr);
    }

    void ctrl_f_on_the_runs_page_goes_to_its_filter() {
        test::StudioFixture fixture;
        fixture.window().showPage("runs");
        press_on(fixture.window(), fixture.window(), Qt::Key_F, Qt::ControlModifier);
        QVERIFY(fixture.find("runFilter")->hasFocus());
    }

    void the_menu_marks_the_theme_that_is_set() {
        test::StudioFixture fixture;
        const ui::Actions& actions = fixture.window().actions();
        const auto marked = [&actions] {
            QStringList ids;
            for (const char* id :
                 {ui::action::kThemeSystem, ui::action::kThemeLight, ui::action::kThemeDark}) {
                if (actions.get(id)->isChecked()) {
                    ids << id;
                }
            }
            return ids;
        };
        QCOMPARE(marked(), QStringList{ui::action::kThemeSystem});
        actions.get(ui::action::kThemeDark)->trigger();
        QCOMPARE(marked(), QStringList{ui::action::kThemeDark});
        ui::Preferences values = fixture.studio().settings().values();
        values.theme = widgets::ThemeController::Mode::Light; // as the settings dialog does
        fixture.studio().settings().set(values);
        QCOMPARE(marked(), QStringList{ui::action::kThemeLight});
    }

    void the_text_of_a_box_without_icon_begins_at_its_margin() {
        QMessageBox box(QMessageBox::NoIcon, "Title", "What happened.", QMessageBox::Close);
        box.setInformativeText("What that means, in a sentence that is long enough to wrap.");
        ui::alignText(box);
        box.show();
        for (const char* name : {"qt_msgbox_label", "qt_msgbox_informativelabel"}) {
            const auto* label = box.findChild<QLabel*>(name);
            QCOMPARE(label->x(), box.layout()->contentsMargins().left());
        }
    }

    void a_run_without_data_is_told_by_its_model_alone() {
        test::StudioFixture fixture;
        const test::RunLog log(fixture.root() / "runs" / "made", test::tiny_config());
        train::RunInfo info = train::read_run_info(log.folder());
        info.model = "gpt2";
        train::write_run_info(log.folder(), info);
        fixture.studio().index().refresh();
        const QWidget* recent = fixture.find("recentRuns");
        QTRY_VERIFY(texts(*recent).contains("gpt2"));
    }

    void the_last_demos_note_tells_what_was_known_at_its_time_data() {
        QTest::addColumn<int>("evaluated"); // the step of the last evaluation
        QTest::addColumn<bool>("runs");
        QTest::addColumn<QString>("note"); // no line ends within the time
        QTest::newRow("before training")
            << 0 << false << QString("last demo: train loss 0.500 after 40\u00a0s");
        QTest::newRow("half way") << 15 << false
                                  << QString("last demo: validation loss 0.750 after 20\u00a0s");
        QTest::newRow("running") << 15 << true
                                 << QString("running: validation loss 0.750 after 20\u00a0s");
    }

    void the_last_demos_note_tells_what_was_known_at_its_time() {
        QFETCH(int, evaluated);
        QFETCH(bool, runs);
        QFETCH(QString, note);
        test::StudioFixture fixture;
        test::RunLog log(fixture.root() / "runs" / "demo", test::tiny_config());
        log.add(train::EvaluationEvent{0, {{"validation/loss", 2.279}}});
        for (int i = 1; i <= 30; ++i) {
            train::StepEvent step;
            step.step = i;
            step.loss = 0.5;
            log.add(step);
            if (i == evaluated) {
                log.add(train::EvaluationEvent{i, {{"validation/loss", 0.75}}});
            }
        }
        train::RunInfo info = train::read_run_info(log.folder());
        info.name = "fashion-mlp";
        info.seconds = 40;
        info.state = runs ? "running" : "finished";
        train::write_run_info(log.folder(), info);
        std::optional<train::RunLock> lock;
        if (runs) {
            lock.emplace(log.folder());
        }
        fixture.studio().index().refresh();
        auto* label = qobject_cast<widgets::TextLabel*>(fixture.find("demoNote"));
        QTRY_COMPARE(label->text(), note);
    }
};

WEFT_TEST(ShellTest)
#include "shell_test.moc"
