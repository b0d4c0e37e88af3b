// SPDX-License-Identifier: GPL-3.0-or-later
// The step scrubber by mouse, by keys and played, and all that follows it on the page.
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/small_gpt.h"
#include "tests/ui/studio_fixture.h"
#include "ui/models/tensor_tree_model.h"
#include "ui/pages/plan/moment/moment_line.h"
#include "ui/pages/plan/moment/scrub_panel.h"
#include "ui/pages/plan/plan_page.h"
#include "ui/plurals.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/pill.h"
#include "widgets/look/theme_controller.h"
#include "widgets/mesh/device_grid.h"
#include "widgets/mesh/gantt_view.h"
#include "widgets/views/memory_timeline.h"

#include <QAbstractButton>
#include <QTableView>
#include <QTreeView>

#include <functional>

namespace {

using namespace weft;
using test::digest_of;
using test::kFourDataRanks;
using test::kGpipe;
using test::kPatienceMs;
using test::kTwoByTwo;
using test::small_gpt;

/// A scrubber on the screen.
struct ShownScrubber {
    explicit ShownScrubber(std::shared_ptr<const ui::PlanDigest> digest) {
        part.setParent(&window);
        part.resize(1200, 120);
        window.resize(part.size());
        window.show();
        part.setPlan({std::move(digest)});
    }
    widgets::MemoryTimeline& profile() {
        return *part.findChild<widgets::MemoryTimeline*>("stepProfile");
    }
    QAbstractButton& button(const char* name) { return *part.findChild<QAbstractButton*>(name); }
    QString line() { return part.findChild<ui::MomentLine*>()->text(); }
    int last() const { return part.moments()->count() - 1; }

    QWidget window;
    ui::ScrubPanel part;
};

} // namespace

class ScrubTest : public QObject {
    Q_OBJECT

    std::unique_ptr<widgets::ThemeController> controller_;

private slots:
    void initTestCase() {
        ui::installEnglishPlurals(*QCoreApplication::instance());
        controller_ = std::make_unique<widgets::ThemeController>();
    }
    void init() {
        QTest::failOnWarning(QRegularExpression(".*"));
        controller_->setReducedMotion(false);
    }

    void nothing_is_at_a_moment_before_it_is_begun() {
        ShownScrubber shown(digest_of(small_gpt(kTwoByTwo)));
        QCOMPARE(shown.part.position(), -1);
        QVERIFY(!shown.part.moment().valid());
        QSignalSpy moved(&shown.part, &ui::ScrubPanel::momentChanged);
        QTest::mouseClick(&shown.button("scrubStep"), Qt::LeftButton);
        QCOMPARE(shown.part.position(), 0);
        QCOMPARE(moved.count(), 1);
    }

    void the_handle_is_dragged() {
        ShownScrubber shown(digest_of(small_gpt(kTwoByTwo)));
        widgets::MemoryTimeline& profile = shown.profile();
        const auto place = [&](int position) {
            return profile.item(position).rect.center().toPoint();
        };
        QTest::mousePress(&profile, Qt::LeftButton, {}, place(40));
        const int pressed = shown.part.position();
        QVERIFY(std::abs(pressed - 40) <= 1); // half a pixel is less than an op
        QMouseEvent move(QEvent::MouseMove, place(200), profile.mapToGlobal(place(200)),
                         Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&profile, &move);
        QVERIFY(std::abs(shown.part.position() - 200) <= 1);
        QTest::mouseRelease(&profile, Qt::LeftButton, {}, place(200));
        QVERIFY(std::abs(shown.part.position() - 200) <= 1);
        QVERIFY(shown.line().startsWith(
            QString("op %1 of %2").arg(shown.part.position() + 1).arg(shown.last() + 1)));
    }

    void keys_move_by_ops_tens_and_phases() {
        ShownScrubber shown(digest_of(small_gpt(kTwoByTwo)));
        widgets::MemoryTimeline& profile = shown.profile();
        const auto& spans = shown.part.moments()->timeline().spans;
        QTest::keyClick(&profile, Qt::Key_Home);
        QCOMPARE(shown.part.position(), 0);
        QTest::keyClick(&profile, Qt::Key_Right);
        QCOMPARE(shown.part.position(), 1);
        QTest::keyClick(&profile, Qt::Key_Right, Qt::ShiftModifier);
        QCOMPARE(shown.part.position(), 11);
        QTest::keyClick(&profile, Qt::Key_Left);
        QCOMPARE(shown.part.position(), 10);
        QTest::keyClick(&profile, Qt::Key_PageDown);
        QCOMPARE(shown.part.position(), spans[1].first);
        QTest::keyClick(&profile, Qt::Key_PageDown);
        QCOMPARE(shown.part.position(), spans[2].first);
        QTest::keyClick(&profile, Qt::Key_PageUp);
        QCOMPARE(shown.part.position(), spans[1].first);
        QTest::keyClick(&profile, Qt::Key_End);
        QCOMPARE(shown.part.position(), shown.last());
        // Also from a button that has no use for them.
        QTest::keyClick(&shown.button("scrubBack"), Qt::Key_Home);
        QCOMPARE(shown.part.position(), 0);
    }

