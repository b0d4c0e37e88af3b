// SPDX-License-Identifier: Apache-2.0
// Tables of which an update changes the rows of its batch: alike on every mesh, in memory as
// planned, and there bit for bit when a run goes on; what an update takes does not hang on how many
// rows there are.
#include "core/base/file.h"
#include "core/base/npy.h"
#include "core/data/forms.h"
#include "core/data/puzzles/write_puzzles.h"
#include "core/train/boards/votes.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>
#include <set>

using namespace weft;
using namespace weft::test;
using config::Json;

namespace {

constexpr std::int64_t kPuzzles = 60;
constexpr std::int32_t kIdentifiers = 2048;
constexpr std::int64_t kRowWidth = 16;

const std::string kRowsRun = R"({
  "data": {"train": {"type": "sudoku", "augment": false}, "validation": {"split": 0.2}},
  "model": {"type": "trm", "width": 16, "heads": 2, "layers": 1, "h_cycles": 2, "l_cycles": 2,
            "prefix": 2, "halt_max_steps": 3, "halt_exploration": 0.5},
  "loss": {"type": "stablemax"},
  "metrics": ["accuracy", "exact_accuracy"],
  "optimizer": {"type": "adam_atan2", "learning_rate": 0.003, "weight_decay": 0.1,
                "groups": [{"match": "prefix.rows", "type": "sign_sgd", "learning_rate": 0.01,
                            "weight_decay": 0.1}]},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 8, "precision": "f32", "ema_decay": 0.9,
               "length": {"steps": 24}},
  "evaluation": {"every": {"steps": 12}, "at_start": false},
  "checkpoint": {"every": {"steps": 100}}
})";

// By descent: a sign has no continuity, and sums in another order may turn it where a gradient is
// nearly zero.
const Overrides kDescent = {
    R"(optimizer.groups=[{"match": "prefix.rows", "type": "sgd", "momentum": 0, "learning_rate": 30}])"};

/// One of four. They have more digits than bf16 and f16 keep.
std::int32_t kind_of(std::int64_t puzzle) {
    return static_cast<std::int32_t>(257 + 512 * (puzzle * puzzle % 3) + puzzle % 2);
}

/// Puzzles of some kinds, beside none, as a published set has them.
void write_told_puzzles(const std::filesystem::path& folder) {
    data::PuzzleOrder order;
    order.side = 4;
    order.train = kPuzzles;
    order.test = 0;
    order.layout = data::PuzzleOrder::Layout::npy;
    data::write_puzzles(order, {}, folder);
    std::string numbers;
    for (std::int64_t i = 0; i < kPuzzles; ++i) {
        const std::int32_t kind = kind_of(i);
        numbers.append(reinterpret_cast<const char*>(&kind), sizeof kind);
    }
    write_file_atomically(folder / "train" / "all__puzzle_identifiers.npy",
                          npy_beginning("<i4", std::array{kPuzzles}) + numbers);
    Json told = Json::parse(read_file(folder / "train" / "dataset.json"));
    told["num_puzzle_identifiers"] = kIdentifiers;
    write_file_atomically(folder / "train" / "dataset.json", told.dump());
}

/// Answers that are given by number of sample and form, whatever a model says.
class GivenAnswers final : public data::Source, public data::AskedInForms {
public:
    explicit GivenAnswers(data::SampleInfo info) : info_(std::move(info)) {}

    const data::SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return 3; }
    void read(std::int64_t, std::span<std::byte>, std::span<std::byte>) const override {}
    std::int32_t label(std::int64_t) const override { return -1; }
    std::int64_t cache_bytes() const override { return 0; }
    std::string fingerprint() const override { return {}; }
    std::int64_t forms(std::int64_t) const override { return 5; }
    void read_form(std::int64_t, std::int64_t form, std::span<std::byte> input) const override {
        const auto kind = static_cast<std::int32_t>(form);
        std::fill(input.begin(), input.end(), std::byte{0});
        std::memcpy(input.data(), &kind, sizeof kind);
    }
    std::string answer_in_form(std::int64_t, std::int64_t form,
                               std::span<const std::int32_t>) const override {
        return std::array{"a", "b", "a", "c", ""}.at(static_cast<std::size_t>(form));
    }
    std::string right_answer(std::int64_t index) const override {
        return std::array{"a", "d", "a"}.at(static_cast<std::size_t>(index));
    }
    std::string task(std::int64_t index) const override { return index == 2 ? "two" : "one"; }

private:
    data::SampleInfo info_;
};

} // namespace

class RowTablesTest : public QObject, private TestFolder {
    Q_OBJECT

    Overrides with_data(Overrides overrides = {}) {
        overrides.push_back("data.train.path=" + path("puzzles").string());
        return overrides;
    }

