// SPDX-License-Identifier: Apache-2.0
// What goes wrong, and how the program says so: exit codes, diagnostics, and what is left behind.
#include "core/base/file.h"
#include "core/checkpoint/checkpoint.h"
#include "core/train/record/run_folder.h"
#include "core/train/record/run_summary.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <csignal>
#include <fstream>
#include <set>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

using namespace weft::test;
using namespace weft::train;
using weft::config::Json;
using weft::config::json_of;
namespace fs = std::filesystem;

class ExitCodeTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;

    QString changed(const char* name, const char* changes) const {
        return write_config(path(name), json_of(changes));
    }
    // A run that pauses at once, long enough to talk to.
    QStringList long_run(const char* name) const {
        return {"train",     config_, "--run-dir", text(name),
                "--control", "stdin", "--set",     "training.length={\"steps\": 100000000}"};
    }

private slots:
    void initTestCase() { config_ = write_config(path("configs")); }

    void bad_usage_exits_2() {
        QCOMPARE(run_weft({}).code, 2);
        QCOMPARE(run_weft({"trian", config_}).code, 2);
        QCOMPARE(run_weft({"train"}).code, 2);
        QCOMPARE(run_weft({"train", text("absent.json")}).code, 2);
        QCOMPARE(run_weft({"resume", text("absent")}).code, 2);
        QCOMPARE(run_weft({"--help"}).code, 0);
        QCOMPARE(run_weft({"train", "--help"}).code, 0);
    }

    void numbers_out_of_bounds_are_refused_in_words() {
        const Finished seed = run_weft({"generate", text("absent"), "--seed", "-1"});
        QCOMPARE(seed.code, 2);
        QVERIFY2(seed.err.find("'-1' is refused: it must be 0 or more") != std::string::npos,
                 seed.err.c_str());
        const Finished samples = run_weft({"generate", text("absent"), "--samples", "0"});
        QCOMPARE(samples.code, 2);
        QVERIFY2(samples.err.find("'0' is refused: it must be above 0") != std::string::npos,
                 samples.err.c_str());
    }

    void targets_that_are_no_shares_are_refused() {
        const fs::path table = path("shares.csv");
        std::ofstream file(table);
        file << "a,b,t\n";
        for (int i = 0; i < 40; ++i) {
            file << i << "," << i % 7 << "," << (i == 17 ? "3.5" : "0.25") << "\n";
        }
        file.close();
        const Json document{
            {"data", {{"train", {{"type", "csv"}, {"path", table.string()}, {"targets", "t"}}}}},
            {"model", {{"type", "mlp"}, {"hidden", {4}}}},
            {"loss", {{"type", "bce"}}}};
        const fs::path config = path("shares.json");
        std::ofstream(config) << document.dump();
        const Finished run = run_weft(
            {"train", QString::fromStdString(config.string()), "--run-dir", text("shares")});
        QCOMPARE(run.code, 3);
        QVERIFY2(run.err.find("a target is 3.5, but loss bce takes targets from 0 to 1") !=
                     std::string::npos,
                 run.err.c_str());
    }

    void seven_mistakes_give_seven_diagnostics_and_nothing_is_created() {
        const QString bad = changed("bad", R"({
            "sede": 1,
            "model": {"type": "mpl"},
            "optimizer": {"type": "adamw", "learning_rate": "fast"},
            "training": {"length": {"steps": 10, "epochs": 2}, "global_batch_size": 0},
            "evaluation": {"samples": -1},
            "checkpoint": {"keep_latest": 0}
        })");
        const Finished check = run_weft({"check", bad, "--json"});
        QCOMPARE(check.code, 2);
        std::set<std::string> pointers;
        const Json page = json_of(check.out);
        for (const Json& diagnostic : page["diagnostics"]) {
            QVERIFY(!diagnostic["message"].get<std::string>().empty());
            pointers.insert(diagnostic["pointer"].get<std::string>());
        }
        const std::set<std::string> expected{"/sede",
                                             "/model/type",
                                             "/optimizer/learning_rate",
                                             "/training/length",
                                             "/training/global_batch_size",
                                             "/evaluation/samples",
                                             "/checkpoint/keep_latest"};
        QVERIFY2(pointers == expected, check.out.c_str());
        QCOMPARE(page["diagnostics"].size(), std::size_t{7});
        const Finished train = run_weft({"train", bad, "--run-dir", text("never")},
                                        {"WEFT_RUNS=" + text("never_runs")});
        QCOMPARE(train.code, 2);
        QVERIFY(!fs::exists(path("never")));
        QVERIFY(!fs::exists(path("never_runs")));
    }

    void unavailable_devices_are_refused_by_name() {
        const Finished run =
            run_weft({"train", config_, "--devices", "cuda", "--run-dir", text("cuda")});
        QCOMPARE(run.code, 2);
        QVERIFY(run.err.find("cuda") != std::string::npos);
        QVERIFY(!fs::exists(path("cuda")));
    }

    void several_processes_are_refused() {
        const Finished run = run_weft({"doctor"}, {"WORLD_SIZE=2"});
        QCOMPARE(run.code, 2);
        QVERIFY(run.err.find("WORLD_SIZE") != std::string::npos);
        QCOMPARE(run_weft({"doctor"}, {"WORLD_SIZE=1"}).code, 0);
    }

    void missing_data_exits_3() {
        const QString config = changed("no_data", R"({"data": {"train": null}})");
        std::ofstream(config.toStdString())
            << R"({"data": {"train": {"type": "idx", "path": "absent"}},
                                                  "model": {"type": "mlp", "hidden": [8]}})";
        QCOMPARE(run_weft({"train", config, "--run-dir", text("no_data_run")}).code, 3);
        QCOMPARE(run_weft({"check", config}).code, 3);
        QCOMPARE(summarise_run(path("no_data_run")).state, std::string("failed"));
    }

    void check_names_the_fields_whose_files_are_not_there() {
        const QString config = changed("lost", R"({"init": {"from": "gone.safetensors"}})");
        Json document = json_of(weft::read_file(config.toStdString()));
        document["data"]["train"] = {{"type", "csv"}, {"path", "absent.csv"}};
        std::ofstream(config.toStdString()) << document.dump();
        const Finished run = run_weft({"check", config, "--json"});
        QCOMPARE(run.code, 3);
        const Json found = json_of(run.out).at("diagnostics");
        QCOMPARE(found.size(), std::size_t{2});
        QCOMPARE(found[0].at("pointer"), Json("/data/train/path"));
        QCOMPARE(found[1].at("pointer"), Json("/init/from"));
        QVERIFY(found[0].at("message").get<std::string>().ends_with("absent.csv is not there"));
    }

    void a_folder_in_use_is_never_overwritten() {
        fs::create_directories(path("taken"));
        std::ofstream(path("taken") / "mine.txt") << "mine";
        QCOMPARE(run_weft({"train", config_, "--run-dir", text("taken")}).code, 2);
        QCOMPARE(weft::read_file(path("taken") / "mine.txt"), std::string("mine"));
    }

    void divergence_exits_5_and_names_the_op() {
        const QString config = changed("diverge", R"({
            "optimizer": {"type": "sgd", "learning_rate": 1e30},
            "lr_schedule": {"type": "constant", "warmup_steps": null},
            "training": {"precision": "f32", "max_grad_norm": null},
            "checkpoint": {"every": {"steps": 1}}
        })");
        const Finished run = run_weft({"train", config, "--run-dir", text("diverged"), "--events"});
        QVERIFY2(run.code == 5, (run.err + run.out).c_str());
        std::optional<ErrorEvent> error;
        std::int64_t last_step = 0;
        for (const Event& event : events_of(path("diverged"))) {
            if (const auto* found = std::get_if<ErrorEvent>(&event.payload)) {
                error = *found;
            } else if (const auto* step = std::get_if<StepEvent>(&event.payload)) {
                last_step = step->step;
            }
        }
        QVERIFY(error.has_value());
        QCOMPARE(error->kind, std::string("diverged"));
        // An op and the layer that it belongs to.
        QVERIFY2(error->where.find(" at ") != std::string::npos, error->where.c_str());
        QVERIFY(!error->ways_on.empty());
        QVERIFY(error->ways_on.size() <= 3);
        QCOMPARE(error->ways_on.front().from_step, last_step);
        // What is saved is good, and nothing was saved after it.
        QCOMPARE(run_weft({"checkpoint", "verify", text("diverged")}).code, 0);
        QCOMPARE(summarise_run(path("diverged")).last_checkpoint_step, last_step);
        QCOMPARE(summarise_run(path("diverged")).state, std::string("failed"));
    }

    void a_fork_that_diverges_before_its_first_save_goes_on_from_what_it_began_with() {
        const QString config = changed("diverge_fork", R"({
            "optimizer": {"type": "sgd", "learning_rate": 1e30},
            "lr_schedule": {"type": "constant", "warmup_steps": null},
            "training": {"precision": "f32", "max_grad_norm": null},
            "checkpoint": {"every": {"steps": 1}}
        })");
        QCOMPARE(run_weft({"train", config, "--run-dir", text("before_fork")}).code, 5);
        const std::int64_t saved = summarise_run(path("before_fork")).last_checkpoint_step;
        QVERIFY(saved > 0);
        const Finished fork =
            run_weft({"resume", text("before_fork"), "--fork", text("failed_fork")});
        QVERIFY2(fork.code == 5, (fork.err + fork.out).c_str());
        std::optional<ErrorEvent> error;
        for (const Event& event : events_of(path("failed_fork"))) {
            if (const auto* found = std::get_if<ErrorEvent>(&event.payload)) {
                error = *found;
            }
        }
        QVERIFY(error.has_value());
        QVERIFY(!error->ways_on.empty());
        QCOMPARE(error->ways_on.front().from_step, saved);
        QVERIFY2(error->ways_on.front().label.starts_with("Resume from step"),
                 error->ways_on.front().label.c_str());
        QCOMPARE(summarise_run(path("failed_fork")).step, saved);
    }

    void a_run_that_does_not_fit_exits_4_with_changes_that_do() {
        const QString config = changed("large", R"({"model": {"hidden": [256]},
                                 "training": {"global_batch_size": 1024, "precision": "f32"}})");
        const auto peak = [&](const QStringList& settings) {
            const Finished plan = run_weft(QStringList{"plan", config, "--json"} + settings);
            return json_of(plan.out)["devices"][0]["peak_bytes"].get<std::int64_t>();
        };
        const auto budget = (peak({}) + peak({"--set", "training.micro_batch_size=512"})) / 2;
        const QStringList limited{
            "--set", QString::fromStdString("training.memory_budget=" + std::to_string(budget))};

        const Finished run =
            run_weft(QStringList{"train", config, "--run-dir", text("too_large")} + limited);
        QCOMPARE(run.code, 4);
        QVERIFY2(run.err.find("training.memory_budget") != std::string::npos, run.err.c_str());
        QVERIFY2(run.err.find("--set training.micro_batch_size=") != std::string::npos,
                 run.err.c_str());
        QVERIFY2(run.err.find("train_step, ") != std::string::npos, run.err.c_str());
        QCOMPARE(summarise_run(path("too_large")).state, std::string("failed"));
        std::optional<ErrorEvent> refused;
        for (const Event& event : events_of(path("too_large"))) {
            if (const auto* found = std::get_if<ErrorEvent>(&event.payload)) {
                refused = *found;
            }
            const auto* state = std::get_if<StateEvent>(&event.payload);
            QVERIFY(state == nullptr || state->phase != "opening data");
        }
        QVERIFY(refused.has_value());
        QCOMPARE(refused->kind, std::string("memory"));
        QVERIFY(!refused->ways_on.empty());

        // The plan says the same, and what is offered does run.
        const Finished plan = run_weft(QStringList{"plan", config, "--json"} + limited);
        QCOMPARE(plan.code, 4);
        const Json document = json_of(plan.out);
        QVERIFY(!document["fits"].get<bool>());
        QCOMPARE(document["limit_bytes"].get<std::int64_t>(), budget);
        QCOMPARE(document["fixes"].size(), refused->ways_on.size());
        QStringList fixed = limited;
        for (const std::string& assignment : refused->ways_on.front().overrides) {
            fixed << "--set" << QString::fromStdString(assignment);
        }
        QCOMPARE(run_weft(QStringList{"train", config, "--run-dir", text("made_to_fit"),
                                      "--max-steps", "2"} +
                          fixed)
                     .code,
                 0);
    }

    void a_model_beyond_the_limits_of_the_process_exits_4_before_it_takes_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        QSKIP("a sanitizer takes terabytes of addresses for itself");
