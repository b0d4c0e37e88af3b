// SPDX-License-Identifier: Apache-2.0
// weft bench load on the presets that it is for: every one is timed alone and beside a busy core,
// and the table says the same as the JSON.
#include "core/config/field.h"
#include "tests/support/weft_test.h"

#include <QProcess>
#include <QRegularExpression>

#include <cmath>

namespace {

using weft::config::Json;
using weft::config::json_of;

/// fashion-mlp or, where its data are not installed, "fashion-mlp (stand-in)".
const QStringList kTimedPresets = {"fashion-mlp", "fashion-cnn", "tiny-gpt", "gpt-6x384"};

constexpr int kMeasuredMs = 10 * 60 * 1000; // a minute on a quiet machine

/// What the program prints; empty where it fails.
QString printed_by(const QStringList& arguments) {
    QProcess process;
    process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    process.start(QStringLiteral(WEFT_PROGRAM), arguments, QIODevice::ReadOnly);
    const bool good = process.waitForFinished(kMeasuredMs) &&
                      process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
    return good ? QString::fromUtf8(process.readAllStandardOutput()) : QString();
}

} // namespace

class BenchLoadTest : public QObject {
    Q_OBJECT
private slots:
    void the_json_has_every_preset_and_the_limit_beside_which_they_are_read() {
        const QString out = printed_by({"bench", "load", "--json"});
        QVERIFY(!out.isEmpty());
        const Json report = json_of(out.toStdString());
        QCOMPARE(report.at("suite").get<std::string>(), std::string("load"));
        const Json& steps = report.at("steps");
        QCOMPARE(steps.size(), static_cast<std::size_t>(kTimedPresets.size()));
        std::vector<Json> all(steps.begin(), steps.end());
        for (qsizetype i = 0; i < kTimedPresets.size(); ++i) {
            const auto name = QString::fromStdString(all[static_cast<std::size_t>(i)].at("name"));
            QVERIFY2(name.startsWith(kTimedPresets[i]), qPrintable(name));
        }
        all.push_back(report.at("limit"));
        for (const Json& timing : all) {
            const double alone = timing.at("alone_ms");
            const double busy = timing.at("busy_ms");
            QVERIFY2(alone > 0 && busy > 0, timing.dump().c_str());
            QCOMPARE(timing.at("ratio").get<double>(), busy / alone);
        }
    }

    void the_table_says_how_many_times_as_long_and_how_that_is_to_the_limit() {
        const QString out = printed_by({"bench", "load"});
        QVERIFY(!out.isEmpty());
        const QRegularExpression row(R"(^(.+?) +([\d.]+) ms +([\d.]+) ms +([\d.]+) +([\d.]+)$)");
        struct Row {
            QString name;
            double alone, busy, times, of_limit;
        };
        std::vector<Row> rows;
        for (const QString& line : out.split('\n')) {
            if (const auto match = row.match(line); match.hasMatch()) {
                rows.push_back({match.captured(1), match.captured(2).toDouble(),
                                match.captured(3).toDouble(), match.captured(4).toDouble(),
                                match.captured(5).toDouble()});
            }
        }
        QCOMPARE(rows.size(), static_cast<std::size_t>(kTimedPresets.size()) + 1);
        QCOMPARE(rows.back().name, QString("independent threads"));
        for (const Row& one : rows) {
            // Two decimals are printed of each, and the smallest time is about a millisecond.
            QVERIFY2(std::abs(one.times - one.busy / one.alone) < 0.03 * one.times,
                     qPrintable(one.name));
            QVERIFY2(std::abs(one.of_limit - one.times / rows.back().times) < 0.03 * one.of_limit,
                     qPrintable(one.name));
        }
    }
};

WEFT_TEST(BenchLoadTest)
#include "bench_load_test.moc"
