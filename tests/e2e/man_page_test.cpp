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

    void man_takes_it_without_a_warning() {
        if (QStandardPaths::findExecutable("groff").isEmpty()) {
            QSKIP("groff is not installed");
        }
        QProcess groff;
        groff.setProcessChannelMode(QProcess::MergedChannels);
        groff.start("groff", {"-t", "-man", "-Tutf8", "-ww", "-z"});
        groff.write(page_.toUtf8());
        groff.closeWriteChannel();
        QVERIFY(groff.waitForFinished());
        QCOMPARE(groff.readAll(), QByteArray());
        QCOMPARE(groff.exitCode(), 0);
    }
};

WEFT_TEST(ManPageTest)

} // namespace
#include "man_page_test.moc"
