// SPDX-License-Identifier: GPL-3.0-or-later
// Try it and the confusion matrix: what the studio says of inputs is what the engine says of them.
#include "core/base/file.h"
#include "core/config/field.h"
#include "core/train/engine.h"
#include "core/train/evaluation.h"
#include "core/train/pictures/picture_sheet.h"
#include "tests/support/weft_test.h"
#include "tests/ui/painted_texts.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/sample_pictures.h"
#include "ui/bridge/run/trial_host.h"
#include "ui/pages/live/sample_words.h"
#include "ui/pages/live/try_input.h"
#include "ui/pages/live/try_row.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/theme.h"
#include "widgets/views/confusion_view.h"
#include "widgets/views/image_grid.h"
#include "widgets/views/probability_bars.h"
#include "widgets/views/sketch_pad.h"
#include "widgets/views/step_dots.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSpinBox>
#include <QTableView>
#include <QTextEdit>

#include <fstream>
#include <numeric>

namespace {

using namespace weft;
using test::kRunPatienceMs;

// The studio computes on one thread, the comparison on one as well: equal to the last bit but for
// what a float says when it is printed and read.
constexpr double kSameBits = 0.0;

constexpr const char* kImages = R"({
  "schema_version": 1, "name": "images", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [12, 10, 1], "classes": 4,
                     "samples": 600}, "validation": {"split": 0.25},
           "transforms": [{"type": "normalize", "mean": [0.5], "std": [0.25]}]},
  "model": {"type": "mlp", "hidden": [16]},
  "training": {"length": {"steps": 40}, "global_batch_size": 32, "precision": "f32"},
  "evaluation": {"every": {"steps": 20}, "samples": 8},
  "checkpoint": {"every": {"steps": 20}, "on_improvement": false}
})";

constexpr const char* kMaker = R"({
  "schema_version": 1, "name": "maker", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [12, 10, 1], "classes": 4,
                     "samples": 600}, "validation": {"split": 0.25}},
  "model": {"type": "vae", "hidden": [16], "latent": 3},
  "loss": {"type": "elbo", "likelihood": "gaussian"},
  "training": {"length": {"steps": 40}, "global_batch_size": 32, "precision": "f32"},
  "evaluation": {"every": {"steps": 20}, "samples": 4},
  "checkpoint": {"every": {"steps": 20}, "on_improvement": false}
})";

constexpr const char* kTable = R"({
  "schema_version": 1, "name": "table", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "regression", "features": 5, "targets": 2,
                     "samples": 400}, "validation": {"split": 0.25}},
  "model": {"type": "mlp", "hidden": [8]}, "loss": {"type": "mse"}, "metrics": [],
  "training": {"length": {"steps": 20}, "global_batch_size": 32, "precision": "f32"}
})";

constexpr const char* kText = R"({
  "schema_version": 1, "name": "text", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "tokens", "length": 32, "vocab": 256,
                     "samples": 256}, "validation": {"split": 0.1}},
  "model": {"type": "gpt2", "layers": 1, "width": 16, "heads": 2, "context": 32, "vocab": 256,
            "dropout": 0.0},
  "training": {"length": {"steps": 6}, "global_batch_size": 8, "precision": "f32"},
  "evaluation": {"samples": 0}
})";

constexpr const char* kHouses = R"({
  "schema_version": 1, "name": "houses", "seed": 3,
  "data": {"train": {"type": "csv", "path": "houses.csv", "targets": "price"},
           "validation": {"split": 0.25}},
  "model": {"type": "mlp", "hidden": [8]}, "loss": {"type": "mse"}, "metrics": [],
  "training": {"length": {"steps": 20}, "global_batch_size": 8, "precision": "f32"}
})";

/// Decimal commas, texts and gaps.
void write_houses(const std::filesystem::path& file) {
    std::ofstream out(file);
    out << "size;town;price\n";
    for (int i = 0; i < 60; ++i) {
        out << (i % 7 == 0 ? "" : std::to_string(20 + i) + ",5") << ';'
            << (i % 11 == 0  ? ""
                : i % 2 == 0 ? "Köln"
                             : "Paris")
            << ';' << 1000 + 10 * i << ",5\n";
    }
}

} // namespace

