// SPDX-License-Identifier: GPL-3.0-or-later
// Better meshes: the search in the background, the list and the drawing of what it found, and what
// is taken over, by mouse and by keys.
#include "core/advise/alternatives.h"
#include "core/base/error.h"
#include "tests/support/weft_test.h"
#include "tests/ui/mesh_support.h"
#include "tests/ui/patience.h"
#include "ui/models/advice_model.h"
#include "ui/pages/plan/mesh/others/advice_panel.h"
#include "ui/plurals.h"
#include "widgets/controls/pill.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/theme_controller.h"
#include "widgets/views/trade_off_chart.h"

#include <QAbstractItemModelTester>
#include <QHeaderView>
#include <QPushButton>
#include <QSemaphore>
#include <QTableView>

namespace {

using namespace weft;
using test::kPatienceMs;
using Meshes = ui::Planner::Meshes;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

plan::Alternative way(const std::string& change, std::int64_t bytes, double ms,
                      const std::vector<std::string>& overrides) {
    plan::Alternative out;
    out.change = change;
    out.overrides = overrides;
    out.peak_bytes = bytes;
    out.predicted_step_ms = ms;
    out.communication_ms = ms / 4;
    return out;
}

/// Two meshes of four devices, and why the others are not.
advise::MeshAdvice found() {
    advise::MeshAdvice out;
    out.ways = {
        way("data=4 x model=1, ZeRO 0, micro batch 4", 2 * kGiB, 1.5,
            {"mesh.strategy=2d", "mesh.axes=[[\"data\",4],[\"model\",1]]", "mesh.zero_stage=0",
             "training.recompute=none", "training.micro_batch_size=4"}),
        way("data=2 x pipeline=2 x model=1, 1f1b, ZeRO 1, micro batch 2", kGiB, 2.5,
            {"mesh.strategy=3d", "mesh.axes=[[\"data\",2],[\"pipeline\",2],[\"model\",1]]",
             "mesh.zero_stage=1", "training.recompute=none", "training.micro_batch_size=2",
             "mesh.pipeline.schedule=1f1b"})};
    out.others = {{"do not fit with model=1: the least needs about 150 GiB", 412}};
    out.candidates = 414;
    return out;
}

/// Everything that the labels of a widget say.
QString words(const QWidget& widget) {
    QString out;
    for (const auto* label : widget.findChildren<widgets::TextLabel*>()) {
        out += label->text() + '\n';
    }
    for (const auto* label : widget.findChildren<widgets::ElidedLabel*>()) {
        out += label->text() + '\n';
    }
    return out;
}

class ShownAdvice {
public:
    explicit ShownAdvice(Meshes meshes) : part(std::move(meshes)) {
        part.resize(1280, 260);
        part.show();
        give(test::mesh_config(test::kThere));
    }

    void give(const compile::RunConfig& config) {
        part.setPlan({test::mesh_digest(config),
                      std::make_shared<const ui::MeshRun>(ui::MeshRun{config, nullptr})});
    }
    QPushButton& button(const char* name) { return *part.findChild<QPushButton*>(name); }
    QTableView& table() { return *part.findChild<QTableView*>("adviceTable"); }
    widgets::TradeOffChart& chart() { return *part.findChild<widgets::TradeOffChart*>(); }
    QString cell(int row, int column) {
        return table().model()->index(row, column).data().toString();
    }
    void look() {
        QTest::mouseClick(&button("adviceLook"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(table().isVisible(), kPatienceMs);
    }

    ui::AdvicePanel part;
};

Meshes answers() {
    return [](const auto&, auto, const auto&, const auto&, const std::function<void()>& planned) {
        planned();
        return found();
    };
}

} // namespace

class AdviceTest : public QObject {
    Q_OBJECT

