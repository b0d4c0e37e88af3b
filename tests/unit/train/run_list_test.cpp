// SPDX-License-Identifier: Apache-2.0
// Runs as lists: of other programs too, with notes of people, filtered, and from a cache that holds
// nothing that the folders do not.
#include "core/base/error.h"
#include "core/train/logging/tensorboard_writer.h"
#include "core/train/record/run_curve.h"
#include "core/train/record/run_filter.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <fstream>

namespace {

using namespace weft::train;
namespace fs = std::filesystem;

void write_text(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

void make_old(const fs::path& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

std::string step_line(std::int64_t step, double loss) {
    StepEvent event;
    event.step = step;
    event.loss = loss;
    return to_line({step, 100.0 + double(step), event}) + "\n";
}

std::string evaluation_line(std::int64_t step, double loss, double accuracy) {
    return to_line({step, 100.0 + double(step),
                    EvaluationEvent{
                        step, {{"validation/loss", loss}, {"validation/accuracy", accuracy}}}}) +
           "\n";
}

RunSummary named(const char* name) {
    RunSummary run;
    run.folder = fs::path("/runs") / ("2026-01-01_" + std::string(name) + "_001");
    run.info.name = name;
    run.state = "finished";
    return run;
}

RunNames names_of(const RunSummary& run) {
    RunNames names;
    names.add(run);
    return names;
}

bool match(const char* filter, const RunSummary& run) {
    return RunFilter(filter, names_of(run)).matches(run);
}

std::string problem_of(const char* filter, const RunNames& names = {}) {
    return RunFilter(filter, names).problem();
}

/// A run with the names that runs of Weft have.
RunSummary usual_run() {
    RunSummary run = named("a");
    run.entry("train/loss").note(10, 0.5);
    run.entry("train/learning_rate").note(10, 0.0005);
    run.entry("train/accuracy").note(10, 0.9);
    run.entry("validation/accuracy").note(10, 0.8);
    run.config = {{"model", {{"type", "mlp"}, {"hidden", {512, 256}}}},
                  {"optimizer",
                   {{"type", "adamw"},
                    {"learning_rate", 0.002},
                    {"weight_decay", 0.01},
                    {"groups", {{{"match", "*.bias"}, {"weight_decay", 0.0}}}}}},
                  {"training", {{"global_batch_size", 64}}}};
    return run;
}

} // namespace

class RunListTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;
    fs::path root() const { return fs::path(dir_.path().toStdString()); }

private slots:
    void every_metric_has_its_last_and_its_best_value() {
        const fs::path run = root() / "metrics";
        write_text(run / "config.json", R"({"checkpoint": {"metric": "validation/loss"}})");
        write_text(run / "events.jsonl", step_line(1, 3) + evaluation_line(1, 0.5, 0.7) +
                                             step_line(2, 2) + evaluation_line(2, 0.25, 0.9) +
                                             step_line(3, 1) + evaluation_line(3, 0.75, 0.8));
        const RunSummary summary = summarise_run(run);
        QCOMPARE(summary.source, RunSource::weft);
        const MetricSummary* loss = summary.metric("validation/loss");
        QCOMPARE(loss->last, 0.75);
        QCOMPARE(*loss->best, 0.25);
        QCOMPARE(loss->best_step, 2);
        QCOMPARE(*summary.metric("validation/accuracy")->best, 0.9); // larger is better
        QCOMPARE(summary.metric("train/loss")->last, 1.0);
        QVERIFY(!summary.metric("train/loss")->best); // only some steps were looked at
        QCOMPARE(*summary.best_value, 0.25);
        QVERIFY(summary.metric("nothing") == nullptr);
    }

    void a_folder_of_event_files_is_a_run() {
        const fs::path run = root() / "torch";
        fs::create_directories(run);
        {
            TensorboardWriter writer(run, 100, "host");
            for (int i = 0; i < 200; ++i) {
                writer.add(100 + i, i, {{"Loss/train", 2.0 / (1 + i)}});
            }
            writer.add(300, 100, {{"Loss/val", 0.5}});
            writer.add(301, 199, {{"Loss/val", 0.75}});
        }
        RunSummary summary = summarise_run(run);
        QCOMPARE(summary.source, RunSource::tensorboard);
        QCOMPARE(summary.state, std::string("writing"));
        QCOMPARE(summary.step, 199);
        QCOMPARE(summary.best_metric, std::string("Loss/val")); // held-out data says most
        QCOMPARE(*summary.best_value, 0.5);
        QCOMPARE(summary.seconds, 201.0);
        QCOMPARE(summary.loss_curve.size(), std::size_t{2});
        make_old(tensorboard_file(run));
        QCOMPARE(summarise_run(run).state, std::string("recorded"));
        QCOMPARE(read_curve(run, "Loss/train").size(), std::size_t{200});
        QCOMPARE(*value_at(read_curve(run, "Loss/val"), 150), 0.5);
    }

    void an_event_log_of_another_program_is_a_run() {
        const fs::path run = root() / "events";
        // As Python's json module writes it: blanks after colons, and fields that we do not know.
        write_text(
            run / "events.jsonl",
            "{\"event\": \"step\", \"step\": 1, \"loss\": 2.0, \"temperature\": 36.6}\n"
            "{\"event\": \"step\", \"step\": 2, \"loss\": 1.5, \"time\": 12.0}\n"
            "{\"event\": \"evaluation\", \"step\": 2, \"metrics\": {\"validation/f1\": 0.5}}\n");
        const RunSummary summary = summarise_run(run);
        QCOMPARE(summary.source, RunSource::events);
        QCOMPARE(summary.problem, std::string());
        QCOMPARE(summary.step, 2);
        QCOMPARE(summary.last_loss, 1.5);
        QCOMPARE(summary.metric("validation/f1")->last, 0.5);
        QCOMPARE(read_curve(run, "train/loss").size(), std::size_t{2});
    }

    void runs_are_found_below_a_folder_and_not_inside_ours() {
        const fs::path top = root() / "found";
        const std::string record = framed_record(version_event(1));
        write_text(top / "events.out.tfevents.1.h", record);
        write_text(top / "a" / "b" / "events.out.tfevents.1.h", record);
        write_text(top / ".hidden" / "events.out.tfevents.1.h", record);
        write_text(top / "ours" / "run.json", "{}");
        write_text(top / "ours" / "metrics" / "events.out.tfevents.1.h", record);
        write_text(top / "empty" / "notes.txt", "nothing");
        fs::create_directory_symlink(top, top / "loop");
        const FoundRuns found = find_runs(top);
        QVERIFY(found.all);
        QCOMPARE(found.folders, (std::vector<fs::path>{top, top / "a" / "b", top / "ours"}));
        QVERIFY(find_runs(root() / "absent").folders.empty());
    }

    void notes_of_a_person_live_in_the_folder_and_win_over_the_configuration() {
        const fs::path run = root() / "noted";
        write_text(run / "config.json", R"({"tags": ["from config"], "notes": "planned"})");
        write_text(run / "events.jsonl", step_line(1, 1));
        QCOMPARE(summarise_run(run).annotations.tags, std::vector<std::string>{"from config"});
        QCOMPARE(summarise_run(run).annotations.notes, std::string("planned"));
        write_text(run / "annotations.json", R"({"colour": "red", "tags": []})");
        change_annotations(run, {{}, {{"good", "β"}, "why\nnot", true}});
        const RunSummary summary = summarise_run(run);
        QCOMPARE(summary.annotations, (Annotations{{"good", "β"}, "why\nnot", true}));
        std::ifstream file(run / "annotations.json");
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        QVERIFY(text.find("colour") != std::string::npos); // a newer program's key stays
        QVERIFY_THROWS_EXCEPTION(weft::Error,
                                 change_annotations(root() / "absent" / "x", {{}, {}}));
        QCOMPARE(parse_tags(" a, b ,a,, c d "), (std::vector<std::string>{"a", "b", "c d"}));
    }

    // Delete it, damage it, keep an old one: the list is the same.
    void the_cache_holds_nothing_that_the_folders_do_not() {
        const fs::path runs = root() / "cached";
        for (const char* name : {"2026-01-01_a_001", "2026-01-01_b_001"}) {
            write_text(runs / name / "config.json", R"({"optimizer": {"learning_rate": 0.1}})");
            RunInfo info;
            info.name = name;
            info.state = "stopped";
            info.environment = {{"threads", 2}};
            write_run_info(runs / name, info);
            write_text(runs / name / "events.jsonl",
                       to_line({1, 1, StateEvent{RunState::stopped, {}, {}, 0, 0}}) + "\n" +
                           step_line(1, std::numeric_limits<double>::quiet_NaN()) +
                           step_line(2, 1.5) + evaluation_line(2, 0.5, 0.25));
            change_annotations(runs / name, {{}, {{"x"}, name, false}});
        }
        const fs::path cache = root() / "cache" / "runs.json";
        const auto fresh = list_runs(runs);
        write_run_cache(cache, fresh);
        const auto cached = list_runs(runs, read_run_cache(cache));
        QCOMPARE(cached.size(), fresh.size());
        for (std::size_t i = 0; i < fresh.size(); ++i) {
            QCOMPARE(cached[i].folder, fresh[i].folder);
            QCOMPARE(cached[i].annotations, fresh[i].annotations);
            QVERIFY(cached[i].config == fresh[i].config);
            QCOMPARE(cached[i].step, 2);
            QCOMPARE(cached[i].last_loss, 1.5);
            QCOMPARE(*cached[i].metric("validation/accuracy")->best, 0.25);
            QVERIFY(std::isnan(cached[i].loss_curve.at(0).second));
            QCOMPARE(cached[i].info.environment.dump(), fresh[i].info.environment.dump());
        }
        // What was noted since is not taken from the cache.
        change_annotations(runs / "2026-01-01_a_001",
                           {{{"x"}, "", false}, {{"changed"}, "", false}});
        for (const RunSummary& run : list_runs(runs, read_run_cache(cache))) {
            QCOMPARE(run.annotations.tags.at(0),
                     std::string(run.info.name == "2026-01-01_a_001" ? "changed" : "x"));
        }
        write_text(cache, "{\"format\": 1, \"runs\": [{\"folder\": 3}]}");
        QVERIFY(read_run_cache(cache).empty());
        write_text(cache, "not json");
        QVERIFY(read_run_cache(cache).empty());
        fs::remove(cache);
        QVERIFY(read_run_cache(cache).empty());
        QCOMPARE(list_runs(runs).size(), std::size_t{2});
    }

    void words_of_a_filter_match_names_and_tags() {
        RunSummary run = named("Fashion MLP");
        run.annotations.tags = {"baseline", "lr sweep"};
        QVERIFY(match("", run));
        QVERIFY(match("fashion", run));
        QVERIFY(match("FASHION base", run));
        QVERIFY(!match("fashion cnn", run));
        QVERIFY(match("\"lr sweep\"", run));
        QVERIFY(!match("\"sweep lr\"", run));
        QVERIFY(match("tag:base", run));
        QVERIFY(!match("tag:fashion", run));
        QVERIFY(match("-cnn", run));
        QVERIFY(!match("-mlp", run));
        QVERIFY(match("state:finished", run));
        QVERIFY(match("2026-01-01", run)); // the folder
    }

    void numbers_of_a_filter_compare() {
        RunSummary run = named("a");
        run.best_value = 0.25;
        run.seconds = 7200;
        run.bytes = 5'000'000;
        run.step = 1000;
        run.info.parameters = 2'000'000;
        run.entry("validation/accuracy").note(10, 0.9);
        run.config = {{"optimizer", {{"learning_rate", 0.001}, {"type", "adamw"}}}};
        for (const char* held :
             {"best<0.3", "best<=0.25", "best=0.25", "best>=0.25", "best>-1", "time>=2h",
              "time<121m", "size<6MB", "size>4900kB", "step=1k", "parameters>1M",
              "validation/accuracy>0.8", "optimizer.learning_rate<2e-3", "optimizer.type:adam",
              "-best>0.3"}) {
            QVERIFY2(match(held, run), held);
        }
        for (const char* failed : {"best<0.25", "best>0.3", "time>2h", "loss<10"}) {
            QVERIFY2(!match(failed, run), failed);
        }
        run.best_value.reset();
        QVERIFY(!match("best<100", run)); // no value is not a small one
    }

    void terms_of_a_filter_may_be_joined_by_and() {
        RunSummary run = named("fashion and beyond");
        run.best_value = 0.25;
        QVERIFY(match("best < 0.3 and best > 0.2", run));
        QVERIFY(match("fashion AND best<0.3 and", run)); // more will be typed
        QVERIFY(!match("best < 0.3 and best > 0.26", run));
        run = named("fashion");
        run.best_value = 0.25;
        QVERIFY(match("fashion and best<0.3", run)); // no word to be found
        QVERIFY(!match("and", run));
        QVERIFY(!match("fashion \"and\"", run));
        QVERIFY(problem_of("best<0.3 or best>3").find("all terms must hold") != std::string::npos);
        QVERIFY(problem_of("or").empty());
    }

    void a_filter_says_what_it_does_not_understand() {
        QCOMPARE(problem_of("best<0.3 x"), std::string());
        QCOMPARE(problem_of("best<abc"),
                 std::string("best<abc: a number is expected after the sign, such as best<0.3"));
        QVERIFY(!problem_of("time>3w").empty());
        QVERIFY(!problem_of("\"open").empty());
        QVERIFY(!problem_of("<3").empty());
        QVERIFY(!problem_of("is:new").empty());
        QVERIFY(problem_of("\"a:b\" \"c<3\" - -").empty());
    }

    void a_name_may_be_cut_short_where_it_means_one_thing() {
        const RunSummary run = usual_run();
        for (const char* held :
             {"learning_rate > 1e-3", "learning_rate>1e-3", "learning_rate >1e-3",
              "learning_rate> 1e-3", "Optimizer.Learning_Rate >= 0.002", "weight_decay = 0.01",
              "groups.0.weight_decay = 0", "optimizer:adamw", "optimizer.type:adam", "hidden:256",
              "hidden.0 > 300", "validation/accuracy < 0.85", "-learning_rate < 1e-3",
              "a learning_rate > 1e-3 state:finished", "global_batch_size = 64",
              "train/learning_rate < 1e-3"}) {
            QCOMPARE(problem_of(held, names_of(run)), std::string());
            QVERIFY2(match(held, run), held);
        }
        for (const char* failed : {"learning_rate < 1e-3", "weight_decay < 0.001",
                                   "learning_rate > 1e-3 b", "learning_rate > -1 x"}) {
            QCOMPARE(problem_of(failed, names_of(run)), std::string());
            QVERIFY2(!match(failed, run), failed);
        }
        RunSummary other = named("b");
        other.config = {{"a.b", 3}}; // hyperparameters of other programs have any name
        QVERIFY(match("a.b = 3", other));
    }

    void a_short_name_of_several_is_said_with_all_of_them() {
        const RunSummary run = usual_run();
        QCOMPARE(problem_of("accuracy > 0.5", names_of(run)),
                 std::string("accuracy may be train/accuracy or validation/accuracy: write more "
                             "of it"));
        QCOMPARE(problem_of("type:adamw", names_of(run)),
                 std::string("type may be model.type or optimizer.type: write more of it"));
        QVERIFY(match("accuracy > 0.95", run)); // the rest of the filter holds
    }

    void an_unknown_name_is_said_with_the_nearest() {
        const RunNames names = names_of(usual_run());
        QCOMPARE(problem_of("lerning_rate > 1", names),
                 std::string("no run has lerning_rate: did you mean optimizer.learning_rate or "
                             "train/learning_rate?"));
        QCOMPARE(problem_of("batch_size > 1", names),
                 std::string("no run has batch_size: did you mean training.global_batch_size?"));
        QCOMPARE(problem_of("sate:failed", names),
                 std::string("no run has sate: did you mean state?"));
        QCOMPARE(problem_of("qwxyz > 1", names), std::string("no run has qwxyz"));
        QCOMPARE(problem_of("state > 1", names),
                 std::string("state is a text: write state:finished"));
        QVERIFY(problem_of("best:0.3", names).find("best is a number") == 0);
    }

    void what_can_stand_in_a_filter_is_offered() {
        const RunNames names = names_of(usual_run());
        const auto offered = [&](const char* text, std::size_t cursor) {
            return complete_filter(text, cursor, names);
        };
        FilterCompletion found = offered("tag:x lear < 3", 10);
        QCOMPARE(found.begin, std::size_t{6});
        QCOMPARE(found.end, std::size_t{10});
        QCOMPARE(found.words,
                 (std::vector<std::string>{"optimizer.learning_rate", "train/learning_rate"}));
        QCOMPARE(offered("-sta", 4).words, std::vector<std::string>{"state:"});
        QCOMPARE(offered("-sta", 4).begin, std::size_t{1});
        found = offered("state:f", 7);
        QCOMPARE(found.words, std::vector<std::string>{"finished"});
        QCOMPARE(found.begin, std::size_t{6});
        QCOMPARE(offered("is:", 3).words, std::vector<std::string>{"archived"});
        QVERIFY(offered("best < ", 7).words.empty()); // a number
        QVERIFY(offered("best < 3", 8).words.empty());
        QVERIFY(offered("best", 4).words == std::vector<std::string>{"best"});
        QCOMPARE(offered("", 0).words.size(), names.all().size());
    }

    void archived_runs_are_hidden_unless_asked_for() {
        RunSummary run = named("a");
        run.annotations.archived = true;
        QVERIFY(!match("", run));
        QVERIFY(!match("a", run));
        QVERIFY(match("is:archived a", run));
        QVERIFY(match("is:archived", named("b")));
    }

private:
    static fs::path tensorboard_file(const fs::path& run) {
        for (const auto& entry : fs::directory_iterator(run)) {
            return entry.path();
        }
        return {};
    }
};

WEFT_TEST(RunListTest)
#include "run_list_test.moc"
