// SPDX-License-Identifier: GPL-3.0-or-later
// The draft is never lost: not by opening another, not by closing, not by a crash.
#include "tests/support/weft_test.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"

#include <QPlainTextEdit>
#include <QSignalSpy>

#include <fstream>

namespace {

using namespace weft;

std::filesystem::path kept_file(const test::StudioFixture& fixture) {
    return fixture.root() / "state" / "draft.json";
}

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The text of the draft in its dialog, the cursor at its end.
QPlainTextEdit& edited_text(test::StudioFixture& fixture) {
    fixture.window().actions().get(ui::action::kEditConfig)->trigger();
    auto* editor = static_cast<QPlainTextEdit*>(fixture.find("configText"));
    editor->moveCursor(QTextCursor::End);
    return *editor;
}

} // namespace

class DraftTest : public QObject {
    Q_OBJECT

private slots:
    void opening_another_document_is_an_edit_that_can_be_taken_back() {
        test::StudioFixture fixture;
        ui::Draft& draft = fixture.studio().draft();
        draft.open(fixture.preset());
        QVERIFY(draft.isSaved());
        QVERIFY(!draft.canUndo());
        draft.setField("seed", 11);
        QVERIFY(!draft.isSaved());
        const std::string edited = draft.text();
        draft.setDocument({{"schema_version", 1}, {"name", "other"}}, "/nowhere");
        QVERIFY(draft.path().empty());
        draft.undo();
        QCOMPARE(draft.text(), edited);
        QCOMPARE(draft.path(), fixture.preset());
        QCOMPARE(draft.baseDir(), fixture.preset().parent_path());
        draft.undo();
        QVERIFY(draft.isSaved());
        draft.redo();
        draft.redo();
        QCOMPARE(draft.name(), QString("other"));
    }

    void devices_that_a_run_has_found_are_no_difference() {
        test::StudioFixture fixture;
        ui::Draft& draft = fixture.studio().draft();
        draft.open(fixture.preset());
        compile::RunConfig run = draft.config();
        QCOMPARE(run.document.at("mesh").at("devices"), config::Json("auto"));
        run.document["mesh"]["devices"] = "cpu"; // as a run writes it down
        QCOMPARE(draft.differencesFrom(run).size(), std::size_t{0});
        draft.setField("mesh.devices", "cpu:2");
        const auto changes = draft.differencesFrom(run);
        QCOMPARE(changes.size(), std::size_t{1});
        QCOMPARE(changes.front().path, std::string("mesh.devices"));
    }

    void what_is_being_typed_survives_another_look_at_the_draft() {
        test::StudioFixture fixture;
        ui::Draft& draft = fixture.studio().draft();
        draft.open(fixture.preset());
        QPlainTextEdit& editor = edited_text(fixture);
        QTest::keyClicks(&editor, "// mine");
        draft.changed(); // as when the machine was measured: the text is the same
        QVERIFY(editor.toPlainText().contains("// mine"));
        QTRY_VERIFY(QString::fromStdString(draft.text()).contains("// mine"));
    }

    void what_is_being_typed_and_another_edit_are_both_kept() {
        test::StudioFixture fixture;
        ui::Draft& draft = fixture.studio().draft();
        draft.open(fixture.preset());
        QPlainTextEdit& editor = edited_text(fixture);
        QTest::keyClicks(&editor, "// mine");
        draft.setField("seed", 4711);
        QVERIFY(QString::fromStdString(draft.text()).contains("// mine"));
        QVERIFY(editor.toPlainText().contains("// mine"));
        draft.undo();
        QCOMPARE(draft.config().seed, std::uint64_t{4711});
    }

    void what_is_being_typed_comes_back_when_another_document_is_opened() {
        test::StudioFixture fixture;
        ui::Draft& draft = fixture.studio().draft();
        draft.open(fixture.preset());
        const auto other = fixture.root() / "other.json";
        std::filesystem::copy_file(fixture.preset(), other);
        QTest::keyClicks(&edited_text(fixture), "// mine");
        fixture.window().open(ui::pathText(other));
        QCOMPARE(draft.path(), other);
        QVERIFY(draft.isSaved());
        draft.undo();
        QVERIFY(QString::fromStdString(draft.text()).contains("// mine"));
    }

