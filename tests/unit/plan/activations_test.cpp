// SPDX-License-Identifier: Apache-2.0
// What layers put out and how it lies on a mesh, and why devices exchange: against placements
// worked out by hand (Megatron's: columns, then rows, then a sum).
#include "core/train/planning.h"
#include "tests/support/weft_test.h"
#include "tests/unit/plan/plan_models.h"

#include <algorithm>
#include <set>

using namespace weft;

namespace {

plan::ExecutionPlan planned_model(const std::string& model,
                                  const std::vector<std::string>& overrides) {
    train::PlanTarget target;
    target.threads = 1;
    const compile::RunConfig config = test::model_run(model, overrides);
    return train::plan_run(config, train::outline_run_data(config, target), target, {});
}

plan::ExecutionPlan two_by_two(const std::vector<std::string>& more = {}) {
    std::vector<std::string> overrides = {"mesh.devices=cpu:4", "mesh.strategy=2d",
                                          "mesh.axes=[[\"data\",2],[\"model\",2]]"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    return planned_model("gpt", overrides);
}

nlohmann::ordered_json document_of(const plan::ExecutionPlan& plan, const std::string& name) {
    const auto tensor = plan::find_tensor(plan, name);
    WEFT_CHECK(tensor.has_value(), "no tensor " + name);
    return plan::tensor_json(plan, *tensor);
}

std::vector<std::string> texts_of(const nlohmann::ordered_json& tensor) {
    std::vector<std::string> out;
    for (const auto& one : tensor["held"]) {
        out.push_back(one["text"].get<std::string>());
    }
    return out;
}

const plan::Collective* exchange_of(const std::vector<plan::Collective>& all,
                                    const std::string& what) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.what == what; });
    return found == all.end() ? nullptr : &*found;
}

} // namespace

class ActivationsTest : public QObject {
    Q_OBJECT

private slots:
    // Issue 5: a batch of 128 on four devices.
    void a_batch_of_128_on_four_devices_is_held_in_stretches_of_32() {
        const plan::ExecutionPlan plan =
            planned_model("mlp", {"mesh.devices=cpu:4", "training.global_batch_size=128"});
        const std::vector<std::string> wanted = {"[:, 0:32, :]", "[:, 32:64, :]", "[:, 64:96, :]",
                                                 "[:, 96:128, :]"};
        QCOMPARE(texts_of(document_of(plan, "inputs")), wanted);
        const std::vector<std::string> rows = {"[0:32, :]", "[32:64, :]", "[64:96, :]",
                                               "[96:128, :]"};
        int layers = 0;
        for (const plan::Activation& one : plan.activations) {
            if (one.whole.shape.rank() == 2) {
                QCOMPARE(texts_of(document_of(plan, one.name)), rows);
                ++layers;
            }
        }
        QVERIFY(layers >= 3); // one for each linear layer
    }

    // Columns first: each device has its share of the hidden numbers. Rows then: each has terms of
    // all of them, which are added up.
    void tensor_parallel_layers_put_out_shares_and_then_terms_of_sums() {
        const plan::ExecutionPlan plan = two_by_two();
        QCOMPARE(document_of(plan, "blocks.0.mlp.up output")["spec"], "P('data', None, 'model')");
        const auto product = std::find_if(
            plan.activations.begin(), plan.activations.end(), [](const plan::Activation& one) {
                return one.path == "blocks.0.mlp.down" && !one.placement.partial.empty();
            });
        QVERIFY(product != plan.activations.end());
        QCOMPARE(product->parameters.front(), std::string("blocks.0.mlp.down.weight"));
        QCOMPARE(document_of(plan, "blocks.0.mlp.down output")["spec"], "P('data')");
        QVERIFY(plan::tensor_text(plan, *product).find("over model: not added up yet") !=
                std::string::npos);
    }

    void context_parallel_splits_the_positions() {
        const plan::ExecutionPlan plan =
            planned_model("gpt", {"mesh.devices=cpu:2", "mesh.strategy=context_parallel"});
        const auto norm = document_of(plan, "blocks.0.norm1 output"); // [16, 8, 16]
        QCOMPARE(texts_of(norm), (std::vector<std::string>{"[:, 0:4, :]", "[:, 4:8, :]"}));
    }

    void every_weight_of_a_layer_makes_an_activation() {
        const plan::ExecutionPlan plan = two_by_two();
        std::set<std::string> makers;
        for (const plan::Activation& one : plan.activations) {
            makers.insert(one.parameters.begin(), one.parameters.end());
        }
        for (const plan::StateSlot& slot : plan.state_slots) {
            QVERIFY2(slot.category != plan::Category::parameters || makers.contains(slot.name),
                     slot.name.c_str());
        }
    }

