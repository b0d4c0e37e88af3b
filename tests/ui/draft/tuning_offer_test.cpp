// SPDX-License-Identifier: GPL-3.0-or-later
// Fine-tune on Home: weights, then data, then Start.
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/pages/home/home_page.h"
#include "ui/pages/home/offer_panel.h"
#include "widgets/controls/controls.h"

#include <QLabel>
#include <QMenu>
#include <QProcess>
#include <QPushButton>

namespace {

using namespace weft;
using test::kPatienceMs;
namespace fs = std::filesystem;

/// A window whose Home is asked to fine-tune, with a base of 256 tokens and a text for it.
struct Tuning {
    Tuning() {
        home = static_cast<ui::HomePage*>(fixture.window().page("home"));
        fixture.window().showPage("home");
        home->askForPath = [this](const QString&, bool) { return answers.takeFirst(); };
        std::string text;
        for (int i = 0; i < 200; ++i) {
            text += "The weft goes over and under the warp, row by row. ";
        }
        test::write_file(text_file(), text);
    }
    fs::path text_file() const { return fixture.root() / "brought" / "style.txt"; }
    fs::path base() const { return fixture.root() / "base"; }

    /// A run of ours that stopped at once.
    void
    make_base(config::Json data = {{"train",
                                    {{"type", "synthetic"}, {"kind", "tokens"}, {"vocab", 256}}}},
              int vocab = 256) const {
        const config::Json model = {{"type", "gpt2"}, {"layers", 1},   {"width", 16},
                                    {"heads", 2},     {"context", 16}, {"vocab", vocab}};
        test::write_file(fixture.root() / "base.json",
                         config::Json{{"data", std::move(data)}, {"model", model}}.dump());
        QProcess weft;
        weft.start(WEFT_PROGRAM, {"train", ui::pathText(fixture.root() / "base.json"), "--run-dir",
                                  ui::pathText(base()), "--max-steps", "0"});
        QVERIFY(weft.waitForFinished(kPatienceMs));
        QCOMPARE(weft.exitCode(), 0);
    }
    void choose(const char* button, const char* action) const {
        auto* push = static_cast<QPushButton*>(fixture.find(button));
        auto* chosen = push->menu()->findChild<QAction*>(action);
        QVERIFY(chosen != nullptr);
        chosen->trigger();
    }
    ui::DataOffer& offer() const { return home->offerPanel()->offer(); }
    widgets::SegmentedControl& choice() const {
        return *static_cast<widgets::SegmentedControl*>(fixture.find("offerTuning"));
    }
    bool settled() const {
        return offer().state() == ui::DataOffer::State::Found && !offer().isWorking();
    }
    config::Json init() const { return offer().run()->document.at("init"); }
    QString words() const {
        QString all;
        for (const QLabel* label : home->offerPanel()->findChildren<QLabel*>()) {
            all += label->text() + '\n';
        }
        return all;
    }

    test::StudioFixture fixture;
    ui::HomePage* home;
    QStringList answers; // to the dialogs, in turn
};

} // namespace

class TuningOfferTest : public QObject {
    Q_OBJECT

private slots:
    // What a model writes before it has learnt may be in a script that no font here has.
    void init() { QTest::failOnWarning(QRegularExpression("^(?!\\s*OpenType support missing)")); }

    void weights_and_data_make_a_run_that_starts() {
        Tuning tuning;
        tuning.make_base();
        tuning.answers << ui::pathText(tuning.base());
        tuning.choose("fineTune", "tuneFromFolder");
        QVERIFY(tuning.fixture.find("offerWanted")->isVisible());
        QVERIFY(!tuning.fixture.find("offerStart")->isEnabled());
        tuning.answers << ui::pathText(tuning.text_file());
        tuning.fixture.click("tuneFile");
        QTRY_VERIFY_WITH_TIMEOUT(tuning.settled(), kPatienceMs);
        QVERIFY2(tuning.offer().run().has_value(), qPrintable(tuning.words()));
        const config::Json& run = tuning.offer().run()->document;
        QCOMPARE(run.at("model").at("width"), config::Json(16));
        QCOMPARE(tuning.init().at("from"), config::Json(tuning.base().string()));
        QVERIFY(tuning.init().contains("lora"));
        QVERIFY2(tuning.words().contains("factors"), qPrintable(tuning.words()));

        tuning.choice().setCurrentIndex(1);
        QTRY_VERIFY_WITH_TIMEOUT(tuning.settled() && !tuning.init().contains("lora"), kPatienceMs);
        tuning.choice().setCurrentIndex(0);
        QTRY_VERIFY_WITH_TIMEOUT(tuning.settled() && tuning.init().contains("lora"), kPatienceMs);

        tuning.fixture.click("offerStart");
        QTRY_COMPARE_WITH_TIMEOUT(tuning.fixture.window().currentPage(), QString("train"),
                                  kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(tuning.fixture.studio().run().step() > 3, kPatienceMs);
        tuning.fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!tuning.fixture.studio().isTraining(), kPatienceMs);
        QVERIFY(tuning.offer().weights().empty()); // the next data are for a model of their own
    }

