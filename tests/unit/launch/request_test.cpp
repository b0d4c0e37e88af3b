// SPDX-License-Identifier: Apache-2.0
// Hosts and their ranks, words for shells, and what is chosen where nothing is said.
#include "core/launch/choose_way.h"
#include "core/launch/network.h"
#include "core/launch/shell_text.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"
#include "tests/unit/launch/launch_support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace weft;
using namespace weft::launch;

class LaunchRequestTest : public QObject, private test::TestFolder {
    Q_OBJECT

private slots:
    void hosts_come_with_numbers_of_ranks() {
        const std::vector<HostRanks> hosts = parse_hosts("a:4, user@b:2,c", 0);
        QCOMPARE(hosts.size(), std::size_t{3});
        QCOMPARE(hosts[0].name, std::string("a"));
        QCOMPARE(hosts[0].ranks, 4);
        QCOMPARE(hosts[1].name, std::string("user@b"));
        QCOMPARE(hosts[1].ranks, 2);
        QCOMPARE(hosts[2].ranks, 1);
    }

    void fewer_ranks_are_taken_from_the_last_hosts() {
        const auto counts = [](int ranks) {
            std::vector<int> out;
            for (const HostRanks& host : with_ranks(parse_hosts("a:4,b:2,c:1", 0), ranks)) {
                out.push_back(host.ranks);
            }
            return out;
        };
        QCOMPARE(counts(7), (std::vector<int>{4, 2, 1}));
        QCOMPARE(counts(6), (std::vector<int>{4, 2}));
        QCOMPARE(counts(5), (std::vector<int>{4, 1}));
        QCOMPARE(counts(1), (std::vector<int>{1}));
    }

    void ranks_per_host_go_beyond_the_places_of_a_host() {
        const std::vector<HostRanks> hosts = parse_hosts("a:2,b", 3);
        QCOMPARE(hosts[0].places, 2);
        QCOMPARE(hosts[0].ranks, 3);
        QCOMPARE(hosts[1].places, 3);
    }

    void addresses_are_hosts() {
        QCOMPARE(parse_hosts("fe80::1", 0)[0].name, std::string("fe80::1"));
        QCOMPARE(parse_hosts("[fe80::1]:8", 0)[0].name, std::string("fe80::1"));
        QCOMPARE(parse_hosts("[fe80::1]:8", 0)[0].ranks, 8);
        QCOMPARE(parse_hosts("10.0.0.1:8", 0)[0].ranks, 8);
    }

    void hosts_that_cannot_be_are_refused_by_name_data() {
        QTest::addColumn<QString>("hosts");
        QTest::addColumn<QString>("named");
        QTest::newRow("nothing") << ""
                                 << "''";
        QTest::newRow("nothing between") << "a,,b"
                                         << "''";
        QTest::newRow("an option") << "-oProxyCommand=x"
                                   << "-oProxyCommand=x";
        QTest::newRow("twice") << "a,b,a"
                               << "'a'";
        QTest::newRow("no number") << "a:x"
                                   << "a:x";
        QTest::newRow("no ranks") << "a:0"
                                  << "a:0";
        QTest::newRow("too many ranks") << "a:5000"
                                        << "a:5000";
        QTest::newRow("a line break") << "a\nb"
                                      << "a\\x0ab";
    }
    void hosts_that_cannot_be_are_refused_by_name() {
        QFETCH(QString, hosts);
        QFETCH(QString, named);
        const auto error = test::error_of([&] { parse_hosts(hosts.toStdString(), 0); });
        QVERIFY(error);
        QVERIFY(error->kind() == ErrorKind::usage);
        QVERIFY2(error->text().find(named.toStdString()) != std::string::npos,
                 error->text().c_str());
    }

    void ranks_are_numbered_host_by_host() {
        const LaunchRequest request = test::some_request();
        QCOMPARE(rank_count(request), 3);
        const std::vector<RankSeat> seats = seats_of(request);
        QCOMPARE(seats[1].local_rank, 1);
        QCOMPARE(seats[2].rank, 2);
        QCOMPARE(seats[2].local_rank, 0);
        QCOMPARE(seats[2].host->name, std::string("b"));
        const std::vector<Variable> variables = rank_variables(request, seats[2]);
        const std::vector<Variable> expected = {{"RANK", "2"},        {"WORLD_SIZE", "3"},
                                                {"LOCAL_RANK", "0"},  {"LOCAL_WORLD_SIZE", "1"},
                                                {"MASTER_ADDR", "a"}, {"MASTER_PORT", "23456"}};
        QVERIFY(variables == expected);
        LaunchRequest over = request;
        over.interface = "eth1";
        QVERIFY(rank_variables(over, seats[2]).back() == Variable("WEFT_INTERFACE", "eth1"));
    }

