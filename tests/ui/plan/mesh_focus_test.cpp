// SPDX-License-Identifier: GPL-3.0-or-later
// The mesh page for those who use keys, and for those who have a small window: Tab goes where the
// eye goes, and nothing is cut off.
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "tests/ui/small_gpt.h"
#include "ui/pages/plan/mesh/mesh_panel.h"
#include "ui/plurals.h"
#include "widgets/controls/controls.h"

#include <QApplication>
#include <QScrollArea>
#include <QScrollBar>

namespace {

using namespace weft;
using test::kPatienceMs;

void open_mesh_at(test::StudioFixture& fixture, QSize size, double font_scale = 1.0) {
    ui::MainWindow& window = fixture.window();
    const int steps = qRound((font_scale - 1.0) * 10); // each a tenth
    for (int i = 0; i < steps; ++i) {
        window.actions().get(ui::action::kTextLarger)->trigger();
    }
    window.resize(size);
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    fixture.studio().draft().setDocument(test::small_gpt(test::kTwoByTwo), fixture.root());
    test::Mouse mouse(fixture);
    QVERIFY(mouse.go("plan"));
    QVERIFY(mouse.choose("planTab", 0));
    QTRY_VERIFY_WITH_TIMEOUT(window.findChild<QWidget*>("slot_0") != nullptr, kPatienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(fixture.find("planExport")->isEnabled(), kPatienceMs); // all is there
    window.activateWindow(); // the offscreen platform forgets the window that has the keyboard
    QVERIFY(QTest::qWaitForWindowActive(&window));
}

/// The stops of the Tab key, from the first one to where it comes again.
QList<QWidget*> stops(test::StudioFixture& fixture) {
    test::Keyboard keyboard(fixture);
    QList<QWidget*> out;
    for (QWidget* focus = QApplication::focusWidget(); !out.contains(focus);
         focus = QApplication::focusWidget()) {
        out << focus;
        keyboard.key(Qt::Key_Tab);
    }
    return out;
}

QString object_name_of(const QWidget* widget) {
    const bool segment = qobject_cast<widgets::SegmentedControl*>(widget->parentWidget());
    return (segment ? widget->parentWidget() : widget)->objectName();
}

} // namespace

class MeshFocusTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void tab_goes_through_the_page_as_the_eye_does() {
        test::StudioFixture fixture;
        open_mesh_at(fixture, {1440, 900});
        QStringList names;
        for (const QWidget* stop : stops(fixture)) {
            names << object_name_of(stop);
        }
        qsizetype before = -1;
        for (const char* name :
             {"planTab",        "planExport",    "meshWhere",      "meshDevices",
              "strategy_2d",    "axisGrip_data", "axisSize_data",  "axisRemove_data",
              "axisGrip_model", "axisAdd",       "meshZero",       "tensorFilter",
              "tensorTree",     "meshGrid",      "tensorSide",     "slot_0",
              "tileView",       "meshDrawer",    "collectiveForm", "collectiveTable",
              "scrubPlay",      "stepProfile"}) {
            const qsizetype place = names.indexOf(name);
            QVERIFY2(place > before, qPrintable(QString(name) + " in " + names.join(' ')));
            before = place;
        }
    }

    void every_stop_of_the_tab_key_can_be_seen() {
        test::StudioFixture fixture;
        open_mesh_at(fixture, {1440, 900});
        for (const QWidget* stop : stops(fixture)) {
            QVERIFY2(
                !stop->visibleRegion().isEmpty(),
                qPrintable(
                    QString("%1 \"%2\"").arg(stop->metaObject()->className(), stop->objectName())));
        }
    }

    void nothing_is_cut_off_at_the_side_data() {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<double>("font");
        QTest::newRow("1440 x 900") << QSize(1440, 900) << 1.0;
        QTest::newRow("1440 x 900, large text") << QSize(1440, 900) << 1.5;
        QTest::newRow("1024 x 680") << QSize(1024, 680) << 1.0;
        QTest::newRow("1024 x 680, large text") << QSize(1024, 680) << 1.5;
    }

    void nothing_is_cut_off_at_the_side() {
        QFETCH(QSize, size);
        QFETCH(double, font);
        test::StudioFixture fixture;
        open_mesh_at(fixture, size, font);
        auto* mesh = fixture.window().findChild<ui::MeshPanel*>();
        auto* drawer = static_cast<widgets::SegmentedControl*>(fixture.find("meshDrawer"));
        for (int part = 0; part < drawer->count(); ++part) {
            drawer->setCurrentIndex(part);
            QTest::qWait(0); // the layout
            if (fixture.find("compareUse")->isVisible()) { // with both plans
                QTRY_VERIFY_WITH_TIMEOUT(fixture.find("compareMemory")->isVisible(), kPatienceMs);
            }
            for (const QScrollArea* area : mesh->findChildren<QScrollArea*>()) {
                const QWidget* content = area->widget();
                QVERIFY2(!area->isVisible() || content->width() <= area->viewport()->width(),
                         qPrintable(QString("part %1: %2 of %3 px: %4")
                                        .arg(part)
                                        .arg(area->viewport()->width())
                                        .arg(content->width())
                                        .arg(widest(*content))));
            }
        }
    }

    // Where there is room for the whole page it does not scroll.
    void the_page_fits_its_designed_size() {
        test::StudioFixture fixture;
        open_mesh_at(fixture, {1440, 900});
        auto* mesh = fixture.window().findChild<ui::MeshPanel*>();
        const auto* page = mesh->findChild<QScrollArea*>({}, Qt::FindDirectChildrenOnly);
        QCOMPARE(page->verticalScrollBar()->maximum(), 0);
        // What splits a tensor by hand takes a second line.
        fixture.studio().draft().apply(
            {R"x(mesh.specs={"blocks.0.attention.qkv.weight":"P('data','model')"})x"});
        QTRY_VERIFY(fixture.window().findChild<QWidget*>("splitBack") != nullptr);
        QTest::qWait(0); // the layout
        QCOMPARE(page->verticalScrollBar()->maximum(), 0);
        fixture.studio().draft().setDocument(test::small_gpt(R"({"devices": "cpu"})"),
                                             fixture.root());
        QTRY_VERIFY(fixture.find("useExample")->isVisible());
        QTest::qWait(0); // the layout
        QCOMPARE(page->verticalScrollBar()->maximum(), 0);
    }

private:
    /// What asks for most width, down to the part that does.
    static QString widest(const QWidget& content) {
        QStringList out;
        for (const QWidget* at = &content; at != nullptr;) {
            const QWidget* next = nullptr;
            for (const auto* child :
                 at->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
                const int least = std::max(child->minimumSizeHint().width(), child->minimumWidth());
                if (!child->isWindow() &&
                    (next == nullptr ||
                     least > std::max(next->minimumSizeHint().width(), next->minimumWidth()))) {
                    next = child;
                }
            }
            at = next;
            if (at != nullptr) {
                out << QString("%1 \"%2\" %3")
                           .arg(at->metaObject()->className(), at->objectName())
                           .arg(std::max(at->minimumSizeHint().width(), at->minimumWidth()));
            }
        }
        return out.join(" < ");
    }
};

WEFT_TEST(MeshFocusTest)
#include "mesh_focus_test.moc"
