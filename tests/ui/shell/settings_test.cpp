// SPDX-License-Identifier: GPL-3.0-or-later
// Preferences take effect at once, survive a restart, and bad ones do no harm.
#include "tests/support/weft_test.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/settings/settings_dialog.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"

#include <QKeySequenceEdit>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTreeWidget>

#include <fstream>

namespace {

using namespace weft;
using Mode = widgets::ThemeController::Mode;

template <class Widget>
Widget* part(test::StudioFixture& fixture, const char* name) {
    return qobject_cast<Widget*>(fixture.find(name));
}

void open_settings(test::StudioFixture& fixture, const char* action = ui::action::kSettings) {
    fixture.window().actions().get(action)->trigger();
    QVERIFY(fixture.find("settingsDialog")->isVisible());
}

// Chooses an action in the list of shortcuts, presses keys for it and assigns them.
void assign(test::StudioFixture& fixture, const char* id, const QKeySequence& keys) {
    auto* list = part<QTreeWidget>(fixture, "shortcutList");
    for (int i = 0; i < list->topLevelItemCount(); ++i) {
        if (list->topLevelItem(i)->data(0, Qt::UserRole).toString() == id) {
            list->setCurrentItem(list->topLevelItem(i));
        }
    }
    auto* edit = part<QKeySequenceEdit>(fixture, "shortcutKeys");
    const int combination = keys[0].toCombined();
    QTest::keyClick(edit, static_cast<Qt::Key>(combination & ~Qt::KeyboardModifierMask),
                    Qt::KeyboardModifiers(combination & Qt::KeyboardModifierMask));
    QVERIFY(fixture.find("shortcutAssign")->isEnabled());
    QCOMPARE(edit->keySequence(), keys);
    QTest::mouseClick(fixture.find("shortcutAssign"), Qt::LeftButton);
}

} // namespace

class SettingsTest : public QObject {
    Q_OBJECT

private slots:
    void two_studios_keep_each_other_s_preferences() {
        const QTemporaryDir dir;
        const auto file = ui::toPath(dir.filePath("settings.ini"));
        ui::Settings first(file);
        ui::Settings second(file);
        ui::Preferences wanted = first.values();
        wanted.font_scale = 1.25;
        wanted.shortcuts.insert("page.data", "Ctrl+J");
        QCOMPARE(first.set(wanted), QString());
        wanted = second.values();
        wanted.notify = false;
        wanted.shortcuts.insert("page.runs", "Ctrl+K");
        QCOMPARE(second.set(wanted), QString());
        const ui::Preferences both = ui::Settings(file).values();
        QCOMPARE(both.font_scale, 1.25);
        QCOMPARE(both.notify, false);
        QCOMPARE(both.shortcuts.value("page.data"), QString("Ctrl+J"));
        QCOMPARE(both.shortcuts.value("page.runs"), QString("Ctrl+K"));
        // What one takes back is gone, and nothing else.
        wanted.shortcuts.remove("page.runs");
        QCOMPARE(second.set(wanted), QString());
        QCOMPARE(ui::Settings(file).values().shortcuts.keys(), QStringList{"page.data"});
    }

    void two_windows_keep_each_other_s_layout() {
        test::StudioFixture fixture;
        widgets::ThemeController theme;
        ui::Studio other_studio(fixture.studio().paths());
        ui::MainWindow other(other_studio, theme);
        other.show();
        fixture.window().showPage("runs");
        fixture.window().close();
        auto* part = other.findChild<widgets::SegmentedControl*>("overlayTab");
        const int chosen = part->count() - 1;
        QVERIFY(part->currentIndex() != chosen);
        part->setCurrentIndex(chosen);
        other.close();
        const QSettings kept(ui::pathText(fixture.root() / "state" / "layout.ini"),
                             QSettings::IniFormat);
        QCOMPARE(kept.value("page").toString(), QString("runs"));
        QCOMPARE(kept.value("tabs/overlayTab").toInt(), chosen);
    }

    void two_studios_keep_each_other_s_opened_folders() {
        const QTemporaryDir dir;
        const std::filesystem::path root = ui::toPath(dir.path());
        std::filesystem::create_directories(root / "a");
        std::filesystem::create_directories(root / "b");
        const auto opened = [&root] {
            ui::RunIndex index(root / "runs");
            index.setFiles(root / "opened.json", {});
            return index.openedFolders();
        };
        using Folders = std::vector<std::filesystem::path>;
        ui::RunIndex first(root / "runs");
        ui::RunIndex second(root / "runs");
        first.setFiles(root / "opened.json", {});
        second.setFiles(root / "opened.json", {});
        first.addFolder(root / "a");
        second.addFolder(root / "b");
        QCOMPARE(opened(), (Folders{root / "a", root / "b"}));
        first.closeFolder(root / "a");
        QCOMPARE(opened(), Folders{root / "b"});
    }

