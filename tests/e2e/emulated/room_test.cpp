// SPDX-License-Identifier: Apache-2.0
// Room on emulated GPUs: what a run needs is counted before anything is taken, "auto" weighs it,
// and what does not fit is refused with what would.
#include "core/base/file.h"
#include "core/config/json.h"
#include "core/train/planning.h"
#include "core/train/record/run_folder.h"
#include "tests/e2e/emulated/emulated_weft.h"
#include "tests/e2e/emulated/models.h"
#include "tests/support/weft_test.h"

using namespace weft;
using namespace weft::test;

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// Activations of hundreds of MiB, of which fewer samples at a time need few.
const char* const kWide = R"({
  "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 512, "samples": 1024}},
  "model": {"type": "gpt2", "layers": 2, "width": 128, "heads": 4, "context": 128, "vocab": 512},
  "metrics": [],
  "optimizer": {"type": "adamw", "learning_rate": 0.001},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 256, "precision": "f32", "length": {"steps": 100}}
})";

QString megabytes(std::int64_t bytes) {
    return "WEFT_EMULATED_MEMORY=" + QString::number(bytes / kMiB);
}

} // namespace

class EmulatedRoomTest : public QObject, private EmulatedWeft {
    Q_OBJECT

    QString small_, wide_;

    config::Json plan_of(const QStringList& arguments, const QStringList& variables) const {
        const Ended ended =
            weft(QStringList{"plan"} + arguments + QStringList{"--json"}, variables);
        return config::json_of(ended.out.toStdString());
    }

private slots:
    void initTestCase() {
        small_ = config("small", emulated_models().front().document);
        wide_ = config("wide", kWide);
        succeeds({"doctor", "--self-test"});
    }

    // Arrays, what lands behind them, and what driver, libraries and groups keep beside.
    void every_line_of_memory_counts_data() {
        QTest::addColumn<QStringList>("mesh");
        QTest::addColumn<int>("axes");
        QTest::newRow("one GPU") << QStringList{"--devices", "cuda"} << 0;
        QTest::newRow("one axis") << QStringList{"--devices", "cuda:2"} << 1;
        QTest::newRow("two axes") << QStringList{"--devices", "cuda:4", "--set",
                                                 "mesh.strategy=hybrid_fsdp"}
                                  << 2;
    }
    void every_line_of_memory_counts() {
        QFETCH(QStringList, mesh);
        QFETCH(int, axes);
        const auto variables = [](std::int64_t bytes) {
            return QStringList{"WEFT_EMULATED_GPUS=4", megabytes(bytes)};
        };
        const auto roomy = plan_of(QStringList{small_} + mesh, variables(8192 * kMiB));
        const auto& beside = roomy.at("on_device");
        const auto line = [&](const char* name) { return beside.at(name).get<std::int64_t>(); };
        QCOMPARE(line("exchange_bytes"), axes * 128 * kMiB); // 32 channels of 4 MiB (NCCL's guide)
        const std::int64_t needs = roomy.at("memory_bytes").get<std::int64_t>();
        const std::int64_t lines = line("landing_bytes") + line("context_bytes") +
                                   line("library_bytes") + line("exchange_bytes");
        QVERIFY(lines > 0 && needs > lines);
        const std::int64_t just = (needs + kMiB - 1) / kMiB * kMiB;
        QVERIFY(plan_of(QStringList{small_} + mesh, variables(just)).at("fits").get<bool>());
        QVERIFY(
            !plan_of(QStringList{small_} + mesh, variables(just - kMiB)).at("fits").get<bool>());
        const QString name = text(QString("just ") + QTest::currentDataTag());
        const auto train =
            QStringList{"train", small_, "--run-dir", name, "--max-steps", "1"} + mesh;
        const Ended refused = weft(train, variables(just - kMiB));
        QCOMPARE(refused.code, exit_code(ErrorKind::memory));
        QVERIFY2(refused.err.contains("the free memory of GPU 0, emulated GPU"),
                 refused.err.constData());
        std::filesystem::remove_all(name.toStdString());
        QCOMPARE(weft(train, variables(just)).code, 0);
    }

