// SPDX-License-Identifier: Apache-2.0
// No flipped bit of a checkpoint gets into a model, on whatever mesh it is restored.
#include "core/base/file.h"
#include "core/checkpoint/export.h"
#include "core/train/engine.h"
#include "core/train/planning.h"
#include "core/train/record/run_folder.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <memory>
#include <random>

using namespace weft;
using namespace weft::test;
using config::Json;
namespace fs = std::filesystem;

namespace {

constexpr unsigned kFlipSeed = 20251123;
/// Of six rows and the manifest each; the heavy test sets WEFT_FLIPS to make 10,000 in all.
int flips() {
    return qEnvironmentVariableIsSet("WEFT_FLIPS") ? qEnvironmentVariableIntValue("WEFT_FLIPS")
                                                   : 150;
}

/// One bit of a file, changed as long as this lives.
class FlippedBit {
public:
    FlippedBit(const fs::path& path, std::int64_t byte, int bit)
        : file_(path, File::Mode::read_write), reader_(path, File::Mode::read), byte_(byte),
          mask_(static_cast<std::byte>(1 << bit)) {
        flip();
    }
    ~FlippedBit() { flip(); }
    FlippedBit(const FlippedBit&) = delete;
    FlippedBit& operator=(const FlippedBit&) = delete;

private:
    void flip() {
        std::byte value{};
        reader_.read_at(std::span(&value, 1), byte_);
        value ^= mask_;
        file_.write_at(std::span(&value, 1), byte_);
    }

    File file_;
    File reader_;
    std::int64_t byte_;
    std::byte mask_;
};

std::vector<std::string> one_device() {
    return {"mesh.devices=cpu", "mesh.strategy=data_parallel", "mesh.axes=[[\"data\",-1]]",
            "mesh.zero_stage=0"};
}
std::vector<std::string> fsdp_2() {
    return {"mesh.devices=cpu:2", "mesh.strategy=fsdp", "mesh.axes=[[\"data\",-1]]"};
}
std::vector<std::string> tensor_parallel_2() {
    return {"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel", "mesh.axes=[[\"model\",2]]",
            "mesh.zero_stage=0"};
}

/// A bit of the first array, in its element `element`.
FlippedBit flipped_weight(const checkpoint::Manifest& manifest, std::int64_t element, int bit) {
    const checkpoint::TensorInfo& tensor = manifest.tensors.front();
    const checkpoint::PieceInfo& piece = tensor.pieces.front();
    return {manifest.path / piece.shard, piece.offset + 4 * element + bit / 8, bit % 8};
}

} // namespace

class FlipTest : public QObject, private TestFolder {
    Q_OBJECT

    fs::path run(const std::string& name) const { return path(name.c_str()); }
    checkpoint::Manifest saved(const std::string& name) const {
        return checkpoint::read_manifest(train::find_checkpoint(run(name), "latest"));
    }

    void train(const char* name, const Json& mesh) {
        // The second weight has 600 x 500 elements: more than one block of a MiB.
        const QString config =
            write_config(path("configs"), {{"mesh", mesh},
                                           {"model", {{"hidden", {600, 500}}, {"dropout", 0}}},
                                           {"training", {{"precision", "f32"}}}});
        const Finished trained =
            run_weft({"train", config, "--run-dir", text(name), "--max-steps", "2"});
        QVERIFY2(trained.code == 0, trained.err.c_str());
    }

private slots:
    void initTestCase() {
        train("one", {{"devices", "cpu"}});
        train("fsdp", {{"devices", "cpu:2"}, {"strategy", "fsdp"}});
    }

