// SPDX-License-Identifier: Apache-2.0
// Values that are not finite, planted in ten places: the replay of the step names where the first
// one comes from, what was read there, and whose sample it is.
#include "core/train/rewind/divergence_file.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace weft;
using namespace weft::test;

namespace {

const char* const kTable = R"({
  "data": {"train": {"type": "synthetic", "kind": "regression", "features": 6, "samples": 64},
           "shuffle": false},
  "model": {"type": "mlp", "hidden": [8], "activation": "tanh", "dropout": 0},
  "loss": {"type": "mse"},
  "metrics": [],
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 16, "precision": "f32", "length": {"steps": 10}}
})";

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// A run whose next step goes wrong.
class Planted {
public:
    Planted(const char* document, const Overrides& overrides)
        : config_(mesh_config(document, overrides)),
          executor_(mesh_plan(config_), train::backends(), {.threads = 1}),
          data_(train::open_run_data(config_)),
          sampler_(*data_.train, config_.shuffle, config_.seed),
          loader_(data_.train, sampler_, {.batch_size = config_.global_batch_size}, {}),
          update_(executor_, config_, 10) {
        train::initialise(executor_, config_);
    }

    void set_slot(const std::string& name, std::size_t element, float value) {
        const auto bytes = executor_.read_slot(name);
        std::vector<std::byte> changed(bytes.begin(), bytes.end());
        std::memcpy(changed.data() + element * sizeof value, &value, sizeof value);
        executor_.write_slot(name, changed);
    }
    void fill_slot(const std::string& name, float value) {
        const std::size_t count = executor_.read_slot(name).size() / sizeof value;
        for (std::size_t i = 0; i < count; ++i) {
            set_slot(name, i, value);
        }
    }

    /// The report of the step on the next batch, of which one input is replaced.
    exec::RunReport examine(std::optional<std::size_t> input = {}, float value = 0) {
        prepare(input, value);
        update_.start(batch_, 0, 1.0, {});
        finite_ = update_.numbers().finite;
        return update_.run_checked(batch_, 0, 1.0);
    }
    /// The step itself is checked, and not only one that was not taken.
    exec::RunReport examine_at_once() {
        prepare({}, 0);
        return update_.run_checked(batch_, 0, 1.0);
    }

    bool finite() const { return finite_; }
    std::string sample(const exec::RunReport& report) const {
        return train::place_of_bad_value(report, compile::plan_batch(config_).rows, batch_,
                                         *data_.train, sampler_);
    }
    /// Where it is from, and what is said of it.
    std::string told(const exec::RunReport& report) const {
        train::Divergence what;
        what.step = 1;
        what.loss = std::nan("");
        what.report = report;
        const train::ErrorEvent event = train::explain_divergence(what, config_);
        return event.where + ": " + event.message;
    }

    /// What is kept of it.
    config::Json kept(const exec::RunReport& report) const {
        train::Divergence what;
        what.step = 1;
        what.loss = std::nan("");
        what.report = report;
        return train::divergence_document(what, config_, -1, 0);
    }

private:
    void prepare(std::optional<std::size_t> input, float value) {
        batch_ = *loader_.next();
        inputs_.assign(batch_.inputs.begin(), batch_.inputs.end());
        if (input) {
            std::memcpy(inputs_.data() + *input * sizeof value, &value, sizeof value);
        }
        batch_.inputs = inputs_;
    }

    compile::RunConfig config_;
    exec::Executor executor_;
    data::DataSet data_;
    data::Sampler sampler_;
    data::Loader loader_;
    train::Update update_;
    data::Batch batch_;
    std::vector<std::byte> inputs_; // of the batch
    bool finite_ = true;
};

/// The op itself, or a group that it is one of.
bool names(const exec::RunReport& report, const std::string& op) {
    return report.kind == op ||
           std::find(report.group.begin(), report.group.end(), op) != report.group.end();
}

std::string said_of(const exec::RunReport& report) {
    std::string out = report.kind + " at " + report.path + " " +
                      std::string(ir::phase_name(report.phase)) + " of";
    for (const std::string& op : report.group) {
        out += " " + op;
    }
    return out;
}

