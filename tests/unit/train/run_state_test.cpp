// SPDX-License-Identifier: Apache-2.0
// The run state machine against a table of every (state, input) and (state, command) pair.
#include "core/train/control/run_state.h"
#include "tests/support/weft_test.h"

#include <map>

namespace {

using namespace weft::train;
using S = RunState;

constexpr S kStates[] = {S::idle,   S::validating, S::preparing, S::running, S::paused,
                         S::saving, S::stopping,   S::finished,  S::stopped, S::failed};

RunStateMachine machine_in(S state) {
    RunStateMachine m;
    const auto feed = [&](std::initializer_list<RunInput> inputs) {
        for (const RunInput input : inputs) {
            m.apply(input);
        }
    };
    using I = RunInput;
    switch (state) {
    case S::idle: break;
    case S::validating: feed({I::start}); break;
    case S::preparing: feed({I::start, I::validated}); break;
    case S::running: feed({I::start, I::validated, I::prepared}); break;
    case S::paused:
        feed({I::start, I::validated, I::prepared});
        m.apply(CommandKind::pause);
        m.apply(I::step_done);
        break;
    case S::saving: feed({I::start, I::validated, I::prepared, I::save_begun}); break;
    case S::stopping:
        feed({I::start, I::validated, I::prepared});
        m.apply(CommandKind::stop);
        break;
    case S::finished: feed({I::start, I::validated, I::prepared, I::length_reached, I::end}); break;
    case S::stopped: feed({I::start, I::validated, I::prepared, I::end}); break;
    case S::failed: feed({I::start, I::fault}); break;
    }
    return m;
}

// One letter per state in the order of kStates, the state after the input.
S state_of(char letter) {
    static const std::map<char, S> kLetters{
        {'i', S::idle},    {'v', S::validating}, {'p', S::preparing}, {'R', S::running},
        {'P', S::paused},  {'S', S::saving},     {'X', S::stopping},  {'F', S::finished},
        {'O', S::stopped}, {'E', S::failed}};
    return kLetters.at(letter);
}

struct InputRow {
    RunInput input;
    const char* name;
    const char* after; // from i v p R P S X F O E
};
constexpr InputRow kInputs[] = {
    {RunInput::start, "start", "vvpRPSXFOE"},
    {RunInput::validated, "validated", "ippRPSXFOE"},
    {RunInput::prepared, "prepared", "ivRRPSXFOE"},
    {RunInput::step_done, "step done", "ivpRPSXFOE"},
    {RunInput::save_begun, "save begun", "ivpSSSXFOE"},
    {RunInput::save_done, "save done", "ivpRPRXFOE"},
    {RunInput::length_reached, "length reached", "ivpRRSXFOE"},
    {RunInput::end, "end", "iOOOOOOFOE"},
    {RunInput::fault, "fault", "EEEEEEEFOE"},
};

struct CommandRow {
    CommandKind command;
    const char* after;    // from i v p R P S X F O E
    const char* accepted; // y or n
};
constexpr CommandRow kCommands[] = {
    {CommandKind::pause, "ivpRPSXFOE", "yyyyyynnnn"},
    {CommandKind::resume, "ivpRRSXFOE", "yyyyyynnnn"},
    {CommandKind::step, "ivpRRSXFOE", "nnnnynnnnn"},
    {CommandKind::checkpoint, "ivpRPSXFOE", "nyyyyynnnn"},
    {CommandKind::evaluate, "ivpRPSXFOE", "nyyyyynnnn"},
    {CommandKind::extend, "ivpRPSXFOE", "nyyyyynnnn"},
    {CommandKind::set, "ivpRPSXFOE", "nyyyyynnnn"},
    {CommandKind::profile, "ivpRPSXFOE", "nyyyyynnnn"},
    {CommandKind::stop, "OXXXXXXFOE", "yyyyyyynnn"},
    {CommandKind::stop_now, "OXXXXXXFOE", "yyyyyyynnn"},
};

class RunStateTest : public QObject {
    Q_OBJECT
private slots:
    void every_input_in_every_state_follows_the_table() {
        for (const InputRow& row : kInputs) {
            for (std::size_t i = 0; i < std::size(kStates); ++i) {
                RunStateMachine m = machine_in(kStates[i]);
                QCOMPARE(m.state(), kStates[i]);
                const bool changed = m.apply(row.input);
                const S expected = state_of(row.after[i]);
                const std::string place =
                    std::string(row.name) + " in " + std::string(state_name(kStates[i]));
                QVERIFY2(m.state() == expected, place.c_str());
                QVERIFY2(changed == (expected != kStates[i]), place.c_str());
            }
        }
    }

