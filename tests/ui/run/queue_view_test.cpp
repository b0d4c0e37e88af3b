// SPDX-License-Identifier: GPL-3.0-or-later
// The page Queue: what lies on the disk is shown, what people do lands there, and the real program
// trains it.
#include "core/queue/advance.h"
#include "core/queue/scheduler.h"
#include "core/train/record/run_summary.h"
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/models/queue_model.h"
#include "ui/models/sweep_model.h"
#include "ui/pages/queue/queue_page.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/views/parallel_view.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QPushButton>
#include <QTableView>

#include <csignal>
#include <set>

namespace {

using namespace weft;
using queue::Book;
using queue::Entry;
using queue::State;
using test::kPatienceMs;

Entry queued(const std::string& name, State state = State::waiting) {
    Entry entry;
    entry.name = name;
    entry.state = state;
    return entry;
}

/// Six trials of which two have gone on: 12 and 4 would be the same with more rows.
void add_halved_sweep(Book& book, const std::string& name) {
    queue::Sweep sweep;
    sweep.name = name;
    sweep.method = queue::Method::halving;
    sweep.metric = "validation/loss";
    sweep.rungs = {3, 9};
    book.sweeps.push_back(sweep);
    for (int trial = 0; trial < 6; ++trial) {
        Entry entry = queued(name + "-" + std::to_string(trial), State::paused);
        entry.sweep = name;
        entry.trial = trial;
        entry.settings = {{"optimizer.learning_rate", 0.001 * (trial + 1)},
                          {"optimizer.type", trial % 2 == 0 ? "adam" : "sgd"}};
        entry.results = {{3, 1.0 - 0.1 * trial}};
        book.add(entry);
    }
    queue::advance(book, 10);
}

struct ShownQueue {
    explicit ShownQueue(const std::function<void(Book&)>& fill,
                        const std::string& config = test::tiny_config())
        : fixture(config) {
        change(fill);
        fixture.window().showPage("queue");
    }
    ~ShownQueue() { // no process outlives a test that failed
        if (const auto pid = queue::scheduler_of(folder())) {
            ::kill(static_cast<pid_t>(*pid), SIGKILL);
        }
    }
    std::filesystem::path folder() const { return queue::folder_under(fixture.root() / "runs"); }
    Book book() const { return queue::read_book(folder()); }
    void change(const std::function<void(Book&)>& what) { queue::change_book(folder(), what); }
    QAbstractItemModel& rows() { return *table().model(); }
    QTableView& table() { return *static_cast<QTableView*>(fixture.find("queueTable")); }
    QString text(int row, int column) { return rows().index(row, column).data().toString(); }
    QStringList names() {
        QStringList out;
        for (int row = 0; row < rows().rowCount(); ++row) {
            out << text(row, ui::QueueModel::NameColumn);
        }
        return out;
    }
    void choose(int row) { table().selectRow(row); }
    QPushButton& button(const char* name) { return *static_cast<QPushButton*>(fixture.find(name)); }
    State state_of(std::int64_t id) const {
        const Book known = book();
        const Entry* entry = known.find(id);
        return entry == nullptr ? State::failed : entry->state;
    }

    test::StudioFixture fixture;
};

class QueueViewTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void the_models_keep_their_rows_where_entries_stay() {
        ui::QueueModel model;
        const QAbstractItemModelTester tester(
            &model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        Book book;
        book.add(queued("a"));
        book.add(queued("b"));
        QVERIFY(!model.setEntries(queue::view_entries(book)));
        const QPersistentModelIndex second = model.index(1, ui::QueueModel::StateColumn);
        book.entries[1].state = State::held;
        QVERIFY(model.setEntries(queue::view_entries(book)));
        QVERIFY(second.isValid());
        QCOMPARE(second.data().toString(), QString("held"));
        QCOMPARE(model.rowOf(2), 1);
        QCOMPARE(model.rowOf(3), -1);
    }