/// Each finite number of an array is in its histogram, and the places are those of its numbers.
void check_operand(const config::Json& operand) {
    std::int64_t counted = 0;
    for (const config::Json& count : operand.at("histogram")) {
        counted += count.get<std::int64_t>();
    }
    const auto finite = operand.at("finite").get<std::int64_t>();
    const bool spread = !operand.at("histogram").empty();
    QCOMPARE(counted, spread ? finite : std::int64_t{0});
    QCOMPARE(spread, finite > 0 && operand.at("low") != operand.at("high"));
    QCOMPARE(operand.at("highest_at").is_object(), finite > 0);
    QCOMPARE(operand.at("first_bad_at").is_object(),
             operand.at("nan").get<std::int64_t>() + operand.at("infinite").get<std::int64_t>() >
                 0);
}

void check_document(const config::Json& document) {
    check_operand(document.at("output"));
    QVERIFY(document.at("output").at("first_bad_at").is_object());
    for (const config::Json& input : document.at("inputs")) {
        check_operand(input);
        // Else the op that made it would be the first.
        QVERIFY(input.at("first_bad_at").is_null());
    }
}

struct LossPlant {
    const char* expression;
    const char* op;
    ir::Phase phase;
};

const std::vector<LossPlant>& loss_plants() {
    static const std::vector<LossPlant> list = {
        {"log(0 * y[0])", "log", ir::Phase::forward},
        {"1 / (0 * y[0])", "div", ir::Phase::forward},
        {"sqrt(-1 - y[0]^2)", "sqrt", ir::Phase::forward},
        {"exp(1000 + y[0])", "exp", ir::Phase::forward},
        // Its value is 0; its slope is not finite.
        {"sqrt(0 * y[0])", "div", ir::Phase::backward},
    };
    return list;
}

} // namespace

class PlantedTest : public QObject {
    Q_OBJECT
private slots:
    void what_a_loss_makes_of_numbers_is_named_data() {
        QTest::addColumn<int>("plant");
        for (std::size_t i = 0; i < loss_plants().size(); ++i) {
            QTest::newRow(loss_plants()[i].expression) << static_cast<int>(i);
        }
    }
    void what_a_loss_makes_of_numbers_is_named() {
        QFETCH(int, plant);
        const LossPlant& planted = loss_plants()[static_cast<std::size_t>(plant)];
        const config::Json loss = {{"type", "expression"}, {"expression", planted.expression}};
        Planted run(kTable, {"loss=" + loss.dump()});
        const exec::RunReport report = run.examine();
        QVERIFY(!run.finite());
        QVERIFY2(!report.finite && names(report, planted.op) && report.path == "loss" &&
                     report.phase == planted.phase,
                 said_of(report).c_str());
        QVERIFY(!report.inputs.empty());
        QVERIFY(report.output.range.nan + report.output.range.infinite > 0);
        const std::string told = run.told(report);
        QVERIFY2(told.find(planted.op) != std::string::npos &&
                     told.find("It read ") != std::string::npos,
                 told.c_str());
        check_document(run.kept(report));
    }

    void a_number_of_the_data_is_named() {
        Planted run(kTable, {});
        const exec::RunReport report = run.examine(20, kNone);
        QVERIFY(!run.finite());
        QCOMPARE(report.kind, std::string("argument"));
        QCOMPARE(report.path, std::string("inputs"));
        const config::Json document = run.kept(report);
        check_document(document);
        QCOMPARE(document["output"]["first_bad_at"]["text"],
                 config::Json("microstep 0, sample 3, feature 2"));
    }

    void a_weight_and_a_moment_are_named() {
        for (const char* slot : {"layers.1.weight", "optimizer.v/layers.0.bias"}) {
            Planted run(kTable, {});
            run.set_slot(slot, 3, std::numeric_limits<float>::infinity());
            const exec::RunReport report = run.examine();
            QCOMPARE(report.kind, std::string("argument"));
            QCOMPARE(report.path, std::string(slot));
            const config::Json document = run.kept(report);
            check_document(document);
            const config::Json& place = document["output"]["first_bad_at"];
            QCOMPARE(place["index"], report.output.type.shape.rank() == 2
                                         ? config::Json::array({3, 0})
                                         : config::Json::array({3}));
        }
    }

