// SPDX-License-Identifier: Apache-2.0
// What devices say to each other equals the textbook (FACTS E), and nothing else is said: every
// exchange of a plan is in the list of a strategy, with its bytes.
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace weft;
using namespace weft::test;

namespace {

std::vector<plan::Collective> exchanges(const char* model, const std::vector<std::string>& mesh,
                                        plan::ExecutionPlan* plan = nullptr) {
    const auto made = mesh_plan(mesh_config(model, mesh));
    if (plan != nullptr) {
        *plan = *made;
    }
    return plan::collectives(*made->find("train_step"));
}

/// Bytes of the whole arrays of a category.
std::int64_t whole_bytes(const plan::ExecutionPlan& plan, plan::Category category) {
    std::int64_t bytes = 0;
    for (const plan::StateSlot& slot : plan.state_slots) {
        bytes += slot.category == category ? slot.whole.bytes() : 0;
    }
    return bytes;
}

std::int64_t local_bytes(const plan::ExecutionPlan& plan, plan::Category category) {
    std::int64_t bytes = 0;
    for (const plan::StateSlot& slot : plan.state_slots) {
        bytes += slot.category == category ? slot.type.bytes() : 0;
    }
    return bytes;
}

// Numbers of a step that every strategy needs: loss and norm of the gradients. Small ones travel
// with the gradients.
constexpr double kNumberBytes = 64;
bool is_number(const plan::Collective& one) {
    return one.array_bytes <= 8;
}

double sent(const std::vector<plan::Collective>& list) {
    double bytes = 0;
    for (const plan::Collective& one : list) {
        bytes += static_cast<double>(one.sent_bytes);
    }
    return bytes;
}

} // namespace

class CommunicationTest : public QObject {
    Q_OBJECT
private slots:
    void data_parallel_sends_each_gradient_once_around_the_ring_data() {
        QTest::addColumn<int>("devices");
        for (const int devices : {2, 4, 8}) {
            QTest::addRow("%d devices", devices) << devices;
        }
    }

    void data_parallel_sends_each_gradient_once_around_the_ring() {
        QFETCH(int, devices);
        plan::ExecutionPlan plan;
        const auto list = exchanges(kGpt, {"mesh.devices=cpu:" + std::to_string(devices)}, &plan);
        const double size = static_cast<double>(whole_bytes(plan, plan::Category::parameters));
        const double textbook = 2 * size * (devices - 1) / devices;
        QVERIFY(sent(list) >= textbook && sent(list) <= textbook + kNumberBytes);
        for (const plan::Collective& one : list) {
            QCOMPARE(one.kind, std::string("all_reduce"));
            QVERIFY2(one.cause.starts_with("gradient/"), one.cause.c_str());
            QCOMPARE(one.overlaps, std::string("")); // the last gradient comes with the last op
        }
    }

    // Traffic of a step in units of the model's size: 2, 2, 2, 3 (Rajbhandari et al. 2020, section
    // 7). Stage 3 sends a little less: a layer without an input gradient needs no weight in
    // backward, and of the token table only the head's product does.
    void zero_stages_send_two_two_two_and_three_times_the_model() {
        for (const int stage : {0, 1, 2, 3}) {
            plan::ExecutionPlan plan;
            // Extents that divide by four: no padding.
            const auto list = exchanges(
                kGpt, {"mesh.devices=cpu:4", "mesh.zero_stage=" + std::to_string(stage)}, &plan);
            const double size =
                static_cast<double>(whole_bytes(plan, plan::Category::parameters)) * 3 / 4;
            const double times = sent(list) / size;
            if (stage < 3) {
                QVERIFY2(times >= 2.0 && sent(list) <= 2 * size + kNumberBytes,
                         std::to_string(times).c_str());
            } else {
                QVERIFY2(times > 2.8 && times <= 3.0, std::to_string(times).c_str());
            }
        }
    }

    // Zhao et al. 2023, section 3.2.2. With S bytes of gradients in groups of F devices, R groups:
    // in each microstep the group reduces and scatters, S (F - 1) / F; once an update the groups
    // add up parts of S / F around the ring, 2 (S / F) (R - 1) / R.
    void hybrid_sharding_adds_up_parts_between_groups_once_an_update_data() {
        QTest::addColumn<int>("groups");
        QTest::addColumn<int>("near");
        QTest::addColumn<int>("microsteps");
        QTest::newRow("2 x 2") << 2 << 2 << 1;
        QTest::newRow("2 x 2, four microsteps") << 2 << 2 << 4;
        QTest::newRow("2 x 4, two microsteps") << 2 << 4 << 2;
        QTest::newRow("4 x 2, two microsteps") << 4 << 2 << 2;
    }

