// SPDX-License-Identifier: Apache-2.0
// `weft data audit` on a table with planted faults: rows of another class, rows that are there
// twice, rows that judge and teach. And a run that takes the list that comes of it, beside one on
// the table as a person would have mended it.
#include "core/data/corrections.h"
#include "core/train/audit/audit.h"
#include "core/train/record/run_folder.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

namespace {

using namespace weft::test;
using weft::config::Json;
using weft::train::Audit;
using weft::train::Suspect;
using weft::train::Suspicion;
namespace fs = std::filesystem;
namespace train = weft::train;

constexpr int kRows = 1200;
constexpr int kFeatures = 6;
constexpr int kClasses = 4;
constexpr int kFlipped = 36;
constexpr int kTwice = 10;

struct Table {
    std::vector<std::vector<float>> rows;
    std::vector<int> labels;

    void write(const fs::path& file) const {
        std::ofstream out(file);
        out.precision(9);
        for (int k = 0; k < kFeatures; ++k) {
            out << "x" << k << ",";
        }
        out << "class\n";
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (const float value : rows[i]) {
                out << value << ",";
            }
            out << "abcd"[labels[i]] << "\n";
        }
    }
};

/// Four clouds that a network tells apart without a fault.
Table clouds(unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> noise(0.0F, 1.0F);
    Table out;
    for (int i = 0; i < kRows; ++i) {
        const int label = i % kClasses;
        std::vector<float> row;
        for (int k = 0; k < kFeatures; ++k) {
            row.push_back(noise(random) + (k % kClasses == label ? 6.0F : 0.0F));
        }
        out.rows.push_back(row);
        out.labels.push_back(label);
    }
    return out;
}

QString text_of(const fs::path& path) {
    return QString::fromStdString(path.string());
}

bool is(const Suspect& one, Suspicion why) {
    return std::find(one.reasons.begin(), one.reasons.end(), why) != one.reasons.end();
}

} // namespace

class AuditTest : public QObject, private TestFolder {
    Q_OBJECT

    Table right_, planted_;
    std::set<std::int64_t> flipped_;
    fs::path run_;

    QString config(const fs::path& table, const Json& more = {}) const {
        Json document = weft::config::json_of(R"({
            "name": "clouds", "seed": 5,
            "data": {"train": {"type": "csv", "targets": ["class"]}, "validation": null},
            "model": {"type": "mlp", "hidden": [16]},
            "optimizer": {"type": "adamw", "learning_rate": 3e-3},
            "lr_schedule": {"type": "constant"},
            "training": {"length": {"epochs": 6}, "global_batch_size": 32},
            "evaluation": {"samples": 0},
            "checkpoint": {"every": {"epochs": 1}, "keep_latest": 10},
            "log": {"tensorboard": false}})");
        document["data"]["train"]["path"] = table.string();
        if (more.is_object()) {
            document.merge_patch(more);
        }
        const fs::path file = path("config.json");
        std::ofstream(file) << document.dump();
        return text_of(file);
    }
    Finished train(const QString& config, const fs::path& run) const {
        Finished out = run_weft({"train", config, "--run-dir", text_of(run)});
        if (out.code != 0) {
            qInfo("%s", out.err.c_str());
        }
        return out;
    }
    Audit audited() const {
        const Finished out = run_weft({"data", "audit", text_of(run_), "--json"});
        if (out.code != 0) {
            qWarning() << out.err.c_str();
        }
        return train::audit_of_json(weft::config::json_of(out.out));
    }

