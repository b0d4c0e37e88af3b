// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/source_tree.h"
#include "tests/support/weft_test.h"

#include <filesystem>
#include <map>
#include <set>

using namespace weft::test;
namespace fs = std::filesystem;

class ArchitectureTest : public QObject {
    Q_OBJECT

    const std::vector<SourceFile> product_ =
        read_sources({"core", "kernels", "widgets", "ui", "app"});

    // One message with every offender, so that one run shows the whole work.
    static void expect_none(const QStringList& offenders) {
        QVERIFY2(offenders.isEmpty(), qPrintable("\n  " + offenders.join("\n  ")));
    }

private slots:
    // The checks below are only worth something while they see the sources and can say no.
    void the_tree_is_read() {
        QVERIFY(product_.size() > 100);
        QVERIFY(std::any_of(product_.begin(), product_.end(), [](const SourceFile& file) {
            return file.path == "core/base/hdf5_file.cpp" && file.includes.size() > 5;
        }));
    }

    void forbidden_arrows_are_seen_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("header");
        QTest::addColumn<bool>("allowed");
        const auto row = [](const char* file, const char* header, bool allowed) {
            QTest::addRow("%s %s", file, header) << file << header << allowed;
        };
        row("core/ops/x.cpp", "core/ir/type.h", true);
        row("core/ir/x.cpp", "core/ops/op_def.h", false);
        row("core/passes/x.cpp", "core/autodiff/x.h", false);
        row("core/data/x.cpp", "core/ir/type.h", true);
        row("core/data/x.cpp", "core/ir/program.h", false);
        row("core/base/x.h", "core/config/field.h", false);
        row("core/compile/x.cpp", "core/exec/executor.h", false);
        row("core/compile/x.cpp", "core/advise/mesh_advice.h", false);
        row("core/advise/x.cpp", "core/compile/programs/programs.h", true);
        row("core/exec/comm/x.cpp", "core/ir/type.h", true);
        row("core/exec/comm/x.cpp", "core/plan/plan.h", false);
        row("core/exec/x.cpp", "core/exec/comm/communicator.h", true);
        row("core/pipeline/x.cpp", "core/base/text.h", true);
        row("core/pipeline/x.cpp", "core/ops/op_def.h", false);
        row("core/train/x.cpp", "core/launch/x.h", false);
        row("core/train/x.cpp", "core/queue/book.h", false);
        row("core/queue/x.cpp", "core/train/session.h", false);
        row("core/exec/x.cpp", "kernels/weft_kernels.h", true);
        row("core/exec/x.cpp", "kernels/cpu/loops/rows.h", false);
        row("kernels/cpu/x.cpp", "core/base/check.h", false);
        row("widgets/x.cpp", "core/base/text.h", false);
        row("widgets/x.cpp", "ui/shell/main_window.h", false);
        row("ui/x.cpp", "widgets/look/theme.h", true);
        row("ui/x.cpp", "kernels/weft_kernels.h", false);
        row("app/cli/x.cpp", "ui/bridge/convert.h", false);
        row("core/base/x.h", "kernels/philox.h", true);
        row("core/base/x.h", "kernels/weft_kernels.h", false);
        row("ui/x.cpp", "kernels/numbers.h", false);
        row("core/new_folder/x.cpp", "core/base/check.h", false);
        row("core/ir/x.cpp", "tests/support/weft_test.h", false);
    }

    void forbidden_arrows_are_seen() {
        QFETCH(QString, file);
        QFETCH(QString, header);
        QFETCH(bool, allowed);
        const Include include{1, header.toStdString(), true};
        QCOMPARE(forbidden_reason(file.toStdString(), include).empty(), allowed);
    }

    void forbidden_libraries_are_seen() {
        const auto allowed = [](const char* file, const char* header) {
            return forbidden_reason(file, {1, header, false}).empty();
        };
        QVERIFY(!allowed("core/ir/x.cpp", "QString"));
        QVERIFY(!allowed("kernels/cpu/x.cpp", "QtCore/QString"));
        QVERIFY(!allowed("core/exec/x.cpp", "dnnl.h"));
        QVERIFY(!allowed("core/exec/x.cpp", "oneapi/dnnl/dnnl.hpp"));
        QVERIFY(!allowed("ui/x.cpp", "cuda_runtime.h"));
        QVERIFY(!allowed("core/checkpoint/x.cpp", "hdf5.h"));
        QVERIFY(allowed("core/base/hdf5_file.cpp", "hdf5.h"));
        QVERIFY(!allowed("app/cli/commands/train.cpp", "CLI/CLI.hpp"));
        QVERIFY(!allowed("core/plan/plan.h", "nlohmann/json.hpp"));
        QVERIFY(allowed("kernels/cpu/x.cpp", "oneapi/dnnl/dnnl.hpp"));
        QVERIFY(allowed("widgets/x.cpp", "QWidget"));
        QVERIFY(allowed("core/ir/x.cpp", "queue"));
    }

    void includes_are_found_in_text() {
        const auto found = includes_of("#include <a>\n // #include <b>\n #  include \"c/d.h\"\n");
        QCOMPARE(found.size(), size_t{2});
        QVERIFY(!found[0].quoted && found[0].line == 1);
        QVERIFY(found[1].quoted && found[1].path == "c/d.h");
    }

    void no_include_goes_against_the_arrows() {
        QStringList offenders;
        for (const SourceFile& file : product_) {
            for (const Include& include : file.includes) {
                const std::string reason = forbidden_reason(file.path, include);
                if (!reason.empty()) {
                    offenders << QString::fromStdString(
                        file.path + ":" + std::to_string(include.line) + ": " + reason);
                }
            }
        }
        expect_none(offenders);
    }

    void private_names_are_found_in_text() {
        const std::vector<std::string> found =
            private_names_of("int open();\nnamespace {\nusing ir::Op;\nconstexpr int kRow = 1;\n"
                             "struct Cell {\n    int inner();\n};\n\nQString textOf(int a) {\n"
                             "    return name(a);\n}\n\n} // namespace\nvoid later() {\n");
        const std::vector<std::string> expected = {"Cell", "kRow", "textOf"};
        QCOMPARE(found, expected);
        const std::vector<std::string> declared = declared_names_of(
            "struct Cell {\n    int inner();\n};\nfs::path peer(const char* name);\n"
            "    continued(int b);\nconst Cell& cell_of(int index);\n");
        const std::vector<std::string> two = {"cell_of", "peer"};
        QCOMPARE(declared, two);
    }

    // Sources of one library are compiled several at a time (CMAKE_UNITY_BUILD).
    void private_names_are_unique_within_a_library() {
        std::map<std::pair<std::string, std::string>, QStringList> places;
        std::map<std::pair<std::string, std::string>, QString> declared;
        for (const SourceFile& file : read_sources({"core", "widgets", "ui", "app", "tests"})) {
            const fs::path path = file.path;
            const std::string top = path.begin()->string();
            const bool flat = top == "ui" || top == "widgets";
            const bool by_part = top == "core" || top == "app";
            const bool rooms = file.path.starts_with("tests/ui/");
            const fs::path library = flat               ? fs::path(top)
                                     : by_part || rooms ? top / *std::next(path.begin())
                                                        : path.parent_path();
            for (const std::string& name : file.private_names) {
                places[{library.string(), name}] << QString::fromStdString(file.path);
            }
            // In a test a private function must not hide what a header of its folder declares.
            for (const std::string& name : file.declared_names) {
                if (top == "tests") {
                    declared[{library.string(), name}] = QString::fromStdString(file.path);
                }
            }
        }
        QVERIFY(places.size() > 1000);
        QStringList offenders;
        for (const auto& [key, files] : places) {
            if (const auto header = declared.find(key); header != declared.end()) {
                offenders << QString::fromStdString(key.second) + ": " + files.join(", ") + ", " +
                                 header->second;
            }
            if (files.size() > 1) {
                offenders << QString::fromStdString(key.second) + ": " + files.join(", ");
            }
        }
        expect_none(offenders);
    }

    void every_source_names_the_licence_of_its_part() {
        QStringList offenders;
        for (const SourceFile& file :
             read_sources({"core", "kernels", "widgets", "ui", "app", "tests"})) {
            const bool desktop = file.path.starts_with("ui/") ||
                                 file.path.starts_with("widgets/") ||
                                 file.path.starts_with("app/studio/");
            const bool test = file.path.starts_with("tests/");
            const std::string expected = desktop ? "GPL-3.0-or-later" : "Apache-2.0";
            const bool known = file.licence == "Apache-2.0" || file.licence == "GPL-3.0-or-later";
            if (test ? !known : file.licence != expected) {
                offenders << QString::fromStdString(file.path + ": '" + file.licence + "'");
            }
        }
        expect_none(offenders);
    }

    void no_source_is_longer_than_800_lines() {
        QStringList offenders;
        for (const SourceFile& file :
             read_sources({"core", "kernels", "widgets", "ui", "app", "tests"})) {
            if (file.lines > 800) {
                offenders << QString::fromStdString(file.path) + ": " + QString::number(file.lines);
            }
        }
        expect_none(offenders);
    }

    // Top folders and the folders right below them; deeper ones are described by these.
    void every_code_folder_has_a_readme() {
        std::set<std::string> folders;
        for (const SourceFile& file : product_) {
            const fs::path path = fs::path(file.path).parent_path();
            auto part = path.begin();
            fs::path folder = *part;
            folders.insert(folder.string());
            if (++part != path.end()) {
                folders.insert((folder / *part).string());
            }
        }
        QStringList offenders;
        for (const std::string& folder : folders) {
            const fs::path readme = fs::path(WEFT_SOURCE_DIR) / folder / "README.md";
            if (folder != "app" && !fs::exists(readme)) {
                offenders << QString::fromStdString(folder) + "/README.md is missing";
                continue;
            }
            QFile file(QString::fromStdString(readme.string()));
            if (file.open(QFile::ReadOnly) && file.readAll().count('\n') > 40) {
                offenders << QString::fromStdString(folder) + "/README.md has over 40 lines";
            }
        }
        expect_none(offenders);
    }
};

WEFT_TEST(ArchitectureTest)
#include "architecture_test.moc"
