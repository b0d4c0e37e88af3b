// SPDX-License-Identifier: Apache-2.0
// What a plan says of a mesh: memory of each device, exchanges and their prices, who holds what,
// and what does not divide. Oracles: ring costs and ZeRO's sums (FACTS E), counted by hand.
#include "core/compile/mesh/mesh_config.h"
#include "core/memory/arena.h"
#include "core/train/planning.h"
#include "tests/support/weft_test.h"
#include "tests/unit/plan/plan_models.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

using namespace weft;
using Json = nlohmann::ordered_json;
using test::finding_of;

namespace {

const cost::Hardware& h200() {
    return *cost::find_hardware("h200");
}

plan::ExecutionPlan planned_here(const compile::RunConfig& config) {
    train::PlanTarget target;
    target.threads = 1;
    return train::plan_run(config, train::outline_run_data(config, target), target, {});
}

/// For the H200s that mesh.devices names.
plan::ExecutionPlan planned_there(const compile::RunConfig& config) {
    static const cost::CostModel cost(h200());
    const train::PlanTarget target = train::planned_hardware(h200(), &cost);
    return train::plan_run(config, train::outline_run_data(config, target), target, {},
                           compile::Scope::step);
}

std::vector<plan::Collective> exchanges(const plan::ExecutionPlan& plan) {
    return plan::collectives(*plan.find("train_step"));
}

std::int64_t bytes_of(const plan::ExecutionPlan& plan, plan::Category category) {
    std::int64_t bytes = 0;
    for (const plan::StateSlot& slot : plan.state_slots) {
        bytes += slot.category == category ? slot.type.bytes() : 0;
    }
    return bytes;
}

bool share_bytes(const std::vector<plan::Operand>& one, const std::vector<plan::Operand>& other) {
    return std::any_of(one.begin(), one.end(), [&](const plan::Operand& a) {
        return std::any_of(other.begin(), other.end(), [&](const plan::Operand& b) {
            return a.offset < b.offset + b.type.bytes() && b.offset < a.offset + a.type.bytes();
        });
    });
}

/// The steps behind an exchange, before the next one, that write where it reads or writes: until
/// one that reads what it makes, which waits for it anyway.
int held_up(const std::vector<plan::Step>& steps, std::size_t exchange) {
    const plan::Step& one = steps[exchange];
    int out = 0;
    for (std::size_t i = exchange + 1; i < steps.size() && !plan::collective_of(steps[i]) &&
                                       !share_bytes(steps[i].inputs, one.outputs);
         ++i) {
        out +=
            share_bytes(steps[i].outputs, one.inputs) || share_bytes(steps[i].outputs, one.outputs)
                ? 1
                : 0;
    }
    return out;
}

double overlapping_ms(const plan::ExecutionPlan& plan) {
    double out = 0;
    for (const plan::Collective& one : exchanges(plan)) {
        out += one.overlaps.empty() ? 0 : one.predicted_ms;
    }
    return out;
}

} // namespace

class MeshPlan : public QObject {
    Q_OBJECT

private slots:
    void one_device_has_neither_mesh_nor_findings() {
        const plan::ExecutionPlan plan = planned_here(test::model_run("mlp"));
        QVERIFY(plan.findings.empty() && !plan.batch_advice);
        QCOMPARE(plan.memory_bytes(), plan.device_bytes());
        const std::string page = plan::to_text(plan);
        for (const char* heading : {"\nMesh", "\nTensors", "\nExchanges", "\nWhole or padded"}) {
            QVERIFY2(page.find(heading) == std::string::npos, heading);
        }
    }

