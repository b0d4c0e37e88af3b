// SPDX-License-Identifier: Apache-2.0
// Low-rank factors on models that transformers saved: merged, and as PEFT names them.
#include "core/base/error.h"
#include "core/foreign/adapters.h"
#include "core/foreign/family_list.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"
#include "tests/unit/foreign/peers.h"

#include <cmath>

namespace {

using namespace weft;
using namespace weft::foreign;
using namespace weft::test;
namespace fs = std::filesystem;

constexpr double kScale = 3.0; // alpha 6, rank 2
const std::string kLora = R"(init.lora={"rank":2,"alpha":6,"targets":["blocks.*"]})";

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    double out = a.size() == b.size() ? 0.0 : INFINITY;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        out = std::max(out, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    }
    return out;
}

/// The parameters of an executor, which must outlive them.
Arrays parts_of(exec::Executor& executor) {
    Arrays out;
    for (const plan::StateSlot& slot : executor.plan().state_slots) {
        if (slot.category == plan::Category::parameters) {
            out.list.push_back({slot.name, slot.whole, ir::to_text(slot.whole)});
        }
    }
    std::sort(out.list.begin(), out.list.end(),
              [](const Array& a, const Array& b) { return a.name < b.name; });
    out.read = [&executor](const std::string& slot, std::span<std::byte> into) {
        const std::vector<std::byte> bytes = executor.read_slot(slot);
        std::copy(bytes.begin(), bytes.end(), into.begin());
    };
    return out;
}

/// Factors as if they had been trained.
void make_loud(exec::Executor& executor) {
    double phase = 0.1;
    for (const Array& array : parts_of(executor).list) {
        if (nn::adapted_by(array.name)) {
            std::vector<float> values(static_cast<std::size_t>(array.type->shape.elements()));
            for (float& value : values) {
                value = static_cast<float>(0.3 * std::sin(phase += 1.3));
            }
            executor.write_slot(array.name, std::as_bytes(std::span(values)));
        }
    }
}

} // namespace

class AdaptersTest : public QObject, private test::TestFolder {
    Q_OBJECT
private slots:
    void weights_of_transformers_are_a_base_data() {
        QTest::addColumn<QString>("peer");
        for (const char* peer : {"gpt2", "llama", "qwen2"}) {
            QTest::newRow(peer) << QString(peer);
        }
    }

    // Fresh factors leave the logits as they are; the base is complete without them.
    void weights_of_transformers_are_a_base() {
        QFETCH(QString, peer);
        const std::string name = peer.toStdString();
        const auto executor = loaded(run_of_peer(name, {kLora}));
        const auto wanted =
            json_in(kPeers / name / "expected.json")["logits"].get<std::vector<float>>();
        QVERIFY(largest_difference(logits_of(*executor), wanted) < kLogitTolerance);
    }

    void merged_factors_give_the_same_logits_data() { weights_of_transformers_are_a_base_data(); }
    void merged_factors_give_the_same_logits() {
        QFETCH(QString, peer);
        const std::string name = peer.toStdString();
        const auto adapted = loaded(run_of_peer(name, {kLora}));
        const std::vector<float> before = logits_of(*adapted);
        make_loud(*adapted);
        const std::vector<float> wanted = logits_of(*adapted);
        QVERIFY(largest_difference(before, wanted) > 100 * kLogitTolerance);

        const auto plain = loaded(run_of_peer(name));
        const Arrays parts = parts_of(*adapted);
        const Arrays whole = merged(parts, kScale);
        QCOMPARE(whole.list.size(), parts_of(*plain).list.size());
        for (const Array& array : whole.list) {
            plain->write_slot(array.name, read_array(whole, array));
        }
        const double off = largest_difference(logits_of(*plain), wanted);
        QVERIFY2(off < kLogitTolerance, std::to_string(off).c_str());
    }

    void factors_without_their_weight_are_told() {
        const auto adapted = loaded(run_of_peer("gpt2", {kLora}));
        for (const char* lost : {"blocks.0.mlp.up.weight", "blocks.0.mlp.up.lora.a"}) {
            Arrays parts = parts_of(*adapted);
            std::erase_if(parts.list, [&](const Array& array) { return array.name == lost; });
            try {
                merged(parts, kScale);
                QFAIL("it was merged");
            } catch (const Error& error) {
                QVERIFY2(error.text().find("blocks.0.mlp.up.lora") != std::string::npos,
                         error.text().c_str());
            }
        }
    }

