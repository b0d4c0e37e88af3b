// SPDX-License-Identifier: Apache-2.0
// Files and lines for others: Slurm's is run by bash with stand-ins for Slurm's programs, that for
// Kubernetes is read by Python's YAML library.
#include "core/config/json.h"
#include "core/launch/kubernetes_file.h"
#include "core/launch/slurm_file.h"
#include "core/launch/torchrun_lines.h"
#include "core/launch/yaml_text.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"
#include "tests/unit/launch/launch_support.h"

#include <fstream>
#include <set>

using namespace weft;
using namespace weft::launch;
using weft::config::Json;
using weft::config::json_of;

namespace {

std::set<std::string> directives_of(const std::string& file) {
    std::set<std::string> out;
    for (const QString& line : QString::fromStdString(file).split('\n')) {
        if (line.startsWith("#SBATCH ")) {
            out.insert(line.mid(8).toStdString());
        }
    }
    return out;
}

// All documents, as Python reads them; nothing where it cannot.
std::vector<Json> read_yaml(const std::string& text) {
    const test::Ran ran = test::run_words(
        {"python3", "-c",
         "import sys, json, yaml\n"
         "for d in yaml.safe_load_all(sys.stdin.buffer.read().decode()): print(json.dumps(d))"},
        text);
    std::vector<Json> out;
    for (const QString& line : QString::fromStdString(ran.out).split('\n', Qt::SkipEmptyParts)) {
        out.push_back(json_of(line.toStdString()));
    }
    return out;
}

bool has_python_yaml() {
    return test::run_words({"python3", "-c", "import yaml"}).code == 0;
}

Json value_of_variable(const Json& environment, const std::string& name) {
    for (const Json& one : environment) {
        if (one.at("name") == name) {
            return one.contains("value") ? one.at("value") : one.at("valueFrom");
        }
    }
    return nullptr;
}

} // namespace

class LaunchFileTest : public QObject, private test::TestFolder {
    Q_OBJECT

    std::filesystem::path programs_;
    std::filesystem::path run_;
    int number_ = 0;

    std::filesystem::path told() const { return programs_ / "told"; }
    std::string all_told() const {
        std::ifstream in(told());
        return {std::istreambuf_iterator<char>(in), {}};
    }

    /// What is said of this time limit; "" where it is taken.
    std::string refused_time(const std::string& limit) {
        LaunchRequest request = slurm_request("");
        request.slurm.time = limit;
        const auto fault = test::error_of([&] { slurm_file(request); });
        return fault ? fault->text() : "";
    }

    LaunchRequest slurm_request(const std::string& weft) {
        LaunchRequest out = test::some_request();
        out.hosts = {{"", 2, 2}, {"", 2, 2}};
        out.master_port = 0;
        out.program = test::write_program(programs_ / "weft's own", weft);
        out.run_folder = run_.string();
        out.begin = {"train", "/it's.json"};
        out.go_on = {"resume", run_.string()};
        return out;
    }
    /// Of the container that trains.
    static Json limits_of(const LaunchRequest& request, const char* of_mpi = nullptr) {
        Json spec = read_yaml(kubernetes_file(request)).at(1).at("spec");
        spec = of_mpi != nullptr
                   ? spec.at("mpiReplicaSpecs").at(of_mpi).at("template").at("spec")
                   : spec.at(Json::json_pointer("/replicatedJobs/0/template/spec/template/spec"));
        return spec.at("containers").at(0).at("resources").at("limits");
    }
    test::Ran run_batch(const LaunchRequest& request) {
        const std::filesystem::path file = programs_ / "batch";
        std::ofstream(file) << slurm_file(request);
        return test::run_words({"bash", file.string()}, "", programs_, {"SLURM_JOB_ID=7"});
    }

private slots:
    void init() {
        programs_ = path(("programs" + std::to_string(++number_)).c_str());
        run_ = programs_ / "a run";
        std::filesystem::create_directories(run_);
        const std::string told_file = "'" + told().string() + "'";
        test::write_program(programs_ / "srun",
                            "echo \"srun $*\" >>" + told_file +
                                "\nwhile [ \"${1#--}\" != \"$1\" ]; do shift; done\nexec \"$@\"\n");
        // Sends the job's step the signal, as the real one does.
        test::write_program(programs_ / "scancel", "echo \"scancel $*\" >>" + told_file +
                                                       "\nkill -s TERM \"$(cat '" +
                                                       (programs_ / "pid").string() + "')\"\n");
        test::write_program(programs_ / "scontrol", "echo \"scontrol $*\" >>" + told_file + "\n");
    }

