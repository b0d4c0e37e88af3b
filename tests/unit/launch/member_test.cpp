// SPDX-License-Identifier: Apache-2.0
// Commands that start ranks, run: a stand-in for ssh does what sshd does with its words, and weft
// is a script that says how it was started.
#include "core/launch/check_hosts.h"
#include "core/launch/local_members.h"
#include "core/launch/mpirun_member.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"
#include "tests/unit/launch/launch_support.h"

#include <algorithm>

using namespace weft;
using namespace weft::launch;

namespace {

constexpr const char* kTellAll =
    "for name in RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT "
    "WEFT_RUN_SECRET; do eval \"printf '%s=%s\\n' $name \\\"\\$$name\\\"\"; done\n"
    "for word; do printf '<%s>\\n' \"$word\"; done\n";

// Drops options and the host, as ssh does, and gives the rest to the user's shell in one text.
constexpr const char* kStandIn = "while [ \"$1\" != -- ]; do shift; done; shift; shift\n"
                                 "exec sh -c \"$*\"\n";

bool holds(const std::vector<std::string>& words, const std::vector<std::string>& wanted) {
    return std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end();
}

} // namespace

class LaunchMemberTest : public QObject, private test::TestFolder {
    Q_OBJECT

    std::filesystem::path programs_;

    LaunchRequest request_with(const std::string& body) {
        LaunchRequest out = test::some_request();
        out.program = test::write_program(programs_ / "it's weft", body);
        return out;
    }

private slots:
    void initTestCase() {
        programs_ = path("programs");
        std::filesystem::create_directories(programs_);
        test::write_program(programs_ / "ssh", kStandIn);
    }

    void processes_get_the_variables_of_torchrun_and_the_secret() {
        const LaunchRequest request = test::some_request();
        const std::vector<Member> members = process_members(request, false);
        QCOMPARE(members.size(), std::size_t{3});
        QCOMPARE(members[1].words.front(), request.program);
        QVERIFY(std::equal(request.begin.begin(), request.begin.end(), members[1].words.begin() + 1,
                           members[1].words.end()));
        QVERIFY(members[2].variables.back() == Variable(kSecretVariable, "00ff00ff"));
        QVERIFY(members[2].variables.front() == Variable("RANK", "2"));
        QCOMPARE(process_members(request, true)[0].words,
                 (std::vector<std::string>{request.program, "resume", "/runs/one of many"}));
    }

    void a_printed_line_starts_the_same() {
        const LaunchRequest request = request_with(kTellAll);
        const Member member = process_members(request, false)[2];
        const test::Ran ran = test::run_words({"sh", "-c", member_line(member)});
        QCOMPARE(ran.out, std::string("RANK=2\nWORLD_SIZE=3\nLOCAL_RANK=0\nLOCAL_WORLD_SIZE=1\n"
                                      "MASTER_ADDR=a\nMASTER_PORT=23456\n"
                                      "WEFT_RUN_SECRET=00ff00ff\n<train>\n"
                                      "</data/it's a run.json>\n<--run-dir>\n</runs/one of many>\n"
                                      "<--set>\n<name=\"a b\">\n"));
    }

    void a_rank_behind_ssh_gets_words_variables_and_the_secret() {
        const LaunchRequest request = request_with(kTellAll);
        const Member member = ssh_members(request, false, "here")[2];
        QVERIFY(member.reads_secret && member.reads_signals);
        const test::Ran ran = test::run_words(member.words, "00ff00ff\n", programs_);
        QCOMPARE(ran.out, std::string("RANK=2\nWORLD_SIZE=3\nLOCAL_RANK=0\nLOCAL_WORLD_SIZE=1\n"
                                      "MASTER_ADDR=a\nMASTER_PORT=23456\n"
                                      "WEFT_RUN_SECRET=00ff00ff\n<train>\n"
                                      "</data/it's a run.json>\n<--run-dir>\n</runs/one of many>\n"
                                      "<--set>\n<name=\"a b\">\n"));
        QCOMPARE(ran.code, 0);
    }