    void every_command_in_every_state_follows_the_table() {
        for (const CommandRow& row : kCommands) {
            for (std::size_t i = 0; i < std::size(kStates); ++i) {
                RunStateMachine m = machine_in(kStates[i]);
                const bool accepted = m.apply(row.command);
                const std::string place = std::string(command_name(row.command)) + " in " +
                                          std::string(state_name(kStates[i]));
                QVERIFY2(m.state() == state_of(row.after[i]), place.c_str());
                QVERIFY2(accepted == (row.accepted[i] == 'y'), place.c_str());
                QVERIFY2(accepted || !refusal(row.command, kStates[i]).empty(), place.c_str());
            }
        }
    }

    void a_pause_during_preparation_starts_paused() {
        RunStateMachine m = machine_in(S::preparing);
        m.apply(CommandKind::pause);
        m.apply(RunInput::prepared);
        QCOMPARE(m.state(), S::paused);
    }

    void start_then_pause_then_resume_before_preparing_ends_running() {
        RunStateMachine m;
        m.apply(RunInput::start);
        m.apply(CommandKind::pause);
        m.apply(CommandKind::resume);
        m.apply(RunInput::validated);
        m.apply(RunInput::prepared);
        QCOMPARE(m.state(), S::running);
    }

    void a_single_step_runs_one_step_and_pauses_again() {
        RunStateMachine m = machine_in(S::paused);
        QVERIFY(m.apply(CommandKind::step));
        QCOMPARE(m.state(), S::running);
        QVERIFY(m.wanted().single_step);
        m.apply(RunInput::step_done);
        QCOMPARE(m.state(), S::paused);
        QVERIFY(!m.wanted().single_step);
    }

    void duplicate_requests_change_nothing() {
        RunStateMachine m = machine_in(S::running);
        QVERIFY(m.apply(CommandKind::pause));
        QVERIFY(m.apply(CommandKind::pause));
        m.apply(RunInput::step_done);
        QCOMPARE(m.state(), S::paused);
        QVERIFY(m.apply(CommandKind::resume));
        QVERIFY(m.apply(CommandKind::resume));
        QCOMPARE(m.state(), S::running);
        QVERIFY(m.apply(CommandKind::stop));
        QVERIFY(m.apply(CommandKind::stop));
        QCOMPARE(m.state(), S::stopping);
        QVERIFY(!m.wanted().stop_now);
    }

    void a_save_returns_to_what_was_asked_meanwhile() {
        RunStateMachine m = machine_in(S::saving);
        m.apply(CommandKind::pause);
        m.apply(RunInput::save_done);
        QCOMPARE(m.state(), S::paused);
        m.apply(RunInput::save_begun);
        m.apply(CommandKind::resume);
        m.apply(RunInput::save_done);
        QCOMPARE(m.state(), S::running);
    }

    void stop_during_a_save_is_not_forgotten() {
        RunStateMachine m = machine_in(S::saving);
        m.apply(CommandKind::stop);
        m.apply(RunInput::save_done);
        QCOMPARE(m.state(), S::stopping);
        m.apply(RunInput::end);
        QCOMPARE(m.state(), S::stopped);
    }

    void stop_now_outranks_a_reached_length() {
        RunStateMachine m = machine_in(S::running);
        m.apply(RunInput::length_reached);
        m.apply(CommandKind::stop_now);
        m.apply(RunInput::end);
        QCOMPARE(m.state(), S::stopped);
    }

    void a_carried_out_request_is_cleared() {
        RunStateMachine m = machine_in(S::running);
        m.apply(CommandKind::checkpoint);
        QVERIFY(m.wanted().save);
        m.done(&Wanted::save);
        QVERIFY(!m.wanted().save);
    }
};

WEFT_TEST(RunStateTest)

} // namespace
#include "run_state_test.moc"