    void a_choice_takes_effect_at_once_and_is_there_after_a_restart() {
        test::StudioFixture fixture;
        fixture.window().actions().get(ui::action::kThemeLight)->trigger();
        QVERIFY(!widgets::Theme::current().isDark());
        open_settings(fixture);
        part<QListWidget>(fixture, "settingsSections")
            ->setCurrentRow(ui::SettingsDialog::Appearance);
        part<widgets::SegmentedControl>(fixture, "settingTheme")->setCurrentIndex(2);
        QVERIFY(widgets::Theme::current().isDark());
        part<widgets::SegmentedControl>(fixture, "settingTextSize")->setCurrentIndex(4);
        QCOMPARE(widgets::Theme::current().fontScale(), 1.25);
        part<widgets::SegmentedControl>(fixture, "settingSeries")->setCurrentIndex(1);
        QCOMPARE(widgets::Theme::current().series(0), QColor(0x00, 0x72, 0xB2)); // Okabe and Ito
        fixture.reopen();
        QVERIFY(widgets::Theme::current().isDark());
        QCOMPARE(widgets::Theme::current().fontScale(), 1.25);
        QCOMPARE(fixture.studio().settings().values().series, widgets::SeriesPalette::OkabeIto);
    }

    void the_dialog_follows_what_keys_change() {
        test::StudioFixture fixture;
        open_settings(fixture);
        fixture.window().actions().get(ui::action::kTextLarger)->trigger();
        QCOMPARE(part<widgets::SegmentedControl>(fixture, "settingTextSize")->currentIndex(), 3);
        QCOMPARE(widgets::Theme::current().fontScale(), 1.1);
        for (int i = 0; i < 20; ++i) {
            fixture.window().actions().get(ui::action::kTextLarger)->trigger();
        }
        QCOMPARE(widgets::Theme::current().fontScale(), 1.5);
    }

