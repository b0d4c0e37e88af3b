// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint on another mesh, drawn: what the bands say against what the engine says that it
// reads, the drawing by mouse and keys, and checkpoints that are broken.
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/train/engine.h"
#include "core/train/record/run_folder.h"
#include "tests/support/weft_test.h"
#include "tests/ui/mesh_support.h"
#include "tests/ui/patience.h"
#include "ui/models/reshard_model.h"
#include "ui/pages/plan/mesh/others/checkpoint_panel.h"
#include "ui/plurals.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/theme_controller.h"
#include "widgets/mesh/reshard_view.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLineEdit>
#include <QRegularExpression>
#include <QStackedWidget>
#include <QTableView>
#include <QTemporaryDir>

#include <fstream>

namespace {

using namespace weft;
using test::kPatienceMs;

const std::vector<std::string> kZero = {"mesh.devices=cpu:4", "mesh.strategy=fsdp"};
const std::vector<std::string> kData = {"mesh.devices=cpu:2"};
const std::vector<std::string> kPipeline = {
    "mesh.devices=cpu:8", "mesh.strategy=3d", "training.micro_batch_size=4",
    "mesh.axes=[[\"data\",2],[\"pipeline\",2],[\"model\",2]]"};
const std::vector<std::string> kOne = {"mesh.devices=cpu"};

config::Json mesh_section(const std::vector<std::string>& overrides) {
    return test::mesh_config(overrides).section("mesh");
}

/// Device numbers of a list as people read it: "0-3, 8".
std::vector<int> numbers(const QString& text) {
    std::vector<int> out;
    for (const QString& part : text.split(", ")) {
        const int first = part.section('-', 0, 0).toInt();
        const int last = part.section('-', -1).toInt();
        for (int device = first; device <= last; ++device) {
            out.push_back(device);
        }
    }
    return out;
}

/// The lines that `weft checkpoint reshard --preview` prints of an array.
QStringList printed(const train::ReshardedTensor& tensor) {
    QStringList out;
    for (const train::ReshardMove& move : tensor.moves) {
        out.append(QString::fromStdString("device " + std::to_string(move.device) + " reads " +
                                          sharding::to_text(move.block) +
                                          " of the shard of device " + std::to_string(move.writer) +
                                          ": " + format_bytes(move.bytes)));
    }
    out.sort();
    return out;
}

/// The same lines out of what the bands are called.
QStringList drawn(const widgets::ReshardArray& array, std::int64_t element_bytes) {
    static const QRegularExpression words(
        "^devices? ([0-9, -]+) reads? (\\[.*\\]) of the piece of device (\\d+), ");
    QStringList out;
    for (const widgets::ReshardBand& band : array.bands) {
        const auto found = words.match(band.name);
        if (!found.hasMatch()) {
            return {band.name};
        }
        for (const int device : numbers(found.captured(1))) {
            out.append(
                QString("device %1 reads %2 of the shard of device %3: %4")
                    .arg(device)
                    .arg(found.captured(2), found.captured(3),
                         QString::fromStdString(format_bytes(band.elements * element_bytes))));
        }
    }
    out.sort();
    return out;
}

/// Whether stretches [at, at + elements) make up all of each piece, without gap or overlap.
template <class At>
bool fills(const widgets::ReshardArray& array, const std::vector<widgets::ReshardPiece>& pieces,
           int widgets::ReshardBand::*of, At at) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        std::vector<std::pair<qint64, qint64>> stretches;
        for (const widgets::ReshardBand& band : array.bands) {
            if (band.*of == static_cast<int>(i)) {
                stretches.emplace_back(band.*at, band.elements);
            }
        }
        std::sort(stretches.begin(), stretches.end());
        qint64 end = 0;
        for (const auto& [start, count] : stretches) {
            if (start != end) {
                return false;
            }
            end += count;
        }
        if (end != pieces[i].elements) {
            return false;
        }
    }
    return true;
}