    // PEFT's layout: A [rank, in], B [out, rank], whatever the layer's own is.
    void a_folder_for_peft_names_modules_of_the_other_model() {
        const compile::RunConfig config = run_of_peer("gpt2", {kLora});
        const auto adapted = loaded(config);
        make_loud(*adapted);
        const Arrays parts = parts_of(*adapted);
        const fs::path folder = path("peft");
        write_peft(folder, kGpt2Family, parts, *nn::lora_settings(config.section("init")),
                   "/models/base", StoredAs::f32);

        const Json told = json_in(folder / "adapter_config.json");
        QCOMPARE(told.at("peft_type"), Json("LORA"));
        QCOMPARE(told.at("task_type"), Json("CAUSAL_LM"));
        QCOMPARE(told.at("r"), Json(2));
        QCOMPARE(told.at("lora_alpha"), Json(6.0));
        QCOMPARE(told.at("fan_in_fan_out"), Json(true)); // Conv1D
        QCOMPARE(told.at("base_model_name_or_path"), Json("/models/base"));
        const auto modules = told.at("target_modules").get<std::set<std::string>>();
        QVERIFY(modules.contains("transformer.h.0.attn.c_attn"));

        const Arrays written = open_weights(folder / "adapter_model.safetensors");
        QCOMPARE(written.list.size(), 2 * modules.size());
        const Array* there =
            written.find("base_model.model.transformer.h.1.mlp.c_proj.lora_A.weight");
        const Array* here = parts.find("blocks.1.mlp.down.lora.a");
        QVERIFY(there != nullptr && here != nullptr);
        const std::int64_t in = here->type->shape[0];
        QCOMPARE(there->type->shape, (ir::Shape{2, in}));
        const std::vector<float> a = read_floats(parts, *here);
        const std::vector<float> turned = read_floats(written, *there);
        for (std::size_t i = 0; i < static_cast<std::size_t>(in); ++i) {
            QCOMPARE(turned[i], a[2 * i]);
        }
    }

    void what_goes_out_for_peft_comes_in_again() {
        const compile::RunConfig config = run_of_peer("gpt2", {kLora});
        const auto adapted = loaded(config);
        make_loud(*adapted);
        const Arrays parts = parts_of(*adapted);
        const nn::Lora lora = *nn::lora_settings(config.section("init"));
        const fs::path folder = path("peft-and-back");
        write_peft(folder, kGpt2Family, parts, lora, "", StoredAs::f32);
        const Arrays back = open_peft(folder, "gpt2", lora);
        QVERIFY(!back.list.empty());
        for (const Array& array : back.list) {
            const Array* here = parts.find(array.name);
            QVERIFY2(here != nullptr && here->type == array.type, array.name.c_str());
            QCOMPARE(read_floats(back, array), read_floats(parts, *here));
        }
        nn::Lora other = lora;
        other.alpha *= 2;
        QVERIFY_THROWS_EXCEPTION(Error, open_peft(folder, "gpt2", other));
        fs::remove(folder / "adapter_model.safetensors");
        QVERIFY_THROWS_EXCEPTION(Error, open_peft(folder, "gpt2", lora));
    }

    // transformers 5 calls layers of ViT otherwise than the files that it saves.
    void a_model_whose_layers_have_no_lasting_names_is_refused() {
        const compile::RunConfig config = run_of_peer("vit", {kLora});
        const auto adapted = loaded(config);
        const Arrays parts = parts_of(*adapted);
        try {
            write_peft(path("peft-vit"), kVitFamily, parts,
                       *nn::lora_settings(config.section("init")), "", StoredAs::f32);
            QFAIL("it was written");
        } catch (const Error& error) {
            QVERIFY2(error.hint().find("--as huggingface") != std::string::npos,
                     error.hint().c_str());
        }
        QVERIFY(!fs::exists(path("peft-vit")));
    }
};

WEFT_TEST(AdaptersTest)
#include "adapters_test.moc"