    void a_sweep_model_has_a_column_for_each_setting_and_rung() {
        auto book = std::make_shared<Book>();
        add_halved_sweep(*book, "s");
        ui::SweepModel model;
        const QAbstractItemModelTester tester(
            &model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setTable(book, queue::table_of(*book, book->sweeps[0]));
        QStringList titles;
        for (int column = 0; column < model.columnCount(); ++column) {
            titles << model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        }
        QCOMPARE(titles, QStringList({"trial", "learning_rate", "type", "at 3", "at 9", "state"}));
        QCOMPARE(model.index(0, 1).data().toString(), QString("0.001"));
        QCOMPARE(model.index(0, 3).data().toString(), QString("1.000"));
        QCOMPARE(model.index(0, 4).data().toString(), QString());
        QVERIFY(model.index(0, 5).data().toString().startsWith("stopped early: place 6 of 6"));
        QCOMPARE(model.index(5, 5).data().toString(), QString("best, waiting"));
        const QPersistentModelIndex last = model.index(5, 4);
        book->entries[book->trials_of("s")[5]].results.push_back({9, 0.25});
        model.setTable(book, queue::table_of(*book, book->sweeps[0]));
        QCOMPARE(last.data().toString(), QString("0.250"));
        model.clear();
        QCOMPARE(model.rowCount(), 0);
    }

    void an_empty_queue_says_how_to_fill_it() {
        ShownQueue shown([](Book&) {});
        QTRY_VERIFY_WITH_TIMEOUT(shown.fixture.find("queueDraftFirst")->isVisible(), kPatienceMs);
        QVERIFY(!shown.fixture.find("queueTable")->isVisible());
        QVERIFY(!shown.button("queueDraftFirst").isEnabled()); // there is no draft
    }

    void what_is_to_come_stands_before_what_has_ended() {
        ShownQueue shown([](Book& book) {
            book.add(queued("first", State::done)).ended = 5;
            book.add(queued("second"));
            book.add(queued("third", State::failed)).ended = 9;
            book.add(queued("fourth", State::held));
        });
        QTRY_COMPARE_WITH_TIMEOUT(shown.names(),
                                  QStringList({"second", "fourth", "third", "first"}), kPatienceMs);
        // Another process changes it.
        shown.change([](Book& book) { book.add(queued("fifth")); });
        QTRY_COMPARE_WITH_TIMEOUT(shown.names().value(2), QString("fifth"), kPatienceMs);
    }

    void entries_are_held_released_moved_and_stopped() {
        ShownQueue shown([](Book& book) {
            for (const char* name : {"a", "b", "c"}) {
                book.add(queued(name));
            }
        });
        QTRY_COMPARE_WITH_TIMEOUT(shown.rows().rowCount(), 3, kPatienceMs);
        QVERIFY(!shown.button("holdQueued").isEnabled()); // nothing is chosen
        shown.choose(2);
        shown.fixture.click("raiseQueued");
        QTRY_COMPARE_WITH_TIMEOUT(shown.names(), QStringList({"a", "c", "b"}), kPatienceMs);
        QCOMPARE(shown.table().selectionModel()->selectedRows().value(0).row(), 1); // the same one
        shown.fixture.click("raiseQueued");
        QTRY_COMPARE_WITH_TIMEOUT(shown.names(), QStringList({"c", "a", "b"}), kPatienceMs);
        QVERIFY(!shown.button("raiseQueued").isEnabled());
        shown.fixture.click("lowerQueued");
        QTRY_COMPARE_WITH_TIMEOUT(shown.names(), QStringList({"a", "c", "b"}), kPatienceMs);
        shown.fixture.click("holdQueued");
        QTRY_COMPARE_WITH_TIMEOUT(shown.state_of(3), State::held, kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(shown.button("holdQueued").text(), QString("Release"),
                                  kPatienceMs);
        shown.fixture.click("holdQueued");
        QTRY_COMPARE_WITH_TIMEOUT(shown.state_of(3), State::waiting, kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(shown.button("holdQueued").text(), QString("Hold"), kPatienceMs);
        shown.fixture.click("stopQueued");
        QTRY_COMPARE_WITH_TIMEOUT(shown.state_of(3), State::stopped, kPatienceMs);
    }

    void what_is_removed_can_be_brought_back() {
        ShownQueue shown([](Book& book) {
            book.add(queued("a"));
            book.add(queued("b"));
        });
        QTRY_COMPARE_WITH_TIMEOUT(shown.rows().rowCount(), 2, kPatienceMs);
        shown.choose(0);
        shown.table().setFocus();
        QTest::keyClick(&shown.table(), Qt::Key_Delete);
        QTRY_COMPARE_WITH_TIMEOUT(shown.names(), QStringList({"b"}), kPatienceMs);
        QPushButton* undo = nullptr;
        QTRY_VERIFY_WITH_TIMEOUT(
            [&] {
                for (auto* button : shown.fixture.window().findChildren<QPushButton*>()) {
                    undo = button->isVisible() && button->text() == "Undo" ? button : undo;
                }
                return undo != nullptr;
            }(),
            kPatienceMs);
        undo->click();
        QTRY_COMPARE_WITH_TIMEOUT(shown.names(), QStringList({"b", "a"}), kPatienceMs);
        QCOMPARE(shown.book().entries.at(1).id, std::int64_t{1});
    }

    void a_sweep_is_shown_as_a_table_and_as_lines() {
        ShownQueue shown([](Book& book) {
            add_halved_sweep(book, "rates");
            add_halved_sweep(book, "others");
            book.entries[book.trials_of("others")[5]].results.push_back({9, 0.25});
        });
        auto* chooser = static_cast<QComboBox*>(shown.fixture.find("sweepChooser"));
        QTRY_COMPARE_WITH_TIMEOUT(chooser->currentText(), QString("others"), kPatienceMs);
        auto* table = static_cast<QTableView*>(shown.fixture.find("sweepTable"));
        QCOMPARE(table->model()->rowCount(), 6);
        static_cast<widgets::SegmentedControl*>(shown.fixture.find("sweepView"))
            ->setCurrentIndex(1);
        const auto* lines =
            static_cast<widgets::ParallelView*>(shown.fixture.find("sweepParallel"));
        QVERIFY(lines->isVisible());
        QCOMPARE(lines->itemCount(), 6);
        QCOMPARE(lines->axisCount(), 4);
        QCOMPARE(lines->cursorItem(), 5); // the best
        QVERIFY(!lines->place(3, 0));     // it never got there
        // A trial that is chosen brings its sweep.
        for (int row = 0; row < shown.rows().rowCount(); ++row) {
            if (shown.names()[row] == "rates-0") {
                shown.choose(row);
            }
        }
        QCOMPARE(chooser->currentText(), QString("rates"));
        QCOMPARE(lines->axisCount(), 3); // none of these has got to the second rung
        shown.fixture.click("stopSweep");
        QTRY_COMPARE_WITH_TIMEOUT(shown.state_of(6), State::stopped, kPatienceMs);
        QCOMPARE(shown.state_of(12), State::waiting); // of the other
        shown.fixture.click("removeSweep");
        QTRY_COMPARE_WITH_TIMEOUT(shown.book().sweeps.size(), std::size_t{1}, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!chooser->isVisible(), kPatienceMs);
        QCOMPARE(shown.book().entries.size(), std::size_t{6});
    }

    void a_damaged_queue_is_said_and_left_alone() {
        ShownQueue shown([](Book& book) { book.add(queued("a")); });
        QTRY_COMPARE_WITH_TIMEOUT(shown.rows().rowCount(), 1, kPatienceMs);
        test::write_file(shown.folder() / "queue.json", "{");
        shown.choose(0);
        shown.fixture.click("holdQueued");
        const auto* notes = shown.fixture.window().findChild<widgets::ToastHost*>();
        QVERIFY(notes != nullptr);
        QTRY_VERIFY_WITH_TIMEOUT(!notes->history().empty(), kPatienceMs);
        QCOMPARE(read_file(shown.folder() / "queue.json"), std::string("{"));
    }

    // By the real `weft queue run`, which outlives the studio.
    void a_draft_is_queued_and_trained_while_the_studio_is_closed() {
        std::string config = test::tiny_config();
        config.replace(config.find("\"steps\": 100000}"), 16, "\"steps\": 30}");
        ShownQueue shown([](Book&) {}, config);
        shown.fixture.studio().draft().open(shown.fixture.preset());
        QTRY_VERIFY_WITH_TIMEOUT(shown.button("queueDraftFirst").isVisible() &&
                                     shown.button("queueDraftFirst").isEnabled(),
                                 kPatienceMs);
        shown.fixture.click("queueDraftFirst");
        QTRY_COMPARE_WITH_TIMEOUT(shown.names(), QStringList({"tiny"}), kPatienceMs);
        shown.fixture.click("queueDraft");
        QTRY_COMPARE_WITH_TIMEOUT(shown.rows().rowCount(), 2, kPatienceMs);
        shown.fixture.click("runQueue");
        QTRY_VERIFY_WITH_TIMEOUT(queue::is_scheduled(shown.folder()), kPatienceMs);
        shown.fixture.reopen();
        QTRY_COMPARE_WITH_TIMEOUT(shown.state_of(2), State::done, kPatienceMs);
        QCOMPARE(shown.state_of(1), State::done);
        shown.fixture.window().showPage("queue");
        QTRY_COMPARE_WITH_TIMEOUT(shown.rows().rowCount(), 2, kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(shown.text(0, ui::QueueModel::NumberColumn), QString("2"),
                                  kPatienceMs); // it ended last
        shown.choose(0);
        QTRY_VERIFY_WITH_TIMEOUT(shown.button("showQueued").isEnabled(), kPatienceMs);
        shown.fixture.click("showQueued");
        QTRY_COMPARE_WITH_TIMEOUT(shown.fixture.window().currentPage(), QString("train"),
                                  kPatienceMs);
        const std::string run = shown.book().find(2)->run;
        QTRY_COMPARE_WITH_TIMEOUT(
            QString::fromStdString(shown.fixture.studio().run().folder().string()),
            QString::fromStdString(run), kPatienceMs);
    }

    void a_queue_is_stopped_and_its_run_waits() {
        ShownQueue shown([](Book&) {}); // 100,000 steps
        shown.fixture.studio().draft().open(shown.fixture.preset());
        QTRY_VERIFY_WITH_TIMEOUT(shown.button("queueDraftFirst").isVisible() &&
                                     shown.button("queueDraftFirst").isEnabled(),
                                 kPatienceMs);
        shown.fixture.click("queueDraftFirst");
        QTRY_VERIFY_WITH_TIMEOUT(shown.button("runQueue").isVisible() &&
                                     shown.button("runQueue").isEnabled(),
                                 kPatienceMs);
        shown.fixture.click("runQueue");
        QTRY_VERIFY_WITH_TIMEOUT(shown.text(0, ui::QueueModel::StepColumn).contains(" of "),
                                 kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(shown.button("runQueue").text(), QString("Stop the queue"),
                                  kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(shown.button("runQueue").isEnabled(), kPatienceMs);
        shown.fixture.click("runQueue");
        QTRY_COMPARE_WITH_TIMEOUT(shown.state_of(1), State::waiting, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!queue::is_scheduled(shown.folder()), kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(shown.button("runQueue").text(), QString("Run the queue"),
                                  kPatienceMs);
        QVERIFY(train::summarise_run(shown.book().find(1)->run).last_checkpoint_step > 0);
    }

    // By mouse and keys: what was asked for is planned while it is written, and queued.
    void a_sweep_is_asked_for_planned_and_queued() {
        ShownQueue shown([](Book&) {});
        test::Mouse mouse(shown.fixture);
        shown.fixture.studio().draft().setDocument(config::json_of(test::tiny_config()),
                                                   shown.fixture.root());
        const auto said = [&] {
            const auto* says = shown.fixture.window().findChild<widgets::TextLabel*>("sweepSays");
            return says == nullptr ? QString() : says->text();
        };
        QVERIFY(mouse.inDialog(
            [&] { return mouse.press("newSweepFirst"); },
            [&] {
                const auto waits = [&](const QString& words) {
                    return QTest::qWaitFor([&] { return said().contains(words); }, kPatienceMs);
                };
                const auto* accept = shown.fixture.window().findChild<QWidget*>("sweepAccept");
                return waits("12 trial") && mouse.choose("sweepMethod", 0) && // a grid of a range
                       waits("points") && !accept->isEnabled() &&
                       mouse.fill("sweepValues1", "1e-3, 1e-2") && mouse.press("sweepMore") &&
                       mouse.fill("sweepPath2", "model.nothing") &&
                       mouse.fill("sweepValues2", "16, 32, 64") && waits("nothing") &&
                       !accept->isEnabled() && mouse.fill("sweepPath2", "seed") &&
                       waits("6 trial") && mouse.press("sweepAccept");
            }));
        QTRY_COMPARE_WITH_TIMEOUT(shown.book().entries.size(), std::size_t{6}, kPatienceMs);
        const Book book = shown.book();
        QCOMPARE(book.sweeps.size(), std::size_t{1});
        QCOMPARE(book.sweeps[0].method, queue::Method::grid);
        QCOMPARE(book.sweeps[0].metric, std::string("validation/loss"));
        std::set<std::pair<double, int>> settings;
        for (const Entry& entry : book.entries) {
            settings.emplace(entry.settings.at("optimizer.learning_rate").get<double>(),
                             entry.settings.at("seed").get<int>());
        }
        QCOMPARE(settings,
                 (std::set<std::pair<double, int>>{
                     {1e-3, 16}, {1e-3, 32}, {1e-3, 64}, {1e-2, 16}, {1e-2, 32}, {1e-2, 64}}));
        QTRY_COMPARE_WITH_TIMEOUT(shown.rows().rowCount(), 6, kPatienceMs);
    }
};

} // namespace

WEFT_TEST(QueueViewTest)
#include "queue_view_test.moc"