class TryTest : public QObject {
    Q_OBJECT

private slots:
    void init() {
        // What an untrained model writes has letters that no font of this machine may have, and Qt
        // warns of each font that lacks them.
        const QByteArray function = QTest::currentTestFunction();
        if (function != "writing_stops_when_it_is_told_to" &&
            function != "a_prompt_is_gone_on_from_as_weft_generate_does" &&
            function != "texts_of_each_evaluation_can_be_read") {
            QTest::failOnWarning(QRegularExpression(".*"));
        }
    }

    void an_image_gets_the_probabilities_of_weft_predict() {
        test::StudioFixture fixture;
        train_to_the_end(fixture, kImages);
        open_tab(fixture, 2);
        auto* input = fixture.window().findChild<ui::TryInput*>();
        QTRY_VERIFY(fixture.find("sketchPad")->isVisible());
        QVERIFY(!fixture.find("tryUndo")->isEnabled()); // nothing was drawn
        QTRY_VERIFY(chosen_checkpoint(fixture) != std::filesystem::path());
        input->showSample(7);
        auto* bars = fixture.window().findChild<widgets::ProbabilityBars*>("tryBars");
        QTRY_COMPARE_WITH_TIMEOUT(bars->bars().size(), std::size_t{4}, kRunPatienceMs);
        train::LoadedModel model = train::load_model(chosen_checkpoint(fixture), nullptr, 1);
        const std::int64_t index = 7;
        const auto said =
            train::predict(*model.executor, *model.data.validation, std::span(&index, 1), 4);
        for (std::size_t i = 0; i < 4; ++i) {
            QVERIFY(std::abs(bars->bars()[i].share - said.front().top[i].second) <= kSameBits);
        }
        QVERIFY(text_of(fixture, "tryNote").contains("40"));
        // What is drawn is another input and gets another answer.
        const auto before = bars->bars();
        QTest::mousePress(fixture.find("sketchPad"), Qt::LeftButton, {}, QPoint(40, 40));
        QTest::mouseMove(fixture.find("sketchPad"), QPoint(150, 150));
        QTest::mouseRelease(fixture.find("sketchPad"), Qt::LeftButton, {}, QPoint(150, 150));
        QTRY_VERIFY_WITH_TIMEOUT(
            bars->bars().size() == 4 && bars->bars()[0].share != before[0].share, kRunPatienceMs);
        QCOMPARE(text_of(fixture, "trySubject"), QString());
        // Nothing on it, nothing said of it.
        fixture.click("tryClear");
        QTRY_COMPARE(bars->bars().size(), std::size_t{0});
    }

    void an_older_checkpoint_answers_with_its_own_weights() {
        test::StudioFixture fixture;
        train_to_the_end(fixture, kImages);
        open_tab(fixture, 2);
        auto* choice = fixture.window().findChild<QComboBox*>("tryCheckpoint");
        QTRY_COMPARE(choice->count(), 4); // latest, best, steps 40 and 20
        QTRY_VERIFY(fixture.find("sketchPad")->isVisible());
        auto* input = fixture.window().findChild<ui::TryInput*>();
        input->showSample(3);
        QTRY_VERIFY_WITH_TIMEOUT(text_of(fixture, "tryNote").contains("40"), kRunPatienceMs);
        choice->setFocus();
        QTest::keyClick(choice, Qt::Key_End);
        QTRY_VERIFY_WITH_TIMEOUT(text_of(fixture, "tryNote").contains("20"), kRunPatienceMs);
    }

