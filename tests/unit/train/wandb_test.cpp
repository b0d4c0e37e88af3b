// SPDX-License-Identifier: Apache-2.0
// Framing as in "LevelDB Log format" (google/leveldb, doc/log_format.md), header and checksums as
// in wandb 0.17, sdk/internal/datastore.py; read here by a reader of the test's own.
#include "core/base/protobuf.h"
#include "core/train/logging/wandb_writer.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <array>
#include <cstring>

namespace {

using namespace weft;
using namespace weft::train;
namespace fs = std::filesystem;

/// CRC-32 of ISO 3309 bit by bit.
std::uint32_t slow_crc32(std::string_view bytes) {
    std::uint32_t crc = 0xffffffffu;
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
        }
    }
    return ~crc;
}

/// The records of a file; a text about the first thing that is wrong as the last one.
std::vector<std::string> records_of(const std::string& file) {
    constexpr std::size_t kBlock = 32768;
    std::vector<std::string> out;
    if (file.substr(0, 7) != std::string(":W&B\xe1\xbe\0", 7)) {
        return {"no header"};
    }
    std::string record;
    for (std::size_t at = 7; at < file.size();) {
        if (kBlock - at % kBlock < 7) {
            at += kBlock - at % kBlock;
            continue;
        }
        std::uint32_t crc = 0;
        std::uint16_t length = 0;
        std::memcpy(&crc, file.data() + at, 4);
        std::memcpy(&length, file.data() + at + 4, 2);
        const char kind = file[at + 6];
        const std::string part = file.substr(at + 7, length);
        if (slow_crc32(std::string(1, kind) + part) != crc) {
            out.push_back("wrong checksum");
            return out;
        }
        if (at % kBlock + 7 + length > kBlock) {
            out.push_back("over the end of a block");
            return out;
        }
        record = kind == 1 || kind == 2 ? part : record + part;
        if (kind == 1 || kind == 4) {
            out.push_back(record);
        }
        at += 7u + length;
    }
    return out;
}

/// The message in a field; empty: it is not there.
std::string message_in(const std::string& record, std::uint64_t number) {
    protobuf::Reader reader(record);
    for (protobuf::Field field; reader.next(field);) {
        if (field.is(number, protobuf::bytes)) {
            return std::string(field.text);
        }
    }
    return {};
}

class WandbTest : public QObject, private test::TestFolder {
    Q_OBJECT

private slots:
    void records_of_any_length_keep_to_their_blocks() {
        const fs::path file = path("log.wandb");
        std::vector<std::string> written;
        {
            LevelLog log(file);
            // Ends that leave 0 to 8 bytes of a block, and records over several blocks.
            for (const std::size_t size :
                 {std::size_t{0}, std::size_t{1}, std::size_t{32740}, std::size_t{5},
                  std::size_t{100000}, std::size_t{32761}, std::size_t{3}}) {
                written.push_back(std::string(size, static_cast<char>('a' + written.size())));
                log.add(written.back());
            }
            for (std::size_t size = 32700; size < 32770; ++size) {
                written.push_back(std::string(size, 'z'));
                log.add(written.back());
            }
        }
        QVERIFY(records_of(read_file(file)) == written);
    }

    void a_session_says_what_it_is_and_how_it_ended() {
        const WandbRun run{"weaving",
                           "r_001",
                           "r_001",
                           "",
                           {"a", "b"},
                           "loom",
                           config::json_of(R"({"seed": 7, "model": {"type": "mlp"}})")};
        {
            WandbWriter writer(path("wandb"), run, 1000);
            writer.add(1001.5, 3, {{"train/loss", 0.25}});
            writer.add(1002, 4, {});
            writer.finish(true);
        }
        const fs::path session = fs::directory_iterator(path("wandb"))->path();
        QVERIFY(session.filename().string().starts_with("offline-run-"));
        const auto records = records_of(read_file(session / "run-r_001.wandb"));
        QCOMPARE(records.size(), std::size_t(5)); // header, run, history, summary, exit
        const std::string described = message_in(records[1], 17);
        QCOMPARE(message_in(described, 1), std::string("r_001"));
        QCOMPARE(message_in(described, 3), std::string("weaving"));
        const std::string item = message_in(message_in(records[2], 2), 1);
        QCOMPARE(message_in(item, 1), std::string("train/loss"));
        QCOMPARE(message_in(item, 16), std::string("0.25"));
        QVERIFY(!message_in(records[4], 18).empty());
    }

    void names_become_ids() {
        QCOMPARE(wandb_id("2026-01-02_net é/x_001"), std::string("2026-01-02_net----x_001"));
        QCOMPARE(wandb_id(std::string(100, 'a')).size(), std::size_t(64));
    }
};

} // namespace

WEFT_TEST(WandbTest)
#include "wandb_test.moc"