    // The shell itself says what it reads.
    void quoted_words_reach_a_program_as_they_are() {
        std::vector<std::string> words = {"printf", "%s\\0"};
        std::string expected;
        for (const std::string& word : test::awkward_words()) {
            words.push_back(word);
            expected += word + '\0';
        }
        QCOMPARE(test::run_words({"sh", "-c", shell_line(words)}).out, expected);
        // Twice, as for a shell that a shell starts.
        QCOMPARE(test::run_words({"sh", "-c", "sh -c " + shell_quoted(shell_line(words))}).out,
                 expected);
    }

    void a_program_with_an_equals_sign_is_no_assignment() {
        const std::string program = test::write_program(path("a=b"), "echo run\n");
        QCOMPARE(test::run_words({"sh", "-c", shell_line(std::vector{program})}).out,
                 std::string("run\n"));
        QCOMPARE(shell_line(std::vector<std::string>{"A=b"}), std::string("'A=b'"));
    }

    void what_is_not_said_is_chosen() {
        LaunchRequest request = test::some_request();
        QVERIFY(choose_way(request, "auto", "here").way == Way::ssh);
        QVERIFY(choose_way(request, "gloo", "here").way == Way::ssh);
        QVERIFY(choose_way(request, "mpi", "here").way == Way::mpirun);
        request.hosts = {{"localhost", 2, 2}};
        QVERIFY(choose_way(request, "auto", "here").way == Way::processes);
        request.hosts = {{"here", 2, 2}};
        QVERIFY(choose_way(request, "auto", "here").way == Way::processes);
        request.slurm.time = "1:00:00";
        QVERIFY(choose_way(request, "mpi", "here").way == Way::slurm);
        request.slurm.time.clear();
        request.kubernetes.image = "weft:1";
        QVERIFY(choose_way(request, "mpi", "here").way == Way::kubernetes);
    }

    void a_program_that_is_not_installed_is_named() {
        const LaunchRequest request = test::some_request();
        const auto none = [](const std::string&) { return false; };
        const auto all = [](const std::string&) { return true; };
        for (const auto& [way, program] : {std::pair{Way::ssh, "ssh"},
                                           {Way::mpirun, "mpirun"},
                                           {Way::slurm, "sbatch"},
                                           {Way::kubernetes, "kubectl"}}) {
            const auto error = test::error_of([&] { require_programs(way, request, "", none); });
            QVERIFY2(error && error->kind() == ErrorKind::usage, program);
            QVERIFY2(error->text().starts_with(program), error->text().c_str());
            require_programs(way, request, "", all);
        }
        require_programs(Way::processes, request, "", none);
        require_programs(Way::torchrun, request, "", none); // is typed elsewhere
        LaunchRequest here = request;
        here.hosts = {{"localhost", 2, 2}};
        require_programs(Way::ssh, here, "", none); // nothing to reach by it
    }

    void programs_are_looked_for_in_the_path() {
        const std::string path = path_of("bin");
        std::filesystem::create_directories(path);
        QVERIFY(!is_installed("thing", "/nowhere:" + path));
        test::write_program(path + "/thing", "");
        QVERIFY(is_installed("thing", "/nowhere:" + path));
        QVERIFY(!is_installed("thing", "/nowhere"));
    }

    void the_loopback_has_an_address_and_others_are_refused_by_name() {
        QCOMPARE(address_of_interface("lo"), std::string("127.0.0.1"));
        const auto error = test::error_of([] { address_of_interface("none0"); });
        QVERIFY(error && error->hint().find("lo (127.0.0.1)") != std::string::npos);
        for (const NetworkInterface& one : network_interfaces()) {
            QVERIFY(!one.address.starts_with("127."));
        }
    }

    void a_free_port_can_be_listened_at() {
        const int port = free_port("127.0.0.1");
        QVERIFY(port >= 1024);
        const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in place{};
        place.sin_family = AF_INET;
        place.sin_port = htons(static_cast<std::uint16_t>(port));
        place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        QCOMPARE(::bind(listener, reinterpret_cast<const sockaddr*>(&place), sizeof place), 0);
        QCOMPARE(::listen(listener, 1), 0);
        ::close(listener);
        QVERIFY(test::error_of([] { free_port("no address"); }));
    }

private:
    std::string path_of(const char* name) const { return path(name).string(); }
};

WEFT_TEST(LaunchRequestTest)
#include "request_test.moc"
