// SPDX-License-Identifier: GPL-3.0-or-later
// What the page Profiler shows of a recording, from recordings with known times.
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"
#include "tests/ui/studio_fixture.h"
#include "tests/unit/profile/made_up_recording.h"
#include "ui/bridge/profile/open_recording.h"
#include "ui/bridge/profile/profile_fix.h"
#include "ui/models/profile_model.h"

#include <QAbstractItemModelTester>

namespace {

using namespace weft;
using profile::CauseKind;
using widgets::SpanKind;

profile::Cause cause(const char* setting) {
    return {CauseKind::host, 0.5, "", "", setting};
}

} // namespace

class ProfileViewTest : public QObject, private test::TestFolder {
    Q_OBJECT

    std::shared_ptr<const ui::OpenRecording> opened(const char* run,
                                                    const profile::Recording& recording) const {
        return std::make_shared<const ui::OpenRecording>(
            ui::openRecording(profile::write_recording(path(run), recording)));
    }

private slots:
    void a_step_has_a_row_for_each_device_its_exchanges_the_loader_and_the_host() {
        const auto open = opened("mesh", test::MadeUpRecording(2)
                                             .batch_after(10)
                                             .call(test::product("layers.0", 100), 200)
                                             .call(test::all_reduce(), 60, 20)
                                             .call(test::product("layers.0", 100), 240, 0, 1)
                                             .call(test::all_reduce(), 20, 0, 1)
                                             .host_after(30)
                                             .done());
        const widgets::EventTimelineData data = ui::timelineOf(*open, 0);
        QStringList names;
        for (const widgets::EventRow& row : data.rows) {
            names.append(row.name);
        }
        QCOMPARE(names, QStringList({"cpu:0", "exchange", "cpu:1", "exchange", "loader", "host"}));
        QCOMPARE(data.length, 0.3);
        const auto& exchange = data.rows[1].spans;
        QCOMPARE(exchange.size(), 2U);
        QCOMPARE(exchange[0].kind, SpanKind::Waiting);
        QCOMPARE(exchange[0].start, 0.21);
        QCOMPARE(exchange[0].end, 0.23);
        QCOMPARE(exchange[1].kind, SpanKind::Exchange);
        QCOMPARE(exchange[1].end, 0.27);
        QCOMPARE(data.rows[4].spans[0].end, 0.01);
        QCOMPARE(data.rows[5].spans[0].start, 0.27);
        QCOMPARE(data.labels[0].name, QString("matmul"));
        QVERIFY(data.labels[0].detail.contains("layers.0"));
    }

    // Rate and intensity are what the call says: 50e6 FLOP and 1e4 bytes in 100 microseconds.
    void a_kernel_stands_at_its_rate_and_intensity() {
        const auto open = opened("roof", test::MadeUpRecording()
                                             .call(test::product("layers.0", 50), 100)
                                             .call(test::all_reduce(), 100)
                                             .done());
        const ui::RooflineData data = ui::rooflineOf(*open);
        QCOMPARE(data.points.size(), 1U);
        QCOMPARE(data.points[0].rate, 50e6 / 100e-6);
        QCOMPARE(data.points[0].intensity, 50e6 / 1e4);
        QCOMPARE(data.points[0].share, 0.5);
        QCOMPARE(data.kernels[0], std::string("onednn matmul"));
        QCOMPARE(data.ceilings.size(), 2U);
        QCOMPARE(data.bandwidth, 4e10);
    }

    void rows_stand_beside_those_of_another_recording() {
        const auto before = opened("before", test::MadeUpRecording()
                                                 .call(test::product("a", 50), 300)
                                                 .call(test::reduction("b", 10), 80)
                                                 .done());
        const auto now = opened("now", test::MadeUpRecording()
                                           .call(test::product("a", 50), 100)
                                           .call(test::elementwise("c", 10), 20)
                                           .done());
        ui::ProfileModel model;
        const QAbstractItemModelTester tester(&model);
        model.setRecordings(now, before, profile::Grouping::op);
        QCOMPARE(model.rowCount(), 3);
        const auto row = [&](const char* name) { return model.row(model.rowOf(name)); };
        QCOMPARE(row("matmul forward").now.us, 100.0);
        QCOMPARE(row("matmul forward").before_us, 300.0);
        QCOMPARE(row("gelu forward").before_us, 0.0);
        QCOMPARE(row("layer_norm backward").now.us, 0.0);
        QCOMPARE(row("layer_norm backward").before_us, 80.0);
        const QModelIndex best =
            model.index(model.rowOf("matmul forward"), ui::ProfileModel::BestColumn);
        QCOMPARE(best.data().toString(), QString("2.0×"));
        model.setRecordings(now, nullptr, profile::Grouping::layer);
        QCOMPARE(model.rowCount(), 2);
        QVERIFY(model.rowOf("c") >= 0);
        QCOMPARE(model.rowOf("b"), -1);
        model.setRecordings(nullptr, nullptr, profile::Grouping::op);
        QCOMPARE(model.rowCount(), 0);
    }

    void what_helps_is_set_beyond_what_the_run_has() {
        const auto checked =
            compile::read_run_config(std::string_view(test::tiny_config()), path(""));
        QVERIFY(checked.ok());
        compile::RunConfig run = checked.config;
        run.num_workers = 1;
        const auto workers = ui::fixOf(cause("data.num_workers"), run, {}, 4);
        QVERIFY(workers);
        QCOMPARE(workers->edits[0].pointer, std::string("/data/num_workers"));
        QCOMPARE(workers->edits[0].value->get<int>(), 2);
        run.num_workers = 4;
        QVERIFY(!ui::fixOf(cause("data.num_workers"), run, {}, 4));
        const auto batch = ui::fixOf(cause("training.global_batch_size"), run, {}, 4);
        QVERIFY(batch);
        QCOMPARE(batch->edits.size(), 1U);
        QCOMPARE(batch->edits[0].value->get<int>(), 64);
        run.document["training"]["micro_batch_size"] = 16;
        const auto both = ui::fixOf(cause("training.global_batch_size"), run, {}, 4);
        QCOMPARE(both->edits[1].value->get<int>(), 32);
        QVERIFY(!ui::hasFix(run.document, *both));
        run.document["training"]["global_batch_size"] = 64;
        run.document["training"]["micro_batch_size"] = 32;
        QVERIFY(ui::hasFix(run.document, *both));
        const auto precision = ui::fixOf(cause("training.precision"), run, {}, 4);
        QCOMPARE(precision->edits[0].value->get<std::string>(), std::string("bf16"));
        run.precision = "bf16";
        QVERIFY(!ui::fixOf(cause("training.precision"), run, {}, 4));
        QVERIFY(ui::fixOf(cause("mesh"), run, {}, 4)->opens_plan);
        QVERIFY(!ui::fixOf(cause(""), run, {}, 4));
    }
};

WEFT_TEST(ProfileViewTest)
#include "profile_view_test.moc"
