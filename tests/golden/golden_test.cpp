// SPDX-License-Identifier: Apache-2.0
// Text programs in, text programs out. Each *.txt holds comments with the reason, a line
// "# passes: a, b", the input, a line "=====", and the expected output, checked by hand. Values are
// renumbered before the comparison.
#include "core/ir/text.h"
#include "core/ops/verify.h"
#include "core/passes/add_up_squares.h"
#include "core/passes/apply_precision.h"
#include "core/passes/bucket_exchanges.h"
#include "core/passes/chunk_head.h"
#include "core/passes/fuse_elementwise.h"
#include "core/passes/fuse_epilogues.h"
#include "core/passes/join_updates.h"
#include "core/passes/narrow_exchanges.h"
#include "core/passes/recompute.h"
#include "core/passes/round_operands.h"
#include "core/passes/shorten_lifetimes.h"
#include "core/passes/simplify.h"
#include "tests/support/weft_test.h"

#include <QDir>

using namespace weft;

namespace {

void run_pass(const QString& name, ir::Program& program) {
    if (name == "simplify") {
        passes::simplify(program);
    } else if (name == "remove_dead_code") {
        passes::remove_dead_code(program);
    } else if (name == "merge_duplicates") {
        passes::merge_duplicates(program);
    } else if (name == "precision bf16") {
        passes::apply_precision(program, ir::DType::bf16);
    } else if (name == "precision f16") {
        passes::apply_precision(program, ir::DType::f16);
    } else if (name == "operands tf32") {
        passes::round_operands(program, ir::Operands::tf32);
    } else if (name == "operands fp8") {
        passes::round_operands(program, ir::Operands::fp8);
    } else if (name == "recompute blocks") {
        passes::recompute(program, {passes::Recompute::blocks, 0});
    } else if (name.startsWith("recompute selective ")) {
        passes::recompute(program, {passes::Recompute::selective, name.mid(20).toDouble()});
    } else if (name == "fuse") {
        passes::fuse_elementwise(program);
    } else if (name == "add_up_squares") {
        passes::add_up_squares(program);
    } else if (name == "join_updates") {
        passes::join_updates(program);
    } else if (name == "chunk head") {
        passes::chunk_head(program, {.bytes = 0, .rows = 4});
    } else if (name == "epilogues") {
        passes::fuse_epilogues(program, passes::one_group,
                               [](const ir::Program&, const ir::Op&) { return true; });
    } else if (name == "narrow_exchanges") {
        passes::narrow_exchanges(program);
    } else if (name == "bucket_exchanges") {
        passes::bucket_exchanges(program);
    } else if (name == "shorten_lifetimes") {
        passes::shorten_lifetimes(program);
    } else {
        QFAIL(qPrintable("no pass " + name));
    }
}

/// Program text without comments and blank lines.
QString bare(const QString& text) {
    QStringList lines;
    for (const QString& line : text.split('\n')) {
        if (!line.startsWith('#') && !line.trimmed().isEmpty()) {
            lines << line;
        }
    }
    return lines.join('\n') + '\n';
}

} // namespace

class GoldenPrograms : public QObject {
    Q_OBJECT

private slots:
    void passes_give_the_expected_program_data() {
        QTest::addColumn<QString>("path");
        const QDir folder(WEFT_TEST_DATA);
        for (const QString& name : folder.entryList({"*.txt"}, QDir::Files)) {
            if (name != "CMakeLists.txt") {
                QTest::newRow(qPrintable(name)) << folder.filePath(name);
            }
        }
    }

    void passes_give_the_expected_program() {
        QFETCH(QString, path);
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QStringList parts = QString::fromUtf8(file.readAll()).split("\n=====\n");
        QCOMPARE(parts.size(), 2);
        ir::Program program = ir::parse(parts[0].toStdString());
        QVERIFY(ops::verify(program).empty());
        const qsizetype start = parts[0].indexOf("# passes: ");
        QVERIFY(start >= 0);
        const QString list = parts[0].mid(start + 10, parts[0].indexOf('\n', start) - start - 10);
        for (const QString& pass : list.split(", ")) {
            run_pass(pass, program);
        }
        QVERIFY(ops::verify(program).empty());
        passes::renumber_values(program);
        QCOMPARE(QString::fromStdString(ir::print(program)), bare(parts[1]));
    }
};

WEFT_TEST(GoldenPrograms)
#include "golden_test.moc"
