// SPDX-License-Identifier: Apache-2.0
// The pages of the reference against what is written: events with every key, commands, states,
// errors.
#include "core/train/reference/reference.h"

#include "core/base/error.h"
#include "core/train/control/command.h"
#include "core/train/control/live_settings.h"
#include "core/train/record/event.h"
#include "tests/support/reference_names.h"
#include "tests/support/weft_test.h"

using namespace weft;
using namespace weft::train;
using Names = std::set<std::string>;

namespace {

Names words_of(const ReferencePage& page, std::string_view section) {
    Names out;
    if (const ReferenceSection* found = page.find(section)) {
        for (const ReferenceName& name : found->names) {
            out.emplace(name.name);
        }
    }
    return out;
}

std::string text_of(const Names& names) {
    std::string out;
    for (const std::string& name : names) {
        out += (out.empty() ? "" : ", ") + name;
    }
    return out;
}

/// One event of each kind, every key with something to say.
std::vector<Payload> full_events() {
    const Metrics metrics = {{"train/accuracy", 0.5}};
    StepEvent step;
    step.tokens_per_s = 1;
    step.mfu = 0.1;
    step.metrics = metrics;
    DevicesEvent devices;
    devices.devices.emplace_back().gpu = {1, "GPU", 8, 4, 0.5, 350, 700, 60};
    devices.devices.front().host = "node1";
    LoaderEvent loader;
    loader.rank = 1;
    devices.links = {{"data", true, 2, 1, 64, 1}};
    devices.stages = {{{"F0", 0, 1}}};
    return {StateEvent{RunState::running, "why", "compiling", 1, 5},
            OpeningEvent{},
            step,
            EvaluationEvent{1, metrics},
            CheckpointEvent{1, "checkpoints/step-00000001", 1, 1, 1, {"by hand"}, 1, 1, 1, 1},
            SampleEvent{1, "samples/step-00000001.json"},
            SystemEvent{config::Json::array(), config::Json::object(), config::Json::object()},
            devices,
            ResumedEvent{"checkpoints/step-00000001", 1},
            CommandEvent{"7", "control", "pause", false, "why"},
            WarningEvent{"what", "do"},
            ErrorEvent{"memory", "where", "what", "do", {{"label", 1, {"a=1"}}}},
            FinishedEvent{1, 1, metrics, metrics, metrics},
            NoteEvent{"what"},
            SkippedEvent{1, "why", 2, 3},
            loader,
            RecordingEvent{},
            RankEvent{},
            RestartEvent{},
            DivergenceEvent{1, "what", "divergence/step-00000001.json", 1, 1},
            SettingsEvent{1, "studio", "training.log_every", 2, true}};
}

} // namespace

class ReferenceTest : public QObject {
    Q_OBJECT

private slots:
    void events_have_the_keys_of_their_page() {
        const Names every = words_of(events_page(), "Every event");
        const auto all = full_events();
        QCOMPARE(all.size(), std::variant_size_v<Payload>);
        for (std::size_t i = 0; i < all.size(); ++i) {
            QCOMPARE(all[i].index(), i);
            const std::string name(event_name(all[i]));
            Names said = words_of(events_page(), name);
            said.insert(every.begin(), every.end());
            Names written;
            test::add_names(to_json(Event{1, 1, all[i]}), "", said, written);
            QVERIFY2(written == said,
                     (name + " writes " + text_of(written) + "; the page says " + text_of(said))
                         .c_str());
        }
    }

    void no_page_of_an_event_is_of_none() {
        Names events = {"Every event", "States"};
        for (const Payload& payload : full_events()) {
            events.emplace(event_name(payload));
        }
        Names sections;
        for (const ReferenceSection& section : events_page().sections) {
            sections.emplace(section.title);
        }
        QVERIFY2(sections == events, text_of(sections).c_str());
    }

    void states_are_all_there() {
        Names states;
        for (int i = 0; i <= int(RunState::failed); ++i) {
            states.emplace(state_name(static_cast<RunState>(i)));
        }
        QVERIFY2(words_of(events_page(), "States") == states, text_of(states).c_str());
    }

    void commands_are_all_there() {
        Names commands;
        for (int i = 0; i <= int(CommandKind::profile); ++i) {
            commands.emplace(command_name(static_cast<CommandKind>(i)));
        }
        const Names said = words_of(commands_page(), "Names");
        QVERIFY2(said == commands, text_of(commands).c_str());
        for (const std::string& name : said) {
            QVERIFY2(parse_command("{\"command\": \"" + name + "\"}").command, name.c_str());
        }
        Names keys;
        test::add_names(to_json(Command{CommandKind::pause, "7", "control"}), "", {}, keys);
        QVERIFY2(words_of(commands_page(), "Every command") == keys, text_of(keys).c_str());
    }

    void what_set_changes_is_what_the_page_says() {
        const Names paths = words_of(commands_page(), "Settings that `set` changes");
        LiveSettings settings;
        settings.freezable = true;
        settings.base_learning_rate = 1e-3;
        for (const std::string& path : paths) {
            const bool is_rate =
                path == "learning_rate_multiplier" || path == "optimizer.learning_rate";
            const config::Json value = is_rate                    ? config::Json(0.5)
                                       : path.ends_with("_every") ? config::Json(10)
                                       : path == "frozen" ? config::Json::array({"layers.0"})
                                                          : config::Json{{"steps", 10}};
            const std::string problem = apply_set(settings, {{"path", path}, {"value", value}});
            QVERIFY2(problem.empty(), problem.c_str());
        }
        Names live;
        test::add_names(to_json(settings), "", {"length", "evaluation_every", "checkpoint_every"},
                        live);
        // extra_steps is of `extend`; two paths set the rate.
        QCOMPARE(live.size(), paths.size());
    }

    void kinds_of_errors_have_their_exit_codes() {
        const ReferenceSection* kinds = errors_page().find("Kinds");
        QVERIFY(kinds != nullptr);
        QCOMPARE(kinds->names.size(), std::size_t(ErrorKind::device) + 1);
        for (int i = 0; i <= int(ErrorKind::device); ++i) {
            const auto kind = static_cast<ErrorKind>(i);
            const ReferenceName& said = kinds->names[std::size_t(i)];
            QCOMPARE(said.name, error_kind_name(kind));
            QCOMPARE(std::string(said.type), "exit " + std::to_string(exit_code(kind)));
        }
    }

    void pages_are_found_and_written() {
        for (const ReferencePage* page : reference_pages()) {
            QVERIFY(find_page(page->topic) == page);
            const std::string text = to_markdown(*page);
            for (const ReferenceSection& section : page->sections) {
                QVERIFY(text.find("\n## " + std::string(section.title) + "\n") !=
                        std::string::npos);
                for (const ReferenceName& name : section.names) {
                    QVERIFY(text.find("| `" + std::string(name.name) + "` |") != std::string::npos);
                    QVERIFY2(name.meaning.ends_with("."), std::string(name.name).c_str());
                }
            }
        }
        QVERIFY(find_page("nothing") == nullptr);
    }
};

WEFT_TEST(ReferenceTest)
#include "reference_test.moc"
