// SPDX-License-Identifier: GPL-3.0-or-later
// The pages in large and small windows and with large text: no control reaches past the edge of
// what it stands in, each is as wide as it needs, and no text is cut.
#include "core/checkpoint/checkpoint.h"
#include "core/queue/book.h"
#include "core/train/record/annotations.h"
#include "core/train/record/run_folder.h"
#include "tests/support/weft_test.h"
#include "tests/ui/painted_texts.h"
#include "tests/ui/small_gpt.h"
#include "tests/ui/studio_fixture.h"
#include "tests/unit/profile/made_up_recording.h"
#include "ui/pages/data/data_page.h"
#include "ui/plurals.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/figure_strip.h"
#include "widgets/controls/text_label.h"
#include "widgets/mesh/device_grid.h"
#include "widgets/views/graph_view.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QTableView>
#include <QTreeView>

#include <algorithm>
#include <fstream>

namespace {

using namespace weft;
using test::place_of;

bool is_page_control(const QWidget* widget) {
    return qobject_cast<const QAbstractButton*>(widget) != nullptr ||
           qobject_cast<const QLineEdit*>(widget) != nullptr ||
           qobject_cast<const QComboBox*>(widget) != nullptr ||
           qobject_cast<const QAbstractSpinBox*>(widget) != nullptr ||
           qobject_cast<const widgets::FigureStrip*>(widget) != nullptr;
}

/// The other part of a scroll area is reached by scrolling; sideways only where it has a bar.
bool scrolls_in(const QWidget* viewport, Qt::Orientation direction) {
    const auto* area = qobject_cast<const QAbstractScrollArea*>(viewport->parentWidget());
    return area != nullptr && area->viewport() == viewport &&
           (direction == Qt::Vertical ||
            area->horizontalScrollBarPolicy() != Qt::ScrollBarAlwaysOff);
}

/// Where a control sticks out of what it stands in; empty: nowhere.
QString cut_off(const QWidget* control, const QWidget* page) {
    bool across = true;
    bool down = true;
    for (const QWidget* around = control->parentWidget(); around != page->parentWidget();
         around = around->parentWidget()) {
        const QRect place(control->mapTo(around, QPoint(0, 0)), control->size());
        across = across && !scrolls_in(around, Qt::Horizontal);
        down = down && !scrolls_in(around, Qt::Vertical);
        if ((across && (place.left() < 0 || place.right() >= around->width())) ||
            (down && (place.top() < 0 || place.bottom() >= around->height()))) {
            return QString("%1 ends at %2, %3 of %4 x %5 in %6")
                .arg(place_of(control))
                .arg(place.right())
                .arg(place.bottom())
                .arg(around->width())
                .arg(around->height())
                .arg(place_of(around));
        }
    }
    return {};
}

/// What is written in a widget in full.
QString writtenIn(const QWidget* widget) {
    if (const auto* label = qobject_cast<const QLabel*>(widget)) {
        return label->text();
    }
    if (const auto* label = qobject_cast<const widgets::ElidedLabel*>(widget)) {
        return label->text();
    }
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    return button != nullptr ? button->text() : QString();
}

/// Columns of what users and models name: long by nature, whole in the tooltip.
struct NameColumn {
    const char* view;
    const char* title;
};
constexpr NameColumn kNameColumns[] = {{"runTable", "notes"},       {"opTable", "op"},
                                       {"opTable", "layer"},        {"aliveTable", "tensor"},
                                       {"tensorTree", "name"},      {"tensorTree", "spec"},
                                       {"collectiveTable", "what"}, {"queueTable", "state"}};
constexpr qsizetype kLeastLetters = 4; // of a name, with its dots

void add_names(const QAbstractItemModel& model, int column, const QModelIndex& parent,
               QStringList& names) {
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const QModelIndex cell = model.index(row, column, parent);
        const QString name = cell.data().toString();
        if (cell.data(Qt::ToolTipRole).toString().contains(name)) {
            names << name;
        }
        add_names(model, column, model.index(row, 0, parent), names);
    }
}