/// A row of two pieces that become three parts.
widgets::ReshardArray small_array() {
    widgets::ReshardArray out;
    out.pieces = {{"[0:6]", {0}, 6}, {"[6:12]", {1}, 6}};
    out.parts = {{"[0:4]", {0}, 4}, {"[4:8]", {1}, 4}, {"[8:12]", {2, 3}, 4}};
    out.bands = {{0, 0, 0, 0, 4, "first"},
                 {0, 1, 4, 0, 2, "second"},
                 {1, 1, 0, 2, 2, "third"},
                 {1, 2, 2, 0, 4, "fourth"}};
    out.from_mesh = {2};
    out.to_mesh = {4};
    out.from = "saved on data=2";
    out.to = "held on data=4";
    return out;
}

} // namespace

class ReshardViewTest : public QObject {
    Q_OBJECT

    std::unique_ptr<widgets::ThemeController> controller_;

    static void add_pairs() {
        QTest::addColumn<QStringList>("from");
        QTest::addColumn<QStringList>("to");
        const auto list = [](const std::vector<std::string>& all) {
            QStringList out;
            for (const std::string& one : all) {
                out.append(QString::fromStdString(one));
            }
            return out;
        };
        QTest::newRow("2x2 to zero 3") << list(test::kHere) << list(kZero);
        QTest::newRow("zero 3 to 2x2") << list(kZero) << list(test::kHere);
        QTest::newRow("zero 3 to a pipeline") << list(kZero) << list(kPipeline);
        QTest::newRow("a pipeline to data") << list(kPipeline) << list(kData);
        QTest::newRow("data to one device") << list(kData) << list(kOne);
    }

private slots:
    void initTestCase() {
        ui::installEnglishPlurals(*QCoreApplication::instance());
        controller_ = std::make_unique<widgets::ThemeController>();
    }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void bands_are_what_the_engine_reads_data() { add_pairs(); }
    void bands_are_what_the_engine_reads() {
        QFETCH(const QStringList, from);
        QFETCH(const QStringList, to);
        const auto overrides = [](const QStringList& all) {
            std::vector<std::string> out;
            for (const QString& one : all) {
                out.push_back(one.toStdString());
            }
            return out;
        };
        const QTemporaryDir dir;
        const checkpoint::Manifest manifest =
            test::save_zeros(test::mesh_config(overrides(from)), dir.path().toStdString());
        const ui::ReshardMap map =
            ui::mapReshard(manifest.path, mesh_section(overrides(to)), test::kJax);
        QVERIFY2(map.problem.isEmpty(), qPrintable(map.problem));
        const train::ReshardPreview preview = train::preview_reshard(*map.manifest, *map.target);
        QCOMPARE(map.rows.size(), preview.tensors.size());
        for (std::size_t i = 0; i < map.rows.size(); ++i) {
            const ui::ReshardRow& row = map.rows[i];
            QCOMPARE(row.name.toStdString(), preview.tensors[i].name);
            const widgets::ReshardArray array = ui::reshardArray(map, row);
            QCOMPARE(drawn(array, ir::dtype_bytes(preview.tensors[i].type.dtype)),
                     printed(preview.tensors[i]));
            QVERIFY(fills(array, array.pieces, &widgets::ReshardBand::from,
                          &widgets::ReshardBand::from_at));
            QVERIFY(
                fills(array, array.parts, &widgets::ReshardBand::to, &widgets::ReshardBand::to_at));
        }
        QCOMPARE(map.devices.size(), preview.devices.size());
        for (std::size_t device = 0; device < map.devices.size(); ++device) {
            QCOMPARE(map.devices[device].read_bytes, preview.devices[device].read_bytes);
            QCOMPARE(map.devices[device].crossing_bytes, preview.devices[device].crossing_bytes);
        }
    }

    void arrays_stay_move_are_copied_or_cut() {
        const QTemporaryDir dir;
        const checkpoint::Manifest one =
            test::save_zeros(test::mesh_config(kOne), dir.path().toStdString());
        const auto all = [](const ui::ReshardMap& map, ui::ReshardKind kind) {
            return map.count(kind) == static_cast<int>(map.rows.size());
        };
        QVERIFY(
            all(ui::mapReshard(one.path, mesh_section(kOne), test::kJax), ui::ReshardKind::Stays));
        QVERIFY(all(ui::mapReshard(one.path, mesh_section(kData), test::kJax),
                    ui::ReshardKind::Copied));
        const ui::ReshardMap zero = ui::mapReshard(one.path, mesh_section(kZero), test::kJax);
        QVERIFY(zero.count(ui::ReshardKind::Cut) > 0);
        QCOMPARE(zero.devices.size(), std::size_t(4));
        // A pipeline without data and model ranks keeps arrays whole, on the stage that has them.
        const ui::ReshardMap stages =
            ui::mapReshard(one.path,
                           mesh_section({"mesh.devices=cpu:2", "mesh.strategy=pipeline",
                                         "training.micro_batch_size=4"}),
                           test::kJax);
        QVERIFY(stages.count(ui::ReshardKind::Moves) > 0);
        QCOMPARE(stages.count(ui::ReshardKind::Cut), 0);
    }