    void what_is_tried_follows_the_latest_checkpoint() {
        test::StudioFixture fixture;
        train_to_the_end(fixture, kImages);
        open_tab(fixture, 2);
        auto* choice = fixture.window().findChild<QComboBox*>("tryCheckpoint");
        QTRY_COMPARE(choice->count(), 4);
        QTRY_VERIFY(fixture.find("sketchPad")->isVisible());
        fixture.window().findChild<ui::TryInput*>()->showSample(3);
        QTRY_VERIFY_WITH_TIMEOUT(text_of(fixture, "tryNote").contains("40"), kRunPatienceMs);
        QVERIFY(choice->currentText().startsWith("Latest"));
        std::filesystem::remove_all(chosen_checkpoint(fixture));
        fixture.studio().run().checkpointsChanged(); // the latest is another one now
        QTRY_VERIFY_WITH_TIMEOUT(text_of(fixture, "tryNote").contains("20"), kRunPatienceMs);
        QVERIFY(choice->currentText().startsWith("Latest"));
    }

    void typed_numbers_get_the_outputs_of_a_table_model() {
        test::StudioFixture fixture;
        train_to_the_end(fixture, kTable);
        open_tab(fixture, 2);
        auto* numbers = fixture.window().findChild<QPlainTextEdit*>("tryNumbers");
        QTRY_VERIFY(numbers->isVisible());
        QTRY_VERIFY(chosen_checkpoint(fixture) != std::filesystem::path());
        numbers->setFocus();
        QTest::keyClicks(numbers, "1 2 x");
        QTRY_COMPARE(text_of(fixture, "tryNote"), QString("\"x\" is no number."));
        numbers->selectAll();
        QTest::keyClicks(numbers, "1 2");
        QTRY_COMPARE(text_of(fixture, "tryNote"),
                     QString("There are 2 numbers; the model takes 5."));
        fixture.window().findChild<ui::TryInput*>()->showSample(4);
        QTRY_VERIFY_WITH_TIMEOUT(!text_of(fixture, "tryAnswer").isEmpty(), kRunPatienceMs);
        train::LoadedModel model = train::load_model(chosen_checkpoint(fixture), nullptr, 1);
        const std::int64_t index = 4;
        const auto said =
            train::predict(*model.executor, *model.data.validation, std::span(&index, 1), 5);
        QStringList wanted;
        for (const double value : said.front().values) {
            wanted << QString::number(value, 'g', 6);
        }
        QCOMPARE(text_of(fixture, "tryAnswer"), wanted.join("  "));
    }

    void a_row_is_written_as_the_table_has_it_and_gets_the_outputs_of_weft_predict() {
        test::StudioFixture fixture;
        write_houses(fixture.root() / "houses.csv");
        train_to_the_end(fixture, kHouses);
        open_tab(fixture, 2);
        auto* table = fixture.window().findChild<ui::TryRow*>("tryRow");
        QTRY_VERIFY_WITH_TIMEOUT(table->isVisible(), kRunPatienceMs);
        const QAbstractItemModelTester tester(&table->row());
        QCOMPARE(table->row().rowCount(), 2);
        QTRY_VERIFY(chosen_checkpoint(fixture) != std::filesystem::path());
        train::LoadedModel model = train::load_model(chosen_checkpoint(fixture), nullptr, 1);
        const auto predicted = [&](const std::string& row) {
            const auto file = fixture.root() / "new.csv";
            std::ofstream(file) << "size;town\n" << row << "\n";
            data::Notes notes;
            const auto source = data::open_input(model.config.section("data"),
                                                 {model.config.base_dir, 0, model.config.seed},
                                                 *model.data.train, file, notes);
            const std::int64_t index = 0;
            const auto said =
                train::predict(*model.executor, *source, std::span(&index, 1), 1).front();
            return "price: " + QString::number(said.values.front(), 'g', 6);
        };
        // Nothing on it, nothing said of it; then a number by the keyboard, as it is typed.
        QCOMPARE(text_of(fixture, "tryAnswer"), QString());
        table->setFocus();
        QTest::keyClick(table, Qt::Key_7);
        auto* number = table->findChild<QLineEdit*>();
        QVERIFY(number != nullptr);
        QTest::keyClicks(number, "1,25");
        QTRY_COMPARE_WITH_TIMEOUT(text_of(fixture, "tryAnswer"), predicted("71,25;"),
                                  kRunPatienceMs);
        // The next column has a list of the known texts.
        QTest::keyClick(number, Qt::Key_Tab);
        auto* town = table->findChild<QComboBox*>();
        QVERIFY(town != nullptr);
        QCOMPARE(town->count(), 3); // none, and the two
        QTest::keyClick(town, Qt::Key_End);
        QTRY_COMPARE_WITH_TIMEOUT(text_of(fixture, "tryAnswer"), predicted("71,25;Paris"),
                                  kRunPatienceMs);
        // What is no number is said by column, with what to do.
        table->row().setData(table->row().index(0, 1), "71.25", Qt::EditRole);
        QTRY_COMPARE(text_of(fixture, "tryNote"),
                     QString("size: '71.25' is no number. The data writes decimal commas."));
        QTRY_COMPARE(text_of(fixture, "tryAnswer"), QString());
        // A sample of the split is shown as its row.
        fixture.window().findChild<ui::TryInput*>()->showSample(2);
        QTRY_VERIFY_WITH_TIMEOUT(!text_of(fixture, "tryAnswer").isEmpty(), kRunPatienceMs);
        QVERIFY(table->row().cells()[0].ends_with(",5"));
        fixture.click("tryClear");
        QTRY_COMPARE(text_of(fixture, "tryAnswer"), QString());
    }

