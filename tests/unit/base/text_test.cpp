// SPDX-License-Identifier: Apache-2.0
#include "core/base/crc32c.h"
#include "core/base/machine.h"
#include "core/base/text.h"
#include "tests/support/weft_test.h"

using namespace weft;

class TextTest : public QObject {
    Q_OBJECT
private slots:
    void edit_distance_counts_single_edits() {
        QCOMPARE(edit_distance("", ""), 0);
        QCOMPARE(edit_distance("", "abc"), 3);
        QCOMPARE(edit_distance("kitten", "sitting"), 3);
        QCOMPARE(edit_distance("epohcs", "epochs"), 1);
    }

    void the_nearest_name_is_what_was_meant() {
        const std::vector<std::string> names = {"learning_rate", "betas", "eps", "weight_decay"};
        QCOMPARE(nearest_name("learning_rat", names).value(), std::string("learning_rate"));
        QCOMPARE(nearest_name("Weight_Decay", names).value(), std::string("weight_decay"));
        QCOMPARE(nearest_name("learn", names).value(), std::string("learning_rate"));
        QVERIFY(!nearest_name("zebra", names));
        QVERIFY(!nearest_name("", names));
        QVERIFY(!nearest_name(std::string(100'000, 'a'), names));
    }

    void a_hint_lists_names_when_none_is_near() {
        const std::vector<std::string> names = {"relu", "gelu"};
        QCOMPARE(name_hint("rellu", names), std::string("Did you mean 'relu'?"));
        QCOMPARE(name_hint("softplus", names), std::string("Known here: relu, gelu."));
        QCOMPARE(name_hint("x", {}), std::string());
    }

    void bytes_read_in_binary_units() {
        QCOMPARE(format_bytes(0), std::string("0 B"));
        QCOMPARE(format_bytes(1023), std::string("1023 B"));
        QCOMPARE(format_bytes(1024), std::string("1.0 KiB"));
        QCOMPARE(format_bytes(1536), std::string("1.5 KiB"));
        QCOMPARE(format_bytes((1 << 20) - 1), std::string("1.0 MiB"));
        QCOMPARE(format_bytes(int64_t{3} << 30), std::string("3.0 GiB"));
        QCOMPARE(format_bytes(-2048), std::string("-2.0 KiB"));
    }

    void durations_read_as_people_say_them() {
        QCOMPARE(format_duration(0), std::string("0 s"));
        QCOMPARE(format_duration(0.00042), std::string("0.42 ms"));
        QCOMPARE(format_duration(0.25), std::string("250 ms"));
        QCOMPARE(format_duration(3.14), std::string("3.1 s"));
        QCOMPARE(format_duration(59.96), std::string("1 min 00 s"));
        QCOMPARE(format_duration(245), std::string("4 min 05 s"));
        QCOMPARE(format_duration(2 * 3600 + 7 * 60), std::string("2 h 07 min"));
        QCOMPARE(format_duration(3 * 86400 + 4 * 3600), std::string("3 d 4 h"));
        QCOMPARE(format_duration(std::numeric_limits<double>::infinity()), std::string("unknown"));
    }

    void counts_read_in_thousands() {
        QCOMPARE(format_thousands(0), std::string("0"));
        QCOMPARE(format_thousands(-1234567), std::string("-1,234,567"));
        QCOMPARE(format_thousands(100), std::string("100"));
        QCOMPARE(format_count(124439808), std::string("124.4M"));
        QCOMPARE(format_count(999'960), std::string("1.0M"));
        QCOMPARE(format_count(812), std::string("812"));
        QCOMPARE(format_short(0.125), std::string("0.125"));
        QCOMPARE(format_short(-2999000), std::string("-3e+06"));
        QCOMPARE(format_short(0.0123456, 2), std::string("0.012"));
    }

    void a_star_matches_any_run() {
        QVERIFY(glob_match("*", ""));
        QVERIFY(glob_match("*.bias", "blocks.3.mlp.bias"));
        QVERIFY(glob_match("blocks.*.weight", "blocks.3.mlp.up.weight"));
        QVERIFY(!glob_match("blocks.*.weight", "blocks.3.mlp.up.bias"));
        QVERIFY(!glob_match("", "a"));
        QVERIFY(glob_match("a**b", "ab"));
        // A pattern made to explode a backtracking matcher ends at once.
        std::string pattern;
        for (int i = 0; i < 30; ++i) {
            pattern += "a*";
        }
        QVERIFY(!glob_match(pattern + "b", std::string(2000, 'a')));
    }

    void split_and_join_are_inverse() {
        const std::vector<std::string> parts = {"a", "", "b"};
        QVERIFY(split("a..b", '.') == parts);
        QCOMPARE(join(parts, "."), std::string("a..b"));
        QCOMPARE(split("", '.').size(), size_t{1});
        QVERIFY(trim("  \t x y\n") == "x y");
        QVERIFY(trim(" \n").empty());
    }

    void only_well_formed_utf8_passes() {
        QVERIFY(is_utf8("abc \u00e4 \u20ac \U0001F600"));
        QVERIFY(!is_utf8("\xC0\x80"));         // overlong zero
        QVERIFY(!is_utf8("\xED\xA0\x80"));     // surrogate
        QVERIFY(!is_utf8("\xF4\x90\x80\x80")); // above U+10FFFF
        QVERIFY(!is_utf8("\xE2\x82"));         // cut short
        QVERIFY(!is_utf8("\xff"));
    }

    void shown_text_is_one_safe_line() {
        QCOMPARE(shown("a\nb\xff"), std::string("a\\x0ab\\xff"));
        QCOMPARE(shown(std::string(1'000'000, 'x'), 10), std::string(10, 'x') + "...");
        QVERIFY(is_utf8(shown("\u20ac\u20ac\u20ac", 4)));
    }

    // FACTS.md H and RFC 3720 B.4.
    void crc32c_matches_the_published_vectors() {
        QCOMPARE(crc32c("123456789"), uint32_t{0xe3069283});
        QCOMPARE(crc32c(std::string(32, '\0')), uint32_t{0x8a9136aa});
        QCOMPARE(crc32c(std::string(32, '\xff')), uint32_t{0x62a8ab43});
        QCOMPARE(crc32c(""), uint32_t{0});
    }

    void crc32c_equals_its_portable_oracle_at_every_size_and_alignment() {
        std::string data(300, '\0');
        for (size_t i = 0; i < data.size(); ++i) {
            data[i] = static_cast<char>(i * 37 + 11);
        }
        for (size_t begin = 0; begin < 9; ++begin) {
            for (size_t size = 0; size + begin < data.size(); size += 7) {
                const auto part = std::as_bytes(std::span(data).subspan(begin, size));
                QCOMPARE(crc32c(part), crc32c_portable(part));
            }
        }
    }

    void crc32c_of_parts_is_that_of_the_whole() {
        QCOMPARE(crc32c("6789", crc32c("12345")), crc32c("123456789"));
    }

    void a_machine_is_read_without_surprises() {
        const Machine machine = read_machine();
        QVERIFY(machine.usable_cores >= 1);
        QVERIFY(machine.usable_cores <= machine.logical_cores);
        QVERIFY(machine.memory_bytes > 0);
        QVERIFY(machine.memory_free_bytes <= machine.memory_bytes);
        QVERIFY(!machine.hostname.empty());
        QVERIFY(!machine.sets.avx512_bf16 || machine.sets.avx512f);
    }

    void cgroup_and_meminfo_texts_are_understood() {
        QCOMPARE(cpu_quota_cores("max 100000\n"), 0);
        QCOMPARE(cpu_quota_cores("150000 100000\n"), 2);
        QCOMPARE(cpu_quota_cores(""), 0);
        QCOMPARE(cpu_quota_cores("100000 0"), 0);
        const char* info = "MemTotal:       16000 kB\nMemAvailable:    8000 kB\n";
        QCOMPARE(meminfo_bytes(info, "MemAvailable"), int64_t{8000 * 1024});
        QCOMPARE(meminfo_bytes(info, "Mem"), int64_t{0});
        const char* stat = "anon 3000\ninactive_file 1500\nactive_file 500\n";
        QCOMPARE(cgroup_free_bytes("max\n", "5000\n", stat), int64_t{-1});
        QCOMPARE(cgroup_free_bytes("9000\n", "5000\n", ""), int64_t{4000});
        QCOMPARE(cgroup_free_bytes("9000\n", "5000\n", stat), int64_t{5500});
        QCOMPARE(cgroup_free_bytes("9000\n", "12000\n", stat), int64_t{0});
        QCOMPARE(cgroup_free_bytes("", "", ""), int64_t{-1});
    }

    void a_process_that_takes_memory_has_it_resident() {
#ifdef __SANITIZE_THREAD__
        QSKIP("ThreadSanitizer keeps memory of its own for all that is touched");
#endif
        constexpr int64_t kBytes = 64 << 20;
        const ProcessMemory before = read_process_memory();
        const std::vector<char> block(kBytes, 'x');
        const ProcessMemory after = read_process_memory();
        QVERIFY(block.back() == 'x');
        // Nothing else of this size happens here; the kernel counts pages in batches.
        QVERIFY(std::abs(after.resident_bytes - before.resident_bytes - kBytes) < kBytes / 8);
        QVERIFY(std::abs(read_resident_bytes() - after.resident_bytes) < kBytes / 8);
        QVERIFY(after.peak_bytes >= after.resident_bytes);
        QVERIFY(after.file_bytes > 0 && after.file_bytes < after.resident_bytes);
    }
};

WEFT_TEST(TextTest)
#include "text_test.moc"
