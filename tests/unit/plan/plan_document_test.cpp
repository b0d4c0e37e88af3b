// SPDX-License-Identifier: Apache-2.0
// The document of `weft plan --json` against INTERFACES.md, and its figures against each other.
#include "core/base/text.h"
#include "core/train/planning.h"
#include "tests/support/weft_test.h"
#include "tests/unit/plan/plan_models.h"

#include <functional>
#include <set>

using namespace weft;
using Json = nlohmann::ordered_json;
using test::kPlenty;
using test::target_of;

namespace {

/// Members of an object of the interface, and what each must be.
using Members = std::vector<std::pair<const char*, std::function<bool(const Json&)>>>;

bool is_count(const Json& value) {
    return value.is_number_integer() && value.get<std::int64_t>() >= 0;
}
bool is_number(const Json& value) {
    return value.is_number();
}
bool is_number_or_null(const Json& value) {
    return value.is_number() || value.is_null();
}
bool is_text(const Json& value) {
    return value.is_string();
}
bool is_list(const Json& value) {
    return value.is_array();
}

const Members kPlan = {{"parameters", is_count},
                       {"flops_per_step", is_number},
                       {"compile_ms", is_number},
                       {"predicted_step_ms", is_number_or_null},
                       {"fits", [](const Json& value) { return value.is_boolean(); }},
                       {"limit_bytes", is_count},
                       {"fixes", is_list},
                       {"assumptions", is_list},
                       {"devices", is_list},
                       {"tensors", is_list},
                       {"collectives", is_list},
                       {"pipeline", [](const Json& value) { return value.is_null(); }},
                       {"diagnostics", is_list}};
const Members kDevice = {{"ids", is_text},
                         {"kind", is_text},
                         {"peak_bytes", is_count},
                         {"peak_op", is_text},
                         {"by_category", [](const Json& value) { return value.is_object(); }},
                         {"timeline", is_list}};
const Members kTensor = {{"name", is_text},          {"kind", is_text}, {"global_shape", is_list},
                         {"local_shape", is_list},   {"spec", is_text}, {"replicas", is_count},
                         {"padding_bytes", is_count}};
const Members kFix = {
    {"change", is_text}, {"peak_bytes", is_count}, {"predicted_step_ms", is_number_or_null}};
const std::set<std::string> kCategories = {"parameters",     "gradients",   "optimizer", "state",
                                           "packed_weights", "activations", "workspace", "batch",
                                           "communication",  "staging",     "library"};

/// The first member that is absent or of another type; empty when all are there.
std::string wrong_member(const Json& object, const Members& members) {
    for (const auto& [name, good] : members) {
        if (!object.contains(name) || !good(object.at(name))) {
            return name;
        }
    }
    return "";
}

} // namespace

class PlanDocument : public QObject {
    Q_OBJECT

    plan::ExecutionPlan planned(const compile::RunConfig& config,
                                const train::PlanTarget& target) const {
        return train::plan_run(config, train::outline_run_data(config, target), target, {});
    }

private slots:
    void every_member_of_the_interface_is_there_and_of_its_type() {
        for (const char* model : {"mlp", "cnn", "gpt"}) {
            const compile::RunConfig config = test::model_run(model);
            plan::ExecutionPlan plan = planned(config, target_of(kPlenty));
            plan.fixes.push_back({"a change", {"training.micro_batch_size=1"}, 1, 1, 2.0});
            const Json document = plan::to_json(plan);
            QCOMPARE(wrong_member(document, kPlan), std::string());
            QCOMPARE(wrong_member(document["fixes"][0], kFix), std::string());
            QCOMPARE(wrong_member(document["devices"][0], kDevice), std::string());
            QVERIFY(!document["tensors"].empty());
            for (const Json& tensor : document["tensors"]) {
                QCOMPARE(wrong_member(tensor, kTensor), std::string());
            }
            std::set<std::string> names;
            for (const auto& [name, bytes] : document["devices"][0]["by_category"].items()) {
                QVERIFY(is_count(bytes));
                names.insert(name);
            }
            QVERIFY(names == kCategories);
        }
    }

    void categories_and_timeline_add_up_to_the_peak() {
        for (const char* model : {"mlp", "cnn", "gpt"}) {
            const compile::RunConfig config = test::model_run(model);
            const plan::ExecutionPlan plan = planned(config, target_of(kPlenty));
            const Json document = plan::to_json(plan);
            const Json& device = document["devices"][0];
            const auto holes = device["holes_bytes"].get<std::int64_t>();
            std::int64_t sum = holes;
            for (const auto& [name, bytes] : device["by_category"].items()) {
                sum += bytes.get<std::int64_t>();
            }
            std::int64_t highest = 0;
            for (const Json& point : device["timeline"]) {
                highest = std::max(highest, point[1].get<std::int64_t>());
            }
            const auto peak = device["peak_bytes"].get<std::int64_t>();
            QCOMPARE(sum, peak);
            QCOMPARE(highest + holes, peak);
            QCOMPARE(peak, plan.arena_bytes + plan.host.bytes());
        }
    }

    void ops_have_the_program_s_work_and_times_those_of_compiling() {
        const compile::RunConfig config = test::model_run("gpt", {"training.micro_batch_size=4"});
        const plan::ExecutionPlan plan = planned(config, target_of(kPlenty));
        const Json document = plan::to_json(plan);
        double flops = 0;
        for (const Json& op : document["ops"]) {
            flops += op["flops"].get<double>();
        }
        // Sums of the same numbers in another order.
        QVERIFY(std::abs(flops - plan.flops_per_step) <= 1e-9 * plan.flops_per_step);
        double ms = 0;
        for (const Json& time : document["pass_times"]) {
            ms += time["ms"].get<double>();
        }
        QVERIFY(ms > 0 && ms <= document["compile_ms"].get<double>());
    }

    void the_page_begins_with_the_verdict_and_has_no_colour_unless_asked() {
        const compile::RunConfig config = test::model_run("mlp");
        const std::string good = plan::to_text(planned(config, target_of(kPlenty)));
        QVERIFY2(good.starts_with("Fits on this machine: needs "), good.c_str());
        const std::string bad = plan::to_text(planned(config, target_of(1000)));
        QVERIFY2(bad.starts_with("Does not fit on this machine: needs "), bad.c_str());
        QVERIFY(good.find('\033') == std::string::npos);
        QVERIFY(plan::to_text(planned(config, target_of(kPlenty)), {.colour = true}).find('\033') !=
                std::string::npos);
    }

    void a_page_stays_within_its_columns() {
        const compile::RunConfig config = test::model_run("gpt");
        const plan::ExecutionPlan plan = planned(config, target_of(kPlenty));
        const std::string page = plan::to_text(plan, {.columns = 80});
        for (const std::string& line : split(page, '\n')) {
            // Sentences may be long; tables may not.
            if (line.starts_with("  ") && line.find("\u2501") != std::string::npos) {
                QVERIFY2(QString::fromStdString(line).size() <= 80, line.c_str());
            }
        }
    }
};

WEFT_TEST(PlanDocument)
#include "plan_document_test.moc"