    void hybrid_sharding_adds_up_parts_between_groups_once_an_update() {
        QFETCH(int, groups);
        QFETCH(int, near);
        QFETCH(int, microsteps);
        plan::ExecutionPlan plan;
        const auto list = exchanges(
            kGpt,
            {"mesh.devices=cpu:" + std::to_string(groups * near), "mesh.strategy=hybrid_fsdp",
             "mesh.axes=[[\"replica\"," + std::to_string(groups) + "],[\"data\"," +
                 std::to_string(near) + "]]",
             "training.micro_batch_size=" + std::to_string(16 / groups / near / microsteps)},
            &plan);
        const auto size = static_cast<double>(whole_bytes(plan, plan::Category::parameters));
        double across = 0, scattered = 0;
        for (const plan::Collective& one : list) {
            const auto bytes = static_cast<double>(one.sent_bytes);
            if (std::count(one.axes.begin(), one.axes.end(), "replica") > 0) {
                QVERIFY2(one.kind == "all_reduce" && (one.count == 1 || is_number(one)),
                         one.cause.c_str());
                across += bytes;
            } else if (one.kind == "reduce_scatter") {
                scattered += bytes;
            }
        }
        const double part = 2 * size / near * (groups - 1) / groups;
        QVERIFY2(across >= part && across <= part + kNumberBytes * microsteps,
                 std::to_string(across / part).c_str());
        QCOMPARE(scattered, microsteps * size * (near - 1) / near);
    }

    void gradients_are_exchanged_in_f32_under_every_strategy_data() {
        QTest::addColumn<QStringList>("overrides");
        for (const Variant& variant : variants()) {
            QStringList list;
            for (const std::string& one : variant.overrides) {
                list << QString::fromStdString(one);
            }
            QTest::newRow(variant.name) << list;
        }
    }

    void gradients_are_exchanged_in_f32_under_every_strategy() {
        QFETCH(QStringList, overrides);
        Overrides settings = {"training.precision=bf16", "training.global_batch_size=48",
                              "training.micro_batch_size=2"};
        for (const QString& one : overrides) {
            settings.push_back(one.toStdString());
        }
        const auto plan = mesh_plan(mesh_config(kGpt, settings));
        const std::function<void(const std::vector<plan::Step>&)> look =
            [&](const std::vector<plan::Step>& steps) {
                for (const plan::Step& step : steps) {
                    look(step.steps);
                    if (step.is_loop() || !step.op.attributes.has("reduce")) {
                        continue;
                    }
                    const std::string cause = step.op.attributes.text("cause", "");
                    const bool gradient = cause.starts_with("gradient/") ||
                                          cause.find("sum over microsteps") != std::string::npos;
                    for (const plan::Operand& input : step.inputs) {
                        QVERIFY2(!gradient || input.type.dtype == ir::DType::f32, cause.c_str());
                    }
                }
            };
        for (const plan::PlannedProgram& program : plan->programs) {
            look(program.steps);
        }
    }

    void zero_stages_hold_their_share_of_the_state() {
        plan::ExecutionPlan plan;
        exchanges(kGpt, {"mesh.devices=cpu:4"}, &plan);
        const std::int64_t parameters = whole_bytes(plan, plan::Category::parameters);
        const std::int64_t moments = whole_bytes(plan, plan::Category::optimizer);
        QCOMPARE(moments, 2 * parameters);
        for (const int stage : {0, 1, 2, 3}) {
            exchanges(kGpt, {"mesh.devices=cpu:4", "mesh.zero_stage=" + std::to_string(stage)},
                      &plan);
            QCOMPARE(local_bytes(plan, plan::Category::parameters),
                     stage == 3 ? parameters / 4 : parameters);
            QCOMPARE(local_bytes(plan, plan::Category::optimizer),
                     stage >= 1 ? moments / 4 : moments);
        }
    }

