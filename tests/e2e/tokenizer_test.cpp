// SPDX-License-Identifier: Apache-2.0
// A tokenizer from a text to what a model writes: the checkpoint is all that is needed of it.
#include "tests/e2e/weft_process.h"
#include "tests/support/weft_test.h"

#include "core/base/file.h"

#include <QTemporaryDir>

using namespace weft;
using config::Json;

namespace {

constexpr const char* kText = "/usr/share/common-licenses/GPL-2";

} // namespace

class TokenizerRunTest : public QObject {
    Q_OBJECT

private slots:
    void a_run_writes_text_though_its_tokenizer_is_gone() {
        const QTemporaryDir folder;
        const auto in = [&](const char* name) { return folder.filePath(name); };
        test::Finished made = test::run_weft(
            {"data", "tokenizer", kText, "--size", "400", "--to", in("tokenizer.json")});
        QVERIFY2(made.code == 0, made.err.c_str());
        const Json config = {
            {"name", "words"},
            {"data",
             {{"train", {{"type", "text"}, {"path", kText}}}, {"tokenizer", "tokenizer.json"}}},
            {"model",
             {{"type", "gpt2"}, {"layers", 1}, {"width", 16}, {"heads", 2}, {"context", 16}}},
            {"training", {{"global_batch_size", 8}, {"length", {{"steps", 3}}}}}};
        write_file_atomically(in("run.json").toStdString(), config.dump());
        made = test::run_weft({"train", in("run.json"), "--run-dir", in("run")});
        QVERIFY2(made.code == 0, made.err.c_str());
        const QStringList generate{"generate", in("run"), "--prompt",      "The licence",
                                   "--tokens", "12",      "--temperature", "0"};
        const test::Finished before = test::run_weft(generate);
        QVERIFY2(before.code == 0, before.err.c_str());
        QVERIFY(before.out.starts_with("The licence"));

        std::filesystem::remove(in("tokenizer.json").toStdString());
        const test::Finished after = test::run_weft(generate);
        QVERIFY2(after.code == 0, after.err.c_str());
        QCOMPARE(after.out, before.out);
        // To train on it must be where the configuration says.
        const test::Finished resumed = test::run_weft({"resume", in("run"), "--extend", "3"});
        QVERIFY(resumed.code != 0);
        QVERIFY2(resumed.err.find("tokenizer.json") != std::string::npos, resumed.err.c_str());
    }

    void bits_per_byte_are_of_bytes() {
        const QTemporaryDir folder;
        const QString path = folder.filePath("run.json");
        const Json config = {
            {"name", "words"},
            {"data",
             {{"train", {{"type", "text"}, {"path", kText}}}, {"tokenizer", "tokenizer.json"}}},
            {"model", {{"type", "gpt2"}}},
            {"metrics", {"bits_per_byte"}}};
        write_file_atomically(path.toStdString(), config.dump());
        const test::Finished checked = test::run_weft({"check", path});
        QVERIFY(checked.code != 0);
        QVERIFY2((checked.err + checked.out).find("tokens that are bytes") != std::string::npos,
                 checked.err.c_str());
    }
};

WEFT_TEST(TokenizerRunTest)
#include "tokenizer_test.moc"