    std::vector<float> table_of(const MeshRun& run) {
        const auto& bytes = run.state.at("prefix.rows");
        std::vector<float> out(bytes.size() / sizeof(float));
        std::memcpy(out.data(), bytes.data(), bytes.size());
        return out;
    }

private slots:
    void initTestCase() { write_told_puzzles(path("puzzles")); }

    void every_strategy_has_the_rows_of_one_device_data() {
        QTest::addColumn<int>("variant");
        for (std::size_t i = 0; i < variants().size(); ++i) {
            const std::string name = variants()[i].name;
            if (!name.starts_with("pipeline") && !name.starts_with("3d")) {
                QTest::newRow(name.c_str()) << static_cast<int>(i);
            }
        }
    }

    // f32 sums in another order.
    void every_strategy_has_the_rows_of_one_device() {
        QFETCH(int, variant);
        const auto run_with = [&](Overrides overrides) {
            overrides.insert(overrides.end(), kDescent.begin(), kDescent.end());
            return run_mesh(mesh_config(kRowsRun, with_data(std::move(overrides))),
                            {.steps = 12, .keep_slots = true});
        };
        static const MeshRun one = run_with({});
        const MeshRun many = run_with(variants()[static_cast<std::size_t>(variant)].overrides);
        const double off = losses_apart(one.losses, many.losses);
        QVERIFY2(off < 1e-4, std::to_string(off).c_str());
        const std::vector<float> a = table_of(one);
        const std::vector<float> b = table_of(many);
        QCOMPARE(a.size(), b.size());
        const auto larger = [](float x, float y) { return std::max(x, std::abs(y)); };
        const float largest = std::accumulate(a.begin(), a.end(), 0.0F, larger);
        QVERIFY2(largest > 0.01F, std::to_string(largest).c_str());
        for (std::size_t i = 0; i < a.size(); ++i) {
            QVERIFY2(std::abs(a[i] - b[i]) < 1e-3F * largest, std::to_string(a[i] - b[i]).c_str());
        }
        for (std::int64_t c = 0; c < kRowWidth; ++c) {
            QCOMPARE(a[static_cast<std::size_t>(c)], 0.0F); // no puzzle is of no kind
        }
    }

    void every_precision_changes_the_rows_of_the_kinds_that_there_are_data() {
        QTest::addColumn<QString>("precision");
        for (const char* precision : {"f32", "bf16", "f16"}) {
            QTest::newRow(precision) << precision;
        }
    }

    void every_precision_changes_the_rows_of_the_kinds_that_there_are() {
        QFETCH(QString, precision);
        const MeshRun run = run_mesh(
            mesh_config(kRowsRun, with_data({"training.precision=" + precision.toStdString()})),
            {.steps = 20, .keep_slots = true});
        const std::vector<float> table = table_of(run);
        std::set<std::int64_t> changed;
        for (std::size_t i = 0; i < table.size(); ++i) {
            if (table[i] != 0.0F) {
                changed.insert(static_cast<std::int64_t>(i) / kRowWidth);
            }
        }
        std::set<std::int64_t> kinds;
        for (std::int64_t i = 0; i < kPuzzles; ++i) {
            kinds.insert(kind_of(i));
        }
        QCOMPARE(changed, kinds);
    }

    void memory_is_as_planned() {
        for (const char* devices : {"cpu:1", "cpu:2"}) {
            const auto config = mesh_config(
                kRowsRun, with_data({std::string("mesh.devices=") + devices,
                                     "training.micro_batch_size=2", "training.precision=bf16"}));
            const MeshRun run = run_mesh(config, {.steps = 3, .instrument = true});
            QVERIFY2(run.violations.empty(),
                     run.violations.empty() ? "" : run.violations.front().c_str());
            QVERIFY(run.touched_bytes > 0);
        }
    }

    // A million rows take their own memory, and nothing beside it that fewer would not.
    void what_an_update_takes_does_not_hang_on_the_number_of_rows() {
        for (const char* devices : {"cpu:1", "cpu:2"}) {
            const auto bytes_with = [&](std::int64_t kinds) {
                compile::RunConfig config = mesh_config(
                    kRowsRun,
                    with_data({std::string("mesh.devices=") + devices, "training.precision=bf16"}));
                Json told = Json::parse(read_file(path("puzzles") / "train" / "dataset.json"));
                told["num_puzzle_identifiers"] = kinds;
                write_file_atomically(path("puzzles") / "train" / "dataset.json", told.dump());
                const auto plan = mesh_plan(config);
                told["num_puzzle_identifiers"] = kIdentifiers;
                write_file_atomically(path("puzzles") / "train" / "dataset.json", told.dump());
                return std::pair(plan->stages.front().arena_bytes, plan->flops_per_step);
            };
            constexpr std::int64_t kFew = 1024;
            constexpr std::int64_t kMany = 1'024'000;
            const auto few = bytes_with(kFew);
            const auto many = bytes_with(kMany);
            QCOMPARE(many.first - few.first, (kMany - kFew) * kRowWidth * 4);
            QCOMPARE(many.second, few.second);
        }
    }