    void a_broken_checkpoint_is_a_problem_in_the_engines_words() {
        const QTemporaryDir dir;
        const checkpoint::Manifest manifest =
            test::save_zeros(test::mesh_config(kZero), dir.path().toStdString());
        std::filesystem::remove(manifest.path / manifest.shards.front().file);
        QString expected;
        try {
            checkpoint::read_manifest(manifest.path);
        } catch (const Error& error) {
            expected = QString::fromStdString(error.message());
        }
        QVERIFY(!expected.isEmpty());
        const ui::ReshardMap map = ui::mapReshard(manifest.path, mesh_section(kOne), test::kJax);
        QVERIFY(map.problem.contains(expected));
        QVERIFY(map.rows.empty());
    }

    void bands_are_found_by_mouse_and_keys() {
        widgets::ReshardView view;
        view.resize(600, 240);
        view.setArray(small_array());
        view.show();
        QCOMPARE(view.itemCount(), 4);
        // The middle of a band, half way down, is the middle of its four corners.
        for (int i = 0; i < 4; ++i) {
            QCOMPARE(view.hitTest(view.item(i).rect.center()), i);
        }
        QCOMPARE(view.hitTest({300, 1}), -1);
        view.setFocus();
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.cursorItem(), 0);
        QTest::keyClick(&view, Qt::Key_End);
        QCOMPARE(view.item(view.cursorItem()).name, QString("fourth"));
        QTest::mouseClick(&view, Qt::LeftButton, {}, view.item(1).rect.center().toPoint());
        QCOMPARE(view.cursorItem(), 1);
        QCOMPARE(view.accessibleDescription(),
                 QString("saved on data=2, held on data=4: 2 pieces, 3 parts, 4 bands"));
    }

    // Twelve elements over the width: a band of two is half as wide as one of four.
    void bands_are_to_scale() {
        widgets::ReshardView view;
        view.resize(624, 240);
        widgets::ReshardArray straight = small_array();
        straight.parts = straight.pieces;
        straight.bands = {{0, 0, 0, 0, 6, "a"}, {1, 1, 0, 0, 6, "b"}};
        view.setArray(straight);
        const double half = view.item(0).rect.width();
        QVERIFY(qAbs(half - view.item(1).rect.width()) < 0.01);
        QVERIFY(qAbs(view.item(1).rect.left() - view.item(0).rect.right()) < 0.01);
    }

    void the_part_shows_a_runs_checkpoint_and_follows_the_mesh() {
        const QTemporaryDir dir;
        const std::filesystem::path run = dir.path().toStdString() + "/2025-11-22_small_001";
        train::create_run_folder_at(run);
        train::RunInfo info;
        info.name = "small";
        info.state = "finished";
        train::write_run_info(run, info);
        test::save_zeros(test::mesh_config(kZero), run / "checkpoints");
        ui::RunIndex index(dir.path().toStdString());
        ui::CheckpointPanel part(index);
        part.resize(1280, 320);
        part.show();
        const auto give = [&](const std::vector<std::string>& overrides) {
            const compile::RunConfig config = test::mesh_config(overrides);
            part.setPlan({test::mesh_digest(config),
                          std::make_shared<const ui::MeshRun>(ui::MeshRun{config, nullptr})});
        };
        give(test::kHere);
        auto& table = *part.findChild<QTableView*>("reshardTable");
        part.open(run);
        QTRY_VERIFY_WITH_TIMEOUT(table.isVisible() && table.isEnabled(), kPatienceMs);
        auto& view = *part.findChild<widgets::ReshardView*>();
        QVERIFY(view.itemCount() > 0);
        QVERIFY(view.array().from.contains("data=4"));
        QVERIFY(view.array().to.contains("data=2 × model=2"));
        // The largest comes first; another is chosen by key.
        const auto bytes = [&](int row) {
            return table.model()
                ->index(row, ui::ReshardModel::BytesColumn)
                .data(ui::ReshardModel::kSortRole)
                .toLongLong();
        };
        QVERIFY(bytes(0) >= bytes(1));
        table.setFocus();
        QTest::keyClick(&table, Qt::Key_Down);
        QCOMPARE(table.selectionModel()->selectedRows().front().row(), 1);
        QTest::keyClicks(part.findChild<QLineEdit*>("reshardFilter"), "mlp.up.weight");
        QVERIFY(table.model()->rowCount() > 0);
        for (int row = 0; row < table.model()->rowCount(); ++row) {
            QVERIFY(table.model()->index(row, 0).data().toString().contains("mlp.up.weight"));
        }
        give(kData);
        QTRY_VERIFY_WITH_TIMEOUT(
            part.findChild<QTableView*>("reshardReaders")->model()->rowCount() == 1 &&
                table.isEnabled(),
            kPatienceMs); // both devices read all
        // A folder that is none: what is said lies over the page while the mouse is there.
        auto& page = *part.findChild<QStackedWidget*>();
        const int top = page.y();
        QTest::mouseMove(&part, page.mapTo(&part, page.rect().center()));
        QTRY_VERIFY(page.underMouse());
        part.open(dir.path().toStdString());
        auto& trouble = *part.findChild<widgets::Banner*>("reshardTrouble");
        QTRY_VERIFY_WITH_TIMEOUT(trouble.isVisible(), kPatienceMs);
        QCoreApplication::processEvents();
        QCOMPARE(page.y(), top);
    }

    void runs_of_other_models_are_not_listed() {
        const QTemporaryDir dir;
        const auto add = [&dir](const char* name, const std::vector<std::string>& overrides) {
            const std::filesystem::path run =
                std::filesystem::path(dir.path().toStdString()) / name;
            train::create_run_folder_at(run);
            train::RunInfo info;
            info.name = name;
            info.state = "finished";
            train::write_run_info(run, info);
            const compile::RunConfig config = test::mesh_config(overrides);
            std::ofstream(run / "config.json") << config.document.dump();
            test::save_zeros(config, run / "checkpoints");
        };
        add("2025-11-22_small_001", {});
        add("2025-11-23_wide_002", {"model.width=64"});
        ui::RunIndex index(dir.path().toStdString());
        ui::CheckpointPanel part(index);
        part.resize(1280, 320);
        part.show();
        auto& runs = *part.findChild<QComboBox*>("reshardRun");
        const auto give = [&](const std::vector<std::string>& overrides) {
            const compile::RunConfig config = test::mesh_config(overrides);
            part.setPlan({test::mesh_digest(config),
                          std::make_shared<const ui::MeshRun>(ui::MeshRun{config, nullptr})});
        };
        give(test::kHere);
        QTRY_COMPARE_WITH_TIMEOUT(runs.count(), 1, kPatienceMs);
        QVERIFY(runs.itemText(0).contains("small"));
        std::vector<std::string> wide = test::kHere;
        wide.push_back("model.width=64");
        give(wide);
        QCOMPARE(runs.count(), 1);
        QVERIFY(runs.itemText(0).contains("wide"));
        std::vector<std::string> other = test::kHere;
        other.push_back("model.layers=2");
        give(other);
        QCOMPARE(runs.count(), 0);
        auto& message = *part.findChild<widgets::EmptyState*>("reshardMessage");
        QTRY_VERIFY(message.isVisible());
    }

    void models_hold_together() {
        const QTemporaryDir dir;
        const checkpoint::Manifest manifest =
            test::save_zeros(test::mesh_config(kZero), dir.path().toStdString());
        const ui::ReshardMap map =
            ui::mapReshard(manifest.path, mesh_section(test::kHere), test::kJax);
        ui::ReshardModel arrays;
        ui::ReaderModel readers;
        const QAbstractItemModelTester one(&arrays);
        const QAbstractItemModelTester two(&readers);
        arrays.setRows(map.rows);
        readers.setReaders(map.devices);
        QCOMPARE(arrays.rowCount(), static_cast<int>(map.rows.size()));
        QVERIFY(readers.rowCount() > 0);
    }
};

WEFT_TEST(ReshardViewTest)
#include "reshard_view_test.moc"
