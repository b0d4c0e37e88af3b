// SPDX-License-Identifier: Apache-2.0
// The page of the folder of a run against a folder: nothing lies there that the page does not name.
#include "core/base/file.h"
#include "core/train/reference/reference.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/reference_names.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <QRegularExpression>

namespace {

using namespace weft;
namespace fs = std::filesystem;

class RunFolderReferenceTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;
    fs::path run_;

    static const train::ReferenceSection& section(const char* title) {
        return *train::run_folder_page().find(title);
    }

    /// "step-<N>.json", "tfevents.*" as an expression; of a folder, and whatever lies in it.
    static QRegularExpression pattern_of(std::string_view name) {
        QString text = QRegularExpression::escape(QString::fromUtf8(name.data(), int(name.size())));
        text.replace("\\<N\\>", "[0-9]+")
            .replace("\\<name\\>", "[a-z0-9_/]+")
            .replace("\\*", "[^/]+");
        return QRegularExpression("^" + text + (name.ends_with('/') ? ".*" : "") + "$");
    }

    static bool is_named(const std::string& path, const train::ReferenceSection& section) {
        return std::any_of(section.names.begin(), section.names.end(), [&](const auto& name) {
            return pattern_of(name.name).match(QString::fromStdString(path)).hasMatch();
        });
    }

private slots:
    void initTestCase() {
        run_ = fs::path(dir_.path().toStdString()) / "run";
        const QString config = test::write_config(dir_.path().toStdString());
        const auto done =
            test::run_weft({"train", config, "--run-dir", QString::fromStdString(run_)});
        QVERIFY2(done.code == 0, done.err.c_str());
    }

    void every_file_is_named() {
        int files = 0;
        for (const auto& entry : fs::recursive_directory_iterator(run_)) {
            if (!entry.is_regular_file()) {
                continue;
            }
            ++files;
            const std::string path = entry.path().lexically_relative(run_).string();
            QVERIFY2(is_named(path, section("Files")), path.c_str());
            if (path.starts_with("checkpoints/")) {
                const std::string name = entry.path().filename().string();
                QVERIFY2(is_named(name, section("Checkpoint")), name.c_str());
            }
        }
        QVERIFY(files > 10);
    }

    void what_is_named_is_there() {
        for (const char* name : {"run.json", "config.json", "plan.json", "events.jsonl",
                                 "run.weftrun", "metrics/train/loss.f64", "logs", "profile"}) {
            QVERIFY2(fs::exists(run_ / name), name);
        }
    }

    void run_json_has_the_keys_of_the_page() {
        std::set<std::string> said;
        for (const train::ReferenceName& name : section("run.json").names) {
            said.emplace(name.name);
        }
        std::set<std::string> written;
        test::add_names(config::Json::parse(read_file(run_ / "run.json", 1 << 20)), "", said,
                        written);
        QCOMPARE(written.size(), said.size());
        QVERIFY(written == said);
    }
};

WEFT_TEST(RunFolderReferenceTest)

} // namespace
#include "run_folder_reference_test.moc"
