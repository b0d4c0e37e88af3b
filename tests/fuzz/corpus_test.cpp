// SPDX-License-Identifier: Apache-2.0
// Inputs that readers have to survive: seeds, findings of the past, and a few changes of each.
#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/fuzz/readers/mutator.h"
#include "tests/fuzz/readers/targets.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

using namespace weft;
using namespace weft::fuzz;

class CorpusTest : public QObject, test::TestFolder {
    Q_OBJECT

private slots:
    void inputs_end_with_a_result_or_an_error_data() {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < all_targets().size(); ++i) {
            QTest::addRow("%s", all_targets()[i].name.c_str()) << static_cast<int>(i);
        }
    }
    void inputs_end_with_a_result_or_an_error() {
        QFETCH(int, index);
        const Target& target = all_targets()[static_cast<std::size_t>(index)];
        const std::vector<std::string> seeds = target.seeds();
        QVERIFY(!seeds.empty());
        int accepted = 0;
        for (const std::string& seed : seeds) {
            accepted += run(target, seed) ? 1 : 0;
        }
        QVERIFY2(accepted > 0, "the reader takes none of its seeds");
        for (const std::string& finding : source_files("tests/fuzz/corpus/" + target.name)) {
            run(target, finding);
        }
        Mutator mutator(1);
        for (int i = 0; i < 40; ++i) {
            run(target, mutator.changed(seeds));
        }
    }

private:
    bool run(const Target& target, const std::string& input) const {
        const auto file = path(target.file.c_str());
        write_file_atomically(file, input);
        try {
            target.run(input, file);
            return true;
        } catch (const Error&) {
            return false;
        }
    }
};

WEFT_TEST(CorpusTest)
#include "corpus_test.moc"
