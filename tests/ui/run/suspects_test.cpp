// SPDX-License-Identifier: GPL-3.0-or-later
// By mouse and keys: samples that teach wrongly are looked for, decided about one by one, and a
// fork trains without them.
#include "core/data/corrections.h"
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/pages/live/suspects/suspects_panel.h"
#include "widgets/controls/text_label.h"

#include <QComboBox>
#include <QDialog>
#include <QPushButton>
#include <QTableView>

#include <fstream>

namespace {

using namespace weft;
using test::kRunPatienceMs;

constexpr int kSuspectsSegment = 4;

/// Two clouds, far apart; three rows of the first carry the name of the other, and one is there
/// twice.
std::string mislabelled_run(const std::filesystem::path& folder) {
    std::ofstream table(folder / "clouds.csv");
    table << "x,y,class\n";
    for (int i = 0; i < 240; ++i) {
        const bool high = i % 2 == 1;
        const bool wrong = i == 20 || i == 84 || i == 160;
        const double noise = (i * 37 % 97) / 97.0;
        // What is wrong lies farther from the other cloud than most: a network is sure of it.
        const int away = wrong ? 1 : 0;
        table << (high ? 5 : -away) + noise << "," << (high ? 0 : 5 + away) + (i * 53 % 89) / 89.0
              << "," << (high != wrong ? "high" : "low") << "\n";
    }
    table << 5 + 37 % 97 / 97.0 << "," << 53 % 89 / 89.0 << ",high\n"; // as the second row
    const config::Json document = {
        {"name", "clouds"},
        {"data",
         {{"train",
           {{"type", "csv"}, {"path", (folder / "clouds.csv").string()}, {"targets", {"class"}}}},
          {"validation", nullptr}}},
        {"model", {{"type", "mlp"}, {"hidden", {8}}}},
        {"optimizer", {{"type", "adamw"}, {"learning_rate", 1e-2}}},
        {"lr_schedule", {{"type", "constant"}}},
        {"training", {{"length", {{"epochs", 8}}}, {"global_batch_size", 16}}},
        {"checkpoint", {{"every", {{"epochs", 2}}}, {"keep_latest", 9}}}};
    return document.dump();
}

QString label_of(test::StudioFixture& fixture, const char* name) {
    return static_cast<widgets::TextLabel*>(fixture.find(name))->text();
}

} // namespace

class SuspectsTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void samples_are_looked_for_decided_about_and_a_fork_trains_without_them() {
        test::StudioFixture fixture;
        const auto file = fixture.root() / "run.json";
        std::ofstream(file) << mislabelled_run(fixture.root());
        fixture.window().showPage("train");
        const ui::StartResult started = fixture.studio().control().startFile(file);
        QVERIFY2(started.started, qPrintable(started.problem));
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        test::Mouse mouse(fixture);
        QTRY_VERIFY(mouse.choose("trainView", kSuspectsSegment));
        QVERIFY(mouse.press("suspectsBegin"));
        auto* table = fixture.window().findChild<QTableView*>("suspectTable");
        QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() >= 3, kRunPatienceMs);
        // The planted rows come first, with what they are.
        const auto text = [&](int row, int column) {
            return table->model()->index(row, column).data().toString();
        };
        QStringList first{text(0, ui::SuspectModel::SampleColumn),
                          text(1, ui::SuspectModel::SampleColumn),
                          text(2, ui::SuspectModel::SampleColumn)};
        first.sort();
        QCOMPARE(first, (QStringList{"160", "20", "84"}));
        for (int row = 0; row < 3; ++row) {
            QCOMPARE(text(row, ui::SuspectModel::LabelColumn), QString("high"));
            QVERIFY(text(row, ui::SuspectModel::SaysColumn).startsWith("low, "));
        }
        // Out, another class, kept; the last is taken back, and it is given its class, too.
        QVERIFY(mouse.pick("suspectTable", table->model()->index(0, 1)));
        QTRY_VERIFY(label_of(fixture, "suspectWords").contains("x "));
        QVERIFY(mouse.key(Qt::Key_X));
        QVERIFY(mouse.key(Qt::Key_R));
        QVERIFY(mouse.key(Qt::Key_K));
        QCOMPARE(text(2, ui::SuspectModel::DecisionColumn), QString("kept"));
        QVERIFY(mouse.press("suspectUndo"));
        QCOMPARE(text(2, ui::SuspectModel::DecisionColumn), QString());
        QCOMPARE(table->currentIndex().row(), 2);
        QVERIFY(mouse.press("suspectRelabel"));
        QCOMPARE(text(0, ui::SuspectModel::DecisionColumn), QString("left out"));
        QCOMPARE(text(1, ui::SuspectModel::DecisionColumn), QString("is low"));
        QCOMPARE(text(2, ui::SuspectModel::DecisionColumn), QString("is low"));
        QCOMPARE(label_of(fixture, "suspectSummary"), QString("1 left out, 2 with another class"));

        const auto parent = fixture.studio().run().folder();
        QVERIFY(mouse.inDialog([&] { return mouse.press("suspectsFork"); },
                               [&] { return mouse.press("startFork"); }));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().folder() != parent, kRunPatienceMs);
        const auto list = std::filesystem::path(
            fixture.studio().run().config().section("data").at("corrections").get<std::string>());
        QCOMPARE(list.parent_path(), fixture.root()); // beside the data
        const auto all = data::read_corrections(list);
        QCOMPARE(all.size(), std::size_t{3});
        QCOMPARE(
            std::count_if(all.begin(), all.end(), [](const auto& one) { return one.excludes(); }),
            std::ptrdiff_t{1});
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining() &&
                                     fixture.studio().run().state() == train::RunState::finished,
                                 kRunPatienceMs);
        // As long again as its parent, on one sample less: 241 are 16 batches, and 240 are 15.
        QVERIFY(fixture.studio().run().lastStep().step > 8 * 16);
    }

    void decisions_are_there_after_the_studio_was_closed() {
        test::StudioFixture fixture;
        const auto file = fixture.root() / "run.json";
        std::ofstream(file) << mislabelled_run(fixture.root());
        fixture.window().showPage("train");
        QVERIFY(fixture.studio().control().startFile(file).started);
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        const auto run = fixture.studio().run().folder();
        {
            test::Mouse mouse(fixture);
            QTRY_VERIFY(mouse.choose("trainView", kSuspectsSegment));
            QVERIFY(mouse.press("suspectsBegin"));
            auto* table = fixture.window().findChild<QTableView*>("suspectTable");
            QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() >= 3, kRunPatienceMs);
            QVERIFY(mouse.pick("suspectTable", table->model()->index(1, 1)));
            QVERIFY(mouse.press("suspectExclude"));
            QVERIFY(mouse.pick("suspectTable", table->model()->index(2, 1)));
            QVERIFY(mouse.press("suspectKeep"));
            const auto kept = run / "audit" / "decisions.jsonl";
            QTRY_VERIFY(std::filesystem::exists(kept) && data::read_corrections(kept).size() == 2);
        }
        fixture.reopen();
        fixture.window().showPage("train");
        fixture.studio().showRun(run);
        test::Mouse mouse(fixture);
        QTRY_VERIFY(mouse.choose("trainView", kSuspectsSegment));
        QTRY_COMPARE(label_of(fixture, "suspectSummary"), QString("1 left out"));
        const auto* table = fixture.window().findChild<QTableView*>("suspectTable");
        const auto decision = [&](int row) {
            return table->model()->index(row, ui::SuspectModel::DecisionColumn).data().toString();
        };
        QCOMPARE(decision(1), QString("left out"));
        QCOMPARE(decision(2), QString("kept"));
    }
};

WEFT_TEST(SuspectsTest)
#include "suspects_test.moc"