    void no_flipped_bit_of_a_shard_is_accepted_on_any_mesh_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<std::vector<std::string>>("mesh");
        QTest::addColumn<bool>("old");
        QTest::newRow("one device on one device") << "one" << one_device() << false;
        QTest::newRow("one device on fsdp 2") << "one" << fsdp_2() << false;
        QTest::newRow("one device on model 2") << "one" << tensor_parallel_2() << false;
        QTest::newRow("fsdp 2 on one device") << "fsdp" << one_device() << false;
        QTest::newRow("fsdp 2 on model 2") << "fsdp" << tensor_parallel_2() << false;
        QTest::newRow("one device on fsdp 2, without sums of parts") << "one" << fsdp_2() << true;
    }
    void no_flipped_bit_of_a_shard_is_accepted_on_any_mesh() {
        QFETCH(const QString, name);
        QFETCH(const std::vector<std::string>, mesh);
        QFETCH(const bool, old);
        checkpoint::Manifest manifest = saved(name.toStdString());
        for (checkpoint::TensorInfo& tensor : manifest.tensors) {
            for (checkpoint::PieceInfo& piece : tensor.pieces) {
                QVERIFY(name != "one" || tensor.type.bytes() <= 1 << 20 ||
                        !piece.block_crc32c.empty());
                if (old) {
                    piece.block_crc32c.clear();
                }
            }
        }
        const compile::CheckedRun checked = train::read_saved_config(manifest, mesh);
        QVERIFY(checked.ok());
        exec::Executor executor(train::shared_plan(checked.config, {}), train::backends());
        const auto restore = [&] {
            train::restore_tensors(executor, manifest, train::Missing::is_error);
        };
        restore();
        std::mt19937_64 random(kFlipSeed);
        int accepted = 0;
        for (int i = 0; i < flips(); ++i) {
            const checkpoint::ShardInfo& shard = manifest.shards[random() % manifest.shards.size()];
            const auto byte = static_cast<std::int64_t>(random() % shard.bytes);
            const FlippedBit flipped(manifest.path / shard.file, byte,
                                     static_cast<int>(random() % 8));
            const auto error = error_of(restore);
            accepted += error && error->kind() == ErrorKind::checkpoint ? 0 : 1;
        }
        QCOMPARE(accepted, 0);
        restore();
    }

    void no_flipped_bit_of_a_manifest_is_accepted() {
        std::mt19937_64 random(kFlipSeed + 1);
        const std::vector<checkpoint::Manifest> manifests{saved("one"), saved("fsdp")};
        int accepted = 0;
        for (int i = 0; i < flips(); ++i) {
            const checkpoint::Manifest& manifest = manifests[random() % manifests.size()];
            const fs::path file = manifest.path / "manifest.json";
            const auto byte = static_cast<std::int64_t>(random() % fs::file_size(file));
            const FlippedBit flipped(file, byte, static_cast<int>(random() % 8));
            const auto error = error_of([&] { checkpoint::read_manifest(manifest.path); });
            accepted += error && error->kind() == ErrorKind::checkpoint ? 0 : 1;
        }
        QCOMPARE(accepted, 0);
        for (const checkpoint::Manifest& manifest : manifests) {
            checkpoint::read_manifest(manifest.path);
        }
    }

    void a_fork_onto_another_mesh_refuses_a_flipped_weight() {
        const checkpoint::Manifest manifest = saved("one");
        const FlippedBit flipped = flipped_weight(manifest, 3, 30);
        const QTemporaryDir fork;
        const Finished resumed =
            run_weft({"resume", text("one"), "--from", "2", "--fork", fork.filePath("run"), "--set",
                      "mesh.devices=cpu:2", "--set", "mesh.strategy=fsdp"});
        QCOMPARE(resumed.code, 3);
        QVERIFY2(resumed.err.find(manifest.tensors.front().name) != std::string::npos,
                 resumed.err.c_str());
    }

    void evaluation_export_reshard_and_warm_start_refuse_a_flipped_weight() {
        const checkpoint::Manifest manifest = saved("fsdp");
        const QString start =
            write_config(path("warm"), {{"model", {{"hidden", {600, 500}}, {"dropout", 0}}},
                                        {"init", {{"from", run("fsdp").string()}}},
                                        {"training", {{"precision", "f32"}}}});
        const FlippedBit flipped = flipped_weight(manifest, 3, 30);
        const QTemporaryDir out;
        const QList<QStringList> commands{
            {"eval", text("fsdp")},
            {"checkpoint", "export", text("fsdp"), "--to", out.filePath("weights.safetensors")},
            {"checkpoint", "reshard", text("fsdp"), "--to", out.filePath("copy"), "--devices",
             "cpu"},
            {"train", start, "--run-dir", out.filePath("warm"), "--max-steps", "2"},
        };
        for (const QStringList& command : commands) {
            const Finished finished = run_weft(command);
            QVERIFY2(finished.code == 3, (command.join(' ').toStdString() + finished.err).c_str());
            QVERIFY2(finished.err.find("checksum") != std::string::npos, finished.err.c_str());
        }
        QVERIFY(!QFile::exists(out.filePath("weights.safetensors")));
    }
};

WEFT_TEST(FlipTest)
#include "flip_test.moc"
