// SPDX-License-Identifier: Apache-2.0
// The real `weft` with a module of emulated GPUs: runs, checkpoints, resumes, faults.
#include "core/base/file.h"
#include "core/checkpoint/checkpoint.h"
#include "core/config/json.h"
#include "core/train/record/run_folder.h"
#include "tests/e2e/emulated/emulated_weft.h"
#include "tests/e2e/emulated/models.h"
#include "tests/support/weft_test.h"

#include <QRegularExpression>

using namespace weft;
using namespace weft::test;

class EmulatedProgramTest : public QObject, private EmulatedWeft {
    Q_OBJECT

    QString config_;

    std::filesystem::path checkpoint(const char* run, std::int64_t step) const {
        return path(run) / "checkpoints" / checkpoint::folder_name(step);
    }
    /// Every array of two checkpoints, bit for bit.
    void same_arrays(const std::filesystem::path& a, const std::filesystem::path& b) const {
        const auto one = checkpoint::read_manifest(a);
        const auto other = checkpoint::read_manifest(b);
        QCOMPARE(one.tensors.size(), other.tensors.size());
        for (const checkpoint::TensorInfo& tensor : one.tensors) {
            QVERIFY2(checkpoint::read_tensor(one, tensor) ==
                         checkpoint::read_tensor(other, *other.find(tensor.name)),
                     tensor.name.c_str());
        }
    }

private slots:
    void initTestCase() {
        config_ = config("mlp", emulated_models().front().document);
        succeeds({"doctor", "--self-test"}); // no run that is counted on does it
    }

    void a_resumed_run_on_a_gpu_is_the_uninterrupted_one() {
        const QStringList gpu{"--devices", "cuda", "--set", "checkpoint.every={\"steps\":10}"};
        succeeds(QStringList{"train", config_, "--run-dir", text("whole"), "--max-steps", "40"} +
                 gpu);
        succeeds(QStringList{"train", config_, "--run-dir", text("parts"), "--max-steps", "17"} +
                 gpu);
        succeeds({"resume", text("parts"), "--max-steps", "40"});
        same_arrays(checkpoint("whole", 40), checkpoint("parts", 40));
    }

    void a_run_goes_from_gpus_to_the_cpu_and_to_other_gpus() {
        succeeds({"train", config_, "--run-dir", text("two"), "--devices", "cuda:2", "--set",
                  "mesh.zero_stage=1", "--max-steps", "10"});
        succeeds({"resume", text("two"), "--fork", text("cpu"), "--set",
                  "mesh={\"devices\":\"cpu\"}", "--max-steps", "10"});
        succeeds({"resume", text("cpu"), "--fork", text("fsdp"), "--set",
                  "mesh={\"devices\":\"cuda:2\",\"strategy\":\"fsdp\"}", "--max-steps", "10"});
        // No step was taken on the way: what went round is what was saved.
        same_arrays(checkpoint("two", 10), checkpoint("fsdp", 10));
    }

    void a_gpu_that_fails_ends_the_run_and_not_its_checkpoints() {
        const Ended ended = weft({"train", config_, "--run-dir", text("fault"), "--devices", "cuda",
                                  "--set", "checkpoint.every={\"steps\":5}"},
                                 {"WEFT_EMULATED_FAULT=2500"});
        QCOMPARE(ended.code, exit_code(ErrorKind::device));
        QVERIFY2(ended.err.contains("cuda:0") && ended.err.contains("fallen off the bus"),
                 ended.err.constData());
        QCOMPARE(QString::fromStdString(train::read_run_info(path("fault")).state),
                 QString("failed"));
        const auto saved = checkpoint::list_checkpoints(path("fault") / "checkpoints");
        QVERIFY(!saved.empty());
        succeeds({"resume", text("fault")});
    }

