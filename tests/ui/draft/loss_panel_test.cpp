// SPDX-License-Identifier: GPL-3.0-or-later
// The loss of a draft: what is wrong with an expression is said as one types, its functions are
// offered, and the picture is that of the engine's own loss.
#include "core/compile/programs/loss_curve.h"
#include "tests/support/weft_test.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/draft/draft.h"
#include "ui/pages/recipe/loss_panel.h"
#include "widgets/curves/line_chart.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QLabel>
#include <QLineEdit>

#include <cmath>

namespace {

using namespace weft;
using config::Json;

class ShownLoss {
public:
    explicit ShownLoss(const Json& loss) {
        Json whole = config::json_of(test::tiny_config());
        whole["loss"] = loss;
        whole.erase("metrics");
        draft.setDocument(whole, "/tmp");
        source = std::make_unique<ui::FormSource>(draft);
        panel = std::make_unique<ui::LossPanel>(*source, draft);
        panel->resize(600, 500);
        panel->show();
    }

    QLineEdit* edit() const {
        for (QLineEdit* one : panel->findChildren<QLineEdit*>()) {
            if (one->findChild<QCompleter*>() != nullptr || one->text().contains("mean")) {
                return one;
            }
        }
        qFatal("no box for an expression");
    }
    widgets::LineChart* chart() const { return panel->findChild<widgets::LineChart*>("lossCurve"); }
    QStringList problems() const {
        QStringList out;
        for (const QLabel* label : panel->findChildren<QLabel*>("fieldProblem")) {
            if (label->isVisibleTo(panel.get())) {
                out.append(label->text());
            }
        }
        return out;
    }

    ui::Draft draft;
    std::unique_ptr<ui::FormSource> source;
    std::unique_ptr<ui::LossPanel> panel;
};

const Json kExpression = {{"type", "expression"}, {"expression", "mean(square(y - t))"}};

} // namespace

class LossPanelTest : public QObject {
    Q_OBJECT
private slots:
    void a_wrong_expression_is_told_with_its_column_as_one_types() {
        ShownLoss shown(kExpression);
        QVERIFY(shown.problems().isEmpty());
        QLineEdit* edit = shown.edit();
        edit->setFocus();
        edit->setCursorPosition(edit->text().size());
        QTest::keyClicks(edit, " +");
        QTRY_VERIFY(!shown.problems().isEmpty());
        QVERIFY2(shown.problems().first().contains("column 22"),
                 qPrintable(shown.problems().first()));
        QTest::keyClicks(edit, " abs(y[0])");
        QTRY_VERIFY(shown.problems().isEmpty());
        QCOMPARE(shown.draft.config().section("loss").at("expression"),
                 Json("mean(square(y - t)) + abs(y[0])"));
    }

    void functions_are_offered_and_taken() {
        ShownLoss shown(kExpression);
        QLineEdit* edit = shown.edit();
        edit->setFocus();
        edit->setCursorPosition(edit->text().size());
        QTest::keyClicks(edit, " + log_s");
        auto* words = shown.panel->findChild<QCompleter*>("words");
        QVERIFY(words != nullptr);
        QCOMPARE(words->completionCount(), 1);
        Q_EMIT words->activated(words->currentCompletion());
        QCOMPARE(edit->text(), QString("mean(square(y - t)) + log_softmax"));
        words->popup()->hide();
    }

    void the_picture_is_that_of_the_loss_data() {
        QTest::addColumn<QString>("loss");
        QTest::addColumn<bool>("classes");
        QTest::newRow("mse") << R"({"type": "mse"})" << false;
        QTest::newRow("cross entropy") << R"({"type": "cross_entropy"})" << true;
        QTest::newRow("weighted") << R"({"type": "cross_entropy", "class_weights": [1, 2, 3, 4]})"
                                  << true;
        QTest::newRow("numbered outputs")
            << R"json({"type": "expression", "expression": "y[0]^2 + y[5]"})json" << false;
        QTest::newRow("classes alone")
            << R"json({"type": "expression", "expression": "cross_entropy(y, t)"})json" << true;
    }
    void the_picture_is_that_of_the_loss() {
        QFETCH(QString, loss);
        QFETCH(bool, classes);
        ShownLoss shown(config::json_of(loss.toStdString()));
        QVERIFY(shown.chart() != nullptr);
        QCOMPARE(shown.chart()->isVisibleTo(shown.panel.get()), true);
        const auto curve = compile::loss_curve(shown.draft.config().section("loss"), {});
        QVERIFY(curve.has_value());
        QCOMPARE(curve->of_classes, classes);
        QCOMPARE(shown.chart()->pointCount(1), curve->y.size());
        // The slope is that of the loss.
        const double step = curve->y[1] - curve->y[0];
        for (std::size_t i = 1; i + 1 < curve->y.size(); ++i) {
            const double differences = (curve->loss[i + 1] - curve->loss[i - 1]) / (2 * step);
            QVERIFY(std::abs(curve->slope[i] - differences) < 2e-3);
        }
    }

    void a_picture_of_numbers_is_of_the_target_that_was_typed() {
        const auto at = [](double target) {
            return *compile::loss_curve(Json{{"type", "mse"}}, {.target = target, .points = 11});
        };
        QCOMPARE(at(0).loss[5], 0.0); // y = 0
        QCOMPARE(at(2).loss[5], 4.0);
        QCOMPARE(at(2).slope[5], -4.0);
    }
};

WEFT_TEST(LossPanelTest)
#include "loss_panel_test.moc"
