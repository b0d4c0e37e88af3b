// SPDX-License-Identifier: GPL-3.0-or-later
// Models that transformers saved, in the studio: as a draft, and as weights to start from.
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/weights_match.h"

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>

namespace {

using namespace weft;
using test::kPatienceMs;
namespace fs = std::filesystem;

const fs::path kPeers = WEFT_SOURCE_DIR "/tests/unit/foreign/peers";

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
