// SPDX-License-Identifier: Apache-2.0
// Weights that leave by `weft checkpoint export` and come back by init.from, through the real
// program.
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/safetensors.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>

namespace {

using namespace weft;
using namespace weft::test;
namespace fs = std::filesystem;

class WarmStartTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;
    QString weights_;


    static std::vector<std::byte> bytes_of(const checkpoint::Manifest& manifest,
                                           const std::string& name) {
        std::vector<std::byte> out(static_cast<std::size_t>(manifest.find(name)->type.bytes()));
        checkpoint::read_tensor(manifest, name, out);
        return out;
    }
    checkpoint::Manifest checkpoint_of(const char* run, std::int64_t step) const {
        return checkpoint::read_manifest(path(run) / "checkpoints" / checkpoint::folder_name(step));
    }

private slots:
    void initTestCase() {
        config_ = write_config(path("configs"));
        const Finished run = run_weft({"train", config_, "--run-dir", text("first")});
        QVERIFY2(run.code == 0, run.err.c_str());
        weights_ = text("first.safetensors");
        const Finished written =
            run_weft({"checkpoint", "export", text("first"), "--to", weights_});
        QVERIFY2(written.code == 0, written.err.c_str());
    }

    void a_run_starts_with_the_exported_weights_and_none_of_the_optimizer_state() {
        const Finished run = run_weft({"train", config_, "--run-dir", text("second"), "--max-steps",
                                       "0", "--set", "init.from=" + weights_});
        QVERIFY2(run.code == 0, run.err.c_str());
        const checkpoint::Manifest before = checkpoint_of("first", 40);
        const checkpoint::Manifest after = checkpoint_of("second", 0);
        int weights = 0;
        for (const checkpoint::TensorInfo& tensor : after.tensors) {
            const bool same = bytes_of(before, tensor.name) == bytes_of(after, tensor.name);
            if (tensor.kind == "parameters") {
                QVERIFY2(same, tensor.name.c_str());
                ++weights;
            } else if (tensor.kind == "optimizer") {
                const auto fresh = bytes_of(after, tensor.name);
                QVERIFY2(std::all_of(fresh.begin(), fresh.end(),
                                     [](std::byte byte) { return byte == std::byte{0}; }),
                         tensor.name.c_str());
            }
        }
        QVERIFY(weights >= 2);
    }

    void a_run_folder_and_a_checkpoint_do_as_well() {
        for (const QString& from : {text("first"), text("first/checkpoints/step-00000040")}) {
            const QString name = from == text("first") ? "of_run" : "of_checkpoint";
            const Finished run = run_weft({"train", config_, "--run-dir", text(name),
                                           "--max-steps", "0", "--set", "init.from=" + from});
            QVERIFY2(run.code == 0, run.err.c_str());
            const checkpoint::Manifest before = checkpoint_of("first", 40);
            const checkpoint::Manifest after =
                checkpoint_of(name == "of_run" ? "of_run" : "of_checkpoint", 0);
            for (const checkpoint::TensorInfo& tensor : after.tensors) {
                if (tensor.kind == "parameters") {
                    QVERIFY(bytes_of(before, tensor.name) == bytes_of(after, tensor.name));
                }
            }
        }
    }

    void what_does_not_fit_is_named_and_strict_refuses_it() {
        const QStringList other = {"train",       config_,
                                   "--max-steps", "0",
                                   "--set",       "init.from=" + weights_,
                                   "--set",       "model.hidden=[48]"};
        const Finished refused = run_weft(other + QStringList{"--run-dir", text("refused")});
        QCOMPARE(refused.code, 3);
        QVERIFY2(refused.err.find("another shape") != std::string::npos, refused.err.c_str());
        QVERIFY(refused.err.find("init.strict") != std::string::npos);
        // Without strict the rest is taken; here nothing has the shape but the last bias.
        const Finished taken =
            run_weft(other + QStringList{"--run-dir", text("taken"), "--set", "init.strict=false"});
        QVERIFY2(taken.code == 0, taken.err.c_str());
        bool said = false;
        for (const train::Event& event : events_of(path("taken"))) {
            const auto* warning = std::get_if<train::WarningEvent>(&event.payload);
            said = said || (warning != nullptr &&
                            warning->message.find("of another shape") != std::string::npos);
        }
        QVERIFY(said);
    }

    void weights_that_are_not_there_end_the_run_with_their_path() {
        const Finished run = run_weft({"train", config_, "--run-dir", text("absent"), "--max-steps",
                                       "0", "--set", "init.from=" + text("nothing.safetensors")});
        QCOMPARE(run.code, 3);
        QVERIFY(run.err.find("nothing.safetensors") != std::string::npos);
    }

    void an_export_never_replaces_a_file_unasked() {
        QCOMPARE(run_weft({"checkpoint", "export", text("first"), "--to", weights_}).code, 2);
        QCOMPARE(
            run_weft({"checkpoint", "export", text("first"), "--to", weights_, "--force"}).code, 0);
        QCOMPARE(run_weft({"checkpoint", "export", text("first"), "--to", text("w.pt")}).code, 2);
        const Finished all = run_weft(
            {"checkpoint", "export", text("first"), "--to", text("all.safetensors"), "--all"});
        QVERIFY2(all.code == 0, all.err.c_str());
        QVERIFY(checkpoint::read_safetensors(path("all.safetensors")).tensors.size() >
                checkpoint::read_safetensors(weights_.toStdString()).tensors.size());
    }
};

} // namespace

WEFT_TEST(WarmStartTest)
#include "warm_start_test.moc"
