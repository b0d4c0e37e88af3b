// SPDX-License-Identifier: Apache-2.0
// Runs with low-rank factors, through the real program: exact resume, and checkpoints that leave
// the base to the weights of init.from.
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/safetensors.h"
#include "core/nn/layers/lora.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>

namespace {

using namespace weft;
using namespace weft::test;
namespace fs = std::filesystem;

class LowRankTest : public QObject, private TestFolder {
    Q_OBJECT

    QString base_;

    checkpoint::Manifest checkpoint_of(const char* run, std::int64_t step) const {
        return checkpoint::read_manifest(path(run) / "checkpoints" / checkpoint::folder_name(step));
    }
    QStringList train(const char* run, bool save_base, const QString& base) const {
        const QString lora =
            QString(R"(init.lora={"rank":2,"targets":["layers.*"],"dropout":0.1,"save_base":%1})")
                .arg(save_base ? "true" : "false");
        return {"train", text("configs/config.json"), "--run-dir", text(run), "--set", lora,
                "--set", "init.from=" + base};
    }
    void run(const QStringList& arguments) const {
        const Finished finished = run_weft(arguments);
        QVERIFY2(finished.code == 0, finished.err.c_str());
    }

private slots:
    void initTestCase() {
        const QString config = write_config(path("configs"));
        QCOMPARE(config, text("configs/config.json"));
        run({"train", config, "--run-dir", text("plain"), "--max-steps", "5"});
        base_ = text("base.safetensors");
        run({"checkpoint", "export", text("plain"), "--to", base_});
        run(train("whole", true, base_));
        run(train("small", false, base_));
    }

    // Two halves are one run, and what is kept of the base makes no difference.
    void a_resume_is_exact_with_and_without_the_base() {
        for (const bool save_base : {true, false}) {
            const char* name = save_base ? "halves-whole" : "halves-small";
            run(train(name, save_base, base_) << "--max-steps"
                                              << "17");
            run({"resume", text(name)});
            const auto difference = checkpoint::compare(
                checkpoint_of(name, 40), checkpoint_of(save_base ? "whole" : "small", 40));
            QVERIFY2(difference.equal(), name);
        }
    }

    void a_checkpoint_without_the_base_holds_what_is_trained_alone() {
        const checkpoint::Manifest whole = checkpoint_of("whole", 40);
        const checkpoint::Manifest small = checkpoint_of("small", 40);
        int factors = 0;
        for (const checkpoint::TensorInfo& tensor : whole.tensors) {
            const bool base =
                tensor.kind == "parameters" && !nn::adapted_by(tensor.name).has_value();
            factors += nn::adapted_by(tensor.name) ? 1 : 0;
            QCOMPARE(small.find(tensor.name) == nullptr, base);
            if (!base) {
                QVERIFY2(checkpoint::read_tensor(whole, tensor) ==
                             checkpoint::read_tensor(small, *small.find(tensor.name)),
                         tensor.name.c_str());
            }
        }
        QVERIFY(factors >= 4);
    }

    void what_is_left_to_the_base_is_shown() {
        const Finished small = run_weft({"checkpoint", "show", text("small")});
        const std::string said = "4 arrays are those of " + base_.toStdString() + " (crc32c:";
        QVERIFY2(small.out.find(said) != std::string::npos, small.out.c_str());
        QVERIFY(run_weft({"checkpoint", "show", text("whole")}).out.find("are those of") ==
                std::string::npos);
    }

    void a_pattern_for_nothing_is_told_at_its_place() {
        const Finished told =
            run_weft({"check", text("configs/config.json"), "--set", "init.from=" + base_, "--set",
                      R"(init.lora={"rank":2,"targets":["*q_proj*"]})"});
        QCOMPARE(told.code, 2);
        QVERIFY2(told.err.find("/init/lora/targets: no linear layer's weight is called "
                               "'*q_proj*'") != std::string::npos &&
                     told.err.find("layers.*.weight") != std::string::npos,
                 told.err.c_str());
    }

    void both_export_the_same_merged_weights() {
        for (const char* name : {"whole", "small"}) {
            run({"checkpoint", "export", text(name), "--to", text(QString(name) + ".safetensors")});
        }
        const auto whole = checkpoint::read_safetensors(path("whole.safetensors"));
        const auto small = checkpoint::read_safetensors(path("small.safetensors"));
        const auto base = checkpoint::read_safetensors(base_.toStdString());
        QCOMPARE(small.tensors.size(), base.tensors.size());
        QCOMPARE(whole.tensors.size(), base.tensors.size());
        bool other = false;
        for (const checkpoint::SafetensorsEntry& entry : whole.tensors) {
            const auto bytes = [&](const checkpoint::SafetensorsFile& file) {
                std::vector<std::byte> out(static_cast<std::size_t>(entry.bytes));
                checkpoint::read_safetensors_array(file, *file.find(entry.name), out);
                return out;
            };
            QVERIFY2(bytes(whole) == bytes(small), entry.name.c_str());
            other = other || bytes(whole) != bytes(base);
        }
        QVERIFY(other); // the factors are in it
    }

    void a_base_that_changed_is_refused() {
        const QString other = text("other.safetensors");
        fs::copy_file(base_.toStdString(), other.toStdString());
        run(train("orphan", false, other) << "--max-steps"
                                          << "3");
        run({"checkpoint", "export", text("whole"), "--to", other, "--force"}); // other numbers
        for (const QStringList& command :
             {QStringList{"resume", text("orphan")},
              QStringList{"checkpoint", "export", text("orphan"), "--to", text("o.safetensors")},
              QStringList{"eval", text("orphan")}}) {
            const Finished refused = run_weft(command);
            QCOMPARE(refused.code, 3);
            QVERIFY2(refused.err.find("other.safetensors") != std::string::npos &&
                         refused.err.find("are not those") != std::string::npos,
                     refused.err.c_str());
        }
        fs::remove(other.toStdString());
        QCOMPARE(run_weft({"resume", text("orphan")}).code, 3);
    }
};

} // namespace

WEFT_TEST(LowRankTest)
#include "low_rank_test.moc"