    // Shoeybi et al. 2019: two all-reduces per layer forward, two backward. Beyond them: the
    // vocabulary-parallel embedding and loss, the gradient that enters the last norm, and the norm
    // of the gradients.
    void tensor_parallel_reduces_four_times_per_layer() {
        const auto list = exchanges(kGpt, {"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel"});
        std::map<std::string, int> counts;
        for (const plan::Collective& one : list) {
            QCOMPARE(one.kind, std::string("all_reduce"));
            const std::string phase(ir::phase_name(one.phase));
            if (is_number(one)) {
                ++counts["number"];
            } else if (one.path.starts_with("blocks.")) {
                ++counts[one.path.substr(0, 8) + " " + phase];
            } else if (one.cause.find("cross_entropy") != std::string::npos) {
                ++counts["loss"];
            } else {
                ++counts["ends " + phase];
            }
        }
        const std::map<std::string, int> expected = {{"blocks.0 forward", 2},
                                                     {"blocks.0 backward", 2},
                                                     {"blocks.1 forward", 2},
                                                     {"blocks.1 backward", 2},
                                                     {"loss", 2},
                                                     {"ends forward", 1},
                                                     {"ends backward", 1},
                                                     {"number", 1}};
        QVERIFY2(counts == expected, [&] {
            static std::string text;
            for (const auto& [name, count] : counts) {
                text += name + ": " + std::to_string(count) + "; ";
            }
            return text.c_str();
        }());
    }

    // Korthikanti et al. 2023, section 4.2.2: each all-reduce of tensor parallelism becomes a
    // gather before a pair of weights and a scattered sum behind it, or the reverse backward, which
    // gathers the pair's input once more.
    void sequences_split_over_the_model_axis_are_gathered_and_scattered() {
        const auto list = exchanges(kGpt, {"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel",
                                           R"(mesh.rules=[["sequence","model"]])"});
        const std::int64_t residual = std::int64_t{16} * 12 * 24 * 4; // B T C numbers
        std::map<std::string, int> counts;
        for (const plan::Collective& one : list) {
            if (one.path.starts_with("blocks.") && !one.cause.starts_with("gradient/")) {
                QCOMPARE(one.array_bytes, residual);
                ++counts[one.path.substr(0, 8) + " " + std::string(ir::phase_name(one.phase)) +
                         " " + one.kind];
            }
        }
        std::map<std::string, int> expected;
        for (const std::string block : {"blocks.0 ", "blocks.1 "}) {
            expected[block + "forward all_gather"] = 2;
            expected[block + "forward reduce_scatter"] = 2;
            expected[block + "backward all_gather"] = 4;
            expected[block + "backward reduce_scatter"] = 2;
        }
        QCOMPARE(counts, expected);
    }

    // Lepikhin et al. 2021, section 3.2: an all-to-all to the experts and one back, forward and
    // backward. Of E x B / n x A rows of C numbers that a device has, it sends all but its own
    // experts': (n - 1) / n of them.
    void expert_parallel_exchanges_tokens_four_times_per_layer_data() {
        QTest::addColumn<int>("data");
        QTest::addColumn<int>("experts");
        QTest::newRow("2 devices") << 1 << 2;
        QTest::newRow("4 devices") << 1 << 4;
        QTest::newRow("2 x 2 devices") << 2 << 2;
    }

    void expert_parallel_exchanges_tokens_four_times_per_layer() {
        QFETCH(int, data);
        QFETCH(int, experts);
        plan::ExecutionPlan plan;
        const auto list = exchanges(kMoe,
                                    {"mesh.devices=cpu:" + std::to_string(data * experts),
                                     "mesh.strategy=expert_parallel",
                                     "mesh.axes=[[\"data\"," + std::to_string(data) +
                                         "],[\"expert\"," + std::to_string(experts) + "]]"},
                                    &plan);
        constexpr double kCapacity = 5; // 0.75 x 12 tokens x 2 choices / 4 experts, rounded up
        const double rows = 4.0 * 16 / (data * experts) * kCapacity;
        const double textbook = rows * 24 * 4 * (experts - 1) / experts;
        std::map<std::string, int> counts;
        double gradients = 0;
        for (const plan::Collective& one : list) {
            if (one.kind == "all_to_all") {
                QCOMPARE(static_cast<double>(one.sent_bytes), textbook);
                QCOMPARE(one.axes, std::vector<std::string>{"expert"});
                ++counts[one.path.substr(0, 8) + " " + std::string(ir::phase_name(one.phase))];
            } else {
                QCOMPARE(one.kind, std::string("all_reduce"));
                gradients += static_cast<double>(one.sent_bytes);
            }
        }
        const std::map<std::string, int> expected = {{"blocks.0 forward", 2},
                                                     {"blocks.0 backward", 2},
                                                     {"blocks.1 forward", 2},
                                                     {"blocks.1 backward", 2}};
        QCOMPARE(counts, expected);
        // Gradients of experts are summed over the data axis, all others over all devices.
        double shared = 0, own = 0;
        for (const plan::StateSlot& slot : plan.state_slots) {
            if (slot.category == plan::Category::parameters) {
                const bool expert = slot.name.find(".experts.") != std::string::npos;
                (expert ? own : shared) += static_cast<double>(slot.type.bytes());
                QCOMPARE(slot.type.bytes() * (expert ? experts : 1), slot.whole.bytes());
            }
        }
        const int all = data * experts;
        const double sums = 2 * shared * (all - 1) / all + 2 * own * (data - 1) / data;
        QVERIFY2(gradients >= sums && gradients <= sums + 2 * kNumberBytes,
                 std::to_string(gradients - sums).c_str());
    }

