// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of other programs: opened by their folder, listed, followed while they are written.
#include "core/train/logging/log_recipe.h"
#include "core/train/logging/tensorboard_writer.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_reader.h"
#include "ui/pages/home/home_page.h"
#include "ui/pages/live/scalar_grid.h"
#include "ui/pages/runs/runs_page.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/curves/line_chart.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDialog>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTreeWidget>

#include <fstream>
#include <set>

namespace {

using namespace weft;
using test::kPatienceMs;
namespace fs = std::filesystem;

void write_foreign(const fs::path& path, const std::string& text, bool append = false) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, append ? std::ios::app : std::ios::trunc) << text;
}

std::string point(std::int64_t step, double value, const char* tag) {
    return train::framed_record(train::scalar_event(100.0 + double(step), step, {{tag, value}}));
}

constexpr const char* kFile = "events.out.tfevents.100.host";

/// Asks for the menu of a view with the mouse.
void askForMenu(QAbstractScrollArea& view, const QPoint& at) {
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, view.viewport()->mapToGlobal(at));
    QCoreApplication::sendEvent(view.viewport(), &event);
}

/// Chooses an entry of the menu that is open; false where there is none of that text.
bool chooseIn(test::StudioFixture& fixture, const QString& menu, const QString& text) {
    auto* open = fixture.window().findChild<QMenu*>(menu);
    for (QAction* action : open == nullptr ? QList<QAction*>() : open->actions()) {
        if (action->text() == text) {
            action->trigger();
            open->close();
            return true;
        }
    }
    return false;
}

} // namespace

class ForeignRunTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void a_folder_of_event_files_opens_and_is_followed() {
        test::StudioFixture fixture;
        const fs::path logs = fixture.root() / "logs";
        write_foreign(logs / "run1" / kFile, point(1, 2.0, "Loss/train") +
                                                 point(1, 0.5, "Loss/val") +
                                                 point(1, 0.1, "accuracy"));
        QCOMPARE(fixture.studio().opener().open(logs), QString());
        ui::RunModel& run = fixture.studio().run();
        QTRY_COMPARE_WITH_TIMEOUT(run.scalars().size(), std::size_t{3}, kPatienceMs);
        QVERIFY(run.isForeign());
        QCOMPARE(run.folder(), logs / "run1");
        fixture.window().showPage("train");
        auto* grid = static_cast<ui::ScalarGrid*>(fixture.find("scalarGrid"));
        QVERIFY(grid->isVisible());
        QCOMPARE(grid->charts().size(), std::size_t{3});
        // Written while it is looked at: another point, another tag.
        write_foreign(logs / "run1" / kFile, point(2, 1.5, "Loss/train") + point(2, 7.0, "lr"),
                      true);
        QTRY_COMPARE_WITH_TIMEOUT(run.scalars().size(), std::size_t{4}, kPatienceMs);
        QCOMPARE(run.scalars()[0].value, (std::vector<double>{2.0, 1.5}));
        QCOMPARE(grid->charts().size(), std::size_t{4});
        QTRY_COMPARE(grid->charts().at(2)->pointCount(1), std::size_t{2}); // groups by name
        static_cast<QLineEdit*>(fixture.find("scalarFilter"))->setText("loss");
        QCOMPARE(grid->charts().size(), std::size_t{2});
    }

    void lines_for_a_loop_of_ones_own_are_copied_where_a_folder_is_opened() {
        test::StudioFixture fixture;
        for (const auto& [page, name] :
             {std::pair{"train", "showLogRecipe"}, std::pair{"runs", "showRunsRecipe"}}) {
            fixture.window().showPage(page);
            auto* button = static_cast<QPushButton*>(fixture.find(name));
            QTRY_VERIFY_WITH_TIMEOUT(button->isVisible(), kPatienceMs);
            button->click();
            auto* dialog = fixture.window().findChild<QDialog*>("logRecipeDialog");
            QVERIFY(dialog != nullptr && dialog->isVisible());
            for (std::size_t i = 0; i < train::log_recipes().size(); ++i) {
                const train::LogRecipe& recipe = train::log_recipes()[i];
                dialog->findChild<widgets::SegmentedControl*>("recipeProgram")
                    ->setCurrentIndex(static_cast<int>(i));
                auto* copy = dialog->findChild<QPushButton*>(QString("copyRecipe%1").arg(i));
                QTRY_VERIFY(copy->isVisible());
                copy->click();
                QCOMPARE(QApplication::clipboard()->text(),
                         ui::toQString(recipe.once) + "\n\n" + ui::toQString(recipe.each) + "\n");
            }
            delete dialog;
        }
    }

    void charts_of_another_program_are_arranged_anew_for_larger_text() {
        test::StudioFixture fixture;
        const fs::path logs = fixture.root() / "logs";
        write_foreign(logs / "run1" / kFile, point(1, 2.0, "train/loss") +
                                                 point(1, 0.5, "train/accuracy") +
                                                 point(1, 0.7, "validation/loss"));
        QCOMPARE(fixture.studio().opener().open(logs), QString());
        fixture.window().resize(1440, 900);
        fixture.window().showPage("train");
        auto* grid = static_cast<ui::ScalarGrid*>(fixture.find("scalarGrid"));
        QTRY_COMPARE_WITH_TIMEOUT(grid->charts().size(), std::size_t{3}, kPatienceMs);
        const auto beside = [grid] { // the two of one group
            return grid->charts()[0]->mapTo(grid, QPoint()).y() ==
                   grid->charts()[1]->mapTo(grid, QPoint()).y();
        };
        QTRY_VERIFY(beside());
        // Two fill the line that has room for three.
        const QWidget* last = grid->charts()[1];
        QTRY_VERIFY(last->mapTo(grid, QPoint(last->width(), 0)).x() > grid->width() - 40);
        fixture.window().resize(900, 680);
        for (int i = 0; i < 5; ++i) {
            fixture.window().actions().get(ui::action::kTextLarger)->trigger();
        }
        QTRY_VERIFY(!beside());
        fixture.window().actions().get(ui::action::kTextReset)->trigger();
        fixture.window().resize(1440, 900);
        QTRY_VERIFY(beside());
    }

    void several_runs_of_a_folder_are_all_offered_beside_each_other() {
        test::StudioFixture fixture;
        const fs::path logs = fixture.root() / "logs";
        write_foreign(logs / "a" / kFile, point(1, 1, "loss") + point(2, 2, "loss"));
        write_foreign(logs / "b" / kFile, point(1, 3, "loss") + point(2, 4, "loss"));
        QCOMPARE(fixture.studio().opener().open(logs), QString());
        QTRY_COMPARE_WITH_TIMEOUT(fixture.window().currentPage(), QString("runs"), kPatienceMs);
        const auto* page = static_cast<ui::RunsPage*>(fixture.window().page("runs"));
        QTRY_COMPARE_WITH_TIMEOUT(page->selectedRuns().size(), std::size_t{2}, kPatienceMs);
        std::set<std::string> names;
        for (const train::RunSummary& run : page->selectedRuns()) {
            names.insert(run.info.name);
        }
        QCOMPARE(names, (std::set<std::string>{"logs/a", "logs/b"}));
        QVERIFY(fixture.studio().run().isEmpty()); // none of them was chosen
        const auto& said = fixture.window().findChild<widgets::ToastHost*>()->history();
        QVERIFY(!said.empty() && said.back().text.startsWith("2 run"));
        // Opened again they are found at once.
        fixture.window().showPage("home");
        QCOMPARE(fixture.studio().opener().open(logs), QString());
        QTRY_COMPARE_WITH_TIMEOUT(fixture.window().currentPage(), QString("runs"), kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(page->selectedRuns().size(), std::size_t{2}, kPatienceMs);
    }

    void every_subfolder_is_a_run_of_the_list_under_its_path() {
        test::StudioFixture fixture;
        const fs::path logs = fixture.root() / "logs";
        write_foreign(logs / kFile, point(1, 1, "a"));
        write_foreign(logs / "x" / "y" / kFile, point(1, 1, "a"));
        QCOMPARE(fixture.studio().opener().open(logs), QString());
        ui::RunIndex& index = fixture.studio().index();
        QTRY_COMPARE_WITH_TIMEOUT(index.runs().size(), std::size_t{2}, kPatienceMs);
        QCOMPARE(index.runs()[0].info.name, std::string("logs"));
        QCOMPARE(index.runs()[1].info.name, std::string("logs/x/y"));
        // A run that begins later appears, and an opened folder is remembered.
        write_foreign(logs / "z" / kFile, point(1, 1, "a"));
        fixture.reopen();
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().index().runs().size(), std::size_t{3},
                                  kPatienceMs);
        fixture.studio().index().closeFolder(logs);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().index().runs().empty(), kPatienceMs);
    }

    void what_was_opened_is_closed_from_the_list_of_runs() {
        test::StudioFixture fixture;
        const fs::path logs = fixture.root() / "logs";
        write_foreign(logs / "a" / kFile, point(1, 1, "loss"));
        QCOMPARE(fixture.studio().opener().open(logs), QString());
        fixture.window().showPage("runs");
        auto* table = static_cast<QTableView*>(fixture.find("runTable"));
        QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 1, kPatienceMs);
        table->selectRow(0);
        askForMenu(*table, table->visualRect(table->model()->index(0, 0)).center());
        QVERIFY(chooseIn(fixture, "runMenu", "Close folder logs"));
        QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 0, kPatienceMs);
        QVERIFY(fs::exists(logs / "a" / kFile));
        fixture.reopen();
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().index().isLoaded(), kPatienceMs);
        QVERIFY(fixture.studio().index().runs().empty());
    }

    void a_file_of_weights_is_closed_from_the_list_of_folders() {
        test::StudioFixture fixture;
        const fs::path file = fixture.root() / "model.safetensors";
        const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
        std::string bytes(8, '\0'); // the length of the header, little-endian
        bytes[0] = static_cast<char>(header.size());
        write_foreign(file, bytes + header + std::string(4, '\0'));
        QCOMPARE(fixture.studio().opener().open(file), QString());
        auto* tree = static_cast<QTreeWidget*>(fixture.find("runTree"));
        const auto items = [tree] {
            return tree->findItems("model.safetensors", Qt::MatchRecursive);
        };
        QTRY_COMPARE_WITH_TIMEOUT(items().size(), 1, kPatienceMs);
        QVERIFY(fixture.find("weightsView")->isVisible());
        askForMenu(*tree, tree->visualItemRect(items().front()).center());
        QVERIFY(chooseIn(fixture, "folderMenu", "Close model.safetensors"));
        QTRY_COMPARE_WITH_TIMEOUT(items().size(), 0, kPatienceMs);
        QVERIFY(!fixture.find("weightsView")->isVisible());
        QVERIFY(fs::exists(file));
    }

    void an_opened_folder_that_is_gone_says_so_and_is_located_or_removed() {
        test::StudioFixture fixture;
        const fs::path logs = fixture.root() / "logs";
        write_foreign(logs / "a" / kFile, point(1, 1, "loss"));
        QCOMPARE(fixture.studio().opener().open(logs), QString());
        ui::RunIndex& index = fixture.studio().index();
        QTRY_COMPARE_WITH_TIMEOUT(index.runs().size(), std::size_t{1}, kPatienceMs);
        fs::rename(logs, fixture.root() / "moved");
        fixture.window().showPage("home");
        index.refresh();
        const auto button = [&fixture](const char* name) {
            return fixture.window().findChild<QPushButton*>(name);
        };
        QTRY_VERIFY_WITH_TIMEOUT(button("locateRecent") != nullptr, kPatienceMs);
        QVERIFY(index.runs()[0].problem.ends_with("is no longer there"));
        static_cast<ui::HomePage*>(fixture.window().page("home"))->askForPath =
            [&fixture](const QString&, bool folder) {
                return folder ? ui::pathText(fixture.root() / "moved") : QString();
            };
        button("locateRecent")->click();
        QTRY_VERIFY_WITH_TIMEOUT(index.runs().size() == 1 && index.runs()[0].problem.empty(),
                                 kPatienceMs);
        QCOMPARE(index.runs()[0].folder, fixture.root() / "moved" / "a");
        QCOMPARE(index.openedFolders().size(), std::size_t{1});
        fs::remove_all(fixture.root() / "moved");
        index.refresh();
        QTRY_VERIFY_WITH_TIMEOUT(button("removeRecent") != nullptr, kPatienceMs);
        button("removeRecent")->click();
        QTRY_VERIFY_WITH_TIMEOUT(index.runs().empty(), kPatienceMs);
        QVERIFY(index.openedFolders().empty());
    }

    void an_event_log_of_another_program_opens_on_the_usual_page() {
        test::StudioFixture fixture;
        const fs::path run = fixture.root() / "logs" / "mine";
        write_foreign(run / "events.jsonl", "{\"event\": \"step\", \"step\": 1, \"loss\": 2.0}\n"
                                            "{\"event\": \"step\", \"step\": 2, \"loss\": 1.0}\n");
        QCOMPARE(fixture.studio().opener().open(run), QString());
        ui::RunModel& model = fixture.studio().run();
        QTRY_COMPARE_WITH_TIMEOUT(model.steps().step.size(), std::size_t{2}, kPatienceMs);
        QVERIFY(model.isForeign());
        QVERIFY(model.problem().isEmpty());
        for (const char* page : {"train", "checkpoints", "plan", "home"}) {
            fixture.window().showPage(page); // a run without a configuration shows everywhere
        }
        write_foreign(run / "events.jsonl", "{\"event\": \"step\", \"step\": 3, \"loss\": 0.5}\n",
                      true);
        QTRY_COMPARE_WITH_TIMEOUT(model.steps().step.size(), std::size_t{3}, kPatienceMs);
    }

    void a_folder_without_runs_is_looked_at_as_data_and_nothing_changes() {
        test::StudioFixture fixture;
        fs::create_directories(fixture.root() / "nothing" / "here");
        QSignalSpy offered(&fixture.studio().opener(), &ui::PathOpener::dataOffered);
        QCOMPARE(fixture.studio().opener().open(fixture.root() / "nothing"), QString());
        QTRY_COMPARE_WITH_TIMEOUT(offered.count(), 1, kPatienceMs);
        QVERIFY(fixture.studio().run().isEmpty());
        QVERIFY(fixture.studio().index().openedFolders().empty());
    }

    void damage_in_a_file_is_shown_with_what_could_be_read() {
        test::StudioFixture fixture;
        const fs::path run = fixture.root() / "damaged";
        std::string bad = point(2, 2, "a");
        bad[bad.size() - 6] ^= 1;
        write_foreign(run / kFile, point(1, 1, "a") + bad + point(3, 3, "a"));
        QCOMPARE(fixture.studio().opener().open(run), QString());
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().scalars().size(), std::size_t{1},
                                  kPatienceMs);
        QCOMPARE(fixture.studio().run().scalars()[0].step, (std::vector<double>{1, 3}));
        fixture.window().showPage("train");
        QVERIFY(fixture.find("scalarTrouble")->isVisible());
    }

    void its_charts_count_what_event_files_say_and_fill_the_screen() {
        test::StudioFixture fixture;
        const fs::path run = fixture.root() / "run";
        std::string points;
        for (int i = 5; i <= 10; ++i) {
            points += point(i, i, "a") + point(i, -i, "b");
        }
        write_foreign(run / kFile, points);
        QCOMPARE(fixture.studio().opener().open(run), QString());
        fixture.window().showPage("train");
        auto* grid = static_cast<ui::ScalarGrid*>(fixture.find("scalarGrid"));
        QTRY_COMPARE_WITH_TIMEOUT(grid->charts().size(), std::size_t{2}, kPatienceMs);
        const auto newest = [grid] {
            widgets::LineChart* chart = grid->charts()[0];
            chart->replotNow();
            chart->setCrosshair(1e12);
            return chart->crosshair().value_or(-1);
        };
        auto* axis = static_cast<QComboBox*>(fixture.find("scalarAxis"));
        QStringList names;
        for (int i = 0; i < axis->count(); ++i) {
            names << axis->itemText(i);
        }
        QCOMPARE(names, (QStringList{"Step", "Time", "Clock", "Relative step"}));
        const double ends[] = {10, 5, 110, 5}; // step n was written at 100 + n s
        for (int i = 0; i < axis->count(); ++i) {
            axis->setCurrentIndex(i);
            QTRY_COMPARE(newest(), ends[i]);
        }
        QTest::keyClick(grid->charts()[1], Qt::Key_S);
        QCOMPARE(QApplication::focusWidget(), fixture.find("scalarSmoothing"));
        // What has the focus fills the screen, and stays there when the program writes more.
        widgets::LineChart* chart = grid->charts()[1];
        chart->setFocus();
        QTest::keyClick(&fixture.window(), Qt::Key_F11);
        QVERIFY(chart->window()->isFullScreen());
        write_foreign(run / kFile, point(11, 1, "b") + point(11, 1, "c"), true);
        QTRY_COMPARE_WITH_TIMEOUT(grid->charts().size(), std::size_t{3}, kPatienceMs);
        QCOMPARE(grid->charts()[1], chart);
        QTRY_COMPARE(chart->pointCount(1), std::size_t{7});
        QVERIFY(chart->window()->isFullScreen());
        QTest::keyClick(chart, Qt::Key_Escape);
        QTRY_COMPARE(chart->window(), &fixture.window());
        QVERIFY(chart->isVisible());
    }

    void steps_that_a_restart_took_back_leave_the_chart() {
        test::StudioFixture fixture;
        const fs::path run = fixture.root() / "restarted";
        std::string first;
        for (int i = 1; i <= 10; ++i) {
            first += point(i, i, "a");
        }
        write_foreign(run / kFile, first);
        QCOMPARE(fixture.studio().opener().open(run), QString());
        fixture.window().showPage("train");
        auto* grid = static_cast<ui::ScalarGrid*>(fixture.find("scalarGrid"));
        QTRY_VERIFY_WITH_TIMEOUT(
            grid->charts().size() == 1 && grid->charts()[0]->pointCount(1) == 10, kPatienceMs);
        write_foreign(run / "events.out.tfevents.200.host", point(5, 50, "a"));
        QTRY_COMPARE_WITH_TIMEOUT(grid->charts()[0]->pointCount(1), std::size_t{5}, kPatienceMs);
    }
};

WEFT_TEST(ForeignRunTest)
#include "foreign_run_test.moc"