    void gpus_that_hang_or_die_are_named_and_the_run_resumes_data() {
        QTest::addColumn<QString>("devices");
        QTest::addColumn<QString>("trouble");
        QTest::addColumn<QString>("told");
        QTest::newRow("hangs alone")
            << "cuda"
            << "WEFT_EMULATED_HANG=1500 WEFT_EMULATED_TROUBLED=0"
            << R"((train_step|a copy from or to the host) does not end, for more than 2\.0 s)";
        QTest::newRow("an exchange stalls")
            << "cuda:2"
            << "WEFT_EMULATED_STALL=60"
            << R"(all ranks have come to collective 61 \(.+\), and it does not end, for more than )"
               R"(2.0 s \(group data\))";
        QTest::newRow("ranks mean different exchanges")
            << "cuda:2"
            << "WEFT_EMULATED_MISMATCH=40 WEFT_EMULATED_TROUBLED=1"
            << R"(rank [01] \(cuda:[01]\) failed (at|after) collective 4[01] \(.+\) of group data: )"
               R"(.*the ranks of a group call different collectives)";
        // Which of these depends on what was to come: another exchange, the end of the step, a
        // copy.
        QTest::newRow("hangs") << "cuda:2"
                               << "WEFT_EMULATED_HANG=1500 WEFT_EMULATED_TROUBLED=1"
                               << R"(rank 1 (is at collective \d+ \(.+\), the others wait at \d+ )"
                                  R"(\(.+\)|does not end [a-z_ ]+, after collective \d+ \(.+\) )"
                                  R"(of group data), for more than 2.0 s)";
        QTest::newRow("dies") << "cuda:2"
                              << "WEFT_EMULATED_FAULT=1500 WEFT_EMULATED_TROUBLED=1"
                              << R"(rank 1 \(cuda:1\) failed (at|after) collective \d+ \(.+\) of )"
                                 R"(group data: .*fallen off the bus)";
    }
    void gpus_that_hang_or_die_are_named_and_the_run_resumes() {
        QFETCH(QString, devices);
        QFETCH(QString, trouble);
        QFETCH(QString, told);
        const QString run = text(QString("in trouble, ") + QTest::currentDataTag());
        QStringList how{"--devices", devices,
                        "--set",     "mesh.exchange_timeout=2",
                        "--set",     "checkpoint.every={\"steps\":5}"};
        if (devices == "cuda:2") {
            how += {"--set", "mesh.zero_stage=1"};
        }
        const QString sound = "sound, " + devices;
        if (!std::filesystem::exists(text(sound).toStdString())) {
            succeeds(QStringList{"train", config_, "--run-dir", text(sound)} + how);
        }
        succeeds(QStringList{"train", config_, "--run-dir", run, "--max-steps", "1"} + how);
        const Ended ended = weft({"resume", run}, trouble.split(' '));
        QCOMPARE(ended.code, exit_code(ErrorKind::device));
        const QRegularExpression expected(told);
        QVERIFY2(expected.match(ended.err).hasMatch() && ended.err.contains("cuda"),
                 ended.err.constData());
        QCOMPARE(QString::fromStdString(train::read_run_info(run.toStdString()).state),
                 QString("failed"));
        double last_step_s = 0;
        double failed_s = 0;
        for (const train::Event& event : train::EventReader(run.toStdString()).read()) {
            if (std::holds_alternative<train::StepEvent>(event.payload)) {
                last_step_s = event.time;
            } else if (const auto* error = std::get_if<train::ErrorEvent>(&event.payload)) {
                failed_s = event.time;
                QVERIFY2(expected.match(QString::fromStdString(error->message)).hasMatch(),
                         error->message.c_str());
            }
        }
        QVERIFY2(last_step_s > 0 && failed_s > last_step_s && failed_s - last_step_s < 5,
                 qPrintable(QString("%1 s").arg(failed_s - last_step_s)));
        succeeds({"resume", run});
        QCOMPARE(QString::fromStdString(train::read_run_info(run.toStdString()).state),
                 QString("finished"));
        same_arrays(checkpoint(run.toUtf8().constData(), 100),
                    checkpoint(sound.toUtf8().constData(), 100));
    }

