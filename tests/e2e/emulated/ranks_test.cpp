// SPDX-License-Identifier: Apache-2.0
// A process for each emulated GPU: the bits of one process that drives all of them, and faults that
// all ranks hear of.
#include "core/checkpoint/checkpoint.h"
#include "core/config/json.h"
#include "core/train/record/run_folder.h"
#include "tests/e2e/emulated/emulated_weft.h"
#include "tests/e2e/emulated/models.h"
#include "tests/e2e/ranks/rank_processes.h"
#include "tests/support/weft_test.h"

#include <QRegularExpression>

#include <algorithm>
#include <csignal>

using namespace weft;
using namespace weft::test;

class EmulatedRanksTest : public QObject, private EmulatedWeft {
    Q_OBJECT

    const QStringList apart_{"WEFT_EMULATED_APART=1", "WEFT_EMULATED_GPUS=2"};

    /// A model of the list on as many GPUs as it has devices, some steps long.
    QString on_gpus(const QString& name) const {
        const auto& all = emulated_models();
        const auto model = std::ranges::find(all, name.toStdString(), &EmulatedModel::name);
        WEFT_CHECK(model != all.end(), "the list has " + name.toStdString());
        std::vector<std::string> overrides = model->overrides;
        for (std::string& one : overrides) {
            if (one.starts_with("mesh.devices=cpu:")) {
                one.replace(one.find("cpu:"), 4, "cuda:");
            }
        }
        overrides.insert(overrides.end(),
                         {"training.length={\"steps\":6}", "checkpoint.every={\"steps\":3}"});
        const auto checked =
            compile::read_run_config(std::string_view(model->document), path(""), overrides);
        WEFT_CHECK(checked.ok(), config::to_text(checked.diagnostics.front()));
        return config(name, checked.config.document.dump());
    }
    static int gpus(const QString& config) {
        const auto document = config::json_of(read_file(config.toStdString()));
        const auto devices = document.at("mesh").at("devices").get<std::string>();
        return std::stoi(devices.substr(devices.find(':') + 1));
    }

    Ended launched(const QString& config, const QString& run, const QStringList& more = {},
                   const QStringList& variables = {}) const {
        return weft(QStringList{"launch", config, "--per-host", QString::number(gpus(config)),
                                "--run-dir", text(run)} +
                        more,
                    apart_ + QStringList{"TMPDIR=" + text("between")} + variables);
    }
    Ended alone(const QStringList& arguments) const { return weft(arguments, {apart_.back()}); }

    void same_end(const char* one, const char* other) const {
        QVERIFY(!saved_arrays(path(one)).empty());
        QVERIFY(saved_arrays(path(one)) == saved_arrays(path(other)));
        QCOMPARE(losses_of(path(one)), losses_of(path(other)));
    }

private slots:
    void initTestCase() {
        std::filesystem::create_directories(path("between"));
        const Ended tested = alone({"doctor", "--self-test"}); // no run that is counted on does it
        QVERIFY2(tested.code == 0, tested.err.constData());
    }

    void a_gpu_for_each_process_has_the_bits_of_one_process_with_all_data() {
        QTest::addColumn<QString>("model");
        for (const char* model :
             {"GPT, tensor parallel on 2", "GPT, pipeline on 2", "GPT, experts on 2"}) {
            QTest::newRow(model) << QString(model);
        }
    }
    void a_gpu_for_each_process_has_the_bits_of_one_process_with_all() {
        QFETCH(QString, model);
        const QString config = on_gpus(model);
        const Ended one = alone({"train", config, "--run-dir", text(model + " one")});
        QVERIFY2(one.code == 0, one.err.constData());
        const Ended many = launched(config, model + " many");
        QVERIFY2(many.code == 0, many.err.constData());
        QVERIFY2(many.out.contains("exchange through nccl"), many.out.constData());
        same_end((model + " one").toUtf8().constData(), (model + " many").toUtf8().constData());
    }

    void what_processes_leave_one_process_resumes_and_back() {
        const QString config = on_gpus("GPT, pipeline on 2");
        QCOMPARE(alone({"train", config, "--run-dir", text("whole")}).code, 0);
        QCOMPARE(launched(config, "parts", {"--", "--max-steps", "2"}).code, 0);
        QCOMPARE(alone({"resume", text("parts"), "--max-steps", "4"}).code, 0);
        const Ended last = weft({"launch", text("parts"), "--per-host", "2"},
                                apart_ + QStringList{"TMPDIR=" + text("between")});
        QVERIFY2(last.code == 0, last.err.constData());
        QVERIFY(saved_arrays(path("whole")) == saved_arrays(path("parts")));
    }

