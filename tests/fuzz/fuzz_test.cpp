// SPDX-License-Identifier: Apache-2.0
// Whatever bytes a file has, it is read or refused.
#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/watch.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <set>
#include <stdexcept>

using namespace weft::test;
namespace fs = std::filesystem;

#ifdef __SANITIZE_ADDRESS__
// One allocation, in place of the limit of the process. The largest that is right is an image of
// 100 million pixels. HDF5's child and the C library are not asked about leaks: workers end at
// once.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
    return "max_allocation_size_mb=1024:allocator_may_return_null=0:detect_leaks=0";
}
#endif

namespace {

constexpr std::uint64_t kChangedInputs = 200;
constexpr std::uint64_t kChangedHdf5 = 40; // each starts a process

long long number_of(const char* variable, long long otherwise) {
    return qEnvironmentVariableIsSet(variable) ? qEnvironmentVariable(variable).toLongLong()
                                               : otherwise;
}

/// Inputs that did harm once.
std::vector<std::string> corpus_of(const Target& target) {
    const fs::path folder = fs::path("tests/fuzz/corpus") / target.name;
    std::set<fs::path> names;
    std::error_code none_yet;
    for (const auto& entry : fs::directory_iterator(fs::path(WEFT_SOURCE_DIR) / folder, none_yet)) {
        names.insert(entry.path().filename());
    }
    std::vector<std::string> out;
    for (const fs::path& name : names) {
        out.push_back(file_of_tree((folder / name).string()));
    }
    return out;
}

std::string kept(const Target& target, const std::string& input) {
    std::array<char, 9> sum{};
    std::snprintf(sum.data(), sum.size(), "%08x", weft::crc32c(input));
    return put(fs::current_path(), "found-" + std::string(target.name) + "-" + sum.data(), input)
        .string();
}

void leave(const std::string&, const fs::path&) {}
void refuse(const std::string&, const fs::path&) {
    throw weft::Error(weft::ErrorKind::data, "here", "no");
}
void throw_another(const std::string&, const fs::path&) {
    throw std::out_of_range("beyond");
}
void crash(const std::string&, const fs::path&) {
    std::abort();
}
void hang(const std::string&, const fs::path&) {
    for (;;) {
        pause();
    }
}
void take_memory(const std::string&, const fs::path&) {
    std::vector<char> much(std::size_t{3} << 30, 'x');
    std::puts(much.data() + much.size() - 1);
}
std::vector<std::string> one_letter() {
    return {"a"};
}

} // namespace

class FuzzTest : public QObject {
    Q_OBJECT

private slots:
    void a_changed_input_is_a_function_of_its_number() {
        const std::vector<std::string> seeds{std::string(100, 'a'), "b"};
        const std::vector<std::string> words{"word"};
        std::set<std::string> different;
        for (std::uint64_t number = 0; number < 500; ++number) {
            const std::string input = mutated(seeds, words, 3, number);
            QVERIFY(input == mutated(seeds, words, 3, number));
            QVERIFY(input.size() <= kMostInputBytes);
            different.insert(input);
        }
        QVERIFY2(different.size() > 400, std::to_string(different.size()).c_str());
    }

    void what_harms_is_noticed_with_its_input_data() {
        QTest::addColumn<void (*)(const std::string&, const fs::path&)>("read");
        QTest::addColumn<bool>("harms");
        QTest::newRow("read") << &leave << false;
        QTest::newRow("refused") << &refuse << false;
        QTest::newRow("another exception") << &throw_another << true;
        QTest::newRow("a crash") << &crash << true;
        QTest::newRow("a hang") << &hang << true;
        QTest::newRow("too much memory") << &take_memory << true;
    }
    void what_harms_is_noticed_with_its_input() {
        using Read = void (*)(const std::string&, const fs::path&);
        QFETCH(const Read, read);
        QFETCH(const bool, harms);
        const Target target{"any", read, one_letter, {}};
        const auto once = [](std::uint64_t number) {
            return number == 0 ? std::optional<std::string>("input") : std::nullopt;
        };
        const Watched seen = watch(target, once, fs::current_path(), {.input_seconds = 1});
        QCOMPARE(seen.inputs, std::uint64_t(1));
        QVERIFY2(seen.harm.empty() != harms, seen.harm.c_str());
        QCOMPARE(seen.input, std::string(harms ? "input" : ""));
    }

    /// Where they were refused, changes would reach little of the reader.
    void what_inputs_are_made_from_is_sound() {
        const QTemporaryDir folder;
        for (const Target* target : kTargets) {
            for (const std::string& seed : target->seeds()) {
                try {
                    target->read(seed, folder.path().toStdString());
                } catch (const weft::Error& error) {
                    QFAIL((std::string(target->name) + ": " + error.message()).c_str());
                }
            }
        }
    }

    void any_bytes_are_read_or_refused_data() {
        QTest::addColumn<const Target*>("target");
        for (const Target* target : kTargets) {
            QTest::newRow(std::string(target->name).c_str()) << target;
        }
    }
    void any_bytes_are_read_or_refused() {
        QFETCH(const Target*, target);
        const std::vector<std::string> seeds = target->seeds();
        QVERIFY(!seeds.empty());
        for (const std::string& seed : seeds) {
            QVERIFY(!seed.empty());
        }
        std::vector<std::string> first = seeds;
        std::ranges::copy(corpus_of(*target), std::back_inserter(first));

        using Clock = std::chrono::steady_clock;
        const long long seconds = number_of("WEFT_FUZZ_SECONDS", 0);
        const auto seed = static_cast<std::uint64_t>(number_of("WEFT_FUZZ_SEED", 1));
        const std::uint64_t fewest = target == &kHdf5Target ? kChangedHdf5 : kChangedInputs;
        const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
        const auto next = [&](std::uint64_t number) -> std::optional<std::string> {
            if (number < first.size()) {
                return first[number];
            }
            const std::uint64_t changed = number - first.size();
            if (changed >= fewest && (seconds == 0 || Clock::now() >= end)) {
                return std::nullopt;
            }
            return mutated(first, target->words, seed, changed);
        };
        const QTemporaryDir folder;
        const Watched seen = watch(*target, next, folder.path().toStdString());
        QVERIFY2(seen.harm.empty(),
                 (seen.harm + ", reading " + (seen.input.empty() ? "" : kept(*target, seen.input)))
                     .c_str());
        QVERIFY(seen.inputs >= first.size() + fewest);
        qInfo("%s: %llu inputs", std::string(target->name).c_str(),
              static_cast<unsigned long long>(seen.inputs));
    }
};

WEFT_TEST(FuzzTest)
#include "fuzz_test.moc"
