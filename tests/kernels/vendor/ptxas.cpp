// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/vendor/ptxas.h"

namespace weft::test {
namespace {

/// Most registers of a thread. What is not named has as many as let two blocks of 512 threads, or
/// one of 1024, run on a processor, which has 65,536 of them.
struct Limit {
    const char* name; // is in the kernel's
    int registers;
};
constexpr Limit kLimits[] = {
    {"attend", 128}, // four blocks of 128 threads
    {"attention_query_grad", 128},
    {"attention_key_grad", 128},
    {"convolve", 128}, // two blocks of 256
};
constexpr int kRegisters = 64;
constexpr int kSharedBytes = 48 * 1024; // without asking for more

// Sine and cosine in double keep a table of far angles on the stack.
constexpr const char* kWithStack[] = {"rotary_rows", "random_elements"};

int most_registers(const QString& name) {
    for (const Limit& limit : kLimits) {
        if (name.contains(limit.name)) {
            return limit.registers;
        }
    }
    return kRegisters;
}

} // namespace

void add_usages(const QString& report, std::map<QString, Usages>& all) {
    static const QRegularExpression entry("Compiling entry function '(\\w+)' for '(\\w+)'");
    static const QRegularExpression frame(
        "(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
    static const QRegularExpression used("Used (\\d+) registers");
    static const QRegularExpression shared("(\\d+) bytes smem");
    Usage* usage = nullptr;
    for (const QString& line : report.split('\n')) {
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

QString wrong_with(const QString& architecture, const QString& name, const Usage& usage) {
    const QString row = QString("%1 %2: %3 registers, %4 bytes of stack, %5 spilled, %6 of shared "
                                "memory")
                            .arg(architecture, name)
                            .arg(usage.registers)
                            .arg(usage.stack)
                            .arg(usage.spilled)
                            .arg(usage.shared);
    qDebug().noquote() << row;
    const bool stack = std::any_of(std::begin(kWithStack), std::end(kWithStack),
                                   [&](const char* part) { return name.contains(part); });
    const int most = most_registers(name);
    if (usage.registers < 1 || usage.registers > most) {
        return row + QString(", where %1 registers are allowed").arg(most);
    }
    const bool small =
        usage.spilled == 0 && (stack || usage.stack == 0) && usage.shared <= kSharedBytes;
    return small ? QString() : row;
}

} // namespace weft::test