#endif
        const QString config = changed("gpt2_1558m", R"({
            "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 50257,
                               "features": null, "classes": null}},
            "model": {"type": "gpt2", "variant": "1558m", "hidden": null, "dropout": null},
            "training": {"global_batch_size": 64}})");
        QProcess process;
        // 4 GiB of addresses: the state alone needs 18.
        process.start("/bin/sh",
                      {"-c", "ulimit -v 4194304; exec \"$0\" \"$@\"", QStringLiteral(WEFT_PROGRAM),
                       "train", config, "--run-dir", text("gpt2_1558m_run")});
        QVERIFY(process.waitForFinished(120000));
        const std::string problem = process.readAllStandardError().toStdString();
        QVERIFY2(process.exitCode() == 4, problem.c_str());
        QVERIFY2(problem.find("ulimit -v") != std::string::npos, problem.c_str());
        QVERIFY2(problem.find("smaller model") != std::string::npos, problem.c_str());
    }

    void a_mesh_that_agrees_with_one_device_is_said_so() {
        const QStringList verify = {"plan", config_, "--devices", "cpu:2", "--verify", "2"};
        const Finished page = run_weft(verify);
        QCOMPARE(page.code, 0);
        QVERIFY2(page.out.find("they agree") != std::string::npos, page.out.c_str());
        const Finished json = run_weft(verify + QStringList{"--json"});
        QCOMPARE(json.code, 0);
        const Json found = json_of(json.out).at("verify");
        QVERIFY(found.at("agrees").get<bool>());
        QVERIFY(found.at("values").at("compared").get<int>() > 100);
        QVERIFY(found.at("values").at("first_difference").is_null());
    }

    void what_cannot_be_verified_exits_2() {
        const Finished one = run_weft({"plan", config_, "--verify", "2"});
        QCOMPARE(one.code, 2);
        QVERIFY2(one.err.find("--devices cpu:4") != std::string::npos, one.err.c_str());
        const Finished absent =
            run_weft({"plan", config_, "--hardware", "h200:2", "--verify", "2"});
        QCOMPARE(absent.code, 2);
        QVERIFY2(absent.err.find("--devices cpu:N") != std::string::npos, absent.err.c_str());
        QCOMPARE(run_weft({"plan", config_, "--devices", "cpu:2", "--verify", "0"}).code, 2);
    }

    void precisions_of_gpus_are_planned_for_gpus_and_refused_on_a_cpu() {
        for (const char* precision : {"tf32", "fp8"}) {
            const QString setting = QString("training.precision=") + precision;
            const Finished here = run_weft({"train", config_, "--set", setting, "--devices", "cpu",
                                            "--run-dir", text("eight")});
            QCOMPARE(here.code, 2);
            QVERIFY2(here.err.find("training.precision") != std::string::npos &&
                         here.err.find("--devices cuda") != std::string::npos,
                     here.err.c_str());
            QVERIFY(!fs::exists(path("eight")));
            const Finished there =
                run_weft({"plan", config_, "--set", setting, "--hardware", "h100"});
            QVERIFY2(there.code == 0, there.err.c_str());
        }
    }

    void hardware_that_cannot_be_planned_for_exits_2() {
        const Finished unknown = run_weft({"plan", config_, "--hardware", "h20"});
        QCOMPARE(unknown.code, 2);
        QVERIFY2(unknown.err.find("h200") != std::string::npos, unknown.err.c_str());
        const Finished none = run_weft({"plan", config_, "--hardware", "h200:0"});
        QCOMPARE(none.code, 2);
        const Finished several = run_weft(
            {"plan", config_, "--hardware", "h200:8", "--set", "mesh.axes=[[\"data\",3]]"});
        QCOMPARE(several.code, 2);
        QVERIFY2(several.err.find("data=3") != std::string::npos, several.err.c_str());
        QCOMPARE(run_weft({"plan", config_, "--hardware", "h200", "--devices", "cpu"}).code, 2);
        const Finished one = run_weft({"plan", config_, "--hardware", "h200", "--json"});
        QCOMPARE(one.code, 0);
        const Json document = json_of(one.out);
        QCOMPARE(document["devices"][0]["kind"].get<std::string>(), std::string("cuda"));
        QVERIFY(document["predicted_step_ms"].is_number());
    }

    void more_threads_than_cores_are_planned_and_run() {
        const QStringList threads{"OMP_NUM_THREADS=7"};
        QCOMPARE(run_weft({"plan", config_}, threads).code, 0);
        const Finished run =
            run_weft({"train", config_, "--run-dir", text("threads"), "--max-steps", "2"}, threads);
        QVERIFY2(run.code == 0, run.err.c_str());
    }

    void a_damaged_checkpoint_exits_3() {
        QCOMPARE(
            run_weft({"train", config_, "--run-dir", text("damaged"), "--max-steps", "2"}).code, 0);
        const auto manifest =
            weft::checkpoint::read_manifest(path("damaged") / "checkpoints" / "step-00000002");
        const weft::checkpoint::PieceInfo& piece = manifest.tensors.front().pieces.front();
        std::fstream file(manifest.path / piece.shard,
                          std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(piece.offset);
        const char flipped = static_cast<char>(~file.get());
        file.seekp(piece.offset);
        file.put(flipped);
        file.close();
        QCOMPARE(run_weft({"checkpoint", "verify", text("damaged")}).code, 3);
        QCOMPARE(run_weft({"resume", text("damaged")}).code, 3);
    }

    void a_change_that_does_not_fit_the_weights_exits_2() {
        QCOMPARE(run_weft({"train", config_, "--run-dir", text("fits"), "--max-steps", "1"}).code,
                 0);
        const Finished resumed = run_weft(
            {"resume", text("fits"), "--set", "model.hidden=[25]", "--fork", text("fits_not")});
        QCOMPARE(resumed.code, 2);
        QVERIFY(resumed.err.find("model.hidden") != std::string::npos);
        QVERIFY(!fs::exists(path("fits_not")));
    }

    void a_run_that_is_being_trained_is_not_trained_twice() {
        LiveWeft live(long_run("twice"));
        QVERIFY(live.wait_for_step(8).has_value()); // step 7 is saved
        const Finished second = run_weft({"resume", text("twice")});
        QCOMPARE(second.code, 1);
        QVERIFY2(second.err.find("process") != std::string::npos, second.err.c_str());
        live.send(R"({"command": "stop_now"})");
        QCOMPARE(live.finish(), 130);
    }

    void signals_become_commands() {
        LiveWeft live(long_run("signals"));
        QVERIFY(live.wait_for_step(1).has_value());
        live.signal(SIGUSR1);
        const auto saved = live.wait_for([](const Event& event) {
            const auto* found = std::get_if<CommandEvent>(&event.payload);
            return found != nullptr && found->command == "checkpoint" && found->by == "signal";
        });
        QVERIFY(saved.has_value());
        live.signal(SIGINT);
        QCOMPARE(live.finish(), 75);
        QCOMPARE(summarise_run(path("signals")).state, std::string("stopped"));
    }

    void a_terminal_that_closes_stops_and_saves() {
        LiveWeft live(long_run("hangup"));
        QVERIFY(live.wait_for_step(1).has_value());
        live.signal(SIGHUP);
        QCOMPARE(live.finish(), 75);
        const RunSummary run = summarise_run(path("hangup"));
        QCOMPARE(run.state, std::string("stopped"));
        QCOMPARE(run.last_checkpoint_step, run.step);
    }

    void a_run_under_nohup_does_not_hear_the_terminal_close() {
        std::signal(SIGHUP, SIG_IGN); // inherited, as from nohup
        LiveWeft live(long_run("nohup"));
        const auto before = live.wait_for_step(1);
        std::signal(SIGHUP, SIG_DFL);
        QVERIFY(before.has_value());
        live.signal(SIGHUP);
        const auto* step = std::get_if<StepEvent>(&before->payload);
        QVERIFY(live.wait_for_step(step->step + 3).has_value());
        live.send(R"({"command": "stop_now"})");
        QCOMPARE(live.finish(), 130);
    }

    void bad_lines_on_control_do_not_disturb_the_run() {
        LiveWeft live(long_run("bad_lines"));
        QVERIFY(live.wait_for_step(1).has_value());
        live.send("rubbish");
        live.send(R"({"command": "set", "path": "seed", "value": 1, "id": "no"})");
        const auto refused = live.wait_for_answer("no");
        QVERIFY(refused.has_value() && !refused->accepted && !refused->reason.empty());
        live.send(
            R"({"command": "set", "path": "training.length", "value": {"steps": 1}, "id": "yes"})");
        QVERIFY(live.wait_for_answer("yes")->accepted);
        QCOMPARE(live.finish(), 0);
    }

    void a_failed_save_pauses_the_run_and_it_goes_on() {
        LiveWeft live(long_run("no_room"));
        QVERIFY(live.wait_for_step(1).has_value());
        live.send(R"({"command": "set", "path": "checkpoint.every", "value": null})");
        live.send(R"({"command": "pause"})");
        QVERIFY(live.wait_for_state(RunState::paused).has_value());
        const fs::path folder = path("no_room") / "checkpoints";
        fs::rename(folder, path("aside"));
        std::ofstream(folder) << "in the way";
        live.send(R"({"command": "resume"})");
        live.send(R"({"command": "checkpoint"})");
        const auto warning = live.wait_for(
            [](const Event& event) { return std::holds_alternative<WarningEvent>(event.payload); });
        QVERIFY(warning.has_value());
        QVERIFY(live.wait_for_state(RunState::paused).has_value());
        fs::remove(folder);
        fs::rename(path("aside"), folder);
        live.send(R"({"command": "resume"})");
        live.send(R"({"command": "stop"})");
        QCOMPARE(live.finish(), 75);
        QCOMPARE(run_weft({"checkpoint", "verify", text("no_room")}).code, 0);
    }

    void the_control_socket_is_private_and_speaks_both_ways() {
        const std::string socket_path = path("c.sock").string();
        LiveWeft live({"train", config_, "--run-dir", text("socket"), "--control",
                       QString::fromStdString(socket_path), "--set",
                       "training.length={\"steps\": 100000000}"});
        QVERIFY(live.wait_for_step(1).has_value());
        struct stat status {};
        QCOMPARE(::stat(socket_path.c_str(), &status), 0);
        QCOMPARE(status.st_mode & 0777, mode_t{0600});
        const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::copy(socket_path.begin(), socket_path.end(), address.sun_path);
        QCOMPARE(::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        const std::string line = "{\"command\": \"stop\", \"id\": \"x9\"}\n";
        QCOMPARE(::write(client, line.data(), line.size()), static_cast<ssize_t>(line.size()));
        std::string heard;
        char bytes[4096];
        for (ssize_t n = 1; n > 0 && heard.find("x9") == std::string::npos;) {
            n = ::read(client, bytes, sizeof bytes);
            heard.append(bytes, static_cast<std::size_t>(std::max<ssize_t>(0, n)));
        }
        ::close(client);
        QVERIFY(heard.find("\"id\":\"x9\"") != std::string::npos);
        QCOMPARE(live.finish(), 75);
        QVERIFY(!fs::exists(socket_path));
    }

    void output_that_is_no_terminal_is_plain_lines() {
        const Finished run = run_weft({"train", config_, "--run-dir", text("plain")});
        QCOMPARE(run.code, 0);
        QVERIFY(run.out.find("Finished 40 steps") != std::string::npos);
        QVERIFY(run.out.find_first_of("\r\033") == std::string::npos);
    }

    void machine_readable_pages_are_json() {
        QVERIFY(json_of(run_weft({"doctor", "--json"}).out)["cpu"]["usable_cores"].get<int>() >= 1);
        QVERIFY(json_of(run_weft({"help", "schema"}).out).contains("properties"));
        const Json plan = json_of(run_weft({"plan", config_, "--json"}).out);
        // 12 x 24 + 24 + 24 x 4 + 4.
        QCOMPARE(plan["parameters"].get<int>(), 412);
        QVERIFY(plan["devices"][0]["peak_bytes"].get<std::int64_t>() > 0);
        QVERIFY(run_weft({"help", "config"}).out.find("global_batch_size") != std::string::npos);
        QCOMPARE(run_weft({"help", "nothing-like-it"}).code, 2);
    }
};

WEFT_TEST(ExitCodeTest)

} // namespace
#include "exit_code_test.moc"