    // Sample 5 of the batch is so large that its square overflows, and nobody else's.
    void a_sample_whose_products_overflow_is_named() {
        Planted run(kTable, {R"(model={"type":"mlp","hidden":[],"dropout":0})"});
        const exec::RunReport report = run.examine(5 * 6 + 2, 3e30F);
        QVERIFY(!run.finite());
        QVERIFY2(names(report, "square") && report.path == "loss", said_of(report).c_str());
        QCOMPARE(run.sample(report), std::string("sample 5"));
        QCOMPARE(report.output.range.infinite, std::int64_t{1});
        QCOMPARE(train::row_of_bad_value(report, 16), std::optional<std::int64_t>(5));
        const config::Json document = run.kept(report);
        check_document(document);
        QCOMPARE(document["output"]["first_bad_at"]["text"], config::Json("sample 5, feature 0"));
        const auto largest = [](const exec::SeenOperand& operand) {
            return std::max(std::abs(operand.range.low), std::abs(operand.range.high));
        };
        QVERIFY(std::any_of(report.inputs.begin(), report.inputs.end(),
                            [&](const auto& operand) { return largest(operand) > 1e28; }));
    }

    void a_layer_whose_weights_overflow_is_named() {
        Planted run(kTable,
                    {R"(model={"type":"mlp","hidden":[8],"activation":"relu","dropout":0})"});
        run.fill_slot("layers.0.weight", 1e30F);
        run.fill_slot("layers.1.weight", 1e30F);
        const exec::RunReport report = run.examine();
        QVERIFY2(!report.finite && report.path == "layers.1" && report.phase == ir::Phase::forward,
                 said_of(report).c_str());
        check_document(run.kept(report));
    }

    void attention_that_overflows_is_named() {
        Planted run(kGpt, {});
        run.fill_slot("blocks.1.attention.qkv.weight", 1e25F);
        const exec::RunReport report = run.examine();
        QVERIFY2(!report.finite && report.path.starts_with("blocks.1.attention") &&
                     report.phase == ir::Phase::forward,
                 said_of(report).c_str());
        check_document(run.kept(report));
    }

    // A second moment below 0 has no root.
    void an_update_is_named_by_its_parameter() {
        Planted run(kTable, {});
        run.set_slot("optimizer.v/layers.0.bias", 0, -100.0F);
        const exec::RunReport report = run.examine_at_once();
        QVERIFY2(!report.finite && report.phase == ir::Phase::update &&
                     report.path.find("layers.0") != std::string::npos,
                 said_of(report).c_str());
        check_document(run.kept(report));
    }

    void ranges_are_those_of_the_values() {
        const std::vector<float> values = {
            2.0F, -3.5F, kNone, 7.0F, -std::numeric_limits<float>::infinity(), kNone};
        const auto range = exec::range_of({ir::DType::f32, {std::ssize(values)}}, values.data());
        QCOMPARE(range.finite, std::int64_t{3});
        QCOMPARE(range.infinite, std::int64_t{1});
        QCOMPARE(range.nan, std::int64_t{2});
        QCOMPARE(range.low, -3.5);
        QCOMPARE(range.high, 7.0);
        QCOMPARE(range.first_bad, std::int64_t{2});
        QCOMPARE(range.lowest_at, std::int64_t{1});
        QCOMPARE(range.highest_at, std::int64_t{3});
        const ir::Type type{ir::DType::f32, {std::ssize(values)}};
        const auto counts = exec::histogram_of(type, values.data(), range);
        QCOMPARE(counts.front(), std::int64_t{1});
        QCOMPARE(counts.back(), std::int64_t{1});
        QCOMPARE(counts[16], std::int64_t{1}); // 2 is 5.5 of 10.5 above the lowest
        QVERIFY(std::isnan(exec::sum_of_squares(type, values.data())));
        QCOMPARE(exec::sum_of_squares({ir::DType::f32, {2}}, values.data()), 4.0 + 12.25);
        const std::vector<std::uint16_t> halves = {0x3c00, 0x7c00, 0xc000, 0x7e00}; // 1 inf -2 NaN
        const auto half = exec::range_of({ir::DType::f16, {4}}, halves.data());
        QCOMPARE(half.low, -2.0);
        QCOMPARE(half.high, 1.0);
        QCOMPARE(half.infinite + half.nan, std::int64_t{2});
    }
};

WEFT_TEST(PlantedTest)
#include "planted_test.moc"
