// SPDX-License-Identifier: GPL-3.0-or-later
// The Tab key goes through every page as the eye does, also through what was made while the page
// was used, and there and back the same way.
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "ui/forms/form_source.h"
#include "ui/plurals.h"

#include <QApplication>
#include <QScrollArea>

namespace {

using namespace weft;
using config::Json;
using test::kPatienceMs;

constexpr int kMostStops = 400;
constexpr int kOrderSlack = 6; // px: neighbours need not begin at the same height

QString describe_stop(const QWidget* widget) {
    QString text = QString::fromLatin1(widget->metaObject()->className());
    for (const QWidget* at = widget; at != nullptr; at = at->parentWidget()) {
        if (!at->objectName().isEmpty()) {
            return text + " \"" + at->objectName() + "\"";
        }
    }
    return text;
}

/// Stops of the page from its first to its last, as the key walks through the window.
QList<QWidget*> walk_stops(test::StudioFixture& fixture, QWidget* page, int key) {
    test::Keyboard keyboard(fixture);
    QList<QWidget*> all;
    for (int i = 0; i < kMostStops; ++i) {
        keyboard.key(key);
        QWidget* focus = QApplication::focusWidget();
        if (focus == nullptr || all.contains(focus)) {
            break;
        }
        all << focus;
    }
    // The walk began somewhere; the page is one stretch of it.
    QList<QWidget*> out;
    const auto inside = [page](const QWidget* widget) { return page->isAncestorOf(widget); };
    qsizetype begin = 0;
    for (qsizetype i = 0; i < all.size(); ++i) {
        if (inside(all[i]) && !inside(all[(i + all.size() - 1) % all.size()])) {
            begin = i;
        }
    }
    for (qsizetype i = 0; i < all.size() && inside(all[(begin + i) % all.size()]); ++i) {
        out << all[(begin + i) % all.size()];
    }
    return out;
}

/// What can be used and takes the Tab key.
QList<QWidget*> controls(const QWidget* page) {
    QList<QWidget*> out;
    for (QWidget* one : page->findChildren<QWidget*>()) {
        const bool takes = (one->focusPolicy() & Qt::TabFocus) != 0;
        if (takes && one->focusProxy() == nullptr && one->isVisible() && one->isEnabled()) {
            out << one;
        }
    }
    return out;
}

/// Where a control stands beside another: inside what scrolls, unless both are there.
QRect placeOf(const QWidget* one, const QWidget* common) {
    const QWidget* place = one;
    for (const QWidget* at = one; at != common; at = at->parentWidget()) {
        if (qobject_cast<const QScrollArea*>(at) != nullptr) {
            place = at;
        }
    }
    return {place->mapTo(common, QPoint()), place->size()};
}

/// Down, or to the right: never back.
bool goesOn(const QWidget* from, const QWidget* to) {
    const QWidget* common = from->parentWidget();
    while (common != to && !common->isAncestorOf(to)) {
        common = common->parentWidget();
    }
    if (common == to || from->isAncestorOf(to)) {
        return true;
    }
    const QRect before = placeOf(from, common);
    const QRect after = placeOf(to, common);
    return after.top() >= before.bottom() - kOrderSlack ||
           after.left() >= before.right() - kOrderSlack ||
           (after.top() >= before.top() - kOrderSlack &&
            after.left() >= before.left() - kOrderSlack);
}

void checkOrder(test::StudioFixture& fixture, const QString& id, const QString& what) {
    QTest::qWait(0); // the layout
    QWidget* page = fixture.window().page(id);
    // What is worked out in the background may add controls while the key walks.
    QList<QWidget*> wanted;
    QList<QWidget*> there;
    QList<QWidget*> back;
    QVERIFY(QTest::qWaitFor(
        [&] {
            wanted = controls(page);
            there = walk_stops(fixture, page, Qt::Key_Tab);
            back = walk_stops(fixture, page, Qt::Key_Backtab);
            return controls(page) == wanted;
        },
        kPatienceMs));
    QStringList names;
    for (const QWidget* stop : there) {
        names << describe_stop(stop);
    }
    for (QWidget* one : wanted) {
        QVERIFY2(there.contains(one),
                 qPrintable(QString("%1: Tab does not lead to %2, only to %3")
                                .arg(what, describe_stop(one), names.join(", "))));
    }
    for (qsizetype i = 1; i < there.size(); ++i) {
        QVERIFY2(goesOn(there[i - 1], there[i]),
                 qPrintable(QString("%1: Tab goes back from %2 to %3 of %4")
                                .arg(what, names[i - 1], names[i], names.join(", "))));
    }
    std::reverse(back.begin(), back.end());
    QVERIFY2(back == there, qPrintable(what + ": there and back differ: " + names.join(", ")));
}

void begin(test::StudioFixture& fixture, const QString& page) {
    fixture.window().resize(1440, 900);
    fixture.window().showPage(page);
    fixture.window().activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&fixture.window()));
}

