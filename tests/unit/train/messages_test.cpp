// SPDX-License-Identifier: Apache-2.0
// Commands and events as JSON: the exact names of the interface page, and back again.
#include "core/train/record/event.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <limits>

namespace {

using namespace weft::train;
using weft::config::Json;

std::vector<std::string> keys_of(const Json& json) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) {
        keys.push_back(key);
    }
    return keys;
}

StepEvent some_step() {
    StepEvent step;
    step.step = 12;
    step.epoch = 0.25;
    step.loss = 2.302585093;
    step.learning_rate = 1e-3;
    step.grad_norm = 0.5;
    step.samples_per_s = 1e4;
    step.step_ms = 1.5;
    step.data_wait_ms = 0.1;
    step.memory_bytes = 123456789;
    return step;
}

class MessagesTest : public QObject {
    Q_OBJECT
    /// By way of a document: another key makes the line one that is not plain.
    static std::optional<Event> read_generally(std::string line) {
        const std::size_t end = line.rfind('}');
        return parse_event(end == std::string::npos ? line : line.insert(end, ",\"x\":{}"));
    }

private slots:
    void steps_are_read_alike_with_and_without_a_document() {
        StepEvent full = some_step();
        full.tokens_per_s = 1e6;
        full.mfu = 0.25;
        full.metrics = {{"train/accuracy", 0.5}, {"train/perplexity", 1e300}};
        std::vector<std::string> lines = {
            to_line({7, 1.5, some_step()}), to_line({8, 2.5, full}),
            R"({ "event": "step", "step": 3, "loss": -0, "epoch": 1E+2, "seq": 4 } )",
            R"({"event":"step","metrics":{},"step":9007199254740993,"loss":12345678901234567890})"};
        const std::size_t whole = lines.size();
        const std::string plain = R"({"event":"step","step":1,"loss":)";
        for (const char* value :
             {"01", "1.", ".5", "+1", "1e", "1e999", "1e-999", "-", "--1", "0x1", "nan", "\"nan\"",
              "null", "-0.0", "1 2", "\"1\"", "1e5", "[1]"}) {
            lines.push_back(plain + value + "}");
        }
        for (const char* rest :
             {R"("step":1.0})", R"("step":1e2})", R"("step":99999999999999999999})",
              R"("loss":1,"loss":2})", R"("metrics":{"a":1,"a":2}})",
              R"("metrics":{"a":1},"metrics":{"b":2}})", R"("event":"state"})"}) {
            lines.push_back(R"({"event":"step",)" + std::string(rest));
        }
        for (std::size_t i = 0; i < whole; ++i) {
            QVERIFY(parse_event(lines[i]).has_value());
            for (std::size_t at = 0; at < lines[i].size(); ++at) {
                const std::string line = lines[i];
                lines.push_back(line.substr(0, at) + line.substr(at + 1));
                for (const char c : {'"', ',', '0', '}', '{', ' ', '\\', '-', 'e'}) {
                    lines.push_back(line.substr(0, at) + c + line.substr(at + 1));
                }
            }
        }
        for (const std::string& line : lines) {
            const auto quick = parse_event(line);
            const auto general = read_generally(line);
            QVERIFY2(quick.has_value() == general.has_value(), line.c_str());
            QVERIFY2(!quick || to_line(*quick) == to_line(*general), line.c_str());
        }
    }

    void a_command_line_is_read() {
        const ParsedCommand parsed = parse_command(
            R"({"command": "set", "path": "checkpoint.every", "value": {"steps": 5}, "id": "7"})");
        QVERIFY(parsed.command.has_value());
        QVERIFY(parsed.command->kind == CommandKind::set);
        QCOMPARE(parsed.command->id, std::string("7"));
        QCOMPARE(parsed.command->argument["value"]["steps"].get<int>(), 5);
    }

    void every_command_survives_a_round_trip() {
        for (int i = 0; i <= static_cast<int>(CommandKind::evaluate); ++i) {
            Command command{static_cast<CommandKind>(i), "id-1", "studio", Json::object()};
            command.argument["steps"] = 3;
            const ParsedCommand back = parse_command(to_json(command).dump());
            QVERIFY(back.command.has_value());
            QVERIFY(back.command->kind == command.kind);
            QCOMPARE(back.command->id, command.id);
            QCOMPARE(back.command->by, command.by);
            QVERIFY(back.command->argument == command.argument);
        }
    }

