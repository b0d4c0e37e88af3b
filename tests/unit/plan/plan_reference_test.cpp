// SPDX-License-Identifier: Apache-2.0
// The page of the plan against plans: every member is on the page, and nothing on the page is
// missing.
#include "core/train/planning.h"
#include "core/train/reference/reference.h"
#include "tests/support/reference_names.h"
#include "tests/support/weft_test.h"
#include "tests/unit/plan/plan_models.h"

using namespace weft;

class PlanReferenceTest : public QObject {
    Q_OBJECT

    std::set<std::string> said_;

    /// Members of the document; those of alternatives without the list that they are in.
    std::set<std::string> members(const config::Json& document) {
        std::set<std::string> out;
        test::add_names(document, "", said_, out);
        std::set<std::string> named;
        for (std::string name : out) {
            for (const std::string list : {"fixes", "recompute_curve", "advice"}) {
                if (name == list) {
                    name.clear(); // empty
                } else if (name.starts_with(list + "[].")) {
                    name = name.substr(list.size() + 3);
                }
            }
            const std::string category = "devices[].by_category.";
            name = name.starts_with(category) ? category + "<category>" : name;
            if (!name.empty() && name != "pipeline" && name != "collectives" &&
                name != "diagnostics") {
                named.insert(name); // these are null or empty
            }
        }
        return named;
    }

private slots:
    void initTestCase() {
        for (const train::ReferenceSection& section : train::plan_page().sections) {
            for (const train::ReferenceName& name : section.names) {
                said_.emplace(name.name);
            }
        }
    }

    void the_page_has_every_member_and_no_other() {
        std::set<std::string> written;
        const std::vector<std::vector<std::string>> meshes = {
            {},
            {"mesh.devices=cpu:2", "mesh.strategy=fsdp"},
            {"mesh.devices=cpu:3", "mesh.strategy=tensor_parallel"}, // pads, and says so
            {"mesh.devices=cpu:2", "mesh.strategy=pipeline"}};
        for (const auto& overrides : meshes) {
            const auto config = test::model_run("gpt", overrides);
            const train::PlanTarget target = test::target_of(test::kPlenty);
            auto plan =
                train::plan_run(config, train::outline_run_data(config, target), target, {});
            plan.recompute_curve.emplace_back();
            const auto found = members(plan::to_json(plan));
            written.insert(found.begin(), found.end());
        }
        for (const std::string& name : written) {
            QVERIFY2(said_.count(name) == 1, ("not on the page: " + name).c_str());
        }
        for (const std::string& name : said_) {
            QVERIFY2(written.count(name) == 1, ("in no plan: " + name).c_str());
        }
    }
};

WEFT_TEST(PlanReferenceTest)
#include "plan_reference_test.moc"
