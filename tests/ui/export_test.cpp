// SPDX-License-Identifier: GPL-3.0-or-later
// What the plan page hands out: its drawings, and the mesh in other programs' words.
#include "core/compile/mesh_recipe.h"
#include "tests/support/weft_test.h"
#include "tests/ui/mesh_support.h"
#include "tests/ui/studio_fixture.h"
#include "ui/screens/drawings.h"
#include "ui/screens/plan/export_menu.h"

#include <QAbstractButton>
#include <QClipboard>
#include <QPushButton>

namespace {

using namespace weft;

constexpr int kPatienceMs = 30000;

QStringList titles(const QMenu& menu) {
    QStringList out;
    for (const QAction* action : menu.actions()) {
        out.append(action->text());
    }
    return out;
}

} // namespace

class ExportTest : public QObject {
    Q_OBJECT

private slots:
    void names_of_files_have_no_runs_of_dashes() {
        QCOMPARE(ui::fileName("blocks.0.qkv.weight, [64, 192]"),
                 QString("blocks-0-qkv-weight-64-192"));
        QCOMPARE(ui::fileName("Devices"), QString("devices"));
    }

    void the_mesh_is_copied_and_drawings_are_listed_where_they_are_shown() {
        test::StudioFixture fixture;
        const compile::RunConfig config = test::mesh_config(test::kTwoByTwo);
        fixture.studio().draft().setDocument(config.document, fixture.root());
        fixture.window().showPage("plan");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("planPart")->isVisible(), kPatienceMs);
        auto* button = static_cast<QPushButton*>(fixture.find("planExport"));
        QTRY_VERIFY_WITH_TIMEOUT(button->isEnabled(), kPatienceMs);
        auto* menu = qobject_cast<ui::ExportMenu*>(button->menu());
        QVERIFY(menu != nullptr);
        const auto drawings = [&](const char* suffix) {
            menu->popup({0, 0}); // it lists anew whenever it opens
            const QStringList out =
                titles(*menu->findChild<QMenu*>(QString("exportDrawing_%1").arg(suffix)));
            menu->close();
            return out;
        };
        QVERIFY(drawings("png").contains("Memory over the steps…"));
        QTest::mouseClick(fixture.find("planPart")->findChildren<QAbstractButton*>().first(),
                          Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("meshGrid")->isVisible(), kPatienceMs);
        QVERIFY(drawings("svg").contains("Devices…"));
        QVERIFY(drawings("svg").indexOf("Devices…") < // as on the page, from top to bottom
                drawings("svg").indexOf("What the stages of the pipeline do when…"));
        QVERIFY(!drawings("png").contains("Memory over the steps…"));
        const QSignalSpy done(menu, &ui::ExportMenu::done);
        const auto plan = test::mesh_digest(config)->plan;
        for (const plan::MeshFormatDef& format : plan::kMeshFormats) {
            menu->popup({0, 0});
            menu->findChild<QAction*>("copy_" + QString::fromUtf8(format.name.data()))->trigger();
            menu->close();
            QVERIFY(done.back().at(0).toBool());
            QCOMPARE(QGuiApplication::clipboard()->text().toStdString(),
                     plan::write_mesh_as(format.format, *plan, compile::mesh_recipe(config)));
        }
    }
};

WEFT_TEST(ExportTest)
#include "export_test.moc"