    // Devices that share positions share the state as those do that share samples.
    void zero_stages_hold_their_share_of_the_state_over_a_context() {
        plan::ExecutionPlan plan;
        for (const int stage : {1, 3}) {
            const auto list = exchanges(kGpt,
                                        {"mesh.devices=cpu:4", "mesh.strategy=context_parallel",
                                         "mesh.zero_stage=" + std::to_string(stage)},
                                        &plan);
            const std::int64_t parameters = whole_bytes(plan, plan::Category::parameters);
            QCOMPARE(local_bytes(plan, plan::Category::optimizer), 2 * parameters / 4);
            QCOMPARE(local_bytes(plan, plan::Category::parameters),
                     stage == 3 ? parameters / 4 : parameters);
            // Keys and values go around as before: activations are not gathered.
            double passed = 0;
            for (const plan::Collective& one : list) {
                passed += one.kind == "permute" ? static_cast<double>(one.sent_bytes) : 0.0;
                const bool state = one.cause.find(".weight") != std::string::npos ||
                                   one.cause.find(".bias") != std::string::npos ||
                                   one.cause.find("sum over microsteps") != std::string::npos;
                QVERIFY2(one.kind != "all_gather" || state, one.cause.c_str());
            }
            QCOMPARE(passed, 2 * 6 * 3 * (16.0 * 12 / 4 * 24 * 4)); // layers, arrays, steps
        }
    }

    // Liu et al. 2023: keys and values go around the ring once forward; backward they go again, and
    // their gradients with them. Each time a device passes its part on n - 1 times.
    void context_parallel_passes_keys_and_values_around_a_ring_data() {
        QTest::addColumn<int>("devices");
        for (const int devices : {2, 3, 4}) {
            QTest::addRow("%d devices", devices) << devices;
        }
    }

    void context_parallel_passes_keys_and_values_around_a_ring() {
        QFETCH(int, devices);
        const auto list = exchanges(kGpt, {"mesh.devices=cpu:" + std::to_string(devices),
                                           "mesh.strategy=context_parallel"});
        const double part = 16.0 * 12 / devices * 24 * 4; // of k: B T / n C numbers
        std::map<std::string, double> passed;
        for (const plan::Collective& one : list) {
            if (one.kind == "permute") {
                passed[one.path.substr(0, 8) + " " + std::string(ir::phase_name(one.phase))] +=
                    static_cast<double>(one.sent_bytes) / part;
            } else if (one.kind == "all_gather") { // the position table's gradient: a part each
                QCOMPARE(one.array_bytes, std::int64_t{12 * 24 * 4});
                ++passed["gathered"];
            } else { // gradients, loss and norm: nothing else is said
                QCOMPARE(one.kind, std::string("all_reduce"));
                QVERIFY2(one.cause.starts_with("gradient/") || is_number(one), one.cause.c_str());
            }
        }
        const double once = devices - 1;
        const std::map<std::string, double> expected = {{"blocks.0 forward", 2 * once},
                                                        {"blocks.0 backward", 4 * once},
                                                        {"blocks.1 forward", 2 * once},
                                                        {"blocks.1 backward", 4 * once},
                                                        {"gathered", 1}};
        QCOMPARE(passed, expected);
    }

