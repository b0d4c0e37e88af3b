// SPDX-License-Identifier: Apache-2.0
// What nvcc made of the kernels for each architecture, as ptxas tells it. No GPU takes part.
#include "tests/support/weft_test.h"

#include <map>

namespace {

/// What a kernel needs on one architecture.
struct Usage {
    int registers = 0, stack = 0, spilled = 0, shared = 0;
};

/// [architecture][mangled name] of every report that the build has left.
std::map<QString, std::map<QString, Usage>> usages() {
    std::map<QString, std::map<QString, Usage>> all;
    static const QRegularExpression entry("Compiling entry function '(\\w+)' for '(\\w+)'");
    static const QRegularExpression frame(
        "(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
    static const QRegularExpression used("Used (\\d+) registers");
    static const QRegularExpression shared("(\\d+) bytes smem");
    const QDir folder(WEFT_CUDA_REPORTS);
    for (const QString& name : folder.entryList({"*.ptxas"})) {
        QFile file(folder.filePath(name));
        if (!file.open(QFile::ReadOnly)) {
            continue;
        }
        Usage* usage = nullptr;
        while (!file.atEnd()) {
            const QString line = QString::fromUtf8(file.readLine());
            if (const auto match = entry.match(line); match.hasMatch()) {
                usage = &all[match.captured(2)][match.captured(1)];
            } else if (usage == nullptr) {
                continue;
            } else if (const auto frames = frame.match(line); frames.hasMatch()) {
                usage->stack = frames.captured(1).toInt();
                usage->spilled = frames.captured(2).toInt() + frames.captured(3).toInt();
            } else if (const auto registers = used.match(line); registers.hasMatch()) {
                usage->registers = registers.captured(1).toInt();
                const auto bytes = shared.match(line);
                usage->shared = bytes.hasMatch() ? bytes.captured(1).toInt() : 0;
            }
        }
    }
    return all;
}

} // namespace

class CudaCompiled : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        if (QString(WEFT_CUDA_REPORTS).isEmpty()) {
            QSKIP("SKIPPED: this build has no nvcc");
        }
    }

    void every_architecture_has_the_same_kernels() {
        const auto all = usages();
        QCOMPARE(all.size(), std::size_t{3});
        for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
            QVERIFY2(all.count(architecture) == 1, architecture);
            QCOMPARE(all.at(architecture).size(), all.begin()->second.size());
        }
        QVERIFY(all.begin()->second.size() > 50);
    }

    // The table that a change of a kernel shows in: -v2 prints it.
    void no_kernel_spills_registers_or_asks_for_too_much_shared_memory() {
        for (const auto& [architecture, kernels] : usages()) {
            for (const auto& [name, usage] : kernels) {
                const QString row = QString("%1 %2: %3 registers, %4 bytes of stack, %5 spilled, "
                                            "%6 of shared memory")
                                        .arg(architecture, name)
                                        .arg(usage.registers)
                                        .arg(usage.stack)
                                        .arg(usage.spilled)
                                        .arg(usage.shared);
                qDebug().noquote() << row;
                // Sine and cosine in double keep a table of far angles on the stack.
                const bool turns = name.contains("rotary_rows") || name.contains("random_elements");
                QVERIFY2(usage.spilled == 0, qPrintable(row));
                QVERIFY2(turns || usage.stack == 0, qPrintable(row));
                QVERIFY2(usage.shared <= 48 * 1024, qPrintable(row));
            }
        }
    }
};

WEFT_TEST(CudaCompiled)
#include "compiled_test.moc"