    std::unique_ptr<widgets::ThemeController> controller_;

private slots:
    void initTestCase() {
        ui::installEnglishPlurals(*QCoreApplication::instance());
        controller_ = std::make_unique<widgets::ThemeController>();
    }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void nothing_is_searched_before_it_is_asked_for() {
        bool searched = false;
        ShownAdvice shown([&](const auto&, auto, const auto&, const auto&, const auto&) {
            searched = true;
            return found();
        });
        QVERIFY(!searched);
        QVERIFY(!shown.table().isVisible());
        QVERIFY(words(shown.part).contains("Is there a better mesh?"));
    }

    void the_draft_stands_among_what_was_found() {
        ShownAdvice shown(answers());
        const QAbstractItemModelTester tester(shown.table().model());
        shown.look();
        QCOMPARE(shown.table().model()->rowCount(), 3);
        QCOMPARE(shown.cell(0, ui::AdviceModel::MarkColumn), QString("draft"));
        QCOMPARE(shown.cell(0, ui::AdviceModel::MeshColumn), QString("data=2 × model=2"));
        QCOMPARE(shown.cell(1, ui::AdviceModel::MeshColumn), QString("data=4"));
        QCOMPARE(shown.cell(1, ui::AdviceModel::CollectiveColumn), QString("25 %"));
        // Two even stages and four microbatches: 1 of 5 (Huang et al. 2019).
        QCOMPARE(shown.cell(2, ui::AdviceModel::BubbleColumn), QString("20 %"));
        QVERIFY(words(shown.part).contains("412  do not fit with model=1"));
        QVERIFY(words(shown.part).contains("2 of 414 candidates"));
        QCOMPARE(shown.chart().itemCount(), 3);
    }

    // The draft of a small model holds less and is as fast: nothing beats it in both.
    void marks_say_which_no_other_beats() {
        ui::AdviceModel model;
        std::vector<ui::MeshWay> ways;
        for (const auto& one : {way("a=1", 4, 1, {}), way("b=1", 2, 2, {}), way("c=1", 3, 3, {})}) {
            ways.push_back({one, "", std::nullopt});
        }
        model.setWays(ways, nullptr);
        QVERIFY(model.row(0).best && model.row(1).best);
        QVERIFY(!model.row(2).best); // b holds less and is faster
    }

    void the_list_sorts_and_the_drawing_follows_it() {
        ShownAdvice shown(answers());
        shown.look();
        QHeaderView* header = shown.table().horizontalHeader();
        const int x = header->sectionViewportPosition(ui::AdviceModel::MemoryColumn) + 5;
        QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, {x, header->height() / 2});
        QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, {x, header->height() / 2});
        QCOMPARE(shown.table().model()->rowCount(), 3);
        std::vector<qlonglong> bytes;
        for (int row = 0; row < 3; ++row) {
            bytes.push_back(shown.table()
                                .model()
                                ->index(row, ui::AdviceModel::MemoryColumn)
                                .data(ui::AdviceModel::kSortRole)
                                .toLongLong());
        }
        QVERIFY(std::is_sorted(bytes.begin(), bytes.end()) ||
                std::is_sorted(bytes.rbegin(), bytes.rend()));
        // A row chosen by key is the point of the drawing, and the other way round.
        shown.table().setFocus();
        shown.table().selectRow(1);
        const QString mesh = shown.cell(1, ui::AdviceModel::MeshColumn);
        QVERIFY(shown.chart().item(shown.chart().cursorItem()).name.contains(mesh));
        shown.chart().setFocus();
        QTest::keyClick(&shown.chart(), Qt::Key_Home);
        const int row = shown.table().selectionModel()->selectedRows().front().row();
        QVERIFY(shown.chart().item(0).name.contains(shown.cell(row, ui::AdviceModel::MeshColumn)));
    }

