// SPDX-License-Identifier: GPL-3.0-or-later
// What preparing data takes in a run, as pages show it.
#include "core/base/machine.h"
#include "tests/support/weft_test.h"
#include "ui/bridge/draft/draft.h"
#include "ui/bridge/run/run_model.h"
#include "ui/pages/loading_panel.h"
#include "widgets/views/bar_list.h"

#include <QLabel>
#include <QPushButton>

namespace {

using namespace weft;

/// A second in which the training thread made batches itself and waited for most of it.
train::LoaderEvent starved_second() {
    train::LoaderEvent out;
    out.step = 40;
    out.steps_ms = 1000;
    out.wait_ms = 500;
    out.samples = 640;
    out.read_ms = 100;
    out.decode_ms = 400;
    return out;
}

struct Shown {
    ui::RunModel run;
    ui::Draft draft;
    ui::LoadingPanel panel{run, draft};

    Shown() {
        draft.setDocument({{"data", {{"num_workers", 0}}}}, {});
        run.begin("runs/a", {});
    }
    QString sentence() const { return panel.findChild<QLabel*>("loadingSentence")->text(); }
    QPushButton& button() const { return *panel.findChild<QPushButton*>("loadingSet"); }
};

} // namespace

class LoadingTest : public QObject {
    Q_OBJECT

private slots:
    void nothing_is_shown_before_a_run_tells() {
        Shown shown;
        QVERIFY(shown.panel.isHidden());
        shown.run.apply({{0, 100, starved_second()}});
        QVERIFY(!shown.panel.isHidden());
        shown.run.clear();
        QVERIFY(shown.panel.isHidden());
    }

    void stages_are_bars_with_what_a_thread_makes_of_them() {
        Shown shown;
        shown.run.apply({{0, 100, starved_second()}});
        const auto& bars = shown.panel.findChild<widgets::BarList*>("loadingStages")->bars();
        QCOMPARE(bars.size(), std::size_t{4});
        QCOMPARE(bars[0].count, 100);
        QCOMPARE(bars[1].count, 400);
        const QString rates = shown.panel.findChild<QLabel*>("loadingRates")->text();
        QVERIFY2(rates.contains("read 6,400"), qPrintable(rates));   // 640 in 0.1 s
        QVERIFY2(rates.contains("decode 1,600"), qPrintable(rates)); // 640 in 0.4 s
        QVERIFY(!rates.contains("transform"));
    }

    void what_helps_is_set_in_the_draft_by_one_click() {
        Shown shown;
        shown.run.apply({{0, 100, starved_second()}});
        QVERIFY2(shown.sentence().contains("wait for data 50 %"), qPrintable(shown.sentence()));
        QVERIFY2(shown.sentence().contains("decoding takes 80 %"), qPrintable(shown.sentence()));
        QVERIFY(!shown.button().isHidden());
        QCOMPARE(shown.button().text(), QString("Set to 1"));
        shown.button().click();
        QCOMPARE(shown.draft.document().at("data").at("num_workers"), config::Json(1));
        QVERIFY(shown.button().isHidden()); // the draft has it
    }

    void data_that_are_ready_need_no_button() {
        Shown shown;
        train::LoaderEvent event = starved_second();
        event.wait_ms = 0;
        shown.run.apply({{0, 100, event}});
        QCOMPARE(shown.sentence(), QString("Data are ready before they are asked for."));
        QVERIFY(shown.button().isHidden());
    }
};

WEFT_TEST(LoadingTest)
#include "loading_test.moc"
