// SPDX-License-Identifier: GPL-3.0-or-later
// Under a locale that writes decimal commas: what the engine prints has points, as it reads them.
#include "core/base/text.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"

#include <QLocale>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>

#include <clocale>
#include <cstdlib>

namespace {

using namespace weft;

constexpr auto kCommaLocale = "de_DE.UTF-8";

bool runs_under_a_comma_locale() {
    return qEnvironmentVariable("WEFT_TEST_LOCALE") == kCommaLocale;
}

} // namespace

class LocaleTest : public QObject {
    Q_OBJECT

private slots:
    // The locale of a process is settled when its application begins, so this begins another.
    void the_engine_writes_points_under_a_comma_locale() {
        if (runs_under_a_comma_locale()) {
            QSKIP("the whole test runs there");
        }
        const QString compiler = QStandardPaths::findExecutable("localedef");
        const QTemporaryDir folder;
        const QString place = folder.filePath(kCommaLocale);
        if (compiler.isEmpty() ||
            QProcess::execute(compiler, {"-i", "de_DE", "-f", "UTF-8", place}) != 0) {
            QSKIP("no German locale can be made here: localedef or its sources are missing");
        }
        QProcess other;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("LOCPATH", folder.path());
        environment.insert("WEFT_TEST_LOCALE", kCommaLocale);
        other.setProcessEnvironment(environment);
        other.setProcessChannelMode(QProcess::MergedChannels);
        other.start(QCoreApplication::applicationFilePath(),
                    {"LocaleTest", "numbers_have_points_and_dates_are_german"});
        QVERIFY(other.waitForFinished(test::kPatienceMs));
        QVERIFY2(other.exitStatus() == QProcess::NormalExit && other.exitCode() == 0,
                 other.readAll().constData());
    }

    void numbers_have_points_and_dates_are_german() {
        if (!runs_under_a_comma_locale()) {
            QSKIP("only in the process that the test above begins");
        }
        QCOMPARE(QLocale().decimalPoint(), QString(",")); // or nothing would be shown below
        QCOMPARE(QLocale().monthName(3), QString("März"));
        QCOMPARE(std::localeconv()->decimal_point, ".");
        QCOMPARE(QString::fromStdString(format_bytes(1536)), QString("1.5 KiB"));
        QCOMPARE(std::strtod("0.5", nullptr), 0.5);
    }
};

WEFT_TEST(LocaleTest)
#include "locale_test.moc"