    void a_gpu_in_trouble_ends_the_run_on_all_ranks_data() {
        QTest::addColumn<QString>("trouble");
        QTest::addColumn<QString>("told");
        QTest::newRow("dies") << "WEFT_EMULATED_FAULT=1500"
                              << R"(rank 1 \(cuda:1\) failed (at|after) collective \d+ \(.+\) of )"
                                 R"(group data: .*fallen off the bus)";
        QTest::newRow("hangs")
            << "WEFT_EMULATED_HANG=1500"
            << R"(rank 1 \(cuda:1\) does not end [a-z_ ]+, after collective \d+)";
        QTest::newRow("calls another exchange")
            << "WEFT_EMULATED_MISMATCH=40"
            << R"(rank [01] \(cuda:[01]\) failed (at|after) collective 4[01] \(.+\) of group data)"
               R"(.*the ranks of a group call different collectives)";
    }
    void a_gpu_in_trouble_ends_the_run_on_all_ranks() {
        QFETCH(QString, trouble);
        QFETCH(QString, told);
        const QString config = this->config("two", emulated_models().front().document);
        const QString run = QString("in trouble, ") + QTest::currentDataTag();
        const QStringList how{
            "--set", "mesh.devices=\"cuda:2\"", "--set", "mesh.zero_stage=1",
            "--set", "mesh.exchange_timeout=2", "--set", "checkpoint.every={\"steps\":5}"};
        const QStringList surroundings = apart_ + QStringList{"TMPDIR=" + text("between")};
        const Ended ended =
            weft(QStringList{"launch", config, "--per-host", "2", "--run-dir", text(run)} + how,
                 surroundings + QStringList{trouble, "WEFT_EMULATED_TROUBLED=1"});
        QCOMPARE(ended.code, exit_code(ErrorKind::device));
        QVERIFY2(QRegularExpression(told).match(ended.err).hasMatch(), ended.err.constData());
        QCOMPARE(QString::fromStdString(train::read_run_info(path(run.toUtf8())).state),
                 QString("failed"));
        const Ended on = weft({"launch", text(run), "--per-host", "2"}, surroundings);
        QVERIFY2(on.code == 0, on.err.constData());
        if (!std::filesystem::exists(path("sound"))) {
            const Ended sound =
                alone(QStringList{"train", config, "--run-dir", text("sound")} + how);
            QVERIFY2(sound.code == 0, sound.err.constData());
        }
        QVERIFY(saved_arrays(path("sound")) == saved_arrays(path(run.toUtf8())));
    }

    void a_process_that_dies_or_stops_is_named_with_who_waits_for_it_data() {
        QTest::addColumn<int>("number");
        QTest::addColumn<QString>("told");
        QTest::newRow("dies") << SIGKILL << "is gone: its connection ended";
        QTest::newRow("stops") << SIGSTOP
                               << "; rank 0 waits for it(s answer: next batch| at collective)";
    }
    void a_process_that_dies_or_stops_is_named_with_who_waits_for_it() {
        QFETCH(int, number);
        QFETCH(QString, told);
        const QString config = this->config("long", emulated_models().front().document);
        const QString run = text(QString("lost, ") + QTest::currentDataTag());
        RankProcesses ranks(
            {"train", config, "--run-dir", run, "--events", "--set", "mesh.devices=\"cuda:2\"",
             "--set", "training.length={\"steps\":100000}"},
            {.environment =
                 apart_ + QStringList{"TMPDIR=" + text("between"),
                                      "XDG_CACHE_HOME=" + text("cache"),
                                      "WEFT_MODULES=" + QString(WEFT_EMULATED_MODULES)}});
        QVERIFY2(ranks.wait_for_step(20), ranks.error_output(0).c_str());
        ranks.signal(1, number);
        const auto lost = ranks.wait_for([](const train::Event& event) {
            return std::holds_alternative<train::ErrorEvent>(event.payload);
        });
        if (number == SIGSTOP) {
            ranks.signal(1, SIGCONT);
        }
        QVERIFY(lost.has_value());
        const auto& error = std::get<train::ErrorEvent>(lost->payload);
        QVERIFY2(
            error.message.starts_with("rank 1 (") &&
                QRegularExpression(told).match(QString::fromStdString(error.message)).hasMatch(),
            error.message.c_str());
        const std::vector<int> codes = ranks.finish();
        QCOMPARE(codes.front(), exit_code(ErrorKind::device));
        QVERIFY(codes.back() != 0);
    }

    void a_process_that_sees_one_gpu_alone_has_that_one() {
        const Ended ended =
            launched(on_gpus("GPT, pipeline on 2"), "one seen", {}, {"WEFT_EMULATED_GPUS=1"});
        QVERIFY2(ended.code == 0, ended.err.constData());
    }

    void gpus_and_backend_must_fit_the_ranks() {
        const QString config = on_gpus("MLP, ZeRO 1 on 4");
        const Ended few = launched(config, "few");
        QCOMPARE(few.code, exit_code(ErrorKind::usage));
        QVERIFY2(few.err.contains("there is no GPU ") && few.err.contains("this machine has 2"),
                 few.err.constData());
        const Ended gloo = launched(config, "gloo", {"--backend", "gloo"});
        QCOMPARE(gloo.code, exit_code(ErrorKind::usage));
        QVERIFY2(gloo.err.contains("'gloo' does not move what GPUs hold"), gloo.err.constData());
    }
};

WEFT_TEST(EmulatedRanksTest)
#include "ranks_test.moc"