private slots:
    void initTestCase() {
        right_ = planted_ = clouds(1);
        std::mt19937 random(2);
        while (flipped_.size() < kFlipped) {
            const auto at = static_cast<std::size_t>(random() % kRows);
            if (flipped_.insert(static_cast<std::int64_t>(at)).second) {
                planted_.labels[at] =
                    (planted_.labels[at] + 1 + static_cast<int>(random() % 3)) % 4;
            }
        }
        for (int i = 0; i < kTwice; ++i) { // of rows that are labelled rightly
            std::size_t at = static_cast<std::size_t>(random() % kRows);
            while (flipped_.contains(static_cast<std::int64_t>(at))) {
                at = (at + 1) % kRows;
            }
            planted_.rows.push_back(planted_.rows[at]);
            planted_.rows.back()[0] += i % 2 == 0 ? 0.0F : 1e-3F;
            planted_.labels.push_back(planted_.labels[at]);
        }
        planted_.write(path("planted.csv"));
        run_ = path("run");
        QCOMPARE(train(config(path("planted.csv")), run_).code, 0);
    }

    void rows_of_another_class_come_first_with_their_own() {
        const Audit audit = audited();
        QCOMPARE(audit.samples, std::int64_t{kRows + kTwice});
        QVERIFY(audit.checkpoints.size() >= 6);
        int found = 0;
        int flagged = 0;
        for (const Suspect& one : audit.suspects) {
            QCOMPARE(one.loss.size(), audit.checkpoints.size());
            if (is(one, Suspicion::mislabelled)) {
                QVERIFY(flagged < 1 || is(audit.suspects[0], Suspicion::mislabelled));
                ++flagged;
                const bool own = one.says == right_.labels[static_cast<std::size_t>(one.index)];
                found += flipped_.contains(one.index) && own ? 1 : 0;
            }
        }
        qInfo("%d of %d flagged rows are planted, with their own class", found, flagged);
        // A label counts as wrong where another class is as sure as it is on average for its own
        // rows: more than half of the rows of a cloud, for few are much less sure.
        QVERIFY(flagged >= kFlipped / 2);
        // The clouds overlap by less than one row in a hundred.
        QVERIFY(found >= flagged - 2);
    }

    void rows_that_are_there_twice_are_told_with_the_other() {
        std::set<std::int64_t> found;
        std::set<std::int64_t> exact;
        for (const Suspect& one : audited().suspects) {
            if (is(one, Suspicion::duplicate) && one.index >= kRows) {
                QVERIFY(one.twins.at(0).part == "train");
                QVERIFY(one.twins.at(0).index < kRows);
                QVERIFY(planted_.labels[static_cast<std::size_t>(one.twins.at(0).index)] ==
                        planted_.labels[static_cast<std::size_t>(one.index)]);
                found.insert(one.index);
                if (one.twins.at(0).exact) {
                    exact.insert(one.index);
                }
            }
        }
        QCOMPARE(found.size(), std::size_t{kTwice});
        QCOMPARE(exact.size(), std::size_t{kTwice / 2});
    }

    void what_judges_and_teaches_is_a_leak() {
        Table validation;
        for (std::size_t i = 0; i < 40; ++i) {
            validation.rows.push_back(i < 5 ? planted_.rows[7 * i] : clouds(9).rows[i]);
            validation.labels.push_back(i < 5 ? planted_.labels[7 * i] : clouds(9).labels[i]);
        }
        validation.write(path("validation.csv"));
        const fs::path run = path("leaking");
        const Json own = {{"data",
                           {{"validation",
                             {{"type", "csv"},
                              {"targets", {"class"}},
                              {"path", path("validation.csv").string()}}}}}};
        QCOMPARE(train(config(path("planted.csv"), own), run).code, 0);
        const Finished out = run_weft({"data", "audit", text_of(run), "--json"});
        std::set<std::int64_t> found;
        for (const Suspect& one : train::audit_of_json(weft::config::json_of(out.out)).suspects) {
            if (is(one, Suspicion::leak)) {
                QVERIFY(
                    std::any_of(one.twins.begin(), one.twins.end(), [](const train::Twin& twin) {
                        return twin.part == "validation" && twin.likeness > 0.99;
                    }));
                found.insert(one.index);
            }
        }
        for (std::int64_t i = 0; i < 5; ++i) {
            QVERIFY2(found.contains(7 * i), qPrintable(QString::number(7 * i)));
        }
    }

    // Bit for bit: sums, batches, means of the columns and the plan are those of the other table.
    void a_run_with_the_list_is_the_run_on_a_mended_table() {
        const fs::path list = path("corrections.jsonl");
        const Finished made =
            run_weft({"data", "audit", text_of(run_), "--write", text_of(list), "--exclude",
                      "duplicate", "--relabel", "--confidence", "0"});
        QVERIFY2(made.code == 0, made.err.c_str());
        Table mended;
        std::set<std::int64_t> excluded;
        std::map<std::int64_t, int> labels;
        for (const auto& one : weft::data::read_corrections(list)) {
            one.excludes() ? void(excluded.insert(one.index)) : void(labels[one.index] = one.label);
        }
        QVERIFY2(excluded.size() >= kTwice && labels.size() >= kFlipped / 2 - 2, made.out.c_str());
        for (std::size_t i = 0; i < planted_.rows.size(); ++i) {
            const auto index = static_cast<std::int64_t>(i);
            if (!excluded.contains(index)) {
                mended.rows.push_back(planted_.rows[i]);
                mended.labels.push_back(labels.contains(index) ? labels[index]
                                                               : planted_.labels[i]);
            }
        }
        mended.write(path("mended.csv"));
        const Json listed = {{"data", {{"corrections", list.string()}}}};
        QCOMPARE(train(config(path("planted.csv"), listed), path("listed")).code, 0);
        QCOMPARE(train(config(path("mended.csv")), path("mended")).code, 0);
        const auto entries = weft::checkpoint::list_checkpoints(path("mended") / "checkpoints");
        const fs::path last = fs::path("checkpoints") / entries.back().path.filename();
        QVERIFY(fs::exists(path("listed") / last));
        const Finished same = run_weft(
            {"checkpoint", "diff", text_of(path("listed") / last), text_of(path("mended") / last)});
        QVERIFY2(same.code == 0, same.out.c_str());
        // And it is not the run that was planted with faults.
        const Finished other = run_weft(
            {"checkpoint", "diff", text_of(path("listed") / last),
             text_of(weft::checkpoint::list_checkpoints(run_ / "checkpoints").back().path)});
        QCOMPARE(other.code, 1);
    }

    void a_list_for_other_data_is_refused_where_it_does_not_fit() {
        const fs::path list = path("corrections.jsonl");
        Table other = planted_;
        const auto all = weft::data::read_corrections(list);
        other.rows[static_cast<std::size_t>(all.at(3).index)][2] += 1;
        other.write(path("other.csv"));
        const Json listed = {{"data", {{"corrections", list.string()}}}};
        const Finished out = run_weft({"check", config(path("other.csv"), listed)});
        const Finished run = train(config(path("other.csv"), listed), path("refused"));
        QCOMPARE(run.code, 3);
        QVERIFY2(run.err.find("corrections.jsonl, line 4") != std::string::npos, run.err.c_str());
        QVERIFY2(out.code != 0, out.out.c_str());
    }
};

WEFT_TEST(AuditTest)
#include "audit_test.moc"
