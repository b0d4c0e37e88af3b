// SPDX-License-Identifier: GPL-3.0-or-later
// A model of program text on the Model page: any model becomes one, is edited, and what is wrong is
// marked at its line.
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/pages/model/model_page.h"
#include "ui/pages/model/model_text_panel.h"
#include "widgets/controls/text_label.h"

#include <QPlainTextEdit>
#include <QPushButton>
#include <QTextBlock>

#include <fstream>

namespace {

using namespace weft;
using config::Json;
using test::kPatienceMs;

} // namespace

class ModelTextTest : public QObject {
    Q_OBJECT

    static QPlainTextEdit* editor(test::StudioFixture& fixture) {
        return static_cast<QPlainTextEdit*>(fixture.find("modelText"));
    }

    static ui::ModelPage* page(test::StudioFixture& fixture) {
        return static_cast<ui::ModelPage*>(fixture.window().page("model"));
    }

    static void show(test::StudioFixture& fixture, const Json& model) {
        Json document = config::json_of(test::tiny_config());
        document["model"] = model;
        fixture.studio().draft().setDocument(document, fixture.root());
        fixture.window().resize(1440, 900);
        fixture.window().showPage("model");
        QTRY_VERIFY_WITH_TIMEOUT(page(fixture)->outline() != nullptr, kPatienceMs);
    }

    static const Json& model(test::StudioFixture& fixture) {
        return fixture.studio().draft().document().at("model");
    }

    /// Replaces a part of the text as somebody who types.
    static void type(test::StudioFixture& fixture, const QString& what, const QString& with) {
        QTextCursor cursor = editor(fixture)->document()->find(what);
        QVERIFY(!cursor.isNull());
        cursor.insertText(with);
    }

    static QString problem(test::StudioFixture& fixture) {
        return static_cast<widgets::TextLabel*>(fixture.find("modelTextProblem"))->text();
    }

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(".*")); }

    void any_model_becomes_text_and_comes_back_by_undo() {
        test::StudioFixture fixture;
        show(fixture, {{"type", "mlp"}, {"hidden", {8}}});
        QVERIFY(!editor(fixture)->isVisible());
        const auto before = page(fixture)->outline();
        const std::int64_t parameters = before->blocks.at("").parameters;
        QTRY_VERIFY(fixture.find("modelAsText")->isVisible());
        fixture.click("modelAsText");
        QTRY_VERIFY_WITH_TIMEOUT(editor(fixture)->isVisible(), kPatienceMs);
        QCOMPARE(model(fixture).at("type"), Json("graph"));
        QVERIFY(editor(fixture)->toPlainText().contains("layers.0.weight"));
        QTRY_VERIFY_WITH_TIMEOUT(page(fixture)->outline() != before, kPatienceMs);
        QCOMPARE(page(fixture)->outline()->problem, QString());
        QCOMPARE(page(fixture)->outline()->blocks.at("").parameters, parameters);
        QVERIFY(!fixture.find("modelAsText")->isVisible());
        fixture.studio().draft().undo();
        QCOMPARE(model(fixture).at("type"), Json("mlp"));
        QVERIFY(!editor(fixture)->isVisible());
    }

    void what_is_wrong_is_marked_at_its_line() {
        test::StudioFixture fixture;
        show(fixture, {{"type", "mlp"}, {"hidden", {8}}});
        QTRY_VERIFY(fixture.find("modelAsText")->isVisible());
        fixture.click("modelAsText");
        QTRY_VERIFY_WITH_TIMEOUT(editor(fixture)->isVisible(), kPatienceMs);
        const int line = editor(fixture)->document()->find("relu(").blockNumber();

        // No op of this name: known without data.
        type(fixture, "relu(", "rellu(");
        QTRY_VERIFY_WITH_TIMEOUT(problem(fixture).contains("'rellu'"), kPatienceMs);
        QVERIFY(!fixture.studio().draft().isValid());
        const auto marks = editor(fixture)->extraSelections();
        QCOMPARE(marks.front().cursor.blockNumber(), line);
        // Said in words and by a wave, not only in red.
        QVERIFY2(problem(fixture).startsWith(QString("line %1,").arg(line + 1)),
                 qPrintable(problem(fixture)));
        QCOMPARE(marks.back().cursor.blockNumber(), line);
        QVERIFY(!marks.back().cursor.selectedText().trimmed().isEmpty());
        QCOMPARE(marks.back().format.underlineStyle(), QTextCharFormat::WaveUnderline);
        QVERIFY(editor(fixture)->toPlainText().contains("rellu(")); // it stays as typed
        type(fixture, "rellu(", "relu(");
        QTRY_VERIFY_WITH_TIMEOUT(problem(fixture).isEmpty(), kPatienceMs);
        QVERIFY(fixture.studio().draft().isValid());

        // A shape that does not fit: known once the model is built for the data.
        type(fixture, "[16,8]", "[15,8]");
        QTRY_VERIFY_WITH_TIMEOUT(problem(fixture).contains("linear"), kPatienceMs);
        const int wrong = editor(fixture)->document()->find("linear(").blockNumber();
        QCOMPARE(editor(fixture)->extraSelections().front().cursor.blockNumber(), wrong);
        QVERIFY(fixture.find("modelTrouble")->isVisible());
        QVERIFY(page(fixture)->showField("/model/text"));
        QCOMPARE(editor(fixture)->textCursor().blockNumber(), wrong);
        type(fixture, "[15,8]", "[16,8]");
        QTRY_VERIFY_WITH_TIMEOUT(problem(fixture).isEmpty(), kPatienceMs);
        QTRY_VERIFY(!fixture.find("modelTrouble")->isVisible());
    }

    void a_file_is_shown_and_an_edit_stays_in_the_draft() {
        test::StudioFixture fixture;
        const std::string text = "program small {\n  in %0 batch \"inputs\"\n"
                                 "  in %1 state \"w\" : f32[16,4]\n  %2 = linear(%0, %1)\n"
                                 "  out %2 output \"prediction\"\n}\n";
        std::ofstream(fixture.root() / "small.weft") << text;
        show(fixture, {{"type", "graph"}, {"path", "small.weft"}});
        QCOMPARE(editor(fixture)->toPlainText(), QString::fromStdString(text));
        type(fixture, "small", "mine");
        QTRY_VERIFY_WITH_TIMEOUT(model(fixture).contains("text"), kPatienceMs);
        QVERIFY(model(fixture).at("text").get<std::string>().starts_with("program mine"));
        QCOMPARE(model(fixture).at("path"), Json("small.weft"));
        std::ifstream file(fixture.root() / "small.weft");
        const std::string kept{std::istreambuf_iterator<char>(file), {}};
        QCOMPARE(kept, text);
    }
};

WEFT_TEST(ModelTextTest)
#include "model_text_test.moc"
