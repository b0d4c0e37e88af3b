// SPDX-License-Identifier: Apache-2.0
#include "core/data/scan.h"
#include "tests/data/data_support.h"

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInfinity = std::numeric_limits<float>::infinity();

std::string npy_array(const char* type, const std::string& shape, const std::string& elements) {
    std::string header = std::string("{'descr': '") + type +
                         "', 'fortran_order': False, 'shape': " + shape + ", }\n";
    std::string out("\x93NUMPY\1\0", 8);
    out += static_cast<char>(header.size());
    out += '\0';
    return out + header + elements;
}

Json arrays(const Folder& folder, const std::vector<float>& inputs, int features,
            const std::string& labels) {
    const std::string bytes(reinterpret_cast<const char*>(inputs.data()),
                            inputs.size() * sizeof(float));
    const std::string rows = std::to_string(labels.size());
    return {
        {"type", "npy"},
        {"inputs",
         folder
             .write("x.npy",
                    npy_array("<f4", "(" + rows + ", " + std::to_string(features) + ")", bytes))
             .string()},
        {"targets", folder.write("y.npy", npy_array("|i1", "(" + rows + ",)", labels)).string()},
        {"scale", "none"}};
}

} // namespace

class ScanTest : public QObject {
    Q_OBJECT

private slots:
    void what_is_wrong_is_counted_and_listed() {
        const Folder folder;
        const Json section = normalised({{"train", arrays(folder,
                                                          {1, 7, 0, /**/ kNan, 7, 1, /**/ 3, 7, 2,
                                                           /**/ 1, 7, 0, /**/ 5, 7, kInfinity},
                                                          3, std::string("\0\3\1\0\xff", 5))},
                                         {"validation", nullptr}});
        const auto report = data::scan(section, {});
        QVERIFY(report.has_value());
        QCOMPARE(report->parts.size(), std::size_t(1));
        const data::PartScan& part = report->parts[0];
        QCOMPARE(part.samples, 5);
        QCOMPARE(part.not_finite, 2);
        QCOMPARE(part.nan_values, 1);
        QCOMPARE(part.infinite_values, 1);
        QCOMPARE(part.bad.size(), std::size_t(2));
        QCOMPARE(part.bad[0].index, 1);
        QCOMPARE(part.duplicates, 1);
        QCOMPARE(part.duplicate_samples[0].index, 3);
        QCOMPARE(part.duplicate_samples[0].other, 0);
        QCOMPARE(part.class_counts, (std::vector<std::int64_t>{2, 1, 0, 1}));
        QCOMPARE(part.unlabelled, 1);
        QCOMPARE(part.constant, std::vector<std::int64_t>{1});
        QCOMPARE(part.mean[0], (1.0 + 3 + 1 + 5) / 4);
        QCOMPARE(part.minimum, 0.0);
        QCOMPARE(part.maximum, 7.0);
        QVERIFY((report->findings() ==
                 std::vector<std::string>{"2 samples of train hold values that are not finite",
                                          "1 sample of train have no class",
                                          "1 sample of train have the inputs of another sample "
                                          "before them",
                                          "class 2 has no sample of train",
                                          "1 input values of train never change"}));
    }

    void the_same_sample_in_two_parts_is_found() {
        const Folder a;
        const Folder b;
        const Json section = normalised(
            {{"train", arrays(a, {1, 2, 3, 4}, 2, std::string("\0\1", 2))},
             {"validation", arrays(b, {9, 9, 3, 4, 8, 8}, 2, std::string("\0\1\1", 3))}});
        const auto report = data::scan(section, {});
        QCOMPARE(report->parts[1].duplicates, 1);
        QCOMPARE(report->parts[1].duplicate_samples[0].part, std::string("train"));
        QCOMPARE(report->parts[1].duplicate_samples[0].other, 1);
    }

    void clean_data_has_no_findings_and_progress_counts_up() {
        const Json section = normalised(config::json_of(
            R"({"train": {"type": "synthetic", "kind": "classification", "samples": 500}})"));
        std::int64_t last = -1;
        const auto report = data::scan(section, {}, [&](const data::ScanProgress& progress) {
            QVERIFY(progress.done > last);
            QCOMPARE(progress.total, 600); // with the test part's fifth
            last = progress.done;
        });
        QVERIFY(report && report->findings().empty());
        QVERIFY(last >= 0);
        QCOMPARE(report->parts.size(), std::size_t(3));
    }

    void a_scan_can_be_stopped() {
        std::stop_source stop;
        const Json section = normalised(config::json_of(
            R"({"train": {"type": "synthetic", "kind": "classification", "samples": 500}})"));
        const auto report = data::scan(
            section, {}, [&](const data::ScanProgress&) { stop.request_stop(); }, stop.get_token());
        QVERIFY(!report.has_value());
    }
};

WEFT_TEST(ScanTest)
#include "scan_test.moc"
