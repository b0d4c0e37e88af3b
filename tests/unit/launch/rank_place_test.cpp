// SPDX-License-Identifier: Apache-2.0
// Variables as torchrun (elastic/agent/server/local_elastic_agent.py), OpenMPI 4.1 and srun(1)
// document them.
#include "core/launch/rank_place.h"
#include "core/launch/slurm_text.h"
#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"

#include <map>

using namespace weft;
using namespace weft::launch;

namespace {

using Environment = std::map<std::string, std::string>;

std::optional<RankPlace> place_in(const Environment& environment) {
    return read_rank_place([&](const char* name) -> const char* {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
    });
}

Environment with(Environment all, const Environment& more) {
    for (const auto& [name, value] : more) {
        all[name] = value;
    }
    return all;
}

Environment without(Environment all, const char* name) {
    all.erase(name);
    return all;
}

Environment torchrun_environment() {
    return {{"RANK", "5"},
            {"WORLD_SIZE", "8"},
            {"LOCAL_RANK", "1"},
            {"LOCAL_WORLD_SIZE", "4"},
            {"MASTER_ADDR", "node1"},
            {"MASTER_PORT", "29500"}};
}

Environment mpirun_environment() {
    return {{"OMPI_COMM_WORLD_RANK", "1"},
            {"OMPI_COMM_WORLD_SIZE", "2"},
            {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
            {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
            {"PMIX_NAMESPACE", "1234567"}};
}

// Four tasks on node[01-02], by --ntasks-per-node 2.
Environment srun_environment() {
    return {{"SLURM_PROCID", "3"},
            {"SLURM_LOCALID", "1"},
            {"SLURM_NTASKS", "4"},
            {"SLURM_NODEID", "1"},
            {"SLURM_STEP_NUM_TASKS", "4"},
            {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"},
            {"SLURM_STEP_NODELIST", "node[01-02]"},
            {"SLURM_JOB_NODELIST", "node[01-02]"},
            {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.9"},
            {"SLURM_JOB_ID", "77"},
            {"SLURM_STEP_ID", "0"}};
}

struct RefusedCase {
    const char* name;
    Environment environment;
    const char* where; // the variable and its value, in the message
    const char* hint;  // a word that says what to do
};

std::vector<RefusedCase> refused_cases() {
    const Environment torchrun = torchrun_environment();
    const Environment mpirun = mpirun_environment();
    return {
        {"rank without size", {{"RANK", "1"}}, "RANK=1", "WORLD_SIZE"},
        {"size without rank", {{"WORLD_SIZE", "2"}}, "WORLD_SIZE=2", "weft launch"},
        {"rank not below size", with(torchrun, {{"RANK", "8"}}), "RANK=8", "Correct"},
        {"rank of one", {{"RANK", "1"}, {"WORLD_SIZE", "1"}}, "RANK=1", "Correct"},
        {"negative rank", with(torchrun, {{"RANK", "-1"}}), "RANK=-1", "Correct"},
        {"no number", with(torchrun, {{"RANK", "1x"}}), "RANK=1x", "unset"},
        {"too large a number", with(torchrun, {{"WORLD_SIZE", "99999999999"}}),
         "WORLD_SIZE=99999999999", "unset"},
        {"no ranks", with(torchrun, {{"WORLD_SIZE", "0"}}), "WORLD_SIZE=0", "Correct"},
        {"local rank not below local size", with(torchrun, {{"LOCAL_RANK", "4"}}), "LOCAL_RANK=4",
         "LOCAL_WORLD_SIZE"},
        {"more local ranks than ranks", with(torchrun, {{"LOCAL_WORLD_SIZE", "9"}}),
         "LOCAL_WORLD_SIZE=9", "Correct"},
        {"local rank above rank", with(torchrun, {{"RANK", "0"}}), "LOCAL_RANK=1", "Correct"},
        {"local rank without local size", without(torchrun, "LOCAL_WORLD_SIZE"), "LOCAL_RANK=1",
         "LOCAL_WORLD_SIZE"},
        {"local size without local rank", without(torchrun, "LOCAL_RANK"), "LOCAL_WORLD_SIZE=4",
         "rank"},
        {"port of the system", with(torchrun, {{"MASTER_PORT", "80"}}), "MASTER_PORT=80",
         "Correct"},
        {"port beyond the last", with(torchrun, {{"MASTER_PORT", "65536"}}), "MASTER_PORT=65536",
         "Correct"},
        {"no port", without(torchrun, "MASTER_PORT"), "rank 5 of 8", "MASTER_PORT"},
        {"no address", without(torchrun, "MASTER_ADDR"), "rank 5 of 8", "MASTER_ADDR"},
        {"address with a blank", with(torchrun, {{"MASTER_ADDR", "node 1"}}), "MASTER_ADDR=node 1",
         "host"},
        {"mpirun on several hosts",
         with(mpirun, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}),
         "rank 1 of 2", "MASTER_ADDR"},
    };
}

} // namespace

class RankPlaceTest : public QObject {
    Q_OBJECT

private slots:
    void one_process_alone_is_no_rank() {
        QVERIFY(!place_in({}));
        QVERIFY(!place_in({{"WORLD_SIZE", "1"}}));
        QVERIFY(!place_in({{"WORLD_SIZE", ""}, {"RANK", ""}}));
        QVERIFY(!place_in({{"WORLD_SIZE", "1"}, {"RANK", "0"}, {"LOCAL_RANK", "0"}}));
        QVERIFY(!place_in({{"MASTER_ADDR", "left over"}, {"MASTER_PORT", "1"}}));
        QVERIFY(!place_in({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}));
    }

    void variables_of_torchrun_are_read() {
        const auto place = place_in(with(torchrun_environment(), {{"WEFT_RUN_SECRET", "0af3"}}));
        QVERIFY(place);
        QCOMPARE(place->rank, 5);
        QCOMPARE(place->size, 8);
        QCOMPARE(place->local_rank, 1);
        QCOMPARE(place->local_size, 4);
        QCOMPARE(place->master_addr, std::string("node1"));
        QCOMPARE(place->master_port, 29500);
        QCOMPARE(place->secret, std::string("0af3"));
        QCOMPARE(place->started_by, std::string("torchrun"));
        QVERIFY(!place->mpi);
    }

    // torch/distributed/rendezvous.py: where this is "True" torchrun's own process on the first
    // node listens at MASTER_PORT.
    void a_port_that_torchrun_has_itself_is_not_taken() {
        const Environment agent =
            with(torchrun_environment(), {{"TORCHELASTIC_USE_AGENT_STORE", "True"}});
        const int port = place_in(agent)->master_port;
        QVERIFY(port != 29500 && port >= 1024 && port <= 65535);
        QCOMPARE(place_in(with(agent, {{"RANK", "7"}, {"LOCAL_RANK", "3"}}))->master_port, port);
        QVERIFY(place_in(with(agent, {{"TORCHELASTIC_RUN_ID", "b"}}))->master_port != port);
        QCOMPARE(place_in(with(agent, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}}))->master_port,
                 29500);
    }

    // As the training operator of Kubernetes does: one rank in each pod.
    void ranks_of_a_host_of_their_own_need_no_local_variables() {
        const auto place =
            place_in(without(without(torchrun_environment(), "LOCAL_RANK"), "LOCAL_WORLD_SIZE"));
        QVERIFY(place);
        QCOMPARE(place->local_rank, 0);
        QCOMPARE(place->local_size, 1);
    }

    void variables_of_mpirun_are_read() {
        const auto place = place_in(mpirun_environment());
        QVERIFY(place);
        QCOMPARE(place->rank, 1);
        QCOMPARE(place->size, 2);
        QCOMPARE(place->local_rank, 1);
        QCOMPARE(place->local_size, 2);
        QCOMPARE(place->master_addr, std::string("127.0.0.1"));
        QVERIFY(place->master_port >= 20000 && place->master_port <= 59999);
        QCOMPARE(place->started_by, std::string("mpirun"));
        QVERIFY(place->mpi);
    }

    void variables_of_srun_are_read() {
        const auto place = place_in(srun_environment());
        QVERIFY(place);
        QCOMPARE(place->rank, 3);
        QCOMPARE(place->size, 4);
        QCOMPARE(place->local_rank, 1);
        QCOMPARE(place->local_size, 2);
        QCOMPARE(place->master_addr, std::string("node01"));
        QCOMPARE(place->started_by, std::string("srun"));
        QVERIFY(!place->mpi);
        QVERIFY(place_in(with(srun_environment(), {{"PMIX_RANK", "3"}}))->mpi);
    }

    void ranks_of_one_job_agree_on_a_port_and_jobs_do_not() {
        Environment other_rank =
            with(srun_environment(),
                 {{"SLURM_PROCID", "0"}, {"SLURM_NODEID", "0"}, {"SLURM_LOCALID", "0"}});
        const int port = place_in(srun_environment())->master_port;
        QCOMPARE(place_in(other_rank)->master_port, port);
        QVERIFY(place_in(with(other_rank, {{"SLURM_JOB_ID", "78"}}))->master_port != port);
        QVERIFY(place_in(with(other_rank, {{"SLURM_STEP_ID", "1"}}))->master_port != port);
        QCOMPARE(place_in(with(other_rank, {{"MASTER_PORT", "4000"}}))->master_port, 4000);
        QCOMPARE(place_in(with(other_rank, {{"MASTER_ADDR", "n"}}))->master_addr, std::string("n"));
    }

    void a_list_that_cannot_be_read_leaves_the_launching_node() {
        Environment odd = srun_environment();
        odd["SLURM_STEP_NODELIST"] = odd["SLURM_JOB_NODELIST"] = "node[";
        QCOMPARE(place_in(odd)->master_addr, std::string("10.0.0.9"));
        QVERIFY(test::error_of([&] { place_in(without(odd, "SLURM_LAUNCH_NODE_IPADDR")); }));
    }

    // Slurm gives a batch script SLURM_PROCID=0 and the job's SLURM_NTASKS, without other tasks.
    void a_batch_script_is_one_process() {
        const Environment batch =
            without(without(srun_environment(), "SLURM_STEP_ID"), "SLURM_STEP_NUM_TASKS");
        QVERIFY(!place_in(batch));
        QVERIFY(!place_in(with(srun_environment(), {{"SLURM_STEP_ID", "4294967291"}}))); // batch
        QVERIFY(!place_in(with(srun_environment(), {{"SLURM_STEP_ID", "4294967290"}}))); // salloc
        QVERIFY(!place_in(
            with(srun_environment(), {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}})));
    }