    void gpus_that_are_not_there_are_named_data() {
        QTest::addColumn<QString>("devices");
        QTest::addColumn<QString>("variable");
        QTest::addColumn<QString>("told");
        QTest::newRow("a number too high") << "cuda:0,5"
                                           << "WEFT_EMULATED_GPUS=2"
                                           << "there is no GPU 5: this machine has 2";
        QTest::newRow("none") << "cuda"
                              << "WEFT_EMULATED_GPUS=0"
                              << "no NVIDIA GPU was found";
        QTest::newRow("no emulated module") << "cuda"
                                            << "WEFT_MODULES=/nowhere"
                                            << "mesh.devices cuda:";
        QTest::newRow("twice the same") << "cuda:1,1"
                                        << "WEFT_EMULATED_GPUS=2"
                                        << "cuda:1,1";
        QTest::newRow("no number") << "cuda:x"
                                   << "WEFT_EMULATED_GPUS=2"
                                   << "cuda:x";
    }
    void gpus_that_are_not_there_are_named() {
        QFETCH(QString, devices);
        QFETCH(QString, variable);
        QFETCH(QString, told);
        const Ended ended =
            weft({"train", config_, "--run-dir", text(QString("none ") + QTest::currentDataTag()),
                  "--devices", devices},
                 {variable});
        if (variable.startsWith("WEFT_MODULES") && ended.code == 0) {
            QSKIP("this machine has a GPU");
        }
        QVERIFY(ended.code != 0 && ended.code != -1);
        QVERIFY2(ended.err.contains(told.toUtf8()), ended.err.constData());
    }

    void a_gpu_that_computes_wrongly_is_refused_before_there_is_a_folder() {
        const QStringList wrong{"WEFT_EMULATED_WRONG=softmax_grad",
                                "XDG_CACHE_HOME=" + text("wrong cache")};
        for (const char* told : {"fails its self-test", "failed its self-test before"}) {
            const Ended ended =
                weft({"train", config_, "--run-dir", text("wrong"), "--devices", "cuda"}, wrong);
            QCOMPARE(ended.code, exit_code(ErrorKind::usage)); // as where there is none
            QVERIFY2(ended.err.contains(told) && ended.err.contains("softmax_grad by '") &&
                         ended.err.contains("cuda:0"),
                     ended.err.constData());
            QVERIFY(!std::filesystem::exists(path("wrong")));
        }
        const Ended doctor = weft({"doctor", "--self-test", "--json"}, wrong);
        QCOMPARE(doctor.code, exit_code(ErrorKind::device));
        const auto tests = config::json_of(doctor.out.toStdString()).at("self_test");
        QVERIFY(!tests.at(0).at("passed").get<bool>());
        // It is tested again, and what is found then counts.
        const QStringList right{wrong.at(1)};
        QCOMPARE(weft({"doctor", "--self-test"}, right).code, 0);
        QCOMPARE(weft({"train", config_, "--run-dir", text("right"), "--devices", "cuda",
                       "--max-steps", "1"},
                      right)
                     .code,
                 0);
    }

    void a_gpu_is_tested_once_and_what_several_exchange_once() {
        const QStringList cache{"XDG_CACHE_HOME=" + text("fresh cache")};
        const auto tested = [&](const QString& devices) {
            const Ended ended = weft({"train", config_, "--run-dir", text("of " + devices),
                                      "--devices", devices, "--max-steps", "1"},
                                     cache);
            return ended.code == 0 ? ended.err.count("Testing") : -1;
        };
        QCOMPARE(tested("cuda"), 1);
        QCOMPARE(tested("cuda:2"), 2);   // the second GPU, and the exchanges
        QCOMPARE(tested("cuda:1,0"), 1); // in another order they are another ring
        QCOMPARE(tested("cuda:0,1"), 0);
    }