    void every_exchange_says_why() {
        for (const char* strategy : {"data_parallel", "fsdp", "tensor_parallel", "2d",
                                     "context_parallel", "expert_parallel"}) {
            for (const plan::Collective& one : exchanges(
                     kGpt, {"mesh.devices=cpu:4", std::string("mesh.strategy=") + strategy})) {
                QVERIFY2(!one.cause.empty() && !one.axes.empty() && one.devices > 1, strategy);
            }
        }
    }

    // Between two stages: an activation forward and its gradient back for each microbatch; the tied
    // embedding there and its gradient back; the sum of squares on, the norm's factor and the flag
    // of a finite step back. Nothing else.
    void a_pipeline_sends_what_passes_between_its_stages() {
        const std::int64_t microbatches = 4;
        const auto plan = mesh_plan(mesh_config(
            kGpt, {"mesh.devices=cpu:2", "mesh.strategy=pipeline", "training.micro_batch_size=4"}));
        const std::int64_t activation = 4 * 12 * 24 * 4; // samples, positions, width, f32
        const std::int64_t embedding = 40 * 24 * 4;
        for (int stage = 0; stage < 2; ++stage) {
            std::int64_t large = 0;
            std::int64_t numbers = 0;
            for (const auto& one : plan::collectives(*plan->find("train_step", stage))) {
                QCOMPARE(one.kind, std::string("send_recv"));
                large += is_number(one) ? 0 : one.sent_bytes;
                numbers += is_number(one) ? 1 : 0;
            }
            QCOMPARE(large, microbatches * activation + embedding);
            QVERIFY(numbers >= 1 && numbers <= 2);
        }
    }

    // FACTS E: GPipe holds all m microbatches on the first stage, 1F1B min(p, m).
    void schedules_hold_as_many_microbatches_as_they_should() {
        const auto activations = [](const std::string& schedule, int microbatches) {
            const auto plan = mesh_plan(
                mesh_config(kGpt, {"mesh.devices=cpu:2", "mesh.strategy=pipeline",
                                   "training.micro_batch_size=4",
                                   "training.global_batch_size=" + std::to_string(4 * microbatches),
                                   "mesh.pipeline.schedule=" + schedule}));
            const auto bytes = plan::bytes_by_category(*plan, *plan->find("train_step", 0));
            return static_cast<double>(
                bytes[static_cast<std::size_t>(plan::Category::activations)]);
        };
        const double one = activations("gpipe", 5) - activations("gpipe", 4);
        QVERIFY(one > 0);
        // Each microbatch of GPipe is one more; of 1F1B none beyond two is.
        QVERIFY(std::abs(activations("gpipe", 8) - activations("gpipe", 4) - 4 * one) < 0.1 * one);
        QVERIFY(std::abs(activations("1f1b", 8) - activations("1f1b", 4)) < 0.1 * one);
        QVERIFY(activations("gpipe", 8) - activations("1f1b", 8) > 5 * one);
    }

    void bubbles_are_those_of_the_textbook_data() {
        QTest::addColumn<QString>("schedule");
        QTest::addColumn<int>("stages");
        QTest::addColumn<int>("microbatches");
        QTest::addColumn<double>("of_ideal");
        // FACTS E: backward twice a forward; zero bubble with halves as long as a forward.
        QTest::newRow("gpipe") << "gpipe" << 4 << 8 << 0.375;
        QTest::newRow("1f1b") << "1f1b" << 4 << 8 << 0.375;
        QTest::newRow("two chunks") << "interleaved_1f1b" << 4 << 8 << 0.1875;
        QTest::newRow("zero bubble") << "zero_bubble_h1" << 4 << 8 << (3.0 / 3.0) / 8.0;
    }
    void bubbles_are_those_of_the_textbook() {
        QFETCH(QString, schedule);
        QFETCH(int, stages);
        QFETCH(int, microbatches);
        QFETCH(double, of_ideal);
        const auto plan = mesh_plan(
            mesh_config(kGpt, {"model.layers=8", "mesh.devices=cpu:" + std::to_string(stages),
                               "mesh.strategy=pipeline", "training.micro_batch_size=2",
                               "training.global_batch_size=" + std::to_string(2 * microbatches),
                               "mesh.pipeline.schedule=" + schedule.toStdString()}));
        const double of_total = plan->pipeline->even_bubble_fraction;
        QVERIFY(std::abs(of_total / (1 - of_total) - of_ideal) < 0.0005);
    }
};

WEFT_TEST(CommunicationTest)
#include "communication_test.moc"