    void bad_command_lines_are_refused_with_a_reason() {
        for (const char* line : {"", "pause", "[]", "{}", R"({"command": 3})",
                                 R"({"command": "puase"})", R"({"command": "pause")"}) {
            const ParsedCommand parsed = parse_command(line);
            QVERIFY2(!parsed.command.has_value(), line);
            QVERIFY2(!parsed.problem.empty(), line);
        }
        QVERIFY(parse_command(R"({"command": "puase"})").problem.find("pause") !=
                std::string::npos);
    }

    void events_carry_the_published_keys_in_order() {
        const auto keys = [](Payload payload) {
            return keys_of(to_json({1, 2.0, std::move(payload)}));
        };
        using List = std::vector<std::string>;
        QCOMPARE(keys(StateEvent{RunState::preparing, "why", "compiling", 0, 0}),
                 (List{"event", "seq", "time", "state", "reason", "phase"}));
        StepEvent step = some_step();
        step.tokens_per_s = 1.0;
        step.mfu = 0.5;
        QCOMPARE(keys(step), (List{"event", "seq", "time", "step", "epoch", "loss", "learning_rate",
                                   "grad_norm", "samples_per_s", "tokens_per_s", "step_ms",
                                   "data_wait_ms", "memory_bytes", "mfu"}));
        QCOMPARE(keys(OpeningEvent{}),
                 (List{"event", "seq", "time", "name", "unit", "done", "total", "bytes",
                       "total_bytes", "pass", "passes", "seconds"}));
        QCOMPARE(keys(EvaluationEvent{}), (List{"event", "seq", "time", "step", "metrics"}));
        QCOMPARE(keys(CheckpointEvent{}),
                 (List{"event", "seq", "time", "step", "path", "bytes", "blocked_ms", "write_ms",
                       "kept_for", "waited_ms"}));
        QCOMPARE(keys(SampleEvent{}), (List{"event", "seq", "time", "step", "path"}));
        QCOMPARE(keys(SystemEvent{}), (List{"event", "seq", "time", "devices", "host"}));
        QCOMPARE(keys(DevicesEvent{}), (List{"event", "seq", "time", "step", "devices"}));
        QCOMPARE(keys(NoteEvent{}), (List{"event", "seq", "time", "message"}));
        QCOMPARE(keys(SkippedEvent{}),
                 (List{"event", "seq", "time", "step", "reason", "loss_scale", "skipped"}));
        QCOMPARE(keys(LoaderEvent{}),
                 (List{"event", "seq", "time", "step", "steps_ms", "wait_ms", "workers", "prefetch",
                       "ready", "samples", "read_ms", "decode_ms", "transform_ms", "batch_ms"}));
        QCOMPARE(keys(RecordingEvent{}),
                 (List{"event", "seq", "time", "step", "steps", "asked", "path", "cut_short"}));
        QCOMPARE(keys(RankEvent{}),
                 (List{"event", "seq", "time", "rank", "state", "host", "message"}));
        QCOMPARE(keys(RestartEvent{}),
                 (List{"event", "seq", "time", "attempt", "most", "exit_code", "reason"}));
        QCOMPARE(keys(DivergenceEvent{}),
                 (List{"event", "seq", "time", "step", "message", "path"}));
        QCOMPARE(keys(SettingsEvent{}),
                 (List{"event", "seq", "time", "step", "by", "path", "value"}));
        QCOMPARE(keys(WarningEvent{}), (List{"event", "seq", "time", "message", "hint"}));
        QCOMPARE(keys(ErrorEvent{}),
                 (List{"event", "seq", "time", "kind", "where", "message", "hint"}));
        QCOMPARE(keys(FinishedEvent{}),
                 (List{"event", "seq", "time", "steps", "seconds", "best", "last", "test"}));
    }