    void a_run_that_goes_on_is_equal_bit_for_bit() {
        const auto file = path("rows.json");
        Json config = Json::parse(kRowsRun);
        config["data"]["train"]["path"] = path("puzzles").string();
        std::ofstream(file) << config.dump();
        const QString run_file = QString::fromStdString(file.string());
        const Finished whole = run_weft({"train", run_file, "--run-dir", text("whole")});
        QVERIFY2(whole.code == 0, whole.err.c_str());
        const Finished begun =
            run_weft({"train", run_file, "--run-dir", text("halves"), "--max-steps", "10"});
        QVERIFY2(begun.code == 0, begun.err.c_str());
        const Finished resumed = run_weft({"resume", text("halves")});
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        const Finished diff = run_weft({"checkpoint", "diff", text("whole"), text("halves")});
        QVERIFY2(diff.code == 0, (diff.out + diff.err).c_str());
        // A board of one's own is of no kind.
        const Finished own = run_weft({"predict", text("whole"), "1..4..1..1..4..1", "--json"});
        QVERIFY2(own.code == 0, own.err.c_str());
        const Finished first =
            run_weft({"predict", text("whole"), "0", "--split", "validation", "--json"});
        QVERIFY2(first.code == 0, first.err.c_str());
        QCOMPARE(
            Json::parse(first.out).at("predictions").at(0).at("given").get<std::string>().size(),
            std::size_t(16));
    }

    // "a" has two votes of five forms, "b" and "c" one each, and one form says nothing.
    void answers_with_most_votes_come_first() {
        const auto config = mesh_config(kRowsRun, with_data());
        exec::Executor executor(mesh_plan(config), train::backends(), {.threads = 1});
        train::initialise(executor, config);
        const GivenAnswers source(train::open_run_data(config).train->info());
        const train::VoteCount five = train::vote(executor, source, source, 9);
        QCOMPARE(five.samples, 3);
        QCOMPARE(five.tasks, 2);
        QCOMPARE(five.first, 0.75); // the mean of a half of task one and all of task two
        QCOMPARE(five.first_two, 0.75);
        // Of two forms the surer one is first, whichever that is.
        const train::VoteCount two = train::vote(executor, source, source, 2);
        QVERIFY(two.first == 0.75 || two.first == 0.0);
        QCOMPARE(two.first_two, 0.75);
    }

    void tests_of_tasks_are_asked_in_their_forms() {
        std::filesystem::create_directories(path("tasks"));
        std::ofstream(path("tasks") / "a.json")
            << R"({"train": [{"input": [[1, 2]], "output": [[2, 1]]}],
                   "test": [{"input": [[3, 4]], "output": [[4, 3]]}]})";
        const auto file = path("arc.json");
        Json config = Json::parse(kRowsRun);
        const Json tasks = {
            {"type", "arc"}, {"path", path("tasks").string()}, {"augmentations", 3}};
        config["data"] = {{"train", tasks}, {"validation", tasks}};
        config["data"]["validation"]["pairs"] = "test";
        config["training"]["global_batch_size"] = 1;
        config["training"]["length"]["steps"] = 2;
        config["model"]["layers"] = config["model"]["h_cycles"] = config["model"]["l_cycles"] = 1;
        std::ofstream(file) << config.dump();
        const Finished run =
            run_weft({"train", QString::fromStdString(file.string()), "--run-dir", text("arc")});
        QVERIFY2(run.code == 0, run.err.c_str());
        for (const char* split : {"validation", "test"}) {
            const Finished votes =
                run_weft({"eval", text("arc"), "--votes", "3", "--split", split, "--json"});
            QVERIFY2(votes.code == 0, votes.err.c_str());
            const Json said = Json::parse(votes.out);
            QCOMPARE(said.at("tasks"), Json(1));
            QVERIFY(said.at("metrics").at("pass_at_1") <= said.at("metrics").at("pass_at_2"));
        }
        const Finished one = run_weft({"eval", text("whole"), "--votes", "3"});
        QCOMPARE(one.code, 2);
    }

    void other_optimizers_are_refused_with_what_to_write() {
        const auto file = path("adam.json");
        Json config = Json::parse(kRowsRun);
        config["data"]["train"]["path"] = path("puzzles").string();
        config["optimizer"].erase("groups");
        std::ofstream(file) << config.dump();
        const Finished run = run_weft({"plan", QString::fromStdString(file.string())});
        QCOMPARE(run.code, 2);
        QVERIFY2(run.err.find("prefix.rows") != std::string::npos &&
                     run.err.find("sign_sgd") != std::string::npos,
                 run.err.c_str());
    }
};

WEFT_TEST(RowTablesTest)
#include "row_tables_test.moc"