    void playing_goes_through_the_step_in_24_seconds_and_stops() {
        ShownScrubber shown(digest_of(small_gpt(kTwoByTwo), true));
        auto* speed = shown.part.findChild<widgets::SegmentedControl*>("scrubSpeed");
        speed->setCurrentIndex(0);
        const double whole = shown.part.moments()->duration();
        QTest::mouseClick(&shown.button("scrubPlay"), Qt::LeftButton);
        QVERIFY(shown.part.isPlaying());
        shown.part.setPosition(0); // whatever the timer did until now
        shown.part.advance(6000);
        QCOMPARE(shown.part.moment().time, whole / 4);
        speed->setCurrentIndex(2);
        shown.part.advance(250); // sixteen times as fast
        QCOMPARE(shown.part.moment().time, whole / 4 + whole / 6);
        shown.part.advance(1500);
        QCOMPARE(shown.part.position(), shown.last());
        QVERIFY(!shown.part.isPlaying());
        QVERIFY(!shown.button("scrubPlay").isChecked());
        // From the end it begins anew.
        QTest::keyClick(&shown.profile(), Qt::Key_Space);
        QVERIFY(shown.part.isPlaying());
        QVERIFY(shown.part.position() < shown.last());
        shown.part.hide(); // nobody looks
        QVERIFY(!shown.part.isPlaying());
    }

    void a_hand_pauses_the_playing() {
        ShownScrubber shown(digest_of(small_gpt(kTwoByTwo)));
        const auto pauses = [&](const std::function<void()>& hand) {
            shown.part.setPosition(40);
            shown.part.setPlaying(true);
            hand();
            const bool paused = !shown.part.isPlaying();
            shown.part.setPlaying(false);
            return paused;
        };
        const auto key = [&](Qt::Key pressed) {
            return pauses([&] { QTest::keyClick(&shown.profile(), pressed); });
        };
        QVERIFY(key(Qt::Key_Right));
        QVERIFY(key(Qt::Key_Left));
        QVERIFY(key(Qt::Key_PageDown));
        QVERIFY(key(Qt::Key_P));
        for (const char* name : {"scrubBack", "scrubStep"}) {
            QVERIFY(pauses([&] { QTest::mouseClick(&shown.button(name), Qt::LeftButton); }));
        }
        // Also where it is held and not moved.
        QVERIFY(pauses([&] {
            const int at = shown.part.position();
            QTest::mousePress(&shown.profile(), Qt::LeftButton, {},
                              shown.profile().item(at).rect.center().toPoint());
        }));
        // What is chosen elsewhere on the page moves it too.
        QVERIFY(pauses([&] { shown.part.setOp(shown.part.moment().op + 5); }));
        QVERIFY(pauses([&] { shown.part.setAction(0, 0); }));
        shown.part.setPosition(0);
        shown.part.setPlaying(true);
        shown.part.advance(1);
        QVERIFY(shown.part.isPlaying()); // its own moves do not
    }

    void with_reduced_motion_playing_goes_from_phase_to_phase() {
        controller_->setReducedMotion(true);
        ShownScrubber shown(digest_of(small_gpt(kTwoByTwo)));
        const auto& spans = shown.part.moments()->timeline().spans;
        shown.part.findChild<widgets::SegmentedControl*>("scrubSpeed")->setCurrentIndex(0);
        shown.part.setPosition(0);
        shown.part.setPlaying(true);
        shown.part.advance(1900);
        QCOMPARE(shown.part.position(), 0);
        shown.part.advance(200);
        QCOMPARE(shown.part.position(), spans[1].first);
        shown.part.setPlaying(false);
    }

    void another_plan_keeps_the_share_of_the_step() {
        ShownScrubber shown(digest_of(small_gpt(kTwoByTwo)));
        shown.part.setPosition(shown.last());
        shown.part.setPlan({digest_of(small_gpt(kFourDataRanks))});
        QCOMPARE(shown.part.position(), shown.last());
        // What is only a layout yet has no step.
        auto layout = std::make_shared<plan::ExecutionPlan>();
        shown.part.setPlan({ui::digestPlan(layout)});
        QVERIFY(!shown.part.moment().valid());
        QVERIFY(!shown.button("scrubPlay").isEnabled());
    }

