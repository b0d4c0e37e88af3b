// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/weft_test.h"
#include "widgets/controls/log_view.h"

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QListView>
#include <QScrollBar>

using namespace weft::widgets;

namespace {

std::vector<LogLine> lines(int count, int first = 0) {
    std::vector<LogLine> result;
    for (int i = first; i < first + count; ++i) {
        result.push_back({1000LL + i, i % 10 == 0 ? LogLevel::Error : LogLevel::Info,
                          QStringLiteral("train"), QStringLiteral("step %1").arg(i), i});
    }
    return result;
}

} // namespace

class LogViewTest : public QObject {
    Q_OBJECT
private slots:
    void the_ring_keeps_the_newest_lines() {
        LogModel model(nullptr, 100);
        const QAbstractItemModelTester tester(&model,
                                              QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.append(lines(70));
        model.append(lines(70, 70));
        QCOMPARE(model.rowCount(), 100);
        QCOMPARE(model.line(0).text, QStringLiteral("step 40"));
        QCOMPARE(model.line(99).text, QStringLiteral("step 139"));
        QCOMPARE(model.droppedCount(), qint64{40});
        model.append(lines(1000, 140)); // more than fits at once
        QCOMPARE(model.rowCount(), 100);
        QCOMPARE(model.line(99).text, QStringLiteral("step 1139"));
        QCOMPARE(model.droppedCount(), qint64{1040});
    }

    void filters_by_level_and_text_and_keeps_filtering_new_lines() {
        LogModel model;
        model.append(lines(100));
        model.setFilter(LogLevel::Error, {});
        QCOMPARE(model.rowCount(), 10);
        model.setFilter(LogLevel::Debug, QStringLiteral("STEP 5"));
        QCOMPARE(model.rowCount(), 11); // 5 and 50 to 59
        model.append(lines(1, 500));
        QCOMPARE(model.rowCount(), 12);
        model.setFilter(LogLevel::Debug, QStringLiteral("step [12]$"), true);
        QCOMPARE(model.rowCount(), 2);
        model.setFilter(LogLevel::Debug, QStringLiteral("step ["), true);
        QVERIFY(!model.isFilterValid());
        QCOMPARE(model.rowCount(), 101); // a broken expression hides nothing
    }

    void many_lines_are_filtered_in_the_background() {
        LogModel model(nullptr, 100000);
        const QAbstractItemModelTester tester(&model,
                                              QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.append(lines(50000));
        QSignalSpy filtered(&model, &LogModel::filtered);
        model.setFilter(LogLevel::Debug, QStringLiteral("step 7"));
        model.setFilter(LogLevel::Debug, QStringLiteral("step 4999")); // the newest wins
        QVERIFY(model.isFiltering());
        QCOMPARE(model.rowCount(), 50000); // as before, until it is known what passes
        model.append(lines(60000, 50000)); // meanwhile more, and the oldest go
        QTRY_COMPARE(filtered.count(), 1);
        QVERIFY(!model.isFiltering());
        // 49990 to 49999; of 4999 and 499900 on none is kept or there.
        QCOMPARE(model.rowCount(), 10);
        QCOMPARE(model.line(0).text, QStringLiteral("step 49990"));
        model.setFilter(LogLevel::Error, {});
        QTRY_COMPARE(filtered.count(), 2);
        QCOMPARE(model.rowCount(), 10000); // every tenth
        model.setFilter(LogLevel::Debug, {});
        model.clear();
        QVERIFY(!model.isFiltering());
        QCOMPARE(model.rowCount(), 0);
    }

    void a_flood_of_50_000_lines_reaches_the_screen_in_few_turns() {
        LogView view;
        view.resize(800, 400);
        view.show();
        QSignalSpy inserts(view.model(), &QAbstractItemModel::rowsInserted);
        for (int batch = 0; batch < 500; ++batch) {
            view.append(lines(100, batch * 100));
        }
        QCOMPARE(view.model()->totalCount(), 0); // nothing is done per batch
        QTRY_COMPARE(view.model()->totalCount(), 50000);
        QVERIFY(inserts.count() <= 2);
        const QScrollBar* scroll = view.list()->verticalScrollBar();
        QCOMPARE(scroll->value(), scroll->maximum());
    }

    void a_console_that_follows_opens_at_the_end() {
        LogView view;
        view.resize(800, 100);
        view.append(lines(1000));
        view.flush(); // before it was ever seen
        view.resize(800, 400);
        view.show();
        const QScrollBar* scroll = view.list()->verticalScrollBar();
        QTRY_VERIFY(scroll->maximum() > 0);
        QTRY_COMPARE(scroll->value(), scroll->maximum());
        view.resize(800, 200); // a dock that is made lower
        QTRY_COMPARE(scroll->value(), scroll->maximum());
        QVERIFY(view.isFollowing());
    }

    void without_following_the_view_stays() {
        LogView view;
        view.resize(800, 400);
        view.show();
        view.append(lines(1000));
        view.flush();
        view.setFollowing(false);
        view.list()->verticalScrollBar()->setValue(10);
        view.append(lines(1000, 1000));
        view.flush();
        QCOMPARE(view.list()->verticalScrollBar()->value(), 10);
        view.setFollowing(true);
        const QScrollBar* scroll = view.list()->verticalScrollBar();
        QCOMPARE(scroll->value(), scroll->maximum());
    }

    void enter_on_a_line_leads_to_its_step() {
        LogView view;
        view.resize(800, 400);
        view.show();
        view.append(lines(20));
        view.flush();
        view.list()->setCurrentIndex(view.model()->index(7));
        QSignalSpy spy(&view, &LogView::stepActivated);
        QTest::keyClick(view.list(), Qt::Key_Return);
        QCOMPARE(spy.count(), 1);
        QCOMPARE(spy.first().first().toLongLong(), 7LL);
    }

    void a_broken_expression_marks_the_field() {
        LogView view;
        auto* filter = view.findChild<QLineEdit*>();
        filter->setText(QStringLiteral("/step [/"));
        QCOMPARE(filter->property("weftInvalid").toInt(), 1);
        filter->setText(QStringLiteral("/step/"));
        QCOMPARE(filter->property("weftInvalid").toInt(), 0);
    }
};

WEFT_TEST(LogViewTest)
#include "log_view_test.moc"