    void saving_goes_to_the_draft_s_own_file() {
        test::StudioFixture fixture;
        const auto own = fixture.root() / "own.json";
        std::filesystem::copy_file(fixture.preset(), own);
        fixture.studio().draft().open(own);
        QVERIFY(!fixture.window().actions().get(ui::action::kSave)->isEnabled());
        fixture.studio().draft().setField("seed", 12);
        fixture.window().actions().get(ui::action::kSave)->trigger();
        QCOMPARE(config::parse_json(content(own), "own.json").value.at("seed"), 12);
        QVERIFY(!fixture.window().actions().get(ui::action::kSave)->isEnabled());
    }

    void an_edited_draft_is_there_again_after_closing() {
        test::StudioFixture fixture;
        fixture.studio().draft().open(fixture.preset());
        fixture.studio().draft().setField("seed", 77);
        fixture.reopen();
        const ui::Draft& draft = fixture.studio().draft();
        QVERIFY(draft.isValid());
        QCOMPARE(draft.document().at("seed"), 77);
        QCOMPARE(draft.path(), fixture.preset());
        QVERIFY(!draft.isSaved());
        QVERIFY(!draft.canUndo());
    }

    void two_studios_keep_a_draft_each() {
        test::StudioFixture fixture;
        const ui::StudioPaths paths = fixture.studio().paths();
        fixture.studio().draft().open(fixture.preset());
        fixture.studio().draft().setField("seed", 81);
        QTRY_VERIFY(content(kept_file(fixture)).find("81") != std::string::npos);
        {
            ui::Studio second(paths);
            second.bringBackDraft();
            QVERIFY(second.draft().isEmpty());
            second.draft().open(fixture.preset());
            second.draft().setField("seed", 82);
        }
        // Another day the last one comes first, and the other with the next window.
        fixture.reopen();
        QCOMPARE(fixture.studio().draft().document().at("seed"), 82);
        ui::Studio second(paths);
        second.bringBackDraft();
        QCOMPARE(second.draft().document().at("seed"), 81);
    }

    void a_text_that_is_no_configuration_yet_is_kept_as_well() {
        test::StudioFixture fixture;
        fixture.studio().draft().open(fixture.preset());
        fixture.studio().draft().setText("{ \"name\": \"half");
        fixture.reopen();
        QCOMPARE(fixture.studio().draft().text(), std::string("{ \"name\": \"half"));
        QVERIFY(!fixture.studio().draft().isValid());
    }

    void an_edit_is_on_disk_while_the_studio_still_runs() {
        test::StudioFixture fixture;
        fixture.studio().draft().open(fixture.preset());
        fixture.studio().draft().setField("seed", 78);
        // What a crash leaves is what is on disk now.
        QTRY_VERIFY(content(kept_file(fixture)).find("78") != std::string::npos);
    }

    void a_damaged_file_is_named_and_stands_in_nobody_s_way() {
        test::StudioFixture fixture;
        fixture.studio().draft().open(fixture.preset());
        std::filesystem::create_directories(fixture.root() / "state");
        std::ofstream(kept_file(fixture)) << "{\"text\": ";
        QSignalSpy troubled(&fixture.studio(), &ui::Studio::troubled);
        fixture.studio().bringBackDraft();
        QCOMPARE(troubled.size(), 1);
        QVERIFY(troubled.front().front().toString().contains("draft.json"));
        QVERIFY(fixture.studio().draft().isValid());
    }

    void a_folder_that_cannot_be_written_is_told_once() {
        test::StudioFixture fixture;
        // A file where the folder should be: nothing can be kept, whoever runs the test.
        std::filesystem::remove_all(fixture.root() / "state");
        std::ofstream(fixture.root() / "state") << "in the way";
        QSignalSpy troubled(&fixture.studio(), &ui::Studio::troubled);
        fixture.studio().draft().open(fixture.preset());
        QTRY_COMPARE(troubled.size(), 1);
        QVERIFY(troubled.front().front().toString().contains("draft"));
        fixture.studio().draft().setField("seed", 79);
        std::filesystem::remove(fixture.root() / "state");
        QTRY_VERIFY(content(kept_file(fixture)).find("79") != std::string::npos);
        QCOMPARE(troubled.size(), 1);
    }
};

WEFT_TEST(DraftTest)
#include "draft_test.moc"