    void low_windows_keep_line_and_shape() {
        ShownScrubber shown(digest_of(small_gpt(kTwoByTwo)));
        QVERIFY(shown.part.sizeHint().height() <= 120);
        shown.part.setLow(true);
        QTRY_VERIFY(shown.part.sizeHint().height() <= 68); // once the layout has heard of it
        QTest::keyClick(&shown.profile(), Qt::Key_End);
        QCOMPARE(shown.part.position(), shown.last());
    }

    void the_page_is_at_one_moment() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(small_gpt(kTwoByTwo), fixture.root());
        fixture.window().showPage("plan");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("planTab")->isVisible(), kPatienceMs);
        const auto segments = fixture.find("planTab")->findChildren<QAbstractButton*>();
        QTest::mouseClick(segments.first(), Qt::LeftButton);
        auto& grid = *static_cast<widgets::DeviceGrid*>(fixture.find("meshGrid"));
        QTRY_VERIFY_WITH_TIMEOUT(grid.itemCount() == 4, kPatienceMs);
        auto& scrub = *static_cast<ui::ScrubPanel*>(fixture.find("stepScrubber"));
        QTRY_VERIFY_WITH_TIMEOUT(scrub.moments()->count() > 0, kPatienceMs);
        QVERIFY(!grid.item(0).name.contains("now")); // what it needs
        auto& preview = static_cast<ui::PlanPage*>(fixture.window().page("plan"))->preview();
        QTRY_VERIFY_WITH_TIMEOUT(preview.isComplete(), kPatienceMs);
        // The op that the forward of the chosen tensor's layer begins with.
        const plan::PlannedProgram& program = test::step_of(*preview.digest());
        const QString tensor = "blocks.0.attention.qkv.weight";
        const int op = test::find_op(program, [](const plan::Step& step) {
            return step.op.kind == "linear" && step.op.path == "blocks.0.attention.qkv";
        });
        scrub.setOp(op);
        QCOMPARE(scrub.moment().op, op);
        QVERIFY(grid.item(0).name.contains("holds " + widgets::formatMemory(scrub.moment().total)));
        auto* tree = static_cast<QTreeView*>(fixture.find("tensorTree"));
        const auto* model = static_cast<ui::TensorTreeModel*>(tree->model());
        const QModelIndex row = model->indexOf(tensor);
        QCOMPARE(row.data(ui::TensorTreeModel::kTouchRole).toInt(), ui::TensorTreeModel::Read);
        QVERIFY(row.data(Qt::AccessibleTextRole).toString().endsWith("read now"));
        tree->setCurrentIndex(row);
        auto* touch = static_cast<widgets::Badge*>(fixture.find("tensorTouch"));
        QCOMPARE(touch->text(), "read");
        // A collective that is chosen moves everything; and it stays chosen.
        auto* table = static_cast<QTableView*>(fixture.find("collectiveTable"));
        table->selectRow(0);
        QVERIFY(scrub.moment().collective >= 0);
        QCOMPARE(scrub.moment().collective, scrub.moment().op);
        QVERIFY(table->selectionModel()->isRowSelected(0, {}));
        QCOMPARE(touch->text(), QString());
        // The Plan part is at the same op, and moves this one.
        const int collective = scrub.moment().op;
        QTest::mouseClick(segments[1], Qt::LeftButton);
        auto* timeline = static_cast<widgets::MemoryTimeline*>(fixture.find("memoryTimeline"));
        QCOMPARE(timeline->cursorItem(), collective);
        QTest::keyClick(timeline, Qt::Key_Home);
        QTest::mouseClick(segments.first(), Qt::LeftButton);
        QCOMPARE(scrub.moment().op, 0);
    }

    void a_pipeline_is_marked_and_its_cells_lead_to_their_ops() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(small_gpt(kGpipe), fixture.root());
        fixture.window().showPage("plan");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("planTab")->isVisible(), kPatienceMs);
        QTest::mouseClick(fixture.find("planTab")->findChildren<QAbstractButton*>().first(),
                          Qt::LeftButton);
        auto& chart = *static_cast<widgets::GanttView*>(fixture.find("pipelineChart"));
        auto& scrub = *static_cast<ui::ScrubPanel*>(fixture.find("stepScrubber"));
        QTRY_VERIFY_WITH_TIMEOUT(scrub.moments()->count() > 0, kPatienceMs);
        QVERIFY(!chart.mark());
        for (int stage = 0; stage < 4; ++stage) {
            for (const int action : {1, 4}) {
                const int item = chart.itemOf(stage, action);
                QTest::mouseClick(&chart, Qt::LeftButton, {},
                                  chart.item(item).rect.center().toPoint());
                QVERIFY(chart.mark());
                const auto running = chart.itemsAt(*chart.mark());
                QVERIFY(std::find(running.begin(), running.end(), item) != running.end());
            }
        }
    }
};

WEFT_TEST(ScrubTest)
#include "scrub_test.moc"
