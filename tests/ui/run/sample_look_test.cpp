// SPDX-License-Identifier: GPL-3.0-or-later
// Looking inside under Try it, by mouse and by keys: what is shown of layers and of attention is
// what the engine finds for the same input.
#include "core/train/sample_look/sample_looker.h"
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/pages/live/sample_look/look_model.h"
#include "ui/pages/live/try_input.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/maps/channel_view.h"
#include "widgets/maps/matrix_view.h"
#include "widgets/maps/patch_view.h"
#include "widgets/maps/value_bars.h"
#include "widgets/views/probability_bars.h"

#include <QComboBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTableView>

#include <cmath>
#include <fstream>

namespace {

using namespace weft;
using test::kRunPatienceMs;

constexpr int kTryItTab = 2;        // of "predictionTab"
constexpr int kTriedSampleView = 5; // of "trainView"
constexpr double kRounding = 1e-6;  // f32 means of heads

constexpr const char* kLookVit = R"({
  "schema_version": 1, "name": "vit", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [12, 8, 1], "classes": 4,
                     "samples": 96}, "validation": {"split": 0.25}},
  "model": {"type": "vit", "patch": 4, "layers": 2, "width": 16, "heads": 2},
  "training": {"length": {"steps": 4}, "global_batch_size": 8, "precision": "f32"},
  "evaluation": {"samples": 0}
})";

constexpr const char* kLookCnn = R"({
  "schema_version": 1, "name": "cnn", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [12, 8, 1], "classes": 4,
                     "samples": 96}, "validation": {"split": 0.25}},
  "model": {"type": "sequential", "layers": [{"type": "conv2d", "channels": 5}, {"type": "relu"},
            {"type": "flatten"}, {"type": "linear"}]},
  "training": {"length": {"steps": 4}, "global_batch_size": 8, "precision": "f32"},
  "evaluation": {"samples": 0}
})";

constexpr const char* kLookGpt = R"({
  "schema_version": 1, "name": "gpt", "seed": 3,
  "data": {"train": {"type": "text", "path": "book.txt"}, "validation": {"split": 0.25}},
  "model": {"type": "gpt2", "layers": 1, "width": 16, "heads": 2, "context": 24, "dropout": 0.0},
  "training": {"length": {"steps": 4}, "global_batch_size": 8, "precision": "f32"},
  "evaluation": {"samples": 0}
})";

/// A studio with a run that has ended, Try it open.
class TriedRun {
public:
    explicit TriedRun(const char* config) : mouse(fixture) {
        std::ofstream(fixture.root() / "book.txt")
            << QString("the quick brown fox jumps over the lazy dog. ").repeated(40).toStdString();
        const auto file = fixture.root() / "run.json";
        std::ofstream(file) << config;
        fixture.window().showPage("train");
        started = fixture.studio().control().startFile(file).started &&
                  QTest::qWaitFor([&] { return !fixture.studio().isTraining(); }, kRunPatienceMs) &&
                  mouse.choose("predictionTab", kTryItTab) &&
                  QTest::qWaitFor([&] { return !checkpoint().empty(); }, kRunPatienceMs);
    }
    template <class Widget>
    Widget* part(const char* name) const {
        return fixture.window().findChild<Widget*>(name);
    }
    std::filesystem::path checkpoint() const {
        return ui::toPath(part<QComboBox>("tryCheckpoint")->currentData().toString());
    }
    QString text(const char* name) const {
        const auto* line = part<widgets::ElidedLabel>(name);
        return line != nullptr ? line->text() : part<widgets::TextLabel>(name)->text();
    }
    /// The row of a layer; `attention`: of its weights. Invalid: there is none.
    QModelIndex row(const QString& layer, bool attention) const {
        const auto* table = part<QTableView>("lookTable");
        const auto* model = static_cast<const ui::LookModel*>(table->model());
        for (int i = 0; i < model->rowCount(); ++i) {
            if (model->row(i).name == layer && (model->row(i).attention >= 0) == attention) {
                return model->index(i, 0);
            }
        }
        return {};
    }
    bool looksAt(const QString& layer) const { return text("lookLayer").startsWith(layer + " "); }

    mutable test::StudioFixture fixture;
    test::Mouse mouse;
    bool started = false;
};

/// What the engine finds for a sample of the validation split.
train::SampleLook look_of(const std::filesystem::path& checkpoint, std::int64_t sample) {
    const train::LoadedModel model = train::load_model(checkpoint, nullptr, 1);
    std::vector<std::byte> bytes(std::size_t(model.data.validation->info().input.bytes()));
    model.data.validation->read(sample, bytes, {});
    return train::SampleLooker(model, 1).look(bytes);
}

const train::LayerLook* layer_of(const train::SampleLook& look, std::string_view name) {
    for (const train::LayerLook& layer : look.layers) {
        if (layer.layer == name) {
            return &layer;
        }
    }
    return nullptr;
}