QStringList long_names(const QWidget* page) {
    QStringList names;
    for (const auto& [id, title] : kNameColumns) {
        const auto* view = page->findChild<QAbstractItemView*>(id);
        for (int column = 0; view != nullptr && column < view->model()->columnCount(); ++column) {
            if (view->model()->headerData(column, Qt::Horizontal).toString() == title) {
                add_names(*view->model(), column, {}, names);
            }
        }
    }
    return names;
}

bool stands_for(const QString& shown, const QString& name) {
    const QStringList ends = shown.split(QChar(0x2026));
    return ends.size() == 2 && shown.size() >= kLeastLetters && name.startsWith(ends[0]) &&
           name.endsWith(ends[1]);
}

/// Texts of a page that end in dots, but for those that were written so and names.
QStringList elided(QWidget* page) {
    QStringList written;
    for (const auto* widget : page->findChildren<QWidget*>()) {
        written << writtenIn(widget);
    }
    const QStringList names = long_names(page);
    QStringList out;
    for (const QString& text : test::painted_texts(*page)) {
        const auto has_it = [&](const QString& whole) { return whole.contains(text); };
        const auto is_name = [&](const QString& name) { return stands_for(text, name); };
        if (text.contains(QChar(0x2026)) && std::none_of(written.begin(), written.end(), has_it) &&
            std::none_of(names.begin(), names.end(), is_name)) {
            out << "dots in \"" + text + '"';
        }
    }
    return out;
}

/// A label that is narrower, or with lines that wrap lower, than its text.
QString cut_text(const QLabel* label) {
    if (label->text().isEmpty() || label->textFormat() == Qt::RichText) {
        return {};
    }
    const bool cut = label->wordWrap() ? label->height() < label->heightForWidth(label->width())
                                       : label->width() < label->sizeHint().width();
    return cut ? QString("\"%1\" has %2 x %3 px")
                     .arg(label->text())
                     .arg(label->width())
                     .arg(label->height())
               : QString();
}

/// Columns that cannot be seen and to which nothing scrolls.
QString cut_columns(const QHeaderView* header) {
    const auto* view = qobject_cast<const QAbstractItemView*>(header->parentWidget());
    const bool cut = view != nullptr && header->orientation() == Qt::Horizontal &&
                     view->horizontalScrollBarPolicy() == Qt::ScrollBarAlwaysOff &&
                     header->length() > view->viewport()->width();
    return cut ? QString("columns of %1 end at %2 of %3 px")
                     .arg(place_of(view))
                     .arg(header->length())
                     .arg(view->viewport()->width())
               : QString();
}

/// A run that stopped, whose figures take as much room as they usually do.
void write_run(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "config.json") << test::tiny_config();
    train::RunInfo info;
    info.name = "fashion-mlp";
    info.model = "mlp";
    info.data = "Fashion-MNIST, 60,000 images 28 × 28 × 1";
    info.state = "stopped";
    train::write_run_info(folder, info);
    train::Annotations annotations;
    annotations.tags = {"demo", "images"};
    annotations.notes = "the first that reached nine of ten without a warm-up";
    train::change_annotations(folder, {{}, annotations});
    train::StateEvent stopped;
    stopped.state = train::RunState::stopped;
    stopped.total_steps = 100000;
    profile::write_recording(folder, test::MadeUpRecording(2)
                                         .batch_after(400)
                                         .call(test::product("blocks.0.mlp.up", 1000), 4000)
                                         .call(test::elementwise("blocks.0.mlp.act", 100), 300)
                                         .call(test::all_reduce(), 600, 100)
                                         .call(test::product("blocks.0.mlp.up", 1000), 4500, 0, 1)
                                         .call(test::all_reduce(), 400, 0, 1)
                                         .host_after(300)
                                         .done());
    std::ofstream events(folder / "events.jsonl");
    events << train::to_line({1, 100.0, stopped}) << "\n";
    std::int64_t id = 1;
    for (const std::int64_t done : {90000, 95000, 99999}) {
        train::StepEvent step;
        step.step = done;
        step.loss = 0.268;
        const train::EvaluationEvent evaluation{done, {{"validation/loss", 0.268}}};
        events << train::to_line({++id, 3500.0, step}) << "\n"
               << train::to_line({++id, 3500.0, evaluation}) << "\n";
        const std::vector<float> weights(6, 0.5F);
        checkpoint::TensorView view{"layers.0.weight", "parameters", {ir::DType::f32, {2, 3}}};
        view.data = std::as_bytes(std::span(weights));
        checkpoint::Record record;
        record.step = record.metric_step = done;
        record.metrics = {{"validation/loss", 0.268}};
        record.config = config::json_of(test::tiny_config());
        checkpoint::write_checkpoint(folder / "checkpoints", {&view, 1}, record);
    }
}

