// SPDX-License-Identifier: GPL-3.0-or-later
// Messages at the edge of a page: they lie on it while the mouse is there.
#include "tests/support/weft_test.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/shelf.h"
#include "widgets/controls/tab_walk.h"

#include <QPushButton>
#include <QVBoxLayout>

using namespace weft::widgets;

namespace {

/// A page of 400 x 300 beside which there is room for the mouse.
struct Desk {
    explicit Desk(Shelf::Edge edge) {
        page = new QWidget;
        shelf = new Shelf(page, edge);
        message = new Banner;
        message->setText("something happened");
        message->hide();
        shelf->add(message);
        auto* column = new QVBoxLayout(&window);
        column->setContentsMargins(0, 40, 0, 0);
        column->addWidget(shelf);
        window.resize(400, 340);
        window.show();
    }
    void moveTo(const QPoint& at) { QTest::mouseMove(&window, at); }

    QWidget window;
    QWidget* page;
    Shelf* shelf;
    Banner* message;
};

constexpr QPoint kOnPage{200, 150};
constexpr QPoint kBeside{200, 10};

} // namespace

class ShelfTest : public QObject {
    Q_OBJECT
private slots:
    void nothing_moves_under_the_mouse_data() {
        QTest::addColumn<bool>("top");
        QTest::newRow("top") << true;
        QTest::newRow("bottom") << false;
    }

    void nothing_moves_under_the_mouse() {
        QFETCH(bool, top);
        Desk desk(top ? Shelf::Edge::Top : Shelf::Edge::Bottom);
        QVERIFY(QTest::qWaitForWindowExposed(&desk.window));
        QTRY_COMPARE(desk.page->geometry(), QRect(0, 0, 400, 300));
        desk.moveTo(kOnPage);
        QTRY_VERIFY(desk.page->underMouse());
        desk.message->show();
        QTRY_COMPARE(desk.message->width(), 400);
        const int high = desk.message->height();
        QTRY_COMPARE(desk.message->y(), top ? 0 : 300 - high);
        QCOMPARE(desk.page->geometry(), QRect(0, 0, 400, 300)); // the message lies on it
        desk.moveTo(kBeside);
        const QRect left(0, top ? high : 0, 400, 300 - high);
        QTRY_COMPARE(desk.page->geometry(), left);
        // What goes leaves its room until the mouse has gone, too.
        desk.moveTo(kOnPage);
        QTRY_VERIFY(desk.page->underMouse());
        desk.message->hide();
        QCoreApplication::processEvents();
        QCOMPARE(desk.page->geometry(), left);
        desk.moveTo(kBeside);
        QTRY_COMPARE(desk.page->geometry(), QRect(0, 0, 400, 300));
    }

    void another_page_takes_the_room_that_a_message_left() {
        Desk desk(Shelf::Edge::Bottom);
        QVERIFY(QTest::qWaitForWindowExposed(&desk.window));
        desk.moveTo(kBeside);
        desk.message->show();
        QTRY_VERIFY(desk.page->height() < 300);
        desk.moveTo(kOnPage);
        QTRY_VERIFY(desk.page->underMouse());
        desk.message->hide();
        QCoreApplication::processEvents();
        QVERIFY(desk.page->height() < 300);
        desk.shelf->makeRoom();
        QCOMPARE(desk.page->geometry(), QRect(0, 0, 400, 300));
        desk.moveTo(kBeside); // where the next window has no page either
    }

    void the_page_makes_room_at_once_where_no_mouse_is() {
        Desk desk(Shelf::Edge::Top);
        QVERIFY(QTest::qWaitForWindowExposed(&desk.window));
        desk.moveTo(kBeside);
        desk.message->show();
        QTRY_VERIFY(desk.message->height() > 0);
        QTRY_COMPARE(desk.page->y(), desk.message->height());
        // As high as its words need.
        desk.message->setText("much", QString("to be said ").repeated(30));
        QTRY_VERIFY(desk.message->height() > 60);
        QTRY_COMPARE(desk.page->y(), desk.message->height());
    }

    void the_tab_key_goes_from_the_top_down_data() { nothing_moves_under_the_mouse_data(); }

    void the_tab_key_goes_from_the_top_down() {
        QFETCH(bool, top);
        auto* page = new QPushButton("page");
        auto* outer = new QPushButton("outer");
        auto* inner = new QPushButton("inner");
        Shelf shelf(page, top ? Shelf::Edge::Top : Shelf::Edge::Bottom);
        for (QPushButton* message : {outer, inner}) {
            shelf.add(message);
            message->show();
        }
        shelf.show();
        QStringList names;
        for (QWidget* at = nextTabStop(shelf, nullptr, TabWay::Forward); at != nullptr;
             at = nextTabStop(shelf, at, TabWay::Forward)) {
            names << static_cast<QPushButton*>(at)->text();
        }
        const QStringList down{"outer", "inner", "page"};
        QCOMPARE(names, top ? down : QStringList(down.rbegin(), down.rend()));
    }
};

WEFT_TEST(ShelfTest)
#include "shelf_test.moc"
