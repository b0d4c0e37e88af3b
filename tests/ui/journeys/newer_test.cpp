// SPDX-License-Identifier: GPL-3.0-or-later
// A configuration that a newer Weft wrote: said in clear words, nothing of it lost.
#include "tests/support/weft_test.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"

#include <QFile>
#include <QTableView>

namespace {

using namespace weft;

QByteArray newerConfig() {
    return R"({
  // written by a newer studio
  "schema_version": 2, "name": "from-tomorrow",
  "data": {"train": {"type": "synthetic", "kind": "classification"}},
  "model": {"type": "mlp", "hidden": [8]},
  "dreams": {"depth": 3}
})";
}

} // namespace

class NewerTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(".*")); }

    void a_newer_configuration_is_refused_in_words_and_kept_as_it_is() {
        test::StudioFixture fixture;
        const std::filesystem::path path = fixture.root() / "newer.json";
        QFile file(ui::pathText(path));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(newerConfig());
        file.close();
        QCOMPARE(fixture.studio().opener().open(path), QString());
        QVERIFY(!fixture.window().actions().get(ui::action::kStart)->isEnabled());
        const auto* problems = static_cast<QTableView*>(fixture.find("problemsTable"))->model();
        QString words;
        for (int row = 0; row < problems->rowCount(); ++row) {
            for (int column = 0; column < problems->columnCount(); ++column) {
                words += problems->index(row, column).data().toString() + ' ';
            }
        }
        QVERIFY2(words.contains("version 2") && words.contains("newer version"), qPrintable(words));
        // Every page shows itself, and the text stays: comment, unknown field and all.
        for (const char* page : {"home", "data", "plan", "train", "checkpoints"}) {
            fixture.window().showPage(page);
        }
        QCOMPARE(QByteArray::fromStdString(fixture.studio().draft().text()), newerConfig());
        fixture.reopen();
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), newerConfig());
    }
};

WEFT_TEST(NewerTest)
#include "newer_test.moc"