    void a_layout_places_state_as_the_whole_plan_does_data() {
        QTest::addColumn<QString>("mesh");
        QTest::newRow("data and model") << R"({"devices": "cpu:4", "strategy": "2d"})";
        QTest::newRow("zero 3") << R"({"devices": "cpu:4", "strategy": "fsdp"})";
        QTest::newRow("pipeline") << R"({"devices": "cpu:2", "strategy": "pipeline"})";
        QTest::newRow("override") << R"x({"devices": "cpu:2", "strategy": "tensor_parallel",
            "specs": {"*.mlp.up.weight": "P('model', None)"}})x";
    }

    void a_layout_places_state_as_the_whole_plan_does() {
        QFETCH(const QString, mesh);
        const auto config = test::model_run("gpt", {"mesh=" + mesh.toStdString(),
                                                    "training.micro_batch_size=1"});
        train::PlanTarget target;
        const auto data = train::outline_run_data(config, target);
        const auto whole = train::plan_run(config, data, target, {});
        const auto layout = train::plan_run(config, data, target, {}, compile::Scope::layout);
        QVERIFY(layout.programs.empty() && !whole.programs.empty());
        QCOMPARE(layout.state_slots.size(), whole.state_slots.size());
        for (std::size_t i = 0; i < whole.state_slots.size(); ++i) {
            const plan::StateSlot& slot = layout.state_slots[i];
            QCOMPARE(slot.name, whole.state_slots[i].name);
            QVERIFY(slot.placement == whole.state_slots[i].placement);
            QVERIFY(slot.type == whole.state_slots[i].type);
            QCOMPARE(slot.stage, whole.state_slots[i].stage);
            QCOMPARE(slot.offset, whole.state_slots[i].offset);
        }
        QCOMPARE(layout.state_bytes, whole.state_bytes);
        QCOMPARE(layout.parameters, whole.parameters);
        QCOMPARE(layout.stages.size(), whole.stages.size());
        for (std::size_t i = 0; i < whole.stages.size(); ++i) {
            QCOMPARE(layout.stages[i].layers, whole.stages[i].layers);
            QCOMPARE(layout.stages[i].state_bytes, whole.stages[i].state_bytes);
        }
    }

    // Parameters, gradients and moments are where they are needed; between stages go numbers alone.
    void a_stage_updates_what_lies_on_it() {
        const plan::ExecutionPlan plan = planned_here(
            test::model_run("gpt", {R"(mesh={"devices": "cpu:2", "strategy": "pipeline"})",
                                    "training.micro_batch_size=1"}));
        int sweeps = 0;
        for (const plan::PlannedProgram& program : plan.programs) {
            std::set<int> received; // buffers with more than a number
            for (const plan::Step& step : program.steps) {
                if (step.op.kind == "receive" && step.outputs[0].type.shape.elements() > 1) {
                    received.insert(step.outputs[0].buffer);
                }
                sweeps += step.op.kind == "sweep" ? 1 : 0;
                for (const plan::Operand& operand : step.inputs) {
                    QVERIFY2(
                        step.op.kind != "sweep" || !received.contains(operand.buffer),
                        program.buffers[static_cast<std::size_t>(operand.buffer)].name.c_str());
                }
            }
        }
        QVERIFY(sweeps >= 4); // with and without weight decay, of each stage
    }

    void a_step_with_its_rest_is_the_whole_plan_data() {
        QTest::addColumn<QString>("mesh");
        QTest::newRow("one device") << R"({"devices": "cpu"})";
        QTest::newRow("data and model") << R"({"devices": "cpu:4", "strategy": "2d"})";
        QTest::newRow("pipeline") << R"({"devices": "cpu:2", "strategy": "pipeline"})";
        QTest::newRow("hardware") << R"({"devices": "h100:4", "strategy": "fsdp"})";
    }

    void a_step_with_its_rest_is_the_whole_plan() {
        QFETCH(const QString, mesh);
        const auto config = test::model_run("gpt", {"mesh=" + mesh.toStdString(),
                                                    "training.micro_batch_size=1"});
        const auto devices = config.section("mesh").at("devices").get<std::string>();
        const auto* hardware = cost::find_hardware("h100");
        const cost::CostModel cost(*hardware);
        const train::PlanTarget target = devices == "h100:4"
                                             ? train::planned_hardware(*hardware, &cost)
                                             : train::PlanTarget{nullptr, &cost};
        const auto data = train::outline_run_data(config, target);
        const auto whole = train::plan_run(config, data, target, {});
        const auto step = train::plan_run(config, data, target, {}, compile::Scope::step);
        const auto both = compile::complete_plan(
            step, train::plan_run(config, data, target, {}, compile::Scope::rest));
        const auto document = [](const plan::ExecutionPlan& plan) {
            auto out = plan::to_json(plan);
            out.erase("compile_ms");
            out.erase("pass_times");
            return out;
        };
        QVERIFY(step.programs.size() < whole.programs.size());
        QCOMPARE(both.find("train_step"), step.find("train_step")); // shared, not copied
        QCOMPARE(document(both).dump(1), document(whole).dump(1));
        QCOMPARE(both.programs.size(), whole.programs.size());
        for (std::size_t i = 0; i < whole.programs.size(); ++i) {
            QCOMPARE(both.programs[i].name, whole.programs[i].name);
            QCOMPARE(both.programs[i].stage, whole.programs[i].stage);
            QCOMPARE(both.programs[i].text, whole.programs[i].text);
            QCOMPARE(both.programs[i].peak_bytes, whole.programs[i].peak_bytes);
        }
    }

    void simulated_devices_share_memory_and_hardware_has_its_own() {
        const plan::ExecutionPlan here =
            planned_here(test::model_run("mlp", {"mesh.devices=cpu:4"}));
        QCOMPARE(here.memory_bytes(), 4 * here.arena_bytes + here.host.bytes());
        const plan::ExecutionPlan there =
            planned_there(test::model_run("mlp", {"mesh.devices=h200:4"}));
        // Behind the arena land inputs, targets and weights of a quarter of the next batch, and
        // what else an update is given.
        QCOMPARE(there.memory_bytes(), memory::align(there.arena_bytes) + there.landing_bytes());
        std::int64_t given = 0;
        for (const plan::PlannedPort& argument : there.find("train_step")->arguments) {
            given +=
                argument.role == ir::Role::state ? 0 : memory::align(argument.operand.type.bytes());
        }
        QCOMPARE(there.landing_bytes(), given);
    }

    void parameters_are_counted_once_wherever_they_lie() {
        const std::int64_t alone = planned_here(test::model_run("gpt")).parameters;
        for (const char* strategy : {"fsdp", "tensor_parallel", "data_parallel"}) {
            const std::string set = std::string("mesh.strategy=") + strategy;
            QCOMPARE(planned_here(test::model_run("gpt", {"mesh.devices=cpu:2", set})).parameters,
                     alone);
        }
    }

    // FACTS E: a gradient of S bytes costs each of n data ranks 2 S (n - 1) / n.
    void data_parallel_sends_twice_its_gradients_less_a_share() {
        const compile::RunConfig config =
            test::model_run("mlp", {"mesh.devices=h200:4", "training.max_grad_norm=null"});
        const plan::ExecutionPlan plan = planned_there(config);
        std::int64_t sent = 0;
        for (const plan::Collective& one : exchanges(plan)) {
            QCOMPARE(one.kind, std::string("all_reduce"));
            QCOMPARE(one.devices, 4);
            sent += one.cause.starts_with("gradient/") ? one.sent_bytes : 0;
        }
        // Loss and metrics travel in the same bucket: a few numbers of four bytes.
        const std::int64_t textbook = 2 * plan.parameters * 4 * 3 / 4;
        QVERIFY(sent >= textbook && sent <= textbook + 64);
    }

    // With S bytes over n devices at 80 % of 450 GB/s, 3.4 us a message and 8.4 us to begin.
    void exchanges_take_what_the_ring_takes() {
        const plan::ExecutionPlan plan =
            planned_there(test::model_run("gpt", {"mesh.devices=h200:8"}));
        const auto all = exchanges(plan);
        QVERIFY(!all.empty());
        double sum = 0;
        for (const plan::Collective& one : all) {
            const double share = one.kind == "all_reduce" ? 2 : 1;
            const double once =
                share * (static_cast<double>(one.array_bytes) * 7 / 8 / 0.36e12 + 7 * 3.4e-6) +
                8.4e-6;
            // Bytes are rounded down to whole ones.
            QVERIFY2(std::abs(one.predicted_ms - once * 1e3 * one.count) <= 1e-6,
                     one.cause.c_str());
            sum += one.predicted_ms;
        }
        QVERIFY(std::abs(plan.communication_ms - sum) <= 1e-9 * sum);
        double steps = 0;
        for (const plan::Step& step : plan.find("train_step")->steps) {
            steps += step.predicted_ms;
        }
        QVERIFY(steps > plan.communication_ms);
        QVERIFY(*plan.predicted_step_ms >= steps - overlapping_ms(plan));
    }

    void work_behind_an_exchange_does_not_take_its_memory_data() {
        QTest::addColumn<QString>("mesh");
        for (const char* mesh : {"mesh.zero_stage=0", "mesh.zero_stage=1", "mesh.zero_stage=2",
                                 "mesh.strategy=fsdp"}) {
            QTest::newRow(mesh) << mesh;
        }
    }
    // Else it would wait for it, and nothing would be hidden.
    void work_behind_an_exchange_does_not_take_its_memory() {
        QFETCH(QString, mesh);
        const plan::ExecutionPlan plan = planned_there(test::model_run(
            "gpt", {"mesh.devices=h200:8", "model.layers=4", "model.width=512", "model.heads=8",
                    "training.max_grad_norm=null", mesh.toStdString()}));
        const std::vector<plan::Step>& steps = plan.find("train_step")->steps;
        int hiding = 0;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (const auto one = plan::collective_of(steps[i]); one && !one->overlaps.empty()) {
                ++hiding;
                QVERIFY2(held_up(steps, i) == 0, one->cause.c_str());
            }
        }
        QVERIFY2(hiding >= 4, std::to_string(hiding).c_str());
    }

    // 200 MB of gradients in buckets of 25 MiB: all but the last can go while backward goes on.
    void sums_of_gradients_hide_behind_backward() {
        const plan::ExecutionPlan plan = planned_there(
            test::model_run("gpt", {"mesh.devices=h200:8", "model.layers=4", "model.width=1024",
                                    "model.heads=8", "training.max_grad_norm=null"}));
        double computed = 0;
        double backward = 0;
        double exposed = 0;
        int overlapping = 0;
        for (const plan::Step& step : plan.find("train_step")->steps) {
            const auto exchange = plan::collective_of(step);
            computed += exchange ? 0 : step.predicted_ms;
            backward += !exchange && step.op.phase == ir::Phase::backward ? step.predicted_ms : 0;
            exposed += exchange && exchange->overlaps.empty() ? step.predicted_ms : 0;
            overlapping += exchange && !exchange->overlaps.empty() ? 1 : 0;
        }
        QVERIFY(overlapping >= 4);
        const double together = computed + plan.communication_ms;
        const double hidden = together - *plan.predicted_step_ms;
        // Beside kernels the step writes its arguments, which no step of the plan counts.
        const double beside = 0.01 * computed;
        QVERIFY(hidden > 0.1 * overlapping_ms(plan) && hidden <= overlapping_ms(plan) + beside);
        QVERIFY(hidden <= backward + beside);
        QVERIFY(*plan.predicted_step_ms >= computed + exposed - beside);
        // The same with ZeRO 1, whose gradients are cut up before they travel.
        const plan::ExecutionPlan cut = planned_there(test::model_run(
            "gpt", {"mesh.devices=h200:8", "model.layers=4", "model.width=1024", "model.heads=8",
                    "training.max_grad_norm=null", "mesh.zero_stage=1"}));
        int scatters = 0;
        for (const plan::Collective& one : exchanges(cut)) {
            scatters += one.kind == "reduce_scatter" ? 1 : 0;
        }
        // Buckets are at least half full, or the next array would have fitted in.
        QVERIFY(scatters <= 2 * static_cast<int>(cut.parameters * 4 / (25 << 20)) + 2);
        QVERIFY(overlapping_ms(cut) > 0);
    }

    // Sixteen devices in hosts of eight: over all of them the ring leaves the hosts, over the minor
    // axis it does not.
    void rings_within_a_host_are_priced_by_its_links() {
        const plan::ExecutionPlan plan =
            planned_there(test::model_run("mlp", {"mesh.devices=h200:16", "mesh.strategy=2d",
                                                  "mesh.axes=[[\"data\",2],[\"model\",8]]"}));
        double near = 0;
        double far = 0;
        for (const plan::Collective& one : exchanges(plan)) {
            const bool leaves =
                std::find(one.axes.begin(), one.axes.end(), "data") != one.axes.end();
            (leaves ? far : near) = std::max(
                leaves ? far : near,
                one.predicted_ms / one.count /
                    static_cast<double>(cost::messages({one.kind, one.array_bytes, one.devices})));
        }
        QVERIFY(near > 0 && far > 0);
        QVERIFY(far > near); // a message of 14 us against one of 3.4
    }

    // Rajbhandari et al. 2020: f32 parameters 4 bytes, Adam 8, over N ranks from stage to stage.
    void zero_stages_divide_state_by_the_data_ranks() {
        // Every extent divides by 2.
        const std::int64_t all = planned_here(test::model_run("gpt")).parameters;
        const auto at = [&](const char* stage) {
            return planned_there(test::model_run(
                "gpt", {"mesh.devices=h200:2", std::string("mesh.zero_stage=") + stage}));
        };
        const auto parameters = plan::Category::parameters;
        const auto optimizer = plan::Category::optimizer;
        QCOMPARE(bytes_of(at("0"), parameters), 4 * all);
        QCOMPARE(bytes_of(at("0"), optimizer), 8 * all);
        QCOMPARE(bytes_of(at("1"), parameters), 4 * all);
        QCOMPARE(bytes_of(at("1"), optimizer), 8 * all / 2);
        QCOMPARE(bytes_of(at("3"), parameters), 4 * all / 2);
        QCOMPARE(bytes_of(at("3"), optimizer), 8 * all / 2);
    }

    void a_tensor_s_holders_cover_it_once_for_every_replica() {
        const plan::ExecutionPlan plan = planned_here(
            test::model_run("gpt", {"mesh.devices=cpu:4", "mesh.strategy=2d", "model.vocab=33",
                                    "data.train.vocab=33", "mesh.zero_stage=3",
                                    "mesh.axes=[[\"data\",2],[\"model\",2]]"}));
        for (const plan::StateSlot& slot : plan.state_slots) {
            const Json tensor = plan::tensor_json(plan, slot);
            std::int64_t held = 0;
            std::set<std::int64_t> devices;
            for (const Json& one : tensor["held"]) {
                std::int64_t elements = 1;
                for (const Json& ranges : one["ranges"]) {
                    std::int64_t along = 0;
                    for (const Json& range : ranges) {
                        along += range[1].get<std::int64_t>() - range[0].get<std::int64_t>();
                    }
                    elements *= along;
                }
                for (const Json& device : one["devices"]) {
                    QVERIFY(devices.insert(device.get<std::int64_t>()).second);
                    held += elements;
                }
            }
            QCOMPARE(devices.size(), std::size_t{4});
            QVERIFY2(held == slot.whole.shape.elements() * tensor["replicas"].get<std::int64_t>(),
                     slot.name.c_str());
            const std::int64_t local = tensor["local_bytes"].get<std::int64_t>();
            QVERIFY2(4 * local ==
                         tensor["replicas"].get<std::int64_t>() *
                             (slot.whole.bytes() + tensor["padding_bytes"].get<std::int64_t>()),
                     slot.name.c_str());
        }
    }

    // The fused weight [16, 48] of query, key and value: two heads of 8, in each of three parts.
    void the_page_of_a_tensor_names_devices_and_ranges() {
        const plan::ExecutionPlan plan = planned_here(
            test::model_run("gpt", {"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel"}));
        const std::string page =
            plan::tensor_text(plan, *plan.find_slot("blocks.0.attention.qkv.weight"));
        QVERIFY2(page.find("device 0: [:, 0:8 and 16:24 and 32:40]") != std::string::npos,
                 page.c_str());
        QVERIFY2(page.find("device 1: [:, 8:16 and 24:32 and 40:48]") != std::string::npos,
                 page.c_str());
    }

    void pages_write_specs_as_placements_when_asked() {
        const plan::ExecutionPlan plan =
            planned_here(test::model_run("gpt", {"mesh.devices=cpu:4", "mesh.strategy=2d",
                                                 "mesh.axes=[[\"data\",2],[\"model\",2]]"}));
        plan::PageStyle style{.columns = 160};
        const plan::StateSlot& fused = *plan.find_slot("blocks.0.attention.qkv.weight");
        QVERIFY(plan::to_text(plan, style).find("P(None, 'model')") != std::string::npos);
        style.specs = sharding::SpecDialect::dtensor;
        const std::string page = plan::to_text(plan, style);
        QVERIFY2(page.find("[Replicate(), Shard(1)]") != std::string::npos, page.c_str());
        QVERIFY2(page.find("P(") == std::string::npos, page.c_str());
        const std::string own = plan::tensor_text(plan, fused, style);
        QVERIFY2(own.find("[Replicate(), Shard(1)] on data=2 x model=2") != std::string::npos,
                 own.c_str());
        QVERIFY2(own.find("each of its 3 parts") != std::string::npos, own.c_str());
    }

    // 33 rows of 16 numbers over two devices are 17 each: one row of 64 bytes too many.
    void a_vocabulary_that_does_not_divide_is_found_with_its_padding() {
        const plan::ExecutionPlan plan = planned_here(
            test::model_run("gpt", {"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel",
                                    "model.vocab=33", "data.train.vocab=33"}));
        const sharding::Finding* found = finding_of(plan, "wte.weight");
        QVERIFY(found != nullptr);
        QCOMPARE(found->kind, sharding::Finding::Kind::uneven);
        QCOMPARE(found->bytes, 64);
        QCOMPARE(found->units, 33);
        QCOMPARE(found->pointer, std::string("/mesh/rules"));
    }

    // Two heads over four devices: [16, 48] f32 stays whole, three quarters of it too much.
    void heads_that_are_too_few_are_found_with_what_each_device_holds_for_it() {
        const plan::ExecutionPlan plan = planned_here(
            test::model_run("gpt", {"mesh.devices=cpu:4", "mesh.strategy=tensor_parallel"}));
        const sharding::Finding* found = finding_of(plan, "blocks.0.attention.qkv.weight");
        QVERIFY(found != nullptr);
        QCOMPARE(found->kind, sharding::Finding::Kind::whole);
        QCOMPARE(found->bytes, 16 * 48 * 4 * 3 / 4);
        QCOMPARE(found->dim, 1);
        QCOMPARE(found->asked_by, std::string("the rule for heads"));
        const Json document = plan::to_json(plan);
        QVERIFY(std::any_of(document["diagnostics"].begin(), document["diagnostics"].end(),
                            [](const Json& one) {
                                return one["pointer"] == "/mesh/rules" &&
                                       one["tensor"] == "blocks.0.attention.qkv.weight" &&
                                       one["bytes"] == 16 * 48 * 4 * 3 / 4;
                            }));
        QVERIFY(plan::to_text(plan).find("\nWhole or padded") != std::string::npos);
    }

    // A bias of four numbers over eight data ranks.
    void what_zero_cannot_split_is_found() {
        const plan::ExecutionPlan plan =
            planned_here(test::model_run("mlp", {"mesh.devices=cpu:8", "mesh.strategy=fsdp"}));
        const auto small = std::find_if(plan.state_slots.begin(), plan.state_slots.end(),
                                        [](const plan::StateSlot& slot) {
                                            return slot.category == plan::Category::parameters &&
                                                   slot.whole.shape == ir::Shape({4});
                                        });
        QVERIFY(small != plan.state_slots.end());
        const sharding::Finding* found = finding_of(plan, small->name);
        QVERIFY(found != nullptr);
        QCOMPARE(found->pointer, std::string("/mesh/zero_stage"));
        QCOMPARE(found->bytes, 4 * 4 * 7 / 8);
        QVERIFY(!found->matters());
    }

    void a_batch_that_does_not_divide_is_found() {
        const plan::ExecutionPlan plan = planned_here(
            test::model_run("mlp", {"mesh.devices=cpu:4", "training.global_batch_size=30"}));
        const sharding::Finding* found = finding_of(plan, "inputs");
        QVERIFY(found != nullptr);
        QCOMPARE(found->kind, sharding::Finding::Kind::uneven);
        QCOMPARE(found->pointer, std::string("/training/global_batch_size"));
        QCOMPARE(found->bytes, 2 * 24 * 4); // two samples of 24 f32
    }

    void a_spec_that_asks_for_a_whole_tensor_is_no_finding() {
        const plan::ExecutionPlan plan = planned_here(
            test::model_run("gpt", {"mesh.devices=cpu:4", "mesh.strategy=tensor_parallel",
                                    R"x(mesh.specs={"*attention*": "P()"})x"}));
        for (const sharding::Finding& finding : plan.findings) {
            QVERIFY2(finding.array.find("attention") == std::string::npos, finding.array.c_str());
        }
    }

    void too_few_samples_are_told_with_the_batch_that_balances() {
        const plan::ExecutionPlan plan = planned_there(test::model_run(
            "mlp", {"mesh.devices=h200:8", "model.hidden=[4096,4096]", "training.precision=f32"}));
        QVERIFY(plan.batch_advice);
        const plan::BatchAdvice& advice = *plan.batch_advice;
        QCOMPARE(advice.samples, 2);
        // f32 products at 60 % of 67 TFLOP/s, memory at 80 % of 4.8 TB/s. The 16.9 million weights
        // take 17.6 us to read, a sample 0.84 us to compute and 0.02 us to move: 22 samples. Biases
        // are read, too.
        QVERIFY(advice.balanced_samples >= 21 && advice.balanced_samples <= 23);
        QVERIFY(advice.communication_share > 0.5);
        const std::string page = plan::to_text(plan);
        QVERIFY2(page.find("2 samples at a time") != std::string::npos, page.c_str());
        QVERIFY(plan::to_text(planned_here(test::model_run("mlp"))).find("at a time") ==
                std::string::npos);
    }

    void hardware_to_plan_for_is_refused_where_a_run_would_begin() {
        QVERIFY(compile::is_planned_hardware("h200:8") && compile::is_planned_hardware("tpu-v4"));
        QVERIFY(!compile::is_planned_hardware("cpu:8") && !compile::is_planned_hardware("h200:x"));
        try {
            planned_here(test::model_run("mlp", {"mesh.devices=h200:8"}));
            QFAIL("a run on absent hardware was planned for this machine");
        } catch (const Error& error) {
            QCOMPARE(error.kind(), ErrorKind::usage);
            QVERIFY(error.hint().find("--hardware h200:8") != std::string::npos);
        }
    }
};

WEFT_TEST(MeshPlan)
#include "mesh_plan_test.moc"