bool close(const std::vector<float>& a, const std::vector<float>& b, double tolerance = 0) {
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        if (std::abs(double(a[i]) - double(b[i])) > tolerance) {
            return false;
        }
    }
    return a.size() == b.size() && !a.empty();
}

} // namespace

class SampleLookViewTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void heads_of_a_vision_transformer_are_seen_over_the_picture() {
        TriedRun tried(kLookVit);
        QVERIFY(tried.started);
        QVERIFY(!tried.part<QPushButton>("tryLook")->isEnabled()); // nothing was drawn
        auto* input = tried.fixture.window().findChild<ui::TryInput*>();
        QTRY_VERIFY(tried.fixture.find("sketchPad")->isVisible());
        input->showSample(5);
        QTRY_VERIFY(tried.part<QPushButton>("tryLook")->isEnabled());
        QVERIFY(tried.mouse.press("tryLook"));
        QTRY_COMPARE_WITH_TIMEOUT(
            tried.part<widgets::SegmentedControl>("trainView")->currentIndex(), kTriedSampleView,
            kRunPatienceMs);

        // What attends is shown first: the mean of its heads.
        const train::SampleLook look = look_of(tried.checkpoint(), 5);
        const train::AttentionLook& first = look.attention.front();
        auto* matrix = tried.part<widgets::MatrixView>("lookWeights");
        QTRY_VERIFY_WITH_TIMEOUT(close(matrix->matrix().values, first.mean_weights(), kRounding),
                                 kRunPatienceMs);
        QVERIFY(tried.looksAt("blocks.0.attention"));
        QCOMPARE(matrix->matrix().rows, 7); // 3 x 2 patches and the class token
        QVERIFY(matrix->matrix().first.empty());

        // One head, by its small picture.
        auto* small = tried.part<widgets::ChannelView>("lookSmallHeads");
        QCOMPARE(small->itemCount(), 2);
        QTest::mouseClick(small, Qt::LeftButton, {}, small->item(1).rect.center().toPoint());
        QTRY_VERIFY(close(matrix->matrix().values, first.weights(1)));
        QCOMPARE(tried.part<QComboBox>("lookHeads")->currentIndex(), 2);

        // The class token looks at first, then the patch that is clicked.
        auto* patches = tried.part<widgets::PatchView>("lookPatches");
        const auto row_of = [&](int query) {
            const std::vector<float> all = first.weights(1);
            return std::vector<float>(all.begin() + query * 7, all.begin() + (query + 1) * 7);
        };
        QVERIFY(close(patches->patches().weights, row_of(0)));
        QVERIFY(!patches->patches().picture.isNull());
        QTest::mouseClick(patches, Qt::LeftButton, {}, patches->item(4).rect.center().toPoint());
        QTRY_VERIFY(close(patches->patches().weights, row_of(4)));
        QCOMPARE(matrix->chosenRow(), 4);
        QVERIFY2(tried.text("lookFrom").contains("patch 1, 1"), qPrintable(tried.text("lookFrom")));
        QTest::mouseMove(matrix, matrix->item(2 * 7 + 3).rect.center().toPoint());
        QTRY_VERIFY2(tried.text("lookPointed").startsWith("patch 0, 1 looks at patch 1, 0: "),
                     qPrintable(tried.text("lookPointed")));

        // Another sample: the same head of the same layer, at once.
        input->showSample(6);
        const train::SampleLook next = look_of(tried.checkpoint(), 6);
        QTRY_VERIFY_WITH_TIMEOUT(close(matrix->matrix().values, next.attention.front().weights(1)),
                                 kRunPatienceMs);