/// A run that waits, and two sweeps, one of which has halved its trials.
void write_queue(const std::filesystem::path& root) {
    queue::change_book(queue::folder_under(root), [](queue::Book& book) {
        queue::Sweep sweep;
        sweep.name = "learning-rates";
        sweep.method = queue::Method::grid;
        sweep.metric = "validation/accuracy";
        sweep.rungs = {100000};
        book.sweeps.push_back(sweep);
        sweep.name = "rates-and-widths";
        sweep.method = queue::Method::halving;
        sweep.metric = "validation/loss";
        sweep.rungs = {9000, 27000, 81000};
        book.sweeps.push_back(sweep);
        for (int trial = 0; trial < 6; ++trial) {
            queue::Entry entry;
            entry.name = "rates-and-widths-" + std::to_string(trial);
            entry.devices = "cuda:0,2";
            entry.sweep = sweep.name;
            entry.trial = trial;
            entry.settings = {{"optimizer.learning_rate", 0.00012345 * (trial + 1)},
                              {"model.hidden", {64, 32}}};
            entry.results = {{9000, 0.2684 + trial}};
            entry.state = trial < 2 ? queue::State::waiting : queue::State::stopped;
            entry.reason = trial < 2 ? "" : "stopped early: place 3 of 6 at step 9,000";
            book.add(entry);
        }
    });
}

QStringList faults_of_page(QWidget* page) {
    QStringList out = elided(page);
    for (const auto* label : page->findChildren<QLabel*>()) {
        if (const QString cut = label->isVisible() ? cut_text(label) : QString(); !cut.isEmpty()) {
            out << cut;
        }
    }
    for (const auto* header : page->findChildren<QHeaderView*>()) {
        if (const QString cut = header->isVisible() ? cut_columns(header) : QString();
            !cut.isEmpty()) {
            out << cut;
        }
    }
    for (const auto* control : page->findChildren<QWidget*>()) {
        if (!control->isVisible() || !is_page_control(control) ||
            qobject_cast<const QAbstractItemView*>(control->parentWidget()) != nullptr ||
            qobject_cast<const QAbstractSpinBox*>(control->parentWidget()) != nullptr) {
            continue;
        }
        if (const QString cut = cut_off(control, page); !cut.isEmpty()) {
            out << cut;
        }
        const auto* button = qobject_cast<const QAbstractButton*>(control);
        const bool icon = button != nullptr && button->text().isEmpty(); // as large as it is made
        if (!icon && control->width() < control->minimumSizeHint().width()) {
            out << QString("%1 has %2 of %3 px")
                       .arg(place_of(control))
                       .arg(control->width())
                       .arg(control->minimumSizeHint().width());
        }
    }
    return out;
}

/// Some devices, and every list of the Training page with something in it.
config::Json mesh_run(const char* mesh = test::kTwoByTwo) {
    config::Json document = test::small_gpt(mesh);
    document["optimizer"] = {{"type", "adamw"},
                             {"groups",
                              {{{"match", "*.bias"}, {"weight_decay", 0.0}},
                               {{"match", "*norm*"}, {"learning_rate", 0.5}}}}};
    document["lr_schedule"] = {{"type", "warmup_cosine"}, {"warmup_steps", 10}};
    return document;
}