    void a_batch_file_says_what_is_needed_and_when_to_be_warned() {
        LaunchRequest request = slurm_request("");
        request.run_folder = "/runs/one of many";
        request.slurm = {"1:00:00", "long", "me"};
        const std::set<std::string> found = directives_of(slurm_file(request));
        const std::set<std::string> expected = {"--job-name=\"Fashion MLP\"",
                                                "--nodes=2",
                                                "--ntasks-per-node=2",
                                                "--time=1:00:00",
                                                "--partition=long",
                                                "--account=me",
                                                "--requeue",
                                                "--signal=B:USR1@120",
                                                "--open-mode=append",
                                                "--output=\"/runs/one of many/logs/slurm-%j.out\""};
        QVERIFY2(found == expected, slurm_file(request).c_str());
        request.hosts = {{"n1", 2, 2}, {"n2", 2, 2}};
        QVERIFY(directives_of(slurm_file(request)).count("--nodelist=n1,n2") == 1);
        request.gpus = true;
        QVERIFY(directives_of(slurm_file(request)).count("--gpus-per-node=2") == 1);
        QVERIFY(slurm_file(request).find(request.secret) == std::string::npos);
        request.hosts[1].ranks = 1;
        QVERIFY(test::error_of([&] { slurm_file(request); }));
        request.hosts[1].ranks = 2;
        request.name = "a\"b";
        QVERIFY(test::error_of([&] { slurm_file(request); }));
    }

    void a_time_limit_leaves_room_before_the_warning() {
        QCOMPARE(refused_time("3"), std::string());
        QCOMPARE(refused_time("1-0"), std::string());
        QCOMPARE(refused_time("UNLIMITED"), std::string());
        QVERIFY(refused_time("2").find("leaves no time to train") != std::string::npos);
        QVERIFY(refused_time("1:30").find("2 minutes before the end") != std::string::npos);
        QVERIFY(refused_time("one hour").find("no time limit") != std::string::npos);
    }

    void a_batch_job_begins_the_run_and_later_goes_on_with_it() {
        const LaunchRequest request =
            slurm_request("echo \"$1:$2\"; echo \"${#WEFT_RUN_SECRET}\"\n");
        const test::Ran first = run_batch(request);
        QCOMPARE(first.code, 0);
        QCOMPARE(first.out, std::string("train:/it's.json\n32\n"));
        std::ofstream(run_ / "run.json") << "{}";
        QCOMPARE(run_batch(request).out, "resume:" + run_.string() + "\n32\n");
    }

    void before_the_time_limit_the_run_is_saved_and_queued_again() {
        // Slurm's part of the play: the signal comes from inside, once the step runs.
        const LaunchRequest request = slurm_request(
            "trap 'echo saved; exit 75' TERM\necho $$ >'" + (programs_ / "pid").string() +
            "'\nkill -s USR1 $(ps -o ppid= -p $$)\nwhile :; do sleep 0.1; done\n");
        const test::Ran ran = run_batch(request);
        QCOMPARE(ran.code, 75);
        QCOMPARE(ran.out, std::string("saved\n"));
        const std::string all = all_told();
        QVERIFY2(all.find("scancel --signal=TERM 7\n") != std::string::npos, all.c_str());
        QVERIFY2(all.ends_with("scontrol requeue 7\n"), all.c_str());
    }

    void a_run_that_was_stopped_otherwise_is_not_queued_again() {
        QCOMPARE(run_batch(slurm_request("exit 75\n")).code, 75);
        QVERIFY(all_told().find("scontrol") == std::string::npos);
    }

    void a_batch_job_starts_ranks_again_that_failed_but_not_those_that_cannot_do_better() {
        LaunchRequest request = slurm_request("exit 6\n");
        request.restarts = 2;
        QCOMPARE(run_batch(request).code, 6);
        QCOMPARE(QString::fromStdString(all_told()).count("srun "), 3);
        for (const int code : {0, 2, 5, 75}) {
            std::filesystem::remove(told());
            LaunchRequest other = slurm_request("exit " + std::to_string(code) + "\n");
            other.restarts = 2;
            QCOMPARE(run_batch(other).code, code);
            QCOMPARE(QString::fromStdString(all_told()).count("srun "), 1);
        }
    }

    // A stand-in for torchrun that becomes the program.
    void lines_for_torchrun_name_hosts_numbers_and_the_program() {
        LaunchRequest request = test::some_request();
        request.program = test::write_program(programs_ / "it's weft", "printf '<%s>' \"$@\"\n");
        request.run_folder = run_.string();
        request.go_on = {"resume", run_.string()};
        request.restarts = 3;
        test::write_program(programs_ / "torchrun",
                            "while [ \"${1#--}\" != \"$1\" ]; do echo \"$1\"; shift; done\n\"$@\"\n"
                            "echo \" $WEFT_RUN_SECRET\"\n");
        const test::Ran ran = test::run_words({"sh", "-c", torchrun_lines(request)}, "", programs_);
        const std::string words = "<train></data/it's a run.json><--run-dir></runs/one of many>"
                                  "<--set><name=\"a b\"> 00ff00ff\n";
        const auto options = [](const std::string& ranks, const std::string& node) {
            return "--nnodes=2\n--nproc-per-node=" + ranks + "\n--node-rank=" + node +
                   "\n--master-addr=a\n--master-port=23456\n--max-restarts=3\n--no-python\n";
        };
        QCOMPARE(ran.out, options("2", "0") + words + options("1", "1") + words);
        QVERIFY(torchrun_lines(request).find("# On b:\n") != std::string::npos);
        std::ofstream(run_ / "run.json") << "{}";
        QVERIFY(test::run_words({"sh", "-c", torchrun_lines(request)}, "", programs_)
                    .out.find("<resume><" + run_.string() + ">") != std::string::npos);
    }

