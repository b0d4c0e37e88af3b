// SPDX-License-Identifier: Apache-2.0
// What a configuration names and is not there is told of all fields, before anything is opened.
#include "core/train/start_check.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <fstream>

namespace {

using namespace weft;
namespace fs = std::filesystem;

class StartCheckTest : public QObject, private test::TestFolder {
    Q_OBJECT

    static std::vector<std::string> pointers(const config::Diagnostics& found) {
        std::vector<std::string> out;
        for (const config::Diagnostic& one : found) {
            out.push_back(one.pointer);
        }
        return out;
    }

private slots:
    void every_field_that_leads_nowhere_is_named() {
        const fs::path base = path("names");
        fs::create_directories(base);
        std::ofstream(base / "here.npy") << "x";
        const auto checked = compile::read_run_config(std::string_view(R"({
            "data": {"train": {"type": "npy", "inputs": "here.npy", "targets": "gone.npy"},
                     "validation": {"type": "npy", "inputs": "here.npy", "targets": "far/off.npy"},
                     "test": {"type": "csv", "path": "/nowhere/at/all.csv"}},
            "model": {"type": "mlp", "hidden": [8]},
            "init": {"from": "weights.safetensors"}})"),
                                                      base);
        QVERIFY2(checked.ok(), checked.ok() ? "" : to_text(checked.diagnostics.front()).c_str());
        const config::Diagnostics found = train::missing_files(checked.config);
        QCOMPARE(pointers(found),
                 (std::vector<std::string>{"/data/train/targets", "/data/validation/targets",
                                           "/data/test/path", "/init/from"}));
        QCOMPARE(found[1].message, (base / "far" / "off.npy").string() + " is not there");
        QCOMPARE(found[2].message, std::string("/nowhere/at/all.csv is not there"));
        for (const config::Diagnostic& one : found) {
            QVERIFY(one.severity == config::Severity::error && !one.hint.empty());
        }
    }

    void a_model_that_does_not_take_its_data_is_told_at_the_layer() {
        const auto of = [&](const char* layers) {
            const auto checked = compile::read_run_config(
                std::string_view(R"({"data": {"train": {"type": "synthetic",
                    "kind": "classification", "features": 16, "classes": 4}},
                    "model": {"type": "sequential", "layers": )" + std::string(layers) + "}}"),
                path("none"));
            return checked.ok() ? train::misfits(checked.config) : checked.diagnostics;
        };
        QCOMPARE(of(R"([{"type": "linear", "units": 8}, {"type": "linear"}])").size(),
                 std::size_t{0});
        // 16 features are no picture.
        const auto picture = of(R"([{"type": "linear", "units": 16},
            {"type": "branches", "branches": [[{"type": "relu"}, {"type": "conv2d", "channels": 2,
             "kernel": 3}], [{"type": "relu"}]]}, {"type": "linear"}])");
        QCOMPARE(pointers(picture), std::vector<std::string>{"/model/layers/1/branches/0/1"});
        QVERIFY(!picture.front().message.empty());
    }

    void factors_for_no_layer_are_told_at_their_pattern() {
        const auto of = [&](const char* targets) {
            const auto checked = compile::read_run_config(
                std::string_view(R"({"data": {"train": {"type": "synthetic",
                    "kind": "classification", "features": 16, "classes": 4}},
                    "model": {"type": "mlp", "hidden": [8]},
                    "init": {"from": "elsewhere", "lora": {"rank": 2, "targets": )" +
                                 std::string(targets) + "}}}"),
                path("none"));
            return checked.ok() ? train::misfits(checked.config) : checked.diagnostics;
        };
        QCOMPARE(of(R"(["layers.*"])").size(), std::size_t{0});
        const auto nothing = of(R"(["layers.*", "blocks.*"])");
        QCOMPARE(pointers(nothing), std::vector<std::string>{"/init/lora/targets"});
        QVERIFY(nothing.front().message.find("'blocks.*'") != std::string::npos);
    }

    void data_that_cannot_be_read_are_told_at_their_source() {
        const fs::path base = path("unreadable");
        fs::create_directories(base);
        std::ofstream(base / "empty.csv") << "";
        const auto checked = compile::read_run_config(std::string_view(R"({
            "data": {"train": {"type": "csv", "path": "empty.csv", "targets": "kind"}},
            "model": {"type": "mlp", "hidden": [8]}})"),
                                                      base);
        QVERIFY(checked.ok());
        const config::Diagnostics found = train::misfits(checked.config);
        QCOMPARE(pointers(found), std::vector<std::string>{"/data/train"});
        QVERIFY(found.front().message.find("empty.csv") != std::string::npos);
    }

    void a_configuration_whose_files_are_there_or_that_names_none_is_in_order() {
        const fs::path base = path("order");
        fs::create_directories(base / "weights");
        const auto made_up = compile::read_run_config(std::string_view(R"({
            "data": {"train": {"type": "synthetic", "kind": "classification"}},
            "model": {"type": "mlp", "hidden": [8]},
            "init": {"from": "weights"}})"),
                                                      base);
        QVERIFY(made_up.ok());
        QCOMPARE(train::missing_files(made_up.config).size(), std::size_t{0});
    }
};

} // namespace

WEFT_TEST(StartCheckTest)
#include "start_check_test.moc"