    void activations_are_there_on_one_device_too_and_only_there_once() {
        const plan::ExecutionPlan plan = planned_model("gpt", {});
        std::set<std::string> names;
        for (const plan::Activation& one : plan.activations) {
            QVERIFY2(names.insert(one.name).second, one.name.c_str());
            QCOMPARE(one.type, one.whole);
        }
        QVERIFY(names.contains("blocks.2 output"));
        const auto document = plan::to_json(plan);
        std::size_t rows = 0;
        for (const auto& row : document["tensors"]) {
            rows += row["kind"] == "activation" ? 1 : 0;
        }
        QCOMPARE(rows, plan.activations.size());
    }

    // Products take their operands in bf16; norms, the classifier and the loss stay in f32.
    void types_are_those_of_the_precision() {
        const plan::ExecutionPlan plan = two_by_two({"training.precision=bf16"});
        const auto type_of = [&](const char* name) {
            return plan::find_tensor(plan, name)->whole.dtype;
        };
        QCOMPARE(type_of("blocks.0.mlp.up output"), ir::DType::bf16);
        QCOMPARE(type_of("loss output"), ir::DType::f32);
    }

    void what_backward_reads_is_kept_for_it() {
        const plan::ExecutionPlan plan = two_by_two();
        const auto kept = [&](const std::string& name) {
            return std::any_of(
                plan.activations.begin(), plan.activations.end(),
                [&](const auto& one) { return one.name == name && one.for_backward; });
        };
        QVERIFY(kept("blocks.0.mlp.up output")); // the gradient of gelu needs it
        QVERIFY(kept("blocks.0.norm1 output"));  // so does that of the weight behind it
        QVERIFY(!kept("metrics.accuracy output"));
    }

    void stages_hold_the_activations_of_their_layers() {
        const plan::ExecutionPlan plan =
            planned_model("gpt", {"mesh.devices=cpu:2", "mesh.strategy=pipeline",
                                  "mesh.axes=[[\"pipeline\",2]]", "training.micro_batch_size=4"});
        const auto first = plan::find_tensor(plan, "blocks.0 output");
        const auto last = plan::find_tensor(plan, "blocks.2 output");
        QCOMPARE(first->stage, 0);
        QCOMPARE(last->stage, 1);
        QVERIFY(first->placement.holds(plan.mesh, 0) && !first->placement.holds(plan.mesh, 1));
    }

    void exchanges_say_what_travels_and_which_tensor_is_the_reason() {
        const auto all = plan::collectives(*two_by_two().find("train_step"));
        const plan::Collective* sum = exchange_of(all, "blocks.0.mlp.down output");
        QVERIFY(sum != nullptr);
        QCOMPARE(sum->why, std::string("blocks.0.mlp.down.weight is split over its rows"));
        QCOMPARE(sum->tensor, std::string("blocks.0.mlp.down.weight"));
        const plan::Collective* back = exchange_of(all, "gradient of blocks.0.mlp.up input");
        QVERIFY(back != nullptr);
        QCOMPARE(back->why, std::string("blocks.0.mlp.up.weight is split over its columns"));
        const auto gradients = std::find_if(all.begin(), all.end(), [](const auto& one) {
            return one.axes == std::vector<std::string>{"data"};
        });
        QVERIFY(gradients != all.end());
        QVERIFY2(gradients->why.ends_with(" is copied over data"), gradients->why.c_str());
        for (const plan::Collective& one : all) {
            QVERIFY2(!one.what.empty() && !one.why.empty(), one.cause.c_str());
        }
    }

    void exchanges_of_split_state_name_it() {
        const plan::ExecutionPlan fsdp =
            planned_model("gpt", {"mesh.devices=cpu:2", "mesh.strategy=fsdp"});
        int gathers = 0;
        for (const plan::Collective& one : plan::collectives(*fsdp.find("train_step"))) {
            if (one.kind == "all_gather") {
                ++gathers;
                QVERIFY2(fsdp.find_slot(one.tensor) != nullptr, one.cause.c_str());
                QCOMPARE(one.why, one.tensor + " is kept in parts over data");
            } else if (one.kind == "reduce_scatter") {
                QVERIFY2(one.why.ends_with(" is updated in parts over data"), one.why.c_str());
            }
        }
        QVERIFY(gathers > 0);
    }
};

WEFT_TEST(ActivationsTest)
#include "activations_test.moc"
