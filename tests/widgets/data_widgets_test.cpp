// SPDX-License-Identifier: GPL-3.0-or-later
// Counts as bars and tokens as boxes, by mouse and keys.
#include "tests/support/weft_test.h"
#include "widgets/look/theme_controller.h"
#include "widgets/views/bar_list.h"
#include "widgets/views/token_view.h"

#include <QAccessible>

#include <memory>

using namespace weft::widgets;

namespace {

std::vector<CountBar> threeClasses() {
    return {{"Boot", 6000}, {"Coat", 3000}, {"Bag", 0}};
}

} // namespace

class DataWidgetsTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { controller_ = std::make_unique<ThemeController>(); }

    void a_class_is_activated_by_mouse_and_by_key() {
        BarList bars;
        bars.resize(300, 200);
        bars.setBars(threeClasses(), "samples");
        bars.show();
        QSignalSpy activated(&bars, &PaintedView::itemActivated);
        QTest::mouseClick(&bars, Qt::LeftButton, {}, bars.item(1).rect.center().toPoint());
        QCOMPARE(activated.takeFirst().at(0).toInt(), 1);
        QTest::keyClick(&bars, Qt::Key_Down);
        QTest::keyClick(&bars, Qt::Key_Return);
        QCOMPARE(activated.takeFirst().at(0).toInt(), 2);
    }

    void bars_say_their_counts_and_shares() {
        BarList bars;
        bars.setBars(threeClasses(), "samples");
        QAccessibleInterface* reader = QAccessible::queryAccessibleInterface(&bars);
        QCOMPARE(reader->childCount(), 3);
        // 3,000 of 9,000
        QCOMPARE(reader->child(1)->text(QAccessible::Name), QString("Coat: 3,000 samples, 33.3 %"));
        QVERIFY(bars.accessibleDescription().contains("3 bars"));
        QVERIFY(bars.accessibleDescription().contains("fewest Bag with 0"));
    }

    void a_byte_is_drawn_as_what_it_is() {
        QCOMPARE(byteSign('a'), QString("a"));
        QCOMPARE(byteSign(' '), QString("·"));
        QCOMPARE(byteSign('\n'), QString("↵"));
        QCOMPARE(byteSign(0xC3), QString("C3"));
        QCOMPARE(byteSign(0), QString("00"));
    }

    void tokens_wrap_and_each_is_found_under_the_mouse() {
        TokenView view;
        TokenRun run{"sample 0", {}, {}, {}};
        for (int i = 0; i < 60; ++i) {
            run.tokens << QString(QChar('a' + i % 26));
            run.tooltips << QString::number(i);
        }
        view.setRuns({run, run});
        const int narrow = view.heightForWidth(120);
        QVERIFY(narrow > view.heightForWidth(2000)); // on one line there
        view.resize(120, narrow);
        QCOMPARE(view.itemCount(), 2);
        QVERIFY(view.item(1).name.startsWith("sample 0: abc"));
        // Every token has a place of its own.
        QSet<int> seen;
        for (int y = 0; y < narrow; ++y) {
            for (int x = 0; x < 120; ++x) {
                if (const int token = view.tokenAt(0, QPointF(x, y)); token >= 0) {
                    seen.insert(token);
                }
            }
        }
        QCOMPARE(seen.size(), 60);
    }

    void both_are_exported() {
        QTemporaryDir folder;
        BarList bars;
        bars.resize(300, 200);
        bars.setBars(threeClasses(), "samples");
        QVERIFY(bars.exportSvg(folder.filePath("bars.svg")));
        QVERIFY(bars.exportPng(folder.filePath("bars.png")));
    }

private:
    std::unique_ptr<ThemeController> controller_;
};

WEFT_TEST(DataWidgetsTest)
#include "data_widgets_test.moc"
