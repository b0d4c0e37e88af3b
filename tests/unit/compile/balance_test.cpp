// SPDX-License-Identifier: Apache-2.0
// Classes that count as if all had as many samples: the program is that of the weights
// samples / (classes x samples of the class), as scikit-learn's class_weight="balanced" has them.
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/ir/text.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

using namespace weft;
using namespace weft::test;

namespace {

/// Six of class a, three of b, one of c.
std::string table() {
    std::string out = "x,y,class\n";
    for (int i = 0; i < 10; ++i) {
        out += std::to_string(i) + "," + std::to_string(i * i % 7) + "," +
               (i < 6   ? "a"
                : i < 9 ? "b"
                        : "c") +
               "\n";
    }
    return out;
}

compile::RunConfig table_config(const std::string& path, const std::string& loss) {
    return checked_config(R"({"data": {"train": {"type": "csv", "path": ")" + path +
                              R"(", "targets": ["class"]}},
                              "model": {"type": "mlp", "hidden": [4]}, "loss": )" +
                              loss + R"(, "metrics": ["accuracy"]})",
                          {});
}

std::string text_of(const compile::RunConfig& config, const data::SampleInfo& sample) {
    std::string out;
    for (const ir::Program& program : compile::build_programs(config, sample).programs) {
        out += ir::print(program);
    }
    return out;
}

} // namespace

class BalanceTest : public QObject {
    Q_OBJECT
private slots:
    void balanced_classes_weigh_by_what_the_data_have() {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("classes.csv").toStdString();
        write_file_atomically(path, table());
        const auto balanced =
            table_config(path, R"({"type": "cross_entropy", "balance_classes": true})");
        const data::DataSet data = data::open_data(balanced.section("data"), {});
        const data::SampleInfo& sample = data.train->info();
        QCOMPARE(sample.class_counts, (std::vector<std::int64_t>{6, 3, 1}));
        const auto outline = data::outline_data(balanced.section("data"), {});
        QCOMPARE(outline.sample.class_counts, sample.class_counts);
        const auto weighted = table_config(path, R"({"type": "cross_entropy",
                      "class_weights": [0.5555555555555556, 1.1111111111111112,
                                        3.3333333333333335]})");
        QCOMPARE(text_of(balanced, sample), text_of(weighted, sample));
        const auto alike = table_config(path, R"({"type": "cross_entropy"})");
        QVERIFY(text_of(balanced, sample) != text_of(alike, sample));
    }

    void data_that_nobody_has_counted_are_refused() {
        const auto config = checked_config(
            R"({"data": {"train": {"type": "synthetic", "kind": "classification"}},
                "model": {"type": "mlp", "hidden": [4]},
                "loss": {"type": "cross_entropy", "balance_classes": true}})",
            {});
        const data::DataSet data = data::open_data(config.section("data"), {});
        try {
            compile::build_programs(config, data.train->info());
            QFAIL("it was built");
        } catch (const Error& error) {
            QCOMPARE(error.where(), std::string("/loss/balance_classes"));
        }
    }
};

WEFT_TEST(BalanceTest)
#include "balance_test.moc"
