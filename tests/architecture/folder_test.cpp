// SPDX-License-Identifier: Apache-2.0
// Folders stay small enough to be read, and what READMEs name is there.
#include "tests/architecture/folders.h"
#include "tests/architecture/source_tree.h"
#include "tests/support/weft_test.h"

#include <filesystem>
#include <set>

using namespace weft::test;
namespace fs = std::filesystem;

namespace {

const fs::path kRoot = WEFT_SOURCE_DIR;
constexpr const char* kTopFolders[] = {"core", "kernels", "widgets",   "ui",
                                       "app",  "tests",   "resources", "packaging"};

/// Every file and folder of the tree and every unit, from the root, each behind a "/".
std::set<std::string> everything_there() {
    std::set<std::string> out;
    for (const char* top : kTopFolders) {
        out.insert(std::string("/") + top);
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / top)) {
            const fs::path path = fs::relative(entry.path(), kRoot);
            out.insert("/" + path.generic_string());
            out.insert("/" + (path.parent_path() / path.stem()).generic_string());
        }
    }
    return out;
}

} // namespace

class FolderTest : public QObject {
    Q_OBJECT

    static void expect_no(const std::vector<std::string>& offenders) {
        QString said;
        for (const std::string& one : offenders) {
            said += "\n  " + QString::fromStdString(one);
        }
        QVERIFY2(offenders.empty(), qPrintable(said));
    }

private slots:
    void a_header_and_its_source_are_one_unit() {
        const auto units = units_of({"ui/a.h", "ui/a.cpp", "ui/b.cpp", "ui/run/a.cpp"});
        QCOMPARE(units.size(), std::size_t{2});
        QCOMPARE(units.at("ui"), 2);
        QCOMPARE(units.at("ui/run"), 1);
    }

    void a_crowded_folder_is_seen_and_so_is_an_exception_that_nobody_needs() {
        QVERIFY(crowded({{"ui/pages", kMostUnits}}).empty());
        QCOMPARE(crowded({{"ui/pages", kMostUnits + 1}}).size(), std::size_t{1});
        const std::string listed(kLongLists[0].folder);
        QVERIFY(crowded({{listed, kMostUnits + 1}}).empty());
        QCOMPARE(crowded({{listed, kMostUnits}}).size(), std::size_t{1});
    }

    void no_folder_holds_more_than_a_reader_takes_in() {
        std::vector<std::string> paths;
        for (const SourceFile& file :
             read_sources({"core", "kernels", "widgets", "ui", "app", "tests"})) {
            paths.push_back(file.path);
        }
        const auto units = units_of(paths);
        for (const LongList& one : kLongLists) {
            QVERIFY(units.contains(std::string(one.folder)));
            QVERIFY(one.reason.size() > 20);
        }
        expect_no(crowded(units));
    }

    void paths_are_found_in_text() {
        const auto found =
            paths_named_in("See `core/ops/`, `page.h` and `ui/bridge/run/run_model`; "
                           "`weft plan`, `build/ci`, `a | b` and `*.cpp` are none.");
        const std::vector<std::string> expected = {"core/ops/", "page.h",
                                                   "ui/bridge/run/run_model"};
        QCOMPARE(found, expected);
    }

    // A name may be short: what it ends is enough ("models/mlp.h").
    void what_a_readme_names_is_there() {
        const std::set<std::string> there = everything_there();
        std::vector<std::string> offenders;
        int named = 0;
        for (const std::string& path : there) {
            if (!path.ends_with("/README.md")) {
                continue;
            }
            QFile file(QString::fromStdString((kRoot / path.substr(1)).string()));
            QVERIFY(file.open(QFile::ReadOnly));
            for (std::string name : paths_named_in(file.readAll().toStdString())) {
                ++named;
                name = "/" + name.substr(0, name.find_last_not_of('/') + 1);
                if (std::none_of(there.begin(), there.end(),
                                 [&](const std::string& one) { return one.ends_with(name); })) {
                    offenders.push_back(path.substr(1) + " names " + name.substr(1));
                }
            }
        }
        QVERIFY(named > 200);
        expect_no(offenders);
    }
};

WEFT_TEST(FolderTest)
#include "folder_test.moc"
