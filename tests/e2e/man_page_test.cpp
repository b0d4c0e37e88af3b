// SPDX-License-Identifier: Apache-2.0
// The manual page says what --help says, in a form that man takes.
#include "tests/e2e/weft_process.h"
#include "tests/support/weft_test.h"

#include <QRegularExpression>
#include <QStandardPaths>

namespace {

using namespace weft::test;

class ManPageTest : public QObject {
    Q_OBJECT

    QString page_;

    /// Every option that the help names.
    static QStringList options_of(const QStringList& help) {
        static const QRegularExpression option("(?<![\\w-])--[a-z][a-z-]*");
        QStringList out;
        auto found = option.globalMatch(QString::fromStdString(run_weft(help).out));
        while (found.hasNext()) {
            out << found.next().captured();
        }
        return out;
    }

private slots:
    void initTestCase() {
        const Finished done = run_weft({"help", "man"});
        QCOMPARE(done.code, 0);
        page_ = QString::fromStdString(done.out);
    }

    void it_has_every_command_and_option_data() {
        QTest::addColumn<QStringList>("command");
        QTest::newRow("weft") << QStringList{};
        QTest::newRow("train") << QStringList{"train"};
        QTest::newRow("plan") << QStringList{"plan"};
        QTest::newRow("checkpoint export") << QStringList{"checkpoint", "export"};
    }

    void it_has_every_command_and_option() {
        QFETCH(QStringList, command);
        if (!command.isEmpty()) {
            QVERIFY2(page_.contains(".SS weft " + command.join(' ') + "\n"),
                     qPrintable(command.join(' ')));
        }
        const QStringList options = options_of(command + QStringList{"--help"});
        QVERIFY(!options.isEmpty());
        for (const QString& option : options) {
            const QString escaped = "\\fB" + QString(option).replace("-", "\\-") + "\\fR";
            QVERIFY2(page_.contains(escaped), qPrintable(option));
        }
    }

    void man_takes_it_without_a_warning_data() {
        QTest::addColumn<QStringList>("topic");
        QTest::newRow("weft") << QStringList{"man"};
        for (const char* topic :
             {"config", "events", "commands", "plan", "run-folder", "errors", "logging"}) {
            QTest::newRow(topic) << QStringList{topic, "--man"};
        }
    }

    void man_takes_it_without_a_warning() {
        QFETCH(QStringList, topic);
        const Finished done = run_weft(QStringList{"help"} + topic);
        QCOMPARE(done.code, 0);
        if (QStandardPaths::findExecutable("groff").isEmpty()) {
            QSKIP("groff is not installed");
        }
        QProcess groff;
        groff.setProcessChannelMode(QProcess::MergedChannels);
        groff.start("groff", {"-t", "-man", "-Tutf8", "-ww", "-z"});
        groff.write(QByteArray::fromStdString(done.out));
        groff.closeWriteChannel();
        QVERIFY(groff.waitForFinished());
        QCOMPARE(groff.readAll(), QByteArray());
        QCOMPARE(groff.exitCode(), 0);
    }

    // What is read as a page is in the manual page too, name by name.
    void a_manual_page_has_every_name_of_its_topic() {
        const QString page = QString::fromStdString(run_weft({"help", "events", "--man"}).out);
        const QString text = QString::fromStdString(run_weft({"help", "events"}).out);
        static const QRegularExpression name("\\n\\| `([^`]+)`");
        auto found = name.globalMatch(text);
        QVERIFY(found.hasNext());
        while (found.hasNext()) {
            const QString word = found.next().captured(1);
            QVERIFY2(page.contains(".TP\n\\fB" + word + "\\fR"), qPrintable(word));
        }
    }

    void there_is_no_manual_page_of_a_setting() {
        const Finished done = run_weft({"help", "training.length", "--man"});
        QCOMPARE(done.code, 2);
        QVERIFY(done.err.find("run-folder") != std::string::npos);
    }
};

WEFT_TEST(ManPageTest)

} // namespace
#include "man_page_test.moc"
