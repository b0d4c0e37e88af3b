// SPDX-License-Identifier: Apache-2.0
// Fashion-MNIST with two labels in a hundred flipped and fifty pictures there twice, moved by a
// pixel or noisy: what `weft data audit` finds of them after two epochs of the preset fashion-cnn.
#include "core/data/dataset.h"
#include "core/train/audit/audit.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <set>

namespace {

using namespace weft;
using namespace weft::test;
using config::Json;
namespace fs = std::filesystem;

constexpr const char* kFashion = "/usr/share/datasets/fashion-mnist";
constexpr std::size_t kSide = 28;
constexpr std::size_t kPixels = kSide * kSide;
constexpr std::size_t kTwice = 50;
constexpr std::size_t kLooked = 500; // of the first suspects

using Picture = std::vector<std::uint8_t>;

/// An idx file of bytes.
void write_idx(const fs::path& file, const std::vector<std::uint32_t>& shape,
               const std::vector<std::uint8_t>& bytes) {
    std::ofstream out(file, std::ios::binary);
    const char magic[] = {0, 0, 8, static_cast<char>(shape.size())};
    out.write(magic, sizeof magic);
    for (const std::uint32_t extent : shape) {
        for (int shift = 24; shift >= 0; shift -= 8) {
            out.put(static_cast<char>(extent >> shift & 0xff));
        }
    }
    out.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

Picture moved(const Picture& from) {
    Picture out(kPixels);
    for (std::size_t i = 0; i < kSide; ++i) {
        for (std::size_t j = 1; j < kSide; ++j) {
            out[i * kSide + j] = from[i * kSide + j - 1];
        }
    }
    return out;
}

} // namespace

class FashionAuditTest : public QObject, private TestFolder {
    Q_OBJECT

private slots:
    void planted_faults_are_found() {
        const data::DataSet data = data::open_data(
            {{"train", {{"type", "idx"}, {"path", kFashion}}}, {"validation", nullptr}}, {});
        const data::Source& source = *data.train_files;
        std::vector<Picture> pictures;
        std::vector<std::uint8_t> labels;
        std::vector<float> values(kPixels);
        for (std::int64_t i = 0; i < source.samples(); ++i) {
            source.read(i, std::as_writable_bytes(std::span(values)), {});
            Picture& picture = pictures.emplace_back();
            for (const float value : values) {
                picture.push_back(static_cast<std::uint8_t>(std::lround(255 * value)));
            }
            labels.push_back(static_cast<std::uint8_t>(source.label(i)));
        }
        std::mt19937 random(7);
        const std::size_t all = pictures.size();
        std::map<std::int64_t, int> flipped; // and what they were
        while (flipped.size() < all / 50) {
            const std::size_t at = random() % all;
            if (flipped.emplace(at, labels[at]).second) {
                labels[at] = static_cast<std::uint8_t>((labels[at] + 1 + random() % 9) % 10);
            }
        }
        std::map<std::int64_t, std::int64_t> twice; // the second to the first
        std::normal_distribution<double> noise(0, 4);
        while (twice.size() < kTwice) {
            const std::size_t at = random() % all;
            if (flipped.contains(static_cast<std::int64_t>(at))) {
                continue;
            }
            Picture copy = moved(pictures[at]);
            if (twice.size() % 2 == 0) {
                copy = pictures[at];
                for (std::uint8_t& pixel : copy) {
                    pixel =
                        static_cast<std::uint8_t>(std::clamp(pixel + noise(random), 0.0, 255.0));
                }
            }
            twice[std::ssize(pictures)] = static_cast<std::int64_t>(at);
            pictures.push_back(copy);
            labels.push_back(labels[at]);
        }
        std::vector<std::uint8_t> bytes;
        for (const Picture& picture : pictures) {
            bytes.insert(bytes.end(), picture.begin(), picture.end());
        }
        const auto count = static_cast<std::uint32_t>(pictures.size());
        fs::create_directories(path("planted"));
        write_idx(path("planted") / "train-images-idx3-ubyte", {count, kSide, kSide}, bytes);
        write_idx(path("planted") / "train-labels-idx1-ubyte", {count}, labels);
        const QString run = text("run");
        const Finished trained = train_weft(
            QStringLiteral(WEFT_SOURCE_DIR "/resources/presets/fashion-cnn.json"), run,
            {"data.train=" + QString::fromStdString(
                                 Json{{"type", "idx"}, {"path", path("planted").string()}}.dump()),
             "training.length={\"epochs\": 2}", "checkpoint.every={\"steps\": 100}",
             "checkpoint.keep_latest=20"},
            {});
        QVERIFY2(trained.code == 0, trained.err.c_str());
        const Finished out = run_weft({"data", "audit", run, "--checkpoints", "3", "--json"});
        QVERIFY2(out.code == 0, out.err.c_str());
        const train::Audit audit = train::audit_of_json(config::json_of(out.out));
        std::size_t right = 0;
        std::size_t named = 0;
        std::set<std::int64_t> seen;
        for (std::size_t i = 0; i < audit.suspects.size(); ++i) {
            const train::Suspect& one = audit.suspects[i];
            const auto found = flipped.find(one.index);
            if (i < kLooked && found != flipped.end()) {
                ++right;
                named += one.says == found->second ? 1 : 0;
            }
            for (const train::Twin& twin : one.twins) {
                for (const auto& [second, first] : twice) {
                    if ((one.index == second && twin.index == first) ||
                        (one.index == first && twin.index == second)) {
                        seen.insert(second);
                    }
                }
            }
        }
        qInfo("%zu of the first %zu suspects are flipped, %zu with their class; %zu of %zu twins",
              right, kLooked, named, seen.size(), kTwice);
        // Without an audit one in fifty would be.
        QVERIFY(right >= kLooked * 8 / 10);
        QVERIFY(named >= right * 9 / 10);
        QVERIFY(seen.size() >= kTwice * 8 / 10);
    }
};

WEFT_TEST(FashionAuditTest)
#include "fashion_audit_test.moc"