    void yaml_is_read_as_the_value_that_was_written() {
        if (!has_python_yaml()) {
            QSKIP("python3-yaml is not installed");
        }
        Json value{{"empty list", Json::array()}, {"empty object", Json::object()}};
        Json words = Json::array();
        for (const std::string& word : test::awkward_words()) {
            words.push_back(word);
        }
        for (const char* word :
             {"yes", "No",   "on",  "null", "~",    "1",          "1.5",      "0x1f", "1e3",
              "-",   "a: b", "- a", "#x",   "a #b", "2026-01-01", "12:30:45", ".inf", "True",
              "/x",  "%a",   "@a",  "&a",   "*a",   "\t",         "a\x7f"}) {
            words.push_back(word);
            value[word] = word;
        }
        value["words"] = words;
        value["nested"] = {{"list", Json::array({Json::array({1, 2}), Json{{"a", 1}, {"b", true}},
                                                 Json(nullptr), Json::array()})},
                           {"number", 2.5}};
        const std::vector<Json> read = read_yaml(yaml_text(value));
        QCOMPARE(read.size(), std::size_t{1});
        QVERIFY2(read[0] == value, yaml_text(value).c_str());
        QVERIFY(read_yaml(yaml_text(Json::array({"a", "b"})))[0] == Json::array({"a", "b"}));
    }

    // Fields: kubernetes.io/docs/concepts/workloads/controllers/job (indexed jobs) and
    // jobset.sigs.k8s.io/docs/reference, host names of its pods.
    void a_job_set_starts_a_pod_for_each_rank() {
        if (!has_python_yaml()) {
            QSKIP("python3-yaml is not installed");
        }
        LaunchRequest request = test::some_request();
        request.kubernetes = {"JobSet", "registry/weft:1", "team", "claim", "/runs"};
        request.restarts = 4;
        const std::vector<Json> read = read_yaml(kubernetes_file(request));
        QCOMPARE(read.size(), std::size_t{2});
        QVERIFY(read[0] == json_of(R"({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "fashion-mlp-secret", "namespace": "team"},
            "stringData": {"WEFT_RUN_SECRET": "00ff00ff"}})"));
        const Json& set = read[1];
        QVERIFY(set.at("apiVersion") == "jobset.x-k8s.io/v1alpha2");
        QVERIFY(set.at("kind") == "JobSet");
        QVERIFY(set.at("metadata") == json_of(R"({"name": "fashion-mlp", "namespace": "team"})"));
        QVERIFY(set.at("spec").at("network") ==
                json_of(R"({"enableDNSHostnames": true, "subdomain": "fashion-mlp"})"));
        QVERIFY(set.at("spec").at("failurePolicy").at("maxRestarts") == 4);
        const Json& job = set.at("spec").at("replicatedJobs").at(0);
        QVERIFY(job.at("name") == "ranks" && job.at("replicas") == 1);
        const Json& spec = job.at("template").at("spec");
        QVERIFY(spec.at("parallelism") == 3 && spec.at("completions") == 3);
        QVERIFY(spec.at("completionMode") == "Indexed" && spec.at("backoffLimit") == 0);
        const Json& pod = spec.at("template").at("spec");
        QVERIFY(pod.at("restartPolicy") == "Never");
        QVERIFY(pod.at("volumes").at(0).at("persistentVolumeClaim").at("claimName") == "claim");
        const Json& container = pod.at("containers").at(0);
        QVERIFY(container.at("image") == "registry/weft:1");
        QVERIFY(container.at("volumeMounts").at(0).at("mountPath") == "/runs");
        const Json& environment = container.at("env");
        QVERIFY(value_of_variable(environment, "RANK").at("fieldRef").at("fieldPath") ==
                "metadata.annotations['batch.kubernetes.io/job-completion-index']");
        QVERIFY(value_of_variable(environment, "WORLD_SIZE") == "3");
        QVERIFY(value_of_variable(environment, "LOCAL_WORLD_SIZE") == "1");
        QVERIFY(value_of_variable(environment, "MASTER_ADDR") ==
                "fashion-mlp-ranks-0-0.fashion-mlp");
        QVERIFY(value_of_variable(environment, "MASTER_PORT") == "23456");
        QVERIFY(value_of_variable(environment, "WEFT_RUN_SECRET").at("secretKeyRef").at("name") ==
                "fashion-mlp-secret");
    }