    // ps(1) shows command lines to everybody.
    void no_command_line_shows_the_secret() {
        const LaunchRequest request = test::some_request();
        std::vector<Member> all = ssh_members(request, false, "");
        all.push_back(mpirun_member(request, false));
        for (const Member& member : all) {
            for (const std::string& word : member.words) {
                QVERIFY2(word.find(request.secret) == std::string::npos, word.c_str());
            }
        }
    }

    void a_rank_behind_ssh_gets_signals_and_its_exit_code_comes_back() {
        const LaunchRequest request =
            request_with("trap 'echo saved; exit 75' TERM\ntrap 'echo again' USR1\n"
                         "echo ready\nwhile :; do sleep 0.1; done\n");
        const Member member = ssh_members(request, false, "here")[2];
        const test::Ran ran =
            test::run_words(member.words, "secret\n", programs_, {}, "USR1\nTERM\n");
        QCOMPARE(ran.code, 75);
        QVERIFY2(ran.out.ends_with("saved\n"), ran.out.c_str());
    }

    void where_the_connection_ends_rank_0_is_told_to_save() {
        const LaunchRequest request = request_with(
            "trap 'echo saved; exit 75' TERM\necho ready\nwhile :; do sleep 0.1; done\n");
        const Member member = ssh_members(request, false, "here")[0];
        const test::Ran ran = test::run_words(member.words, "secret\n", programs_, {}, "");
        QCOMPARE(ran.code, 75);
    }

    void ranks_of_this_machine_need_no_ssh() {
        LaunchRequest request = test::some_request();
        request.hosts = {{"here", 1, 1}, {"b", 1, 1}};
        const std::vector<Member> members = ssh_members(request, false, "here");
        QCOMPARE(members[0].words.front(), request.program);
        QVERIFY(!members[0].reads_signals);
        QCOMPARE(members[1].words.front(), std::string("ssh"));
        QVERIFY(holds(members[1].words, {"--", "b"}));
        QVERIFY(holds(members[1].words, {"-o", "BatchMode=yes"}));
    }

    void mpirun_is_told_hosts_names_and_settings() {
        LaunchRequest request = test::some_request();
        const std::vector<std::string> words = mpirun_member(request, false).words;
        QVERIFY(holds(words, {"mpirun", "-n", "3", "--host", "a:2,b:1"}));
        for (const char* name : {"MASTER_ADDR", "MASTER_PORT", "WEFT_RUN_SECRET"}) {
            QVERIFY2(holds(words, {"-x", name}), name);
        }
        QVERIFY(holds(words, {"--mca", "mpi_yield_when_idle", "1"}));
        QVERIFY(!holds(words, {"--allow-run-as-root"}));
        QVERIFY(!holds(words, {"--oversubscribe"}));
        QVERIFY(!holds(words, {"btl_tcp_if_include"}));
        QVERIFY(std::equal(request.begin.begin(), request.begin.end(),
                           words.end() - static_cast<long>(request.begin.size())));
        request.as_root = true;
        request.interface = "eth1";
        QVERIFY(holds(mpirun_member(request, false).words, {"--allow-run-as-root"}));
        QVERIFY(
            holds(mpirun_member(request, false).words, {"--mca", "btl_tcp_if_include", "eth1"}));
    }

    void more_ranks_than_places_share_cores() {
        LaunchRequest request = test::some_request();
        request.hosts = {{"a", 4, 2}, {"b", 4, 2}};
        const std::vector<std::string> words = mpirun_member(request, false).words;
        QVERIFY(holds(words, {"-n", "8", "--host", "a:2,b:2"}));
        QVERIFY(holds(words, {"--oversubscribe", "--npernode", "4"}));
    }