    void a_prompt_is_gone_on_from_as_weft_generate_does() {
        test::StudioFixture fixture;
        train_to_the_end(fixture, kText);
        open_tab(fixture, 2);
        auto* prompt = fixture.window().findChild<QPlainTextEdit*>("tryPrompt");
        QTRY_VERIFY(prompt->isVisible());
        prompt->setFocus();
        QTest::keyClicks(prompt, "ab");
        fixture.window().findChild<QSpinBox*>("tryTokens")->setValue(20);
        fixture.window().findChild<QSpinBox*>("trySeed")->setValue(5);
        auto* host = fixture.window().findChild<ui::TrialHost*>();
        QSignalSpy ended(host, &ui::TrialHost::generationEnded);
        QByteArray written;
        connect(host, &ui::TrialHost::generated, this,
                [&written](const QByteArray& text) { written += text; });
        QTRY_VERIFY(fixture.find("tryGenerate")->isEnabled());
        // Not by mouse: enabled in the same turn as its page came, it has no place to be hit yet.
        static_cast<QPushButton*>(fixture.find("tryGenerate"))->click();
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kRunPatienceMs);
        train::LoadedModel model = train::load_model(chosen_checkpoint(fixture), nullptr, 1);
        train::GenerateOptions options;
        options.tokens = 20;
        options.seed = 5;
        QByteArray wanted;
        train::generate(*model.executor, std::vector<std::int32_t>{'a', 'b'}, options,
                        [&wanted](std::int32_t token) {
                            wanted += static_cast<char>(token);
                            return true;
                        });
        QCOMPARE(written, wanted);
        const auto* output = fixture.window().findChild<QPlainTextEdit*>("tryOutput");
        QVERIFY(output->toPlainText().startsWith("ab"));
    }

    void writing_stops_when_it_is_told_to() {
        test::StudioFixture fixture;
        train_to_the_end(fixture, kText);
        open_tab(fixture, 2);
        QTRY_VERIFY(fixture.find("tryGenerate")->isVisible());
        fixture.window().findChild<QSpinBox*>("tryTokens")->setValue(100000);
        auto* host = fixture.window().findChild<ui::TrialHost*>();
        QSignalSpy ended(host, &ui::TrialHost::generationEnded);
        QByteArray written;
        connect(host, &ui::TrialHost::generated, host,
                [&written](const QByteArray& text) { written += text; });
        QTRY_VERIFY(fixture.find("tryGenerate")->isEnabled());
        // Not by mouse: enabled in the same turn as its page came, it has no place to be hit yet.
        static_cast<QPushButton*>(fixture.find("tryGenerate"))->click();
        QTRY_VERIFY_WITH_TIMEOUT(written.size() > 3, kRunPatienceMs);
        fixture.click("tryGenerate");
        written.clear();
        // The next request is answered: the thread did not go on with the hundred thousand.
        fixture.window().findChild<QSpinBox*>("tryTokens")->setValue(2);
        fixture.click("tryGenerate");
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kRunPatienceMs);
        QCOMPARE(written.size(), 2);
    }

    void the_confusion_matrix_agrees_with_the_evaluation_and_opens_its_samples() {
        test::StudioFixture fixture;
        train_to_the_end(fixture, kImages);
        open_tab(fixture, 1);
        auto* view = fixture.window().findChild<widgets::ConfusionView*>("confusion");
        QTRY_COMPARE_WITH_TIMEOUT(view->classes(), 4, kRunPatienceMs);
        qint64 right = 0;
        qint64 all = 0;
        int largest = 0;
        for (int cell = 0; cell < view->itemCount(); ++cell) {
            const qint64 count = view->count(cell / 4, cell % 4);
            all += count;
            right += cell / 4 == cell % 4 ? count : 0;
            largest = count > view->count(largest / 4, largest % 4) ? cell : largest;
        }
        train::LoadedModel model =
            train::load_model(chosen_checkpoint(fixture, "confusionCheckpoint"), nullptr, 1);
        QCOMPARE(all, model.data.validation->samples());
        const double accuracy = *fixture.studio().run().lastMetric("validation/accuracy");
        // The engine sums in f32: so many terms of at most 1.
        const double share = static_cast<double>(right) / static_cast<double>(all);
        QVERIFY(std::abs(accuracy - share) < static_cast<double>(all) * 1.2e-7);
        // By mouse and by key.
        auto* images = fixture.window().findChild<widgets::ImageGrid*>("confusionImages");
        view->setFocus();
        view->setCursorItem(largest);
        QTest::keyClick(view, Qt::Key_Return);
        const auto wanted = std::min<qint64>(60, view->count(largest / 4, largest % 4));
        QTRY_COMPARE_WITH_TIMEOUT(static_cast<qint64>(images->images().size()), wanted,
                                  kRunPatienceMs);
        // Where the matrix fills the panel, they come into view.
        QTRY_VERIFY(!images->visibleRegion().isEmpty());
        // The first of them is of the class that the engine reads there.
        const std::int64_t index = images->images().front().caption.mid(1).toLongLong(); // "#12"
        QCOMPARE(model.data.validation->label(index), largest / 4);
    }

    void samples_of_each_evaluation_can_be_looked_at() {
        test::StudioFixture fixture;
        train_to_the_end(fixture, kImages);
        open_tab(fixture, 0);
        auto* steps = fixture.window().findChild<widgets::StepDots*>("sampleStep");
        QTRY_COMPARE(steps->itemCount(), 3); // at the start, at 20 and at 40
        QCOMPARE(steps->chosen(), 2);        // the newest is followed
        auto* images = fixture.window().findChild<widgets::ImageGrid*>("samples");
        QTRY_COMPARE_WITH_TIMEOUT(images->images().size(), std::size_t{8}, kRunPatienceMs);
        const auto written = [&fixture](std::size_t evaluation) {
            const ui::RunModel& run = fixture.studio().run();
            const std::filesystem::path path = run.folder() / run.samples().at(evaluation).path;
            const auto samples = config::parse_json(read_file(path), path.string()).value;
            const auto& top = samples.at("samples").at(0).at("top").at(0);
            return QString::number(top.at("probability").get<double>(), 'f', 2);
        };
        QVERIFY(written(0) != written(2));
        QTRY_COMPARE(images->images().front().value, written(2));
        const QImage first = images->images().front().image;
        QTest::mouseClick(steps, Qt::LeftButton, {}, QPoint(4, steps->height() / 2));
        QCOMPARE(steps->chosen(), 0);
        QTRY_COMPARE(images->images().front().value, written(0));
        QCOMPARE(images->images().front().image, first); // the same sample
    }

    void what_a_model_makes_stands_beside_the_data_at_each_evaluation() {
        test::StudioFixture fixture;
        train_to_the_end(fixture, kMaker);
        open_tab(fixture, 0);
        auto* steps = fixture.window().findChild<widgets::StepDots*>("sampleStep");
        QTRY_COMPARE(steps->itemCount(), 3);
        auto* grid = fixture.window().findChild<widgets::ImageGrid*>("samples");
        // Of each sample itself, what is given back of it, and what is made up.
        QTRY_COMPARE_WITH_TIMEOUT(grid->images().size(), std::size_t{12}, kRunPatienceMs);
        const auto newest = grid->images();
        for (const widgets::GridImage& image : newest) {
            QCOMPARE(image.image.size(), QSize(10, 12));
            QVERIFY(!image.caption.isEmpty());
        }
        QTest::mouseClick(steps, Qt::LeftButton, {}, QPoint(4, steps->height() / 2));
        QTRY_VERIFY(grid->images().at(1).image != newest.at(1).image);
        QVERIFY(grid->images().at(2).image != newest.at(2).image);
        QCOMPARE(grid->images().at(0).image, newest.at(0).image);
    }

    void a_walk_between_two_seeds_is_made_by_the_chosen_checkpoint() {
        test::StudioFixture fixture;
        train_to_the_end(fixture, kMaker);
        open_tab(fixture, 2);
        auto* grid = fixture.window().findChild<widgets::ImageGrid*>("tryPictures");
        QTRY_COMPARE_WITH_TIMEOUT(grid->images().size(), std::size_t{9}, kRunPatienceMs);
        QVERIFY(!fixture.find("tryClass")->isVisible()); // it makes samples of no class
        // The ends are what weft generate makes first of these seeds.
        train::LoadedModel model = train::load_model(chosen_checkpoint(fixture), nullptr, 1);
        const auto first_of = [&model](std::uint64_t seed) {
            const data::SampleInfo& info = model.data.train->info();
            const auto made = train::make_samples(*model.executor, info,
                                                  train::draw_latents(*model.executor, seed, 1));
            return ui::samplePicture(info.input, train::pixels(made, 0, {}));
        };
        QCOMPARE(grid->images().front().image, first_of(0));
        QCOMPARE(grid->images().back().image, first_of(1));
        auto* to = static_cast<QSpinBox*>(fixture.find("tryToSeed"));
        to->setValue(5);
        QTRY_COMPARE_WITH_TIMEOUT(grid->images().back().image, first_of(5), kRunPatienceMs);
        QCOMPARE(grid->images().front().image, first_of(0));
    }

    void numbers_of_two_evaluations_stand_beside_each_other() {
        test::StudioFixture fixture;
        train_to_the_end(fixture, kTable);
        open_tab(fixture, 0);
        auto* table = static_cast<QTableView*>(fixture.find("sampleTable"));
        // Of each of 16 samples two numbers.
        QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 32, kRunPatienceMs);
        QVERIFY(table->isVisible());
        QCOMPARE(table->model()->columnCount(),
                 4); // the sample, its target, the newest step, error
        auto* beside = static_cast<QComboBox*>(fixture.find("sampleBeside"));
        QCOMPARE(beside->count(), 4); // no other, the start, 10 and 20
        beside->setFocus();
        QTest::keyClick(beside, Qt::Key_Down);
        QTRY_COMPARE(table->model()->columnCount(), 6);
        const ui::RunModel& run = fixture.studio().run();
        const auto off = [table](int column, double wanted) {
            const QString text = table->model()->index(1, column).data().toString();
            return std::abs(text.toDouble() - wanted) /
                   std::pow(10.0, text.contains('.') ? text.indexOf('.') - text.size() + 1 : 0);
        };
        for (const int column : {2, 3}) { // the newest first
            const auto& event = column == 2 ? run.samples().back() : run.samples().front();
            const auto path = run.folder() / event.path;
            const auto file = config::parse_json(read_file(path), path.string()).value;
            const auto& sample = file.at("samples").at(0);
            const double target = sample.at("target").at(1).get<double>();
            const double prediction = sample.at("prediction").at(1).get<double>();
            // To half of the last place that is written.
            QVERIFY(off(1, target) < 0.501);
            QVERIFY(off(column, prediction) < 0.501);
            QVERIFY(off(column + 2, prediction - target) < 0.501);
        }
    }

    void columns_give_way_before_their_names_are_cut() {
        test::StudioFixture fixture;
        ui::Preferences preferences = fixture.studio().settings().values();
        preferences.font_scale = widgets::kLargestText;
        QCOMPARE(fixture.studio().settings().set(preferences), QString());
        ui::SampleFile file;
        for (int i = 0; i < 64; ++i) { // more than have room: a scroll bar stands beside them
            file.numbers.push_back({i, "price", 125014.5 + i, 124000.25});
        }
        ui::SampleWords words(&fixture.window());
        words.show();
        int seen = 0;
        for (int width = 300; width < 700; width += 7) {
            words.resize(width, 300);
            words.setSaid({{1000, file}, {2000, file}});
            for (const QString& text : test::painted_texts(words)) {
                QVERIFY2(!text.contains(QChar(0x2026)), qPrintable(text));
                seen += text == "sample" ? 1 : 0;
            }
        }
        QVERIFY(seen > 50);
    }

    void texts_of_each_evaluation_can_be_read() {
        test::StudioFixture fixture;
        std::string config = kText;
        const std::string none = R"("samples": 0)";
        config.replace(config.find(none), none.size(), R"("samples": 2)");
        train_to_the_end(fixture, config.c_str());
        open_tab(fixture, 0);
        auto* texts = static_cast<QTextEdit*>(fixture.find("sampleTexts"));
        QTRY_VERIFY_WITH_TIMEOUT(texts->isVisible(), kRunPatienceMs);
        const ui::RunModel& run = fixture.studio().run();
        const auto path = run.folder() / run.samples().back().path;
        const auto file = config::parse_json(read_file(path), path.string()).value;
        QCOMPARE(file.at("samples").size(), std::size_t{2});
        for (const auto& sample : file.at("samples")) {
            const QString heading =
                "sample " + QString::number(sample.at("index").get<std::int64_t>());
            QTRY_VERIFY(texts->toPlainText().contains(heading));
        }
        QVERIFY(texts->toPlainText().contains("step 6"));
        QCOMPARE(texts->verticalScrollBar()->value(), 0); // read from its beginning
        QVERIFY(texts->toPlainText().contains("in the data"));
        auto* beside = static_cast<QComboBox*>(fixture.find("sampleBeside"));
        QVERIFY(!texts->toPlainText().contains("step 0"));
        beside->setFocus();
        QTest::keyClick(beside, Qt::Key_Down);
        QTRY_VERIFY(texts->toPlainText().contains("step 0"));
    }

private:
    static void train_to_the_end(test::StudioFixture& fixture, const char* config) {
        const auto file = fixture.root() / "run.json";
        std::ofstream(file) << config;
        fixture.window().showPage("train");
        const ui::StartResult started = fixture.studio().control().startFile(file);
        QVERIFY2(started.started, qPrintable(started.problem));
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kRunPatienceMs);
        QCOMPARE(fixture.studio().run().state(), train::RunState::finished);
    }

    static void open_tab(test::StudioFixture& fixture, int index) {
        static_cast<widgets::SegmentedControl*>(fixture.find("predictionTab"))
            ->setCurrentIndex(index);
    }

    static QString text_of(test::StudioFixture& fixture, const char* name) {
        return static_cast<widgets::TextLabel*>(fixture.find(name))->text();
    }

    static std::filesystem::path chosen_checkpoint(test::StudioFixture& fixture,
                                                   const char* name = "tryCheckpoint") {
        const auto* choice = fixture.window().findChild<QComboBox*>(name);
        return ui::toPath(choice->currentData().toString());
    }
};

WEFT_TEST(TryTest)
#include "try_test.moc"