        // Positions by channels of a layer that does not attend.
        QVERIFY(tried.mouse.pick("lookTable", tried.row("blocks.1.mlp.up", false)));
        auto* positions = tried.part<widgets::MatrixView>("lookPositions");
        QTRY_VERIFY(close(positions->matrix().values, layer_of(next, "blocks.1.mlp.up")->values));
        QCOMPARE(positions->matrix().row_names.front(), QString("class"));
        QVERIFY(tried.text("lookLayer").contains("linear, gelu"));
        // And units of one that has no positions, by keys.
        auto* table = tried.part<QTableView>("lookTable");
        table->setFocus();
        QTest::keyClick(table, Qt::Key_End, Qt::ControlModifier);
        QTRY_VERIFY(tried.looksAt("head"));
        QVERIFY(close(tried.part<widgets::ValueBars>("lookUnits")->values(),
                      layer_of(next, "head")->values));
    }

    void channels_of_a_convolution_stand_side_by_side() {
        TriedRun tried(kLookCnn);
        QVERIFY(tried.started);
        auto* input = tried.fixture.window().findChild<ui::TryInput*>();
        QTRY_VERIFY(tried.fixture.find("sketchPad")->isVisible());
        input->showSample(2);
        QTRY_VERIFY(tried.part<QPushButton>("tryLook")->isEnabled());
        QVERIFY(tried.mouse.press("tryLook"));
        const train::SampleLook look = look_of(tried.checkpoint(), 2);
        auto* channels = tried.part<widgets::ChannelView>("lookChannels");
        QTRY_VERIFY_WITH_TIMEOUT(
            close(channels->channels().values, layer_of(look, "layers.0")->values), kRunPatienceMs);
        QCOMPARE(channels->itemCount(), 5);
        QCOMPARE(channels->channels().rows, 12);
        QCOMPARE(channels->channels().columns, 8);
        QVERIFY(tried.mouse.choose("lookScale", 1));
        QVERIFY(channels->isTogether());
        const QPoint pixel = channels->item(3).rect.topLeft().toPoint() + QPoint(1, 1);
        QTest::mouseMove(channels, pixel);
        const double value = double(layer_of(look, "layers.0")->values[3]);
        QTRY_COMPARE(tried.text("lookPointed"),
                     QString("channel 3, row 0, column 0: %1").arg(widgets::formatNumber(value)));
        // Of a rectifier nothing is below 0.
        QVERIFY(tried.mouse.pick("lookTable", tried.row("layers.1", false)));
        QTRY_VERIFY(close(channels->channels().values, layer_of(look, "layers.1")->values));
        QVERIFY(tried.text("lookFigures").startsWith("from 0 to "));
        // Another run has another network: nothing was tried of it.
        QVERIFY(
            tried.fixture.studio().control().startFile(tried.fixture.root() / "run.json").started);
        QTRY_COMPARE(tried.part<widgets::SegmentedControl>("trainView")->currentIndex(), 0);
        QTRY_VERIFY_WITH_TIMEOUT(!tried.fixture.studio().isTraining(), kRunPatienceMs);
    }

    void a_text_is_looked_at_token_by_token() {
        TriedRun tried(kLookGpt);
        QVERIFY(tried.started);
        QTRY_VERIFY(tried.fixture.find("tryPrompt")->isVisible());
        QVERIFY(!tried.part<QPushButton>("tryLook")->isEnabled());
        QVERIFY(tried.mouse.fill("tryPrompt", "the fox"));
        QTRY_VERIFY(tried.part<QPushButton>("tryLook")->isEnabled());
        QVERIFY(tried.mouse.press("tryLook"));
        auto* matrix = tried.part<widgets::MatrixView>("lookWeights");
        QTRY_COMPARE_WITH_TIMEOUT(matrix->matrix().rows, 7, kRunPatienceMs);
        const train::LoadedModel model = train::load_model(tried.checkpoint(), nullptr, 1);
        const train::SampleLook look = train::SampleLooker(model, 1).look_at_text(
            train::prompt_tokens(model.data.train->info(), "the fox"));
        QVERIFY(close(matrix->matrix().values, look.attention.front().mean_weights(), kRounding));
        QCOMPARE(matrix->matrix().row_names,
                 QStringList({"t", "h", "e", QString::fromUtf8("·"), "f", "o", "x"}));
        for (int query = 0; query < 7; ++query) {
            for (int key = 0; key < 7; ++key) {
                QCOMPARE(matrix->matrix().has(query, key), key <= query);
            }
        }
        QCOMPARE(matrix->item(0 * 7 + 4).name, QString::fromUtf8("“t” (0) does not see “f” (4)"));
        // The first token has nothing but itself to look at.
        QCOMPARE(matrix->item(0).name, QString::fromUtf8("“t” (0) looks at “t” (0): 1.00"));
        QVERIFY(!tried.part<widgets::PatchView>("lookPatches")->isVisible());
        // While the view is open it follows what is written.
        QVERIFY(tried.mouse.fill("tryPrompt", "the lazy dog"));
        QTRY_COMPARE_WITH_TIMEOUT(matrix->matrix().rows, 12, kRunPatienceMs);
    }

    // Pages that are not in front once asked for room as well, and the answer was out of sight.
    void the_answer_stands_right_below_what_is_tried() {
        TriedRun tried(kLookCnn);
        QVERIFY(tried.started);
        auto* input = tried.fixture.window().findChild<ui::TryInput*>();
        QTRY_VERIFY(tried.fixture.find("sketchPad")->isVisible());
        input->showSample(2);
        auto* bars = tried.part<widgets::ProbabilityBars>("tryBars");
        QTRY_COMPARE_WITH_TIMEOUT(bars->bars().size(), std::size_t{4}, kRunPatienceMs);
        const auto* tools = tried.part<QPushButton>("tryClear");
        const auto bottom = [](const QWidget* widget) {
            return widget->mapToGlobal(QPoint(0, widget->height())).y();
        };
        QTRY_VERIFY2(bars->mapToGlobal(QPoint()).y() - bottom(tools) < 60,
                     qPrintable(QString::number(bars->mapToGlobal(QPoint()).y() - bottom(tools))));
    }
};

WEFT_TEST(SampleLookViewTest)
#include "sample_look_test.moc"