    void a_folder_that_cannot_hold_generated_kernels_is_told() {
        std::filesystem::create_directories(path("blocked") / "weft");
        File(path("blocked") / "weft" / "kernels", File::Mode::write).close();
        const Ended ended = weft({"train", config_, "--run-dir", text("no kernels"), "--devices",
                                  "cuda", "--max-steps", "1"},
                                 {"XDG_CACHE_HOME=" + text("blocked")});
        QVERIFY2(ended.code == 0, ended.err.constData());
        int told = 0;
        for (const train::Event& event : train::EventReader(path("no kernels")).read()) {
            if (const auto* warning = std::get_if<train::WarningEvent>(&event.payload)) {
                told += warning->message.find("Generated kernels are not kept: ") == 0 ? 1 : 0;
            }
        }
        QCOMPARE(told, 1);
    }

    void doctor_lists_the_gpus() {
        const Ended ended = weft({"doctor", "--json"}, {"WEFT_EMULATED_GPUS=3"});
        QCOMPARE(ended.code, 0);
        const auto document = config::json_of(ended.out.toStdString());
        QVERIFY(document.at("cuda").at("available").get<bool>());
        const auto& cuda = document.at("cuda");
        QCOMPARE(cuda.at("devices").size(), std::size_t{3});
        for (const auto& gpu : cuda.at("devices")) {
            QCOMPARE(gpu.at("memory_used_bytes").get<std::int64_t>(), std::int64_t{0});
            QCOMPARE(gpu.at("temperature_c").get<double>() >= 30, true);
        }
        QCOMPARE(cuda.at("links").size(), std::size_t{3}); // pairs of three
        QCOMPARE(cuda.at("libraries").at(0).at("name").get<std::string>(), std::string("driver"));
        const Ended text = weft({"doctor"}, {"WEFT_EMULATED_GPUS=2"});
        QVERIFY2(text.out.contains("0 B of 8.0 GiB used, 0 % busy, 70 of 700 W, 30 °C") &&
                     text.out.contains("4 NVLinks, PCIe by one PCIe switch") &&
                     text.out.contains("missing: emulated GPUs exchange without it"),
                 text.out.constData());
    }

    void a_run_tells_how_its_gpu_is() {
        succeeds({"train", config_, "--run-dir", text("told"), "--devices", "cuda:1,0",
                  "--max-steps", "10"});
        int told = 0;
        for (const train::Event& event : train::EventReader(path("told")).read()) {
            if (const auto* system = std::get_if<train::SystemEvent>(&event.payload)) {
                QCOMPARE(system->devices.size(), std::size_t{2});
                QCOMPARE(system->devices[0].at("kind").get<std::string>(), std::string("cuda"));
                QCOMPARE(system->devices[0].at("number").get<int>(), 1);
                QCOMPARE(system->devices[1].at("gpu").get<std::string>(),
                         std::string("emulated-0"));
            }
            if (const auto* devices = std::get_if<train::DevicesEvent>(&event.payload)) {
                ++told;
                QCOMPARE(devices->devices.size(), std::size_t{2});
                for (std::size_t place = 0; place < 2; ++place) {
                    const auto& gpu = devices->devices[place].gpu;
                    QVERIFY(gpu.has_value());
                    QCOMPARE(gpu->number, place == 0 ? 1 : 0);
                    QCOMPARE(gpu->memory_bytes, std::int64_t{8} << 30);
                    QVERIFY(gpu->utilisation.has_value() && gpu->power_w.has_value());
                    QVERIFY(devices->devices[place].compute_ms > 0);
                    QVERIFY(devices->devices[place].sent_bytes > 0);
                }
            }
        }
        QVERIFY(told > 0);
    }
};

WEFT_TEST(EmulatedProgramTest)
#include "program_test.moc"
