// SPDX-License-Identifier: GPL-3.0-or-later
// Models of other programs in the studio: what transformers saved and ONNX files, as a draft and as
// weights to start from.
#include "core/foreign/onnx.h"
#include "core/train/engine.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/weights_match.h"
#include "ui/pages/checkpoints/checkpoint_actions.h"
#include "ui/pages/model/model_page.h"
#include "widgets/controls/messages.h"

#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>

#include <cstring>
#include <fstream>

namespace {

using namespace weft;
using test::kPatienceMs;
namespace fs = std::filesystem;

const fs::path kPeers = WEFT_SOURCE_DIR "/tests/unit/foreign/peers";

const fs::path kOnnx = WEFT_SOURCE_DIR "/tests/unit/onnx_import/models";

const fs::path kTokenizer = WEFT_SOURCE_DIR "/tests/unit/tokenizer/peers/gpt2.json";

std::string text_at(const ui::Draft& draft, const char* pointer) {
    const config::Json::json_pointer at(pointer);
    return draft.document().contains(at) ? draft.document().at(at).get<std::string>() : "";
}

/// Texts of the rows of the table of weights: "is, array, name in the model".
QStringList weights_rows(const test::StudioFixture& fixture) {
    const auto* table = static_cast<QTableView*>(fixture.find("weightsTable"));
    QStringList out;
    for (int row = 0; row < table->model()->rowCount(); ++row) {
        const auto cell = [&](int column) {
            return table->model()->index(row, column).data().toString();
        };
        out << cell(2) + ", " + cell(0) + ", " + cell(3);
    }
    return out;
}

} // namespace

class ForeignModelTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(".*")); }

    void a_folder_becomes_a_draft_that_starts_from_its_weights_data() {
        QTest::addColumn<QString>("peer");
        QTest::addColumn<QString>("type");
        for (const auto& [peer, type] :
             {std::pair("gpt2", "gpt2"), std::pair("llama", "llama"), std::pair("qwen2", "llama"),
              std::pair("vit", "vit"), std::pair("resnet", "resnet")}) {
            QTest::newRow(peer) << peer << type;
        }
    }
    void a_folder_becomes_a_draft_that_starts_from_its_weights() {
        QFETCH(QString, peer);
        QFETCH(QString, type);
        test::StudioFixture fixture;
        const fs::path folder = kPeers / peer.toStdString();
        fixture.studio().opener().openDropped({ui::pathText(folder)});
        const ui::Draft& draft = fixture.studio().draft();
        QCOMPARE(fixture.window().currentPage(), QString("model"));
        QVERIFY(draft.isValid());
        QCOMPARE(QString::fromStdString(text_at(draft, "/model/type")), type);
        QCOMPARE(text_at(draft, "/init/from"), folder.string());
        QCOMPARE(draft.name(), peer);
        QVERIFY(!fixture.studio().isTraining());
    }

    void its_config_alone_is_a_model_with_random_weights() {
        test::StudioFixture fixture;
        const fs::path file = fixture.root() / "alone" / "config.json";
        fs::create_directories(file.parent_path());
        fs::copy_file(kPeers / "gpt2" / "config.json", file);
        QCOMPARE(fixture.studio().opener().open(file), QString());
        const ui::Draft& draft = fixture.studio().draft();
        QCOMPARE(text_at(draft, "/model/type"), std::string("gpt2"));
        QVERIFY(!draft.document().contains("init"));
        QCOMPARE(fixture.window().currentPage(), QString("model"));
    }

    void the_tokenizer_beside_it_is_that_of_the_draft() {
        test::StudioFixture fixture;
        const fs::path folder = fixture.root() / "own";
        fs::create_directories(folder);
        fs::copy_file(kPeers / "gpt2" / "config.json", folder / "config.json");
        fs::copy_file(kTokenizer, folder / "tokenizer.json");
        QSignalSpy troubled(&fixture.studio().opener(), &ui::PathOpener::troubled);
        QCOMPARE(fixture.studio().opener().open(folder), QString());
        const ui::Draft& draft = fixture.studio().draft();
        QCOMPARE(text_at(draft, "/data/tokenizer"), (folder / "tokenizer.json").string());
        QVERIFY(draft.isValid());
        QCOMPARE(troubled.count(), 0);
        // One that is not here is told, and text is never read as bytes in its place.
        test::write_file(folder / "tokenizer.json", R"({"model": {"type": "Unigram"}})");
        QCOMPARE(fixture.studio().opener().open(folder), QString());
        QCOMPARE(troubled.count(), 1);
        QVERIFY(troubled.front().front().toString().contains("Unigram"));
        QCOMPARE(text_at(draft, "/data/tokenizer"), (folder / "tokenizer.json").string());
    }

    void a_model_that_cannot_be_had_is_told_and_leaves_the_draft() {
        test::StudioFixture fixture;
        const fs::path file = fixture.root() / "other" / "config.json";
        test::write_file(file, R"({"model_type": "mamba", "hidden_size": 8})");
        QCOMPARE(fixture.studio().opener().open(fixture.preset()), QString());
        const std::string before = fixture.studio().draft().text();
        const QString problem = fixture.studio().opener().open(file.parent_path());
        QVERIFY2(problem.contains("mamba") && problem.contains("gpt2"), qPrintable(problem));
        QCOMPARE(fixture.studio().draft().text(), before);
    }

    void an_onnx_file_becomes_a_draft_of_its_graph_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<qint64>("parameters"); // of the layers in onnx_models.py, by hand
        // 6*16+16 + 16*12+12 + 2*12 + 12*5+5; 3*8*9 + 2*8 + 8*10*9+10 + 2*10 + 10*5+5
        QTest::newRow("mlp") << "mlp-dynamo.onnx" << qint64{405};
        QTest::newRow("cnn") << "cnn-script.onnx" << qint64{1037};
    }
    void an_onnx_file_becomes_a_draft_of_its_graph() {
        QFETCH(QString, file);
        QFETCH(qint64, parameters);
        test::StudioFixture fixture;
        const fs::path path = kOnnx / file.toStdString();
        QSignalSpy opened(&fixture.studio().opener(), &ui::PathOpener::modelOpened);
        fixture.studio().opener().openDropped({ui::pathText(path)});
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
        const ui::Draft& draft = fixture.studio().draft();
        QCOMPARE(fixture.window().currentPage(), QString("model"));
        QVERIFY(draft.isValid());
        QCOMPARE(text_at(draft, "/model/type"), std::string("graph"));
        QCOMPARE(text_at(draft, "/init/from"), path.string());
        QCOMPARE(draft.name(), file);
        auto* page = static_cast<ui::ModelPage*>(fixture.window().page("model"));
        QTRY_VERIFY_WITH_TIMEOUT(page->outline() != nullptr, kPatienceMs);
        QCOMPARE(page->outline()->problem, QString());
        QCOMPARE(qint64{page->outline()->find("")->parameters}, parameters);
    }

    // What comes out is asked of the reader of other programs' files: the same graph, other
    // numbers.
    void an_onnx_file_trains_and_is_exported_again() {
        test::StudioFixture fixture;
        const fs::path path = kOnnx / "mlp-script.onnx";
        QSignalSpy opened(&fixture.studio().opener(), &ui::PathOpener::modelOpened);
        QCOMPARE(fixture.studio().opener().open(path), QString());
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
        fixture.studio().draft().setField("training.length", {{"steps", 3}});
        fixture.window().showPage("plan");
        auto* plan = fixture.window().page("plan");
        QTRY_VERIFY_WITH_TIMEOUT(plan->navState() != widgets::NavState::Error, kPatienceMs);
        const ui::StartResult started = fixture.studio().control().startDraft();
        QVERIFY2(started.started, qPrintable(started.problem));
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), test::kRunPatienceMs);
        QCOMPARE(fixture.studio().run().step(), 3);

        const fs::path run = fixture.studio().run().folder();
        fixture.window().showPage("checkpoints");
        auto* actions = fixture.window().findChild<ui::CheckpointActions*>();
        const auto* menu = fixture.window().findChild<QMenu*>("exportFormats");
        QStringList offered;
        for (const QAction* action : menu->actions()) {
            offered << action->objectName();
        }
        QVERIFY2(offered.contains("export.onnx") && offered.contains("export.huggingface"),
                 qPrintable(offered.join(" ")));
        QSignalSpy said(actions, &ui::CheckpointActions::said);
        const fs::path file = fixture.root() / "trained.onnx";
        actions->exportTo(train::find_checkpoint(run, "latest"), ui::pathText(file), "onnx");
        QTRY_COMPARE_WITH_TIMEOUT(said.count(), 1, test::kRunPatienceMs);
        const QString answer = said.front().at(1).toString();
        QVERIFY2(answer.contains("trained.onnx"), qPrintable(answer));
        const foreign::ForeignModel before = foreign::read_onnx_model(path);
        const foreign::ForeignModel after = foreign::read_onnx_model(file);
        QVERIFY(!config::has_errors(after.problems));
        QCOMPARE(after.here.data.at("features"), before.here.data.at("features"));
        QCOMPARE(after.here.data.at("classes"), before.here.data.at("classes"));
        const auto elements = [](const fs::path& model) {
            std::int64_t out = 0;
            for (const foreign::Array& array : foreign::open_onnx(model).list) {
                out += array.type->shape.elements();
            }
            return out;
        };
        QVERIFY(elements(file) >= 405); // of the layers; constants of the graph may stand beside

        // A model that a format has no names for is told in words.
        actions->exportTo(train::find_checkpoint(run, "latest"),
                          ui::pathText(fixture.root() / "names"), "timm");
        QTRY_COMPARE_WITH_TIMEOUT(said.count(), 2, test::kRunPatienceMs);
        QCOMPARE(said.back().front().toInt(), static_cast<int>(widgets::MessageKind::Error));
        QVERIFY(!fs::exists(fixture.root() / "names"));
    }

    void everything_of_an_onnx_file_that_is_not_known_is_told_at_once() {
        test::StudioFixture fixture;
        QCOMPARE(fixture.studio().opener().open(fixture.preset()), QString());
        const std::string before = fixture.studio().draft().text();
        // Two operators of the file are renamed in its bytes to some that are not there.
        std::ifstream in(kOnnx / "cnn-script.onnx", std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(in), {}};
        for (const auto& [known, strange] : {std::pair("\x22\x04Relu", "\x22\x04Rxlu"),
                                             std::pair("\x22\x07MaxPool", "\x22\x07MixPool")}) {
            const std::size_t place = bytes.find(known);
            QVERIFY(place != std::string::npos);
            bytes.replace(place, std::strlen(strange), strange);
        }
        const fs::path file = fixture.root() / "strange.onnx";
        test::write_file(file, bytes);
        QSignalSpy troubled(&fixture.studio().opener(), &ui::PathOpener::troubled);
        QCOMPARE(fixture.studio().opener().open(file), QString());
        QTRY_COMPARE_WITH_TIMEOUT(troubled.count(), 1, kPatienceMs);
        const QString problem = troubled.front().front().toString();
        QVERIFY2(problem.contains("Rxlu") && problem.contains("MixPool"), qPrintable(problem));
        QVERIFY2(problem.contains("strange.onnx"), qPrintable(problem));
        QCOMPARE(fixture.studio().draft().text(), before);
    }

    void weights_are_matched_with_the_model_of_the_draft() {
        test::StudioFixture fixture;
        ui::PathOpener& opener = fixture.studio().opener();
        QCOMPARE(opener.open(kPeers / "vit"), QString());
        QCOMPARE(opener.open(kPeers / "vit" / "model.safetensors"), QString());
        QCOMPARE(fixture.window().currentPage(), QString("checkpoints"));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("startFromWeights")->isEnabled(), kPatienceMs);
        const QStringList rows = weights_rows(fixture);
        const QString qkv = "vit.encoder.layer.0.attention.attention.";
        QVERIFY2(rows.contains("joined, " + qkv + "query.weight + " + qkv + "key.weight + " + qkv +
                               "value.weight, blocks.0.attention.qkv.weight"),
                 qPrintable(rows.join("\n")));
        QVERIFY(rows.contains("transposed, classifier.weight, head.weight"));
        QVERIFY(rows.contains("taken, vit.layernorm.weight, norm.weight"));
        QVERIFY(!fixture.find("weightsTrouble")->isVisible());

        // A wider model: the table follows the draft, what does not fit comes first.
        fixture.studio().draft().setField("model.mlp", 20);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("weightsTrouble")->isVisible(), kPatienceMs);
        QVERIFY(weights_rows(fixture).front().startsWith("mismatched, "));
        const auto* trouble = static_cast<QLabel*>(fixture.find("weightsTrouble"));
        QVERIFY2(trouble->text().contains("blocks.0.mlp.up.weight"), qPrintable(trouble->text()));
        QVERIFY2(trouble->text().contains("model.mlp is 20"), qPrintable(trouble->text()));
    }

    void without_a_draft_the_model_beside_the_weights_is_taken() {
        test::StudioFixture fixture;
        QCOMPARE(fixture.studio().opener().open(kPeers / "llama" / "model.safetensors"), QString());
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("startFromWeights")->isEnabled(), kPatienceMs);
        fixture.click("startFromWeights");
        QCOMPARE(text_at(fixture.studio().draft(), "/model/type"), std::string("llama"));
        QCOMPARE(text_at(fixture.studio().draft(), "/init/from"), (kPeers / "llama").string());
    }
};

WEFT_TEST(ForeignModelTest)
#include "foreign_model_test.moc"