    void the_first_that_started_it_counts() {
        const Environment in_srun = with(srun_environment(), torchrun_environment());
        QCOMPARE(place_in(in_srun)->size, 8);
        QCOMPARE(place_in(in_srun)->started_by, std::string("torchrun"));
        const Environment mpi_in_srun = with(srun_environment(), mpirun_environment());
        QCOMPARE(place_in(mpi_in_srun)->size, 2);
        QVERIFY(place_in(mpi_in_srun)->mpi);
        // torchrun's own processes are several for one rank of mpirun.
        QVERIFY(!place_in(with(torchrun_environment(), mpirun_environment()))->mpi);
        // mpirun -n 1 as a task of four is one process: the step's variables are of its parent.
        QVERIFY(!place_in(with(srun_environment(),
                               {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}})));
    }

    void a_script_under_srun_may_set_rank_and_size_alone() {
        const auto place = place_in(with(
            srun_environment(),
            {{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "node01"}}));
        QVERIFY(place);
        QCOMPARE(place->local_size, 2);
        QCOMPARE(place->started_by, std::string("srun"));
        QCOMPARE(place->master_port, place_in(srun_environment())->master_port);
    }

    void pmi_of_other_mpis_is_read_but_openmpi_cannot_use_it() {
        const auto place = place_in({{"PMI_RANK", "1"},
                                     {"PMI_SIZE", "2"},
                                     {"MPI_LOCALRANKID", "1"},
                                     {"MPI_LOCALNRANKS", "2"},
                                     {"MASTER_PORT", "4000"}});
        QVERIFY(place);
        QCOMPARE(place->rank, 1);
        QCOMPARE(place->local_size, 2);
        QVERIFY(!place->mpi);
    }

    void what_cannot_be_is_refused_by_name_and_value_data() {
        QTest::addColumn<int>("number");
        int number = 0;
        for (const RefusedCase& row : refused_cases()) {
            QTest::newRow(row.name) << number++;
        }
    }
    void what_cannot_be_is_refused_by_name_and_value() {
        QFETCH(int, number);
        const RefusedCase row = refused_cases().at(static_cast<std::size_t>(number));
        const std::optional<Error> error = test::error_of([&] { place_in(row.environment); });
        QVERIFY(error);
        QVERIFY(error->kind() == ErrorKind::usage);
        QVERIFY2(error->where().starts_with(row.where), error->where().c_str());
        QVERIFY2(error->hint().find(row.hint) != std::string::npos, error->hint().c_str());
    }

    // As `scontrol show hostnames` expands them.
    // As sbatch(1) says of --time.
    void time_limits_of_slurm() {
        QCOMPARE(slurm_seconds("90").value(), std::int64_t{90 * 60});
        QCOMPARE(slurm_seconds("90:30").value(), std::int64_t{90 * 60 + 30});
        QCOMPARE(slurm_seconds("1:30:05").value(), std::int64_t{90 * 60 + 5});
        QCOMPARE(slurm_seconds("2-12").value(), std::int64_t{60 * 3600});
        QCOMPARE(slurm_seconds("2-12:30").value(), std::int64_t{60 * 3600 + 30 * 60});
        QCOMPARE(slurm_seconds("2-12:30:10").value(), std::int64_t{60 * 3600 + 30 * 60 + 10});
        for (const char* odd :
             {"", "1h", "-5", "1:2:3:4", "1-2:3:4:5", "1:", "UNLIMITED", "99999999999999999999"}) {
            QVERIFY2(!slurm_seconds(odd), odd);
        }
    }

    void the_first_host_of_slurms_lists() {
        QCOMPARE(first_slurm_host("node1").value(), std::string("node1"));
        QCOMPARE(first_slurm_host("node[01-04],n7").value(), std::string("node01"));
        QCOMPARE(first_slurm_host("n7,node[01-04]").value(), std::string("n7"));
        QCOMPARE(first_slurm_host("node[9,11-12]").value(), std::string("node9"));
        QCOMPARE(first_slurm_host("rack[2-3]n[005-9]-ib").value(), std::string("rack2n005-ib"));
        for (const char* bad : {"", "node[", "node[]", "node[a-b]", ",n", "a b", "a]"}) {
            QVERIFY2(!first_slurm_host(bad), bad);
        }
    }

    // sbatch(1), SLURM_TASKS_PER_NODE: "2(x3),1" is 2 on the first three nodes and 1 on the fourth.
    void tasks_of_a_node_in_slurms_lists() {
        const std::vector<int> expected = {2, 2, 2, 1};
        for (int node = 0; node < 4; ++node) {
            QCOMPARE(slurm_tasks_of("2(x3),1", node).value(),
                     expected.at(static_cast<std::size_t>(node)));
        }
        QVERIFY(!slurm_tasks_of("2(x3),1", 4));
        for (const char* bad : {"", "x", "2(x", "2(x)", "2(x3", "-1", "2(x0)"}) {
            QVERIFY2(!slurm_tasks_of(bad, 0), bad);
        }
    }
};

WEFT_TEST(RankPlaceTest)
#include "rank_place_test.moc"