    void every_event_survives_a_round_trip() {
        StepEvent step = some_step();
        step.tokens_per_s = 3.5;
        step.mfu = 0.375;
        step.metrics = {{"train/accuracy", 0.5}};
        const std::vector<Payload> payloads{
            StateEvent{RunState::running, "on request", "", 12.5, 700},
            OpeningEvent{{"prices.csv", "rows", 412, 1000, 38, 91, 2, 2}, 12.5},
            step,
            EvaluationEvent{5, {{"validation/loss", 0.25}, {"validation/accuracy", 0.9}}},
            CheckpointEvent{
                5, "checkpoints/step-00000005", 99, 0.5, 2.5, {"newest", "best"}, 0.25, 7, 8, 9},
            SampleEvent{5, "samples/step-00000005.json"},
            SystemEvent{Json::array({"cpu"}), Json{{"name", "box"}}, {{"library_bytes", 7}}},
            DevicesEvent{5,
                         {{1.5, 0.25, 0.5, 640, 4096, 1.25, 0.125, 8192,
                           DevicesEvent::Gpu{1, "GPU", 8, 4, 0.5, 350, 700, 60}},
                          {.gpu = DevicesEvent::Gpu{2, "GPU", 8}}},
                         {{"data", true, 2, 0.5, 640, 1.5}, {"fsdp,tensor", false, 1, 0, 64, 0}},
                         {{{"F0", 0, 1.5}}}},
            ResumedEvent{"checkpoints/step-00000005", 5},
            CommandEvent{"7", "control", "pause", false, "the run is finished"},
            WarningEvent{"a", "b"},
            NoteEvent{"a"},
            SkippedEvent{5, "the gradient is not finite", 65536, 2},
            ErrorEvent{"diverged", "linear at layers.0", "m", "h", {{"label", 3, {"a=1", "b=2"}}}},
            FinishedEvent{10, 1.5, {{"validation/loss", 0.1}}, {{"validation/loss", 0.2}}, {}},
            LoaderEvent{5, 3, 1000, 120, 2, 4, 1.5, 640, 10, 80.5, 5, 2},
            RecordingEvent{5, 3, 20, "profile/step-00000005.json", "the run was stopped"},
            RankEvent{3, "lost", "node7", "its connection ended"},
            RestartEvent{1, 3, 6, "rank 1 on b was killed by signal 9"},
            DivergenceEvent{7, "what", "divergence/step-00000007.json", 5, 6},
            SettingsEvent{7, "studio", "evaluation.every", {{"steps", 3}}, true},
        };
        QCOMPARE(payloads.size(), std::variant_size_v<Payload>);
        for (const Payload& payload : payloads) {
            const Event event{42, 1700000000.125, payload};
            const auto back = parse_event(to_line(event));
            QVERIFY2(back.has_value(), event_name(payload).data());
            QCOMPARE(to_line(*back), to_line(event));
            QCOMPARE(back->payload.index(), payload.index());
        }
    }

    void numbers_that_are_not_finite_are_written_as_words() {
        StepEvent step;
        step.loss = std::numeric_limits<double>::quiet_NaN();
        step.grad_norm = -std::numeric_limits<double>::infinity();
        const Json json = to_json({1, 0, step});
        QCOMPARE(json["loss"].get<std::string>(), std::string("nan"));
        QCOMPARE(json["grad_norm"].get<std::string>(), std::string("-inf"));
        const auto back = parse_event(json.dump());
        QVERIFY(std::isnan(std::get<StepEvent>(back->payload).loss));
        QVERIFY(std::isinf(std::get<StepEvent>(back->payload).grad_norm));
    }

    void unknown_and_damaged_lines_give_nothing() {
        for (const char* line : {"", "{", "null", R"({"event": "future", "seq": 1, "time": 2})",
                                 R"({"event": "step", "step": "three"})",
                                 R"({"event": "state", "state": "dreaming"})"}) {
            QVERIFY2(!parse_event(line).has_value(), line);
        }
    }

    void bytes_that_are_not_text_never_lose_an_event() {
        const std::string line = to_line({1, 0, WarningEvent{"bad \xff byte", ""}});
        QVERIFY(parse_event(line).has_value());
    }
};

WEFT_TEST(MessagesTest)

} // namespace
#include "messages_test.moc"