    void other_keys_work_and_the_old_ones_no_longer_do() {
        test::StudioFixture fixture;
        open_settings(fixture, ui::action::kShortcuts);
        assign(fixture, ui::action::kProblems, QKeySequence("F9"));
        QAction* problems = fixture.window().actions().get(ui::action::kProblems);
        QCOMPARE(problems->shortcut(), QKeySequence("F9"));
        QVERIFY(problems->toolTip().contains("F9"));
        fixture.reopen();
        problems = fixture.window().actions().get(ui::action::kProblems);
        QSignalSpy triggered(problems, &QAction::triggered);
        fixture.window().activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&fixture.window()));
        QTest::keyClick(&fixture.window(), Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(triggered.size(), 0);
        QTest::keyClick(&fixture.window(), Qt::Key_F9);
        QCOMPARE(triggered.size(), 1);
        open_settings(fixture, ui::action::kShortcuts);
        assign(fixture, ui::action::kProblems, QKeySequence("F4"));
        QTest::mouseClick(fixture.find("shortcutDefault"), Qt::LeftButton);
        QTRY_VERIFY(fixture.find("shortcutList")->hasFocus()); // the button has nothing more to do
        QCOMPARE(problems->shortcut(), QKeySequence("Ctrl+Shift+M"));
        QVERIFY(fixture.studio().settings().values().shortcuts.isEmpty());
    }

    void keys_that_another_action_has_are_taken_from_it_with_a_word() {
        test::StudioFixture fixture;
        open_settings(fixture, ui::action::kShortcuts);
        auto* list = part<QTreeWidget>(fixture, "shortcutList");
        list->setCurrentItem(list->topLevelItem(0));
        auto* edit = part<QKeySequenceEdit>(fixture, "shortcutKeys");
        QTest::keyClick(edit, Qt::Key_F5);
        QTRY_VERIFY(fixture.find("shortcutAssign")->isEnabled());
        const QString note = part<widgets::TextLabel>(fixture, "shortcutNote")->text();
        QVERIFY2(note.contains("Start"), qPrintable(note));
        QTest::mouseClick(fixture.find("shortcutAssign"), Qt::LeftButton);
        QVERIFY(fixture.window().actions().get(ui::action::kStart)->shortcut().isEmpty());
        const QString id = list->topLevelItem(0)->data(0, Qt::UserRole).toString();
        QCOMPARE(fixture.window().actions().find(id)->shortcut(), QKeySequence("F5"));
    }

    void new_keys_are_one_combination_and_escape_leaves_them() {
        test::StudioFixture fixture;
        open_settings(fixture, ui::action::kShortcuts);
        auto* edit = part<QKeySequenceEdit>(fixture, "shortcutKeys");
        edit->setFocus();
        QTest::keyClick(edit, Qt::Key_F3);
        QTest::keyClick(edit, Qt::Key_Control, Qt::ControlModifier); // alone it is nothing
        QTest::keyClick(edit, Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(edit->keySequence(), QKeySequence("Ctrl+Shift+D"));
        QTest::keyClick(edit, Qt::Key_Escape);
        QVERIFY(edit->keySequence().isEmpty());
        QVERIFY(!fixture.find("shortcutAssign")->isEnabled());
        QVERIFY(fixture.find("shortcutList")->isVisible()); // the dialog stays
    }

    // The field takes its keys when the focus leaves it, as it does when the window goes.
    void the_studio_may_end_while_new_keys_are_pressed() {
        test::StudioFixture fixture;
        open_settings(fixture, ui::action::kShortcuts);
        auto* edit = part<QKeySequenceEdit>(fixture, "shortcutKeys");
        edit->setFocus();
        QTest::keyClick(edit, Qt::Key_F3);
        QTRY_VERIFY(edit->hasFocus());
        fixture.reopen();
        QVERIFY(fixture.window().isVisible());
    }

    void no_two_actions_share_their_default_keys() {
        test::StudioFixture fixture;
        QMap<QString, QString> holder;
        for (const QAction* action : fixture.window().actions().all()) {
            const QString keys = action->shortcut().toString();
            if (!keys.isEmpty()) {
                QVERIFY2(!holder.contains(keys), qPrintable(keys + ": " + holder.value(keys) +
                                                            " and " + action->objectName()));
                holder.insert(keys, action->objectName());
            }
        }
        QVERIFY(holder.size() > 20);
    }

    void search_finds_rows_by_their_explanations_and_shortcuts_by_their_keys() {
        test::StudioFixture fixture;
        open_settings(fixture);
        QVERIFY(!fixture.find("settingMotion")->isVisible()); // in another section
        QTest::keyClicks(fixture.find("settingsSearch"), "spinner");
        QVERIFY(fixture.find("settingMotion")->isVisible());
        QVERIFY(!fixture.find("settingNotify")->isVisible());
        part<QLineEdit>(fixture, "settingsSearch")->clear();
        QTest::keyClicks(fixture.find("settingsSearch"), "F5");
        QVERIFY(fixture.find("shortcutList")->isVisible());
        QVERIFY(!fixture.find("settingMotion")->isVisible());
    }

    void a_file_with_nonsense_gives_the_defaults() {
        QTemporaryDir folder;
        const QString path = folder.filePath("settings.ini");
        std::ofstream(path.toStdString())
            << "[General]\ntheme=purple\nfontScale=large\nnotify=false\n\x01\xff\n";
        const ui::Settings settings(ui::toPath(path));
        QCOMPARE(settings.values().theme, Mode::System);
        QCOMPARE(settings.values().font_scale, 1.0);
        QCOMPARE(settings.values().notify, false);
    }

    void settings_that_cannot_be_written_hold_for_the_session_and_say_so() {
        QTemporaryDir folder;
        // The folder's name is taken by a file: nobody can write below it.
        std::ofstream((folder.path() + "/here").toStdString()) << "in the way";
        ui::Settings settings(ui::toPath(folder.path() + "/here/settings.ini"));
        ui::Preferences values;
        values.theme = Mode::Dark;
        const QString problem = settings.set(values);
        QVERIFY(problem.contains("settings.ini"));
        QCOMPARE(settings.values().theme, Mode::Dark);
    }

    void the_page_that_was_left_opens_unless_home_is_wanted() {
        test::StudioFixture fixture;
        fixture.window().showPage("checkpoints");
        fixture.reopen();
        QCOMPARE(fixture.window().currentPage(), QString("checkpoints"));
        open_settings(fixture);
        QTest::mouseClick(fixture.find("settingLastPage"), Qt::LeftButton);
        fixture.window().showPage("checkpoints");
        fixture.reopen();
        QCOMPARE(fixture.window().currentPage(), QString("home"));
    }
};

WEFT_TEST(SettingsTest)
#include "settings_test.moc"