    void a_text_is_read_as_the_chosen_run_read_its_own() {
        Tuning tuning;
        const fs::path tokenizer = tuning.fixture.root() / "tokens.json";
        fs::copy_file(WEFT_SOURCE_DIR "/tests/unit/tokenizer/peers/gpt2.json", tokenizer);
        tuning.make_base({{"train", {{"type", "text"}, {"path", tuning.text_file().string()}}},
                          {"tokenizer", tokenizer.string()}},
                         600);
        tuning.answers << ui::pathText(tuning.base());
        tuning.choose("fineTune", "tuneFromFolder");
        tuning.answers << ui::pathText(tuning.text_file());
        tuning.fixture.click("tuneFile");
        QTRY_VERIFY_WITH_TIMEOUT(tuning.settled(), kPatienceMs);
        QVERIFY2(tuning.offer().run().has_value(), qPrintable(tuning.words()));
        const config::Json& run = tuning.offer().run()->document;
        QCOMPARE(run.at("data").at("tokenizer"), config::Json(tokenizer.string()));
        QCOMPARE(run.at("metrics").at(0), config::Json("perplexity"));
        // The one in the checkpoint, where the file is not what it was.
        test::write_file(tokenizer, R"({"model": {"type": "Unigram"}})");
        tuning.choice().setCurrentIndex(1);
        QTRY_VERIFY_WITH_TIMEOUT(tuning.settled() && !tuning.init().contains("lora"), kPatienceMs);
        const auto kept = tuning.offer().run()->document.at("data").at("tokenizer");
        QVERIFY(kept.get<std::string>().starts_with((tuning.base() / "checkpoints").string()));
    }

    void a_tokenizer_that_is_not_here_keeps_a_model_from_text() {
        Tuning tuning;
        fs::copy(WEFT_SOURCE_DIR "/tests/unit/foreign/peers/gpt2", tuning.base());
        test::write_file(tuning.base() / "tokenizer.json", R"({"model": {"type": "Unigram"}})");
        tuning.answers << ui::pathText(tuning.base());
        tuning.choose("fineTune", "tuneFromFolder");
        tuning.answers << ui::pathText(tuning.text_file());
        tuning.fixture.click("tuneFile");
        QTRY_VERIFY_WITH_TIMEOUT(tuning.settled(), kPatienceMs);
        QVERIFY(!tuning.offer().run());
        QVERIFY2(tuning.words().contains("Unigram"), qPrintable(tuning.words()));
    }

    void data_that_the_model_cannot_read_are_told_and_nothing_starts() {
        Tuning tuning;
        tuning.answers << WEFT_SOURCE_DIR "/tests/unit/foreign/peers/gpt2"; // of 16 tokens
        tuning.choose("fineTune", "tuneFromFolder");
        tuning.answers << ui::pathText(tuning.text_file());
        tuning.fixture.click("tuneFile");
        QTRY_VERIFY_WITH_TIMEOUT(tuning.settled(), kPatienceMs);
        QVERIFY(!tuning.offer().run());
        QVERIFY2(tuning.words().contains("vocabulary"), qPrintable(tuning.words()));
        QVERIFY(!tuning.fixture.find("offerStart")->isEnabled());
    }

    void weights_of_an_unknown_model_are_told() {
        Tuning tuning;
        fs::create_directories(tuning.base());
        const fs::path file = tuning.base() / "some.safetensors";
        fs::copy_file(WEFT_SOURCE_DIR "/tests/unit/foreign/peers/gpt2/model.safetensors", file);
        tuning.answers << ui::pathText(file);
        tuning.choose("fineTune", "tuneFromFile");
        tuning.answers << ui::pathText(tuning.text_file());
        tuning.fixture.click("tuneFile");
        QTRY_VERIFY_WITH_TIMEOUT(tuning.settled(), kPatienceMs);
        QVERIFY2(tuning.words().contains("config.json"), qPrintable(tuning.words()));
    }

    void who_leaves_is_offered_a_model_again() {
        Tuning tuning;
        tuning.answers << WEFT_SOURCE_DIR "/tests/unit/foreign/peers/gpt2";
        tuning.choose("fineTune", "tuneFromFolder");
        tuning.fixture.click("offerBack");
        tuning.home->offerPanel()->look(tuning.text_file());
        QTRY_VERIFY_WITH_TIMEOUT(tuning.settled(), kPatienceMs);
        QVERIFY(!tuning.offer().run()->document.contains("init"));
    }
};

WEFT_TEST(TuningOfferTest)
#include "tuning_offer_test.moc"