    // The part of mpirun's command line that starts a rank, without mpirun.
    void what_other_ranks_of_mpirun_print_says_whose_it_is() {
        const LaunchRequest request =
            request_with("echo out; echo err >&2; printf '<%s>' \"$@\"; echo; exit 3\n");
        std::vector<std::string> words = mpirun_member(request, false).words;
        words.erase(words.begin(), std::find(words.begin(), words.end(), "sh"));
        // cat ends when all who may write have ended, as mpirun does.
        std::vector<std::string> piped = {"sh", "-c", "{ \"$@\"; echo code $?; } 2>&1 | cat", "sh"};
        piped.insert(piped.end(), words.begin(), words.end());
        const QString other =
            QString::fromStdString(test::run_words(piped, "", {}, {"OMPI_COMM_WORLD_RANK=2"}).out);
        QVERIFY2(other.contains("code 3\n"), qPrintable(other));
        QCOMPARE(other.count('\n'), other.count("[rank 2 ") + 1);
        for (const char* line : {"] out\n", "] err\n", "] <train></data/it's a run.json>"}) {
            QVERIFY2(other.contains(line), qPrintable(other));
        }
        const test::Ran first = test::run_words(words, "", {}, {"OMPI_COMM_WORLD_RANK=0"});
        QCOMPARE(first.code, 3);
        QVERIFY(first.out.starts_with("out\n"));
        QCOMPARE(first.error, std::string("err\n"));
    }

    void rank_0_of_mpirun_gets_signals_from_its_input() {
        const LaunchRequest request = request_with(
            "trap 'echo saved; exit 75' TERM\necho ready\nwhile :; do sleep 0.1; done\n");
        std::vector<std::string> words = mpirun_member(request, false).words;
        words.erase(words.begin(), std::find(words.begin(), words.end(), "sh"));
        const test::Ran ran = test::run_words(words, "", {}, {"OMPI_COMM_WORLD_RANK=0"}, "TERM\n");
        QCOMPARE(ran.code, 75);
        QCOMPARE(ran.out, std::string("ready\nsaved\n"));
    }

    void hosts_with_another_version_are_named_with_both() {
        const LaunchRequest request = test::some_request();
        std::vector<std::vector<std::string>> asked;
        const auto answering = [&](std::vector<Answer> answers) {
            return [&asked, answers](const std::vector<std::vector<std::string>>& commands) {
                asked = commands;
                return answers;
            };
        };
        check_versions(request, "weft 1.0", "",
                       answering({{0, "weft 1.0\n", ""}, {0, "motd\nweft 1.0\n", ""}}));
        QCOMPARE(asked.at(0).back(), std::string("'/opt/my weft/weft' --version"));
        const auto problem = [&](const Answer& answer) {
            const auto error = test::error_of([&] {
                check_versions(request, "weft 1.0", "", answering({{0, "weft 1.0\n", ""}, answer}));
            });
            return error ? error->message() : std::string();
        };
        const std::string other = problem({0, "weft 0.9\n", ""});
        QVERIFY2(other.find("b has weft 0.9") != std::string::npos, other.c_str());
        QVERIFY2(other.find("This is weft 1.0") != std::string::npos, other.c_str());
        QVERIFY(problem({127, "", "not found"}).find("b has no /opt/my weft/weft") !=
                std::string::npos);
        QVERIFY(problem({255, "", "Connection refused"}).find("Connection refused") !=
                std::string::npos);
        QVERIFY(problem({-1, "", ""}).find("b does not answer") != std::string::npos);
    }

    void this_machine_is_not_asked_for_its_version() {
        LaunchRequest request = test::some_request();
        request.hosts = {{"localhost", 1, 1}, {"here", 1, 1}};
        check_versions(request, "weft 1.0", "here", [](const auto& commands) {
            return std::vector<Answer>(commands.size(), Answer{1, "", ""});
        });
    }

    // As iproute2 and ssh write.
    void addresses_are_found_in_what_hosts_answer() {
        const auto answer = [](const char* text) {
            return [text](const auto&) { return std::vector<Answer>{{0, text, ""}}; };
        };
        QCOMPARE(ask_interface_address(
                     "b", "eth0",
                     answer("2: eth0    inet 10.0.0.2/24 brd 10.0.0.255 scope global eth0\n")),
                 std::string("10.0.0.2"));
        QVERIFY(test::error_of([&] { ask_interface_address("b", "eth0", answer("")); }));
        QCOMPARE(ask_real_name("u@b", answer("user u\nhostname b.example.org\nport 22\n")),
                 std::string("b.example.org"));
        QCOMPARE(ask_real_name("u@b", answer("")), std::string("b"));
    }
};

WEFT_TEST(LaunchMemberTest)
#include "member_test.moc"