    void what_does_not_fit_is_refused_with_what_would() {
        const QStringList little{"WEFT_EMULATED_MEMORY=1024"};
        const QStringList where{"--devices", "cuda"};
        const Ended planned = weft(QStringList{"plan", wide_, "--json"} + where, little);
        QCOMPARE(planned.code, exit_code(ErrorKind::memory));
        const auto fixes = config::json_of(planned.out.toStdString()).at("fixes");
        QCOMPARE(fixes.size(), std::size_t{3});
        const Ended trained =
            weft(QStringList{"train", wide_, "--run-dir", text("wide run")} + where, little);
        QCOMPARE(trained.code, exit_code(ErrorKind::memory));
        QVERIFY2(trained.err.contains("there are 1.0 GiB (the free memory of GPU 0, emulated GPU)"),
                 trained.err.constData());
        for (const auto& fix : fixes) {
            QStringList changed{"plan", wide_, "--json"};
            for (const auto& change : fix.at("overrides")) {
                const QString setting = QString::fromStdString(change.get<std::string>());
                QVERIFY2(trained.err.contains(("--set " + setting).toUtf8()),
                         trained.err.constData());
                changed += {"--set", setting};
            }
            const Ended fits = weft(changed + where, little);
            QCOMPARE(fits.code, 0);
            QCOMPARE(config::json_of(fits.out.toStdString()).at("memory_bytes"),
                     fix.at("peak_bytes"));
        }
        QCOMPARE(QString::fromStdString(train::read_run_info(path("wide run")).state),
                 QString("failed"));
    }

    void auto_takes_a_gpu_that_passes_data() {
        QTest::addColumn<QString>("variables");
        QTest::addColumn<QString>("devices");
        QTest::addColumn<QString>("why");
        QTest::newRow("one that passes") << "WEFT_EMULATED_GPUS=1"
                                         << "cuda"
                                         << "computes on cuda:0, emulated GPU";
        QTest::newRow("one that fails") << "WEFT_EMULATED_WRONG=softmax_grad"
                                        << "cpu"
                                        << "cuda:0 failed its self-test: softmax in f32";
        QTest::newRow("the second") << "WEFT_EMULATED_FAULT=20 WEFT_EMULATED_TROUBLED=0"
                                    << "cuda:1,"
                                    << "computes on cuda:1, emulated GPU: it is here and passed "
                                       "its self-test; cuda:0 failed its self-test: ";
        QTest::newRow("the first with room")
            << "WEFT_EMULATED_GPUS=3 WEFT_EMULATED_MEMORY=700,1024,8192"
            << "cuda:1,"
            << "computes on cuda:1, emulated GPU";
        QTest::newRow("the one with most")
            << "WEFT_EMULATED_GPUS=3 WEFT_EMULATED_MEMORY=700,8192,4096"
            << "cuda:1,"
            << "computes on cuda:1, emulated GPU";
        QTest::newRow("none") << "WEFT_EMULATED_GPUS=0"
                              << "cpu"
                              << "computes on the CPU: no NVIDIA GPU was found";
    }
    void auto_takes_a_gpu_that_passes() {
        QFETCH(QString, variables);
        QFETCH(QString, devices);
        QFETCH(QString, why);
        const QString run = text(QString("auto ") + QTest::currentDataTag());
        const Ended ended = weft(
            {"train", small_, "--run-dir", run, "--devices", "auto", "--max-steps", "1"},
            variables.split(' ') + QStringList{"XDG_CACHE_HOME=" + text(QString("auto cache ") +
                                                                        QTest::currentDataTag())});
        QVERIFY2(ended.code == 0, ended.err.constData());
        QCOMPARE(
            QString::fromStdString(config::json_of(read_file(run.toStdString() + "/config.json"))
                                       .at("mesh")
                                       .at("devices")
                                       .get<std::string>()),
            devices);
        QString told;
        for (const train::Event& event : train::EventReader(run.toStdString()).read()) {
            if (const auto* note = std::get_if<train::NoteEvent>(&event.payload)) {
                told += QString::fromStdString(note->message);
            }
        }
        QVERIFY2(told.contains(why), told.toUtf8().constData());
    }

    void auto_is_refused_where_no_gpu_has_room() {
        const Ended ended =
            weft({"train", small_, "--run-dir", text("no room"), "--devices", "auto"},
                 {"WEFT_EMULATED_GPUS=3", "WEFT_EMULATED_MEMORY=100,300,200"});
        QCOMPARE(ended.code, exit_code(ErrorKind::memory));
        QVERIFY2(ended.err.contains("there are 300.0 MiB (the free memory of GPU 1, emulated GPU)"),
                 ended.err.constData());
    }

    void a_plan_for_auto_is_for_the_gpu_that_a_run_takes() {
        const auto planned = [&](const QString& memory) {
            const auto plan = plan_of({small_, "--devices", "auto"},
                                      {"WEFT_EMULATED_GPUS=3", "WEFT_EMULATED_MEMORY=" + memory});
            return QString::fromStdString(plan.at("limit_basis").get<std::string>());
        };
        QCOMPARE(planned("4096,1024,8192"), QString("the free memory of GPU 0, emulated GPU"));
        QCOMPARE(planned("700,1024,8192"), QString("the free memory of GPU 1, emulated GPU"));
        QCOMPARE(planned("100,300,200"), QString("the free memory of GPU 1, emulated GPU"));
    }
};

WEFT_TEST(EmulatedRoomTest)
#include "room_test.moc"