    void a_mesh_is_taken_over_by_button_and_by_enter() {
        ShownAdvice shown(answers());
        shown.look();
        const QSignalSpy adopted(&shown.part, &ui::AdvicePanel::adopted);
        // The fastest is chosen already.
        QTest::mouseClick(&shown.button("adviceUse"), Qt::LeftButton);
        QCOMPARE(adopted.count(), 1);
        QCOMPARE(adopted.at(0).at(0).value<std::vector<std::string>>(), found().ways[0].overrides);
        shown.table().setFocus();
        QTest::keyClick(&shown.table(), Qt::Key_Down);
        QTest::keyClick(&shown.table(), Qt::Key_Return);
        QCOMPARE(adopted.count(), 2);
        QCOMPARE(adopted.at(1).at(1).toString(), QString::fromStdString(found().ways[1].change));
        // The draft itself is nothing to take over.
        shown.table().selectRow(0);
        QVERIFY(!shown.button("adviceUse").isEnabled());
        QTest::keyClick(&shown.table(), Qt::Key_Return);
        QCOMPARE(adopted.count(), 2);
    }

    void results_are_of_another_draft_only_when_more_than_the_mesh_changes() {
        ShownAdvice shown(answers());
        shown.look();
        const auto* badge = shown.part.findChild<widgets::Badge*>();
        QVERIFY(!badge->isVisible());
        // What the search itself changes leaves it true.
        const auto taken =
            compile::with_overrides(test::mesh_config(test::kThere), found().ways[0].overrides);
        QVERIFY(taken.has_value());
        shown.give(*taken);
        QVERIFY(!badge->isVisible());
        QCOMPARE(shown.cell(0, ui::AdviceModel::MeshColumn), QString("data=4"));
        std::vector<std::string> wider = test::kThere;
        wider.emplace_back("model.width=64");
        shown.give(test::mesh_config(wider));
        QVERIFY(badge->isVisible());
        QCOMPARE(shown.table().model()->rowCount(), 2); // without the draft, which is another
    }

    void a_search_is_cancelled_and_what_it_finds_later_is_dropped() {
        QSemaphore go_on;
        std::atomic<bool> stopped = false;
        {
            ShownAdvice shown([&](const auto&, auto, const auto&, const std::stop_token& stop,
                                  const std::function<void()>& planned) {
                planned();
                go_on.acquire();
                stopped = stop.stop_requested();
                return found();
            });
            QTest::mouseClick(&shown.button("adviceLook"), Qt::LeftButton);
            QTRY_VERIFY_WITH_TIMEOUT(words(shown.part).contains("1 plan made"), kPatienceMs);
            QVERIFY(!shown.button("adviceLook").isVisible());
            QTest::keyClick(&shown.button("adviceCancel"), Qt::Key_Space);
            QVERIFY(shown.button("adviceLook").isVisible());
            go_on.release();
            QTRY_VERIFY_WITH_TIMEOUT(stopped.load(), kPatienceMs);
            QCoreApplication::processEvents();
            QVERIFY(!shown.table().isVisible());
        }
    }

    void a_search_that_fails_says_why() {
        ShownAdvice shown(
            [](const auto&, auto, const auto&, const auto&, const auto&) -> advise::MeshAdvice {
                throw Error(ErrorKind::runtime, "", "no speed is known", "Train first.");
            });
        QTest::mouseClick(&shown.button("adviceLook"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(words(shown.part).contains("No speed is known"), kPatienceMs);
        QVERIFY(words(shown.part).contains("Train first."));
        QVERIFY(shown.button("adviceLook").isEnabled());
    }

    // The engine's own search: every mesh that it gives is one of so many devices, and can be had.
    void the_engine_finds_meshes_for_the_draft() {
        ShownAdvice shown(ui::enginePlanner({}).meshes);
        shown.look();
        const auto& ways = shown.part.ways();
        QVERIFY(!ways.empty());
        for (const ui::MeshWay& one : ways) {
            const auto config =
                compile::with_overrides(test::mesh_config(test::kThere), one.way.overrides);
            QVERIFY(config.has_value());
            QCOMPARE(test::mesh_digest(*config)->plan->mesh.devices(), std::int64_t(4));
        }
    }
};

WEFT_TEST(AdviceTest)
#include "advice_test.moc"