config::Json pictures_run() {
    return config::json_of(R"({
      "schema_version": 1, "name": "pictures", "seed": 7,
      "data": {"train": {"type": "synthetic", "kind": "images", "shape": [28, 28, 1], "classes": 10,
                         "samples": 60000},
               "validation": {"split": 0.1},
               "transforms": [{"type": "random_flip"}, {"type": "normalize", "mean": [0.286], "std": [0.353]}]},
      "model": {"type": "sequential", "layers": [
        {"type": "conv2d", "channels": 32, "kernel": 3}, {"type": "relu"}, {"type": "max_pool"},
        {"type": "flatten"}, {"type": "dropout", "rate": 0.25}, {"type": "linear", "units": 128},
        {"type": "linear"}]}})");
}

/// Pages in the order in which they are looked at: a part of Mesh & Plan, or what comes before.
constexpr int kAsIs = -1;
constexpr int kPictures = -2;
constexpr int kOpenRun = -3;
constexpr int kEightDevices = -4;
constexpr int kRunCharts = -5;
constexpr int kRunReport = -6;
constexpr const char* kThreeAxes = R"({"devices": "h100:8", "strategy": "3d",
    "axes": [["data", 2], ["pipeline", 2], ["model", 2]]})";
constexpr std::pair<const char*, int> kPages[] = {
    {"home", kAsIs},     {"data", kAsIs},      {"model", kAsIs},     {"training", kAsIs},
    {"plan", 0},         {"plan", 1},          {"plan", 2},          {"plan", kEightDevices},
    {"data", kPictures}, {"model", kAsIs},     {"train", kOpenRun},  {"checkpoints", kAsIs},
    {"runs", kAsIs},     {"runs", kRunCharts}, {"runs", kRunReport}, {"profiler", kAsIs},
    {"queue", kAsIs},    {"hosts", kAsIs}};

/// What is read or planned in the background is there.
bool has_content(QWidget* page, const QString& name, int part) {
    if (name == "data") {
        auto& preview = static_cast<ui::DataPage*>(page)->preview();
        return preview.facts() != nullptr && !preview.isReading() && !preview.samples().empty();
    }
    if (name == "model") {
        const auto* graph = page->findChild<widgets::GraphView*>("modelGraph");
        return graph != nullptr && graph->itemCount() > 0;
    }
    const char* views[] = {"tensorTree", "opTable", "passTable"};
    const QString view = name == "plan"          ? views[std::max(0, part)]
                         : name == "checkpoints" ? "checkpointTable"
                         : name == "runs"        ? "runTable"
                         : name == "profiler"    ? "profileTable"
                         : name == "queue"       ? "sweepTable"
                                                 : "";
    const auto* rows = view.isEmpty() ? nullptr : page->findChild<QAbstractItemView*>(view);
    return view.isEmpty() || (rows != nullptr && rows->model()->rowCount() > 0);
}

} // namespace

class FitTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void nothing_is_cut_off_data() {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<double>("text");
        for (const QSize size : {QSize(1440, 900), QSize(1024, 680)}) {
            for (const double text : {1.0, widgets::kLargestText}) {
                QTest::addRow("%d %g", size.width(), text) << size << text;
            }
        }
    }

    void nothing_is_cut_off() {
        QFETCH(QSize, size);
        QFETCH(double, text);
        test::StudioFixture fixture;
        const std::filesystem::path run = fixture.root() / "runs" / "2026-01-01_fashion-mlp_001";
        write_run(run);
        write_queue(run.parent_path());
        fixture.studio().index().refresh();
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().index().runs().size(), std::size_t{1}, 30000);
        ui::Preferences preferences = fixture.studio().settings().values();
        preferences.font_scale = text;
        QCOMPARE(fixture.studio().settings().set(preferences), QString());
        fixture.window().resize(size);
        fixture.studio().draft().setDocument(mesh_run(), fixture.root());
        QVERIFY(fixture.studio().draft().isValid());
        QStringList found;
        for (const auto& [page, part] : kPages) {
            if (part == kPictures) {
                fixture.studio().draft().setDocument(pictures_run(), fixture.root());
                QVERIFY(fixture.studio().draft().isValid());
            } else if (part == kEightDevices) {
                fixture.studio().draft().setDocument(mesh_run(kThreeAxes), fixture.root());
                QVERIFY(fixture.studio().draft().isValid());
            } else if (part == kOpenRun) {
                QCOMPARE(fixture.studio().opener().open(run), QString());
            }
            fixture.window().showPage(page);
            if (page == std::string_view("plan")) {
                static_cast<widgets::SegmentedControl*>(fixture.find("planTab"))
                    ->setCurrentIndex(std::max(0, part));
            }
            if (part == kRunCharts || part == kRunReport) {
                static_cast<widgets::SegmentedControl*>(fixture.find("runsMode"))
                    ->setCurrentIndex(part == kRunCharts ? 1 : 2);
            }
            QWidget* shown = fixture.window().page(page);
            QTRY_VERIFY2_WITH_TIMEOUT(has_content(shown, page, part), page, 30000);
            if (part == kEightDevices) {
                QTRY_COMPARE_WITH_TIMEOUT(
                    shown->findChild<widgets::DeviceGrid*>("meshGrid")->itemCount(), 8, 30000);
            }
            // Layouts follow each other in turns of the loop; what is read in the background comes
            // late.
            QStringList wrong;
            static_cast<void>(QTest::qWaitFor(
                [&] {
                    wrong = faults_of_page(shown);
                    return wrong.isEmpty();
                },
                3000));
            for (const QString& one : wrong) {
                found << QString("%1 %2: %3").arg(page).arg(part).arg(one);
            }
            QCOMPARE(fixture.window().size(), size);
        }
        QVERIFY2(found.isEmpty(), qPrintable('\n' + found.join('\n')));
    }

    void rows_are_as_much_higher_as_their_text_is_larger() {
        test::StudioFixture fixture;
        const std::filesystem::path run = fixture.root() / "runs" / "2026-01-01_fashion-mlp_001";
        write_run(run);
        fixture.studio().draft().setDocument(mesh_run(), fixture.root());
        QCOMPARE(fixture.studio().opener().open(run), QString());
        const auto height = [&](const char* page, const char* view) {
            fixture.window().showPage(page);
            auto* rows = static_cast<QAbstractItemView*>(fixture.find(view));
            static_cast<void>(
                QTest::qWaitFor([rows] { return rows->model()->rowCount() > 0; }, 30000));
            return rows->visualRect(rows->model()->index(0, 0)).height();
        };
        for (const auto& [page, view] :
             {std::pair("model", "layerTree"), std::pair("checkpoints", "runTree"),
              std::pair("checkpoints", "checkpointTable"), std::pair("runs", "runTable")}) {
            ui::Preferences preferences = fixture.studio().settings().values();
            preferences.font_scale = 1.0;
            QCOMPARE(fixture.studio().settings().set(preferences), QString());
            const int usual = height(page, view);
            QVERIFY2(usual >= widgets::size::kRowHeight, view);
            preferences.font_scale = widgets::kLargestText;
            QCOMPARE(fixture.studio().settings().set(preferences), QString());
            QTRY_VERIFY2(std::abs(height(page, view) - usual * widgets::kLargestText) <= 1, view);
        }
    }

    // What came of a run, with test figures, and all that can be done with it.
    void the_summary_of_a_run_is_read_in_full_and_no_higher_than_the_numbers() {
        std::string config = test::tiny_config();
        config.replace(config.find("\"steps\": 100000}"), 16, "\"steps\": 30}");
        test::StudioFixture fixture(config);
        fixture.window().showPage("train");
        ui::Preferences preferences = fixture.studio().settings().values();
        QVERIFY(fixture.studio().control().startFile(fixture.preset()).started);
        auto* numbers = fixture.find("numbers");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("summaryCard")->isVisible(), 120000);
        const auto* table = fixture.find("summaryTable");
        for (const double text : {1.0, widgets::kLargestText}) {
            preferences.font_scale = text;
            QCOMPARE(fixture.studio().settings().set(preferences), QString());
            for (const QSize size : {QSize(1440, 900), QSize(1024, 680)}) {
                fixture.window().resize(size);
                QTRY_VERIFY(table->width() >= table->minimumSizeHint().width());
                for (const auto* word : table->findChildren<widgets::TextLabel*>()) {
                    QTRY_VERIFY2(word->width() >= word->sizeHint().width(),
                                 qPrintable(word->text()));
                }
                QTRY_VERIFY2(fixture.find("summaryCard")->sizeHint().height() <=
                                 numbers->sizeHint().height(),
                             qPrintable(QString("%1 > %2 at %3")
                                            .arg(fixture.find("summaryCard")->sizeHint().height())
                                            .arg(numbers->sizeHint().height())
                                            .arg(text)));
            }
        }
    }

    // Figures of five metrics: below each other where they have no room beside each other.
    void the_summary_of_five_metrics_cuts_no_word() {
        std::string config = test::tiny_config();
        config.replace(config.find("\"steps\": 100000}"), 16, "\"steps\": 30}");
        config.replace(config.find("\"seed\": 3"), 9,
                       "\"seed\": 3, \"metrics\": [\"accuracy\", \"top5_accuracy\", "
                       "\"macro_f1\", \"calibration_error\", \"perplexity\"]");
        test::StudioFixture fixture(config);
        fixture.window().showPage("train");
        const ui::StartResult started = fixture.studio().control().startFile(fixture.preset());
        QVERIFY2(started.started, qPrintable(started.problem));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("summaryCard")->isVisible(), 120000);
        const auto* table = fixture.find("summaryTable");
        const auto cut = [&] { // the words, anew: another width brings other labels
            QStringList words;
            for (const auto* word : table->findChildren<widgets::TextLabel*>()) {
                if (word->width() < word->sizeHint().width() ||
                    !table->rect().contains(word->geometry())) {
                    words << word->text();
                }
            }
            return words;
        };
        ui::Preferences preferences = fixture.studio().settings().values();
        for (const double text : {1.0, widgets::kLargestText}) {
            preferences.font_scale = text;
            QCOMPARE(fixture.studio().settings().set(preferences), QString());
            for (const QSize size : {QSize(1440, 900), QSize(1024, 680)}) {
                fixture.window().resize(size);
                QTRY_VERIFY(table->width() >= table->sizeHint().width());
                QTRY_VERIFY(table->findChildren<widgets::TextLabel*>().size() > 15);
                QTRY_COMPARE(cut(), QStringList());
            }
        }
    }

    // Plan with large text in a small window: the curve of memory is wide enough to be read, and
    // what is alive is a click away.
    void where_both_have_no_room_the_curve_has_it_alone() {
        test::StudioFixture fixture;
        ui::Preferences preferences = fixture.studio().settings().values();
        preferences.font_scale = widgets::kLargestText;
        QCOMPARE(fixture.studio().settings().set(preferences), QString());
        fixture.window().resize(1024, 680);
        fixture.studio().draft().setDocument(mesh_run(), fixture.root());
        fixture.window().showPage("plan");
        static_cast<widgets::SegmentedControl*>(fixture.find("planTab"))->setCurrentIndex(1);
        QTRY_VERIFY_WITH_TIMEOUT(has_content(fixture.window().page("plan"), "plan", 1), 30000);
        QTRY_VERIFY(fixture.find("memoryTimeline")->width() > 400);
        QVERIFY(!fixture.find("aliveTable")->isVisible());
        fixture.click("showAlive");
        QTRY_VERIFY(fixture.find("aliveTable")->width() > 400);
        QVERIFY(!fixture.find("memoryTimeline")->isVisible());
        QCOMPARE(fixture.window().focusWidget(), fixture.find("showCurve"));
        QTest::keyClick(fixture.find("showCurve"), Qt::Key_Space);
        QTRY_VERIFY(fixture.find("memoryTimeline")->isVisible());
        fixture.window().resize(1440, 1000);
        QTRY_VERIFY(fixture.find("aliveTable")->isVisible());
        QVERIFY(fixture.find("memoryTimeline")->isVisible() &&
                !fixture.find("showAlive")->isVisible());
    }
};

WEFT_TEST(FitTest)
#include "fit_test.moc"