Json tiny(const Json& changes = Json::object()) {
    Json document = config::json_of(test::tiny_config());
    for (const auto& [key, value] : changes.items()) {
        document[Json::json_pointer(key)] = value;
    }
    return document;
}

} // namespace

class TabOrderTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void every_page_is_walked_as_the_eye_does_data() {
        QTest::addColumn<QString>("page");
        for (const char* page : {"home", "data", "model", "training", "plan", "train"}) {
            QTest::newRow(page) << page;
        }
    }

    void every_page_is_walked_as_the_eye_does() {
        QFETCH(QString, page);
        test::StudioFixture fixture;
        begin(fixture, page);
        checkOrder(fixture, page, "without a draft");
        fixture.studio().draft().setDocument(tiny(), fixture.root());
        QTest::qWait(0);
        checkOrder(fixture, page, "with a draft");
    }

    // What the keyboard found: the unit of a length chosen, and the fields below were out of reach.
    void a_field_is_reached_after_the_unit_above_it_was_changed() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(tiny(), fixture.root());
        begin(fixture, "training");
        test::Keyboard keyboard(fixture);
        QVERIFY(keyboard.choose("unit:/training/length", 1));
        QVERIFY(keyboard.reach("field:/training/length"));
        QVERIFY(keyboard.reach("field:/seed"));
        checkOrder(fixture, "training", "another unit");
    }

    void training_stays_in_order_whatever_is_chosen_data() {
        QTest::addColumn<QString>("place");
        QTest::newRow("optimizer") << "/optimizer";
        QTest::newRow("schedule") << "/lr_schedule";
        QTest::newRow("loss") << "/loss";
    }

    void training_stays_in_order_whatever_is_chosen() {
        QFETCH(QString, place);
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(tiny(), fixture.root());
        begin(fixture, "training");
        ui::FormSource source(fixture.studio().draft());
        const std::string at = place.toStdString();
        const config::Field* field = source.field(at);
        QVERIFY(field != nullptr && field->records.size() > 1);
        for (const config::RecordType& type : field->records) {
            fixture.studio().draft().edit({{at, {{"type", type.name}}}});
            checkOrder(fixture, "training", QString::fromStdString(type.name));
        }
    }

    void lists_stay_in_order_as_they_grow_and_shrink() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(tiny({{"/optimizer", {{"type", "adamw"}}}}),
                                             fixture.root());
        begin(fixture, "training");
        fixture.click("addGroup");
        fixture.click("addGroup");
        checkOrder(fixture, "training", "groups added");
        fixture.click("groupRemove0");
        checkOrder(fixture, "training", "a group removed");
        fixture.studio().draft().edit(
            {{"/metrics", Json::array({"accuracy"})}, {"/tags", Json::array({"a", "b"})}});
        checkOrder(fixture, "training", "lists grown");
        fixture.studio().draft().edit({{"/metrics", Json::array()}, {"/tags", Json::array({"b"})}});
        checkOrder(fixture, "training", "lists shrunk");
    }

    void data_stay_in_order_with_every_source_and_transform() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(tiny(), fixture.root());
        begin(fixture, "data");
        ui::FormSource source(fixture.studio().draft());
        for (const config::RecordType& type : source.field("/data/train")->records) {
            fixture.studio().draft().edit({{"/data/train", {{"type", type.name}}}});
            checkOrder(fixture, "data", QString::fromStdString(type.name));
        }
        const config::Field& transform = source.field("/data/transforms")->item.front();
        Json all = Json::array();
        for (const config::RecordType& type : transform.records) {
            all.push_back({{"type", type.name}});
            fixture.studio().draft().edit({{"/data/transforms", all}});
        }
        checkOrder(fixture, "data", "transforms added");
        all.erase(0);
        fixture.studio().draft().edit({{"/data/transforms", all}});
        checkOrder(fixture, "data", "a transform removed");
    }

    void the_model_stays_in_order_with_every_kind() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(tiny(), fixture.root());
        begin(fixture, "model");
        ui::FormSource source(fixture.studio().draft());
        for (const config::RecordType& type : source.field("/model")->records) {
            fixture.studio().draft().edit({{"/model", {{"type", type.name}}}});
            checkOrder(fixture, "model", QString::fromStdString(type.name));
        }
    }
};

WEFT_TEST(TabOrderTest)
#include "tab_order_test.moc"
