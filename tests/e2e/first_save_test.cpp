// SPDX-License-Identifier: Apache-2.0
// When a run saves for the first time, and that nothing else changes by it. Every update takes as
// long as a clock of the test's own says.
#include "core/advise/alternatives.h"
#include "core/checkpoint/checkpoint.h"
#include "core/train/record/run_folder.h"
#include "core/train/session.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

namespace {

using namespace weft;
using namespace weft::test;
namespace fs = std::filesystem;
using Steps = std::vector<std::int64_t>;

class FirstSaveTest : public QObject, private TestFolder {
    Q_OBJECT

    /// `settings`: of the section "checkpoint".
    compile::RunConfig config(const std::vector<std::string>& settings) const {
        const QString file = write_config(path("configs"), config::json_of(R"({
            "training": {"length": {"steps": 8}}, "evaluation": {"every": {"steps": 100}}})"));
        const auto checked = compile::read_run_config_file(file.toStdString());
        std::vector<std::string> overrides;
        for (const std::string& setting : settings) {
            overrides.push_back("checkpoint." + setting);
        }
        return compile::with_overrides(checked.config, overrides).value_or(compile::RunConfig());
    }

    /// The steps that were saved, in order; one whose record was completed later comes once.
    static Steps saves_of(train::SessionOptions options, double step_s) {
        ManualClock clock(1000);
        options.clock = &clock;
        Steps steps;
        options.sink = [&](const train::Event& event) {
            if (std::holds_alternative<train::StepEvent>(event.payload)) {
                clock.advance(step_s);
            } else if (const auto* one = std::get_if<train::CheckpointEvent>(&event.payload)) {
                if (steps.empty() || steps.back() != one->step) {
                    steps.push_back(one->step);
                }
            }
        };
        train::Session session(std::move(options));
        return session.run().outcome == train::Outcome::failed ? Steps{-1} : steps;
    }
    Steps saved(const std::vector<std::string>& checkpoint, double step_s) const {
        train::SessionOptions options;
        options.config = config(checkpoint);
        options.run_folder = train::create_run_folder(path("runs"), "run");
        return saves_of(std::move(options), step_s);
    }

private slots:
    void the_first_checkpoint_is_saved_after_half_a_minute() {
        QCOMPARE((saved({R"(every={"steps": 6})"}, 12)), (Steps{3, 6, 8}));
        QCOMPARE((saved({"every=null"}, 12)), (Steps{3, 8})); // at improvements only
    }

    void an_update_that_takes_longer_is_saved_at_once() {
        QCOMPARE((saved({R"(every={"steps": 6})"}, 3600)), (Steps{1, 6, 8}));
    }

    void what_was_saved_before_is_first_enough() {
        QCOMPARE((saved({R"(every={"steps": 2})"}, 12)), (Steps{2, 4, 6, 8}));
        QCOMPARE((saved({R"(every={"steps": 6})"}, 1)), (Steps{6, 8}));
    }

    void a_cadence_in_minutes_counts_as_without_it() {
        QCOMPARE((saved({R"(every={"minutes": 1})"}, 15)), (Steps{2, 4, 8}));
    }

    void where_saving_is_off_only_the_end_is_saved() {
        QCOMPARE((saved({"every=null", "on_improvement=false"}, 3600)), (Steps{8}));
    }

    void retention_drops_it_like_any_other() {
        train::SessionOptions options;
        options.config = config({R"(every={"steps": 6})", "keep_latest=2", "keep_best=0"});
        options.run_folder = train::create_run_folder(path("runs"), "dropped");
        const fs::path folder = options.run_folder / "checkpoints";
        QCOMPARE(saves_of(std::move(options), 3600), (Steps{1, 6, 8}));
        Steps left;
        for (const checkpoint::Entry& entry : checkpoint::list_checkpoints(folder)) {
            left.push_back(entry.step);
        }
        QCOMPARE(left, (Steps{6, 8}));
    }

    void a_resumed_run_has_its_first_one() {
        train::SessionOptions options;
        options.config = config({R"(every={"steps": 6})"});
        options.run_folder = train::create_run_folder(path("runs"), "resumed");
        options.max_steps = 2;
        train::SessionOptions resumed = options;
        QCOMPARE(saves_of(std::move(options), 1), (Steps{2}));
        resumed.max_steps.reset();
        resumed.start.checkpoint = resumed.run_folder / "checkpoints" / checkpoint::folder_name(2);
        QCOMPARE(saves_of(std::move(resumed), 3600), (Steps{6, 8}));
    }
};

} // namespace

WEFT_TEST(FirstSaveTest)
#include "first_save_test.moc"