    void a_pods_command_begins_or_goes_on() {
        if (!has_python_yaml()) {
            QSKIP("python3-yaml is not installed");
        }
        LaunchRequest request = test::some_request();
        request.program = test::write_program(programs_ / "it's weft", "printf '<%s>' \"$@\"\n");
        request.run_folder = run_.string();
        request.go_on = {"resume", "it's that"};
        request.kubernetes.image = "weft";
        const Json container = read_yaml(kubernetes_file(request))
                                   .at(1)
                                   .at("spec")
                                   .at("replicatedJobs")
                                   .at(0)
                                   .at("template")
                                   .at("spec")
                                   .at("template")
                                   .at("spec")
                                   .at("containers")
                                   .at(0);
        const auto command = container.at("command").get<std::vector<std::string>>();
        QVERIFY(test::run_words(command).out.starts_with("<train></data/it's a run.json>"));
        std::ofstream(run_ / "run.json") << "{}";
        QCOMPARE(test::run_words(command).out, std::string("<resume><it's that>"));
        QVERIFY(!container.contains("volumeMounts"));
    }

    // Fields: kubeflow.org/v2beta1, as in mpi-operator's examples.
    void an_mpi_job_has_a_launcher_and_workers() {
        if (!has_python_yaml()) {
            QSKIP("python3-yaml is not installed");
        }
        LaunchRequest request = test::some_request();
        request.hosts = {{"a", 2, 2}, {"b", 2, 2}};
        request.kubernetes = {"MPIJob", "weft:1", "", "claim", "/runs"};
        const std::vector<Json> read = read_yaml(kubernetes_file(request));
        const Json& job = read.at(1);
        QVERIFY(job.at("apiVersion") == "kubeflow.org/v2beta1" && job.at("kind") == "MPIJob");
        QVERIFY(job.at("metadata") == json_of(R"({"name": "fashion-mlp"})"));
        QVERIFY(job.at("spec").at("slotsPerWorker") == 2);
        const Json& kinds = job.at("spec").at("mpiReplicaSpecs");
        QVERIFY(kinds.at("Launcher").at("replicas") == 1);
        QVERIFY(kinds.at("Worker").at("replicas") == 2);
        const Json& worker = kinds.at("Worker").at("template").at("spec").at("containers").at(0);
        QVERIFY(worker.at("volumeMounts").at(0).at("mountPath") == "/runs");
        const Json& launcher =
            kinds.at("Launcher").at("template").at("spec").at("containers").at(0);
        QVERIFY(launcher.at("command").at(0) == "sh");
        const auto script = launcher.at("command").at(2).get<std::string>();
        for (const char* part : {"mpirun -n 4 --npernode 2", "-x MASTER_ADDR", "-x MASTER_PORT",
                                 "-x WEFT_RUN_SECRET", "/etc/mpi/hostfile"}) {
            QVERIFY2(script.find(part) != std::string::npos, script.c_str());
        }
        QCOMPARE(test::run_words({"sh", "-n", "-c", script}).code, 0);
        QVERIFY(!worker.contains("resources"));
        request.gpus = true;
        QVERIFY(limits_of(request, "Worker") == json_of(R"({"nvidia.com/gpu": 2})"));
        request.kubernetes.kind = "JobSet"; // a pod for each rank
        QVERIFY(limits_of(request) == json_of(R"({"nvidia.com/gpu": 1})"));
        request.kubernetes.kind = "MPIJob";
        request.hosts[0].ranks = 1;
        QVERIFY(test::error_of([&] { kubernetes_file(request); }));
    }

    void an_image_is_needed() {
        const auto error = test::error_of([] { kubernetes_file(test::some_request()); });
        QVERIFY(error && error->where() == "--image");
    }

    // RFC 1123, 2.1: letters, digits and '-', which is not at an end; Kubernetes: small letters.
    void names_are_those_that_kubernetes_takes() {
        QCOMPARE(kubernetes_name("Fashion MLP (v2)"), std::string("fashion-mlp-v2"));
        QCOMPARE(kubernetes_name("8 bits"), std::string("run-8-bits"));
        QCOMPARE(kubernetes_name("___"), std::string("run"));
        QCOMPARE(kubernetes_name("Häuser"), std::string("h-user"));
        QVERIFY(kubernetes_name(std::string(100, 'a') + "-").size() <= 40);
        QVERIFY(!kubernetes_name(std::string(39, 'a') + "-b").ends_with('-'));
    }
};

WEFT_TEST(LaunchFileTest)
#include "file_test.moc"
