// SPDX-License-Identifier: Apache-2.0
#include "core/launch/kubernetes_file.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/launch/mpirun_member.h"
#include "core/launch/shell_text.h"
#include "core/launch/torchrun_lines.h"
#include "core/launch/yaml_text.h"

namespace weft::launch {
namespace {

using config::Json;

constexpr int kDefaultPort = 29500; // a pod has an address of its own: every port is free
constexpr std::size_t kMostNameLetters = 40;

std::string secret_name(const LaunchRequest& request) {
    return kubernetes_name(request.name) + "-secret";
}

Json metadata(const LaunchRequest& request, const std::string& name) {
    Json out{{"name", name}};
    if (!request.kubernetes.name_space.empty()) {
        out["namespace"] = request.kubernetes.name_space;
    }
    return out;
}

Json secret_object(const LaunchRequest& request) {
    return {{"apiVersion", "v1"},
            {"kind", "Secret"},
            {"metadata", metadata(request, secret_name(request))},
            {"stringData", {{kSecretVariable, request.secret}}}};
}

Json variable(const std::string& name, const std::string& value) {
    return {{"name", name}, {"value", value}};
}

Json secret_variable(const LaunchRequest& request) {
    return {{"name", kSecretVariable},
            {"valueFrom",
             {{"secretKeyRef", {{"name", secret_name(request)}, {"key", kSecretVariable}}}}}};
}

void mount_claim(Json& pod, Json& container, const LaunchRequest& request) {
    if (request.kubernetes.claim.empty()) {
        return;
    }
    container["volumeMounts"] =
        Json::array({{{"name", "runs"}, {"mountPath", request.kubernetes.mount}}});
    pod["volumes"] = Json::array(
        {{{"name", "runs"}, {"persistentVolumeClaim", {{"claimName", request.kubernetes.claim}}}}});
}

/// A device plugin gives a container so many, and no other container those.
void limit_to_gpus(Json& container, const LaunchRequest& request, int ranks) {
    if (request.gpus) {
        container["resources"] = {{"limits", {{"nvidia.com/gpu", ranks}}}};
    }
}

int port_of(const LaunchRequest& request) {
    return request.master_port == 0 ? kDefaultPort : request.master_port;
}

Json rank_pod(const LaunchRequest& request, const std::string& name) {
    // <set>-<replicated job>-<its index>-<pod index>.<subdomain>, which JobSet makes a host name.
    const std::string master = name + "-ranks-0-0." + name;
    Json environment = Json::array();
    environment.push_back(
        {{"name", "RANK"},
         {"valueFrom",
          {{"fieldRef",
            {{"fieldPath",
              "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}}}}});
    environment.push_back(variable("WORLD_SIZE", std::to_string(rank_count(request))));
    environment.push_back(variable("LOCAL_RANK", "0"));
    environment.push_back(variable("LOCAL_WORLD_SIZE", "1"));
    environment.push_back(variable("MASTER_ADDR", master));
    environment.push_back(variable("MASTER_PORT", std::to_string(port_of(request))));
    if (!request.interface.empty()) {
        environment.push_back(variable(kInterfaceVariable, request.interface));
    }
    environment.push_back(secret_variable(request));
    Json container{{"name", "weft"},
                   {"image", request.kubernetes.image},
                   {"command", {"sh", "-c", begin_or_go_on(request)}},
                   {"env", environment},
                   {"ports", Json::array({{{"containerPort", port_of(request)}}})}};
    limit_to_gpus(container, request, 1);
    Json pod{{"restartPolicy", "Never"}, {"terminationGracePeriodSeconds", 120}};
    mount_claim(pod, container, request);
    pod["containers"] = Json::array({container});
    return pod;
}

Json job_set(const LaunchRequest& request) {
    const std::string name = kubernetes_name(request.name);
    const int ranks = rank_count(request);
    Json job{{"name", "ranks"},
             {"replicas", 1},
             {"template",
              {{"spec",
                {{"parallelism", ranks},
                 {"completions", ranks},
                 {"completionMode", "Indexed"},
                 {"backoffLimit", 0},
                 {"template", {{"spec", rank_pod(request, name)}}}}}}}};
    return {{"apiVersion", "jobset.x-k8s.io/v1alpha2"},
            {"kind", "JobSet"},
            {"metadata", metadata(request, name)},
            {"spec",
             {{"network", {{"enableDNSHostnames", true}, {"subdomain", name}}},
              {"failurePolicy", {{"maxRestarts", request.restarts}}},
              {"replicatedJobs", Json::array({job})}}}};
}

// The operator gives mpirun its list of hosts; rank 0 runs on the first, whose name has had
// different ends in different versions of it.
std::string mpirun_script(const LaunchRequest& request) {
    LaunchRequest inside = request;
    inside.master_addr = "of the list";
    inside.master_port = port_of(request);
    inside.as_root = true; // in a container, where mpirun refuses nobody else
    std::vector<std::string> words{"exec",       "mpirun",
                                   "-n",         std::to_string(rank_count(request)),
                                   "--npernode", std::to_string(request.hosts.front().ranks)};
    for (const std::string& word : mpirun_settings(inside)) {
        words.push_back(word);
    }
    words.insert(words.end(), {"sh", "-c", begin_or_go_on(request)});
    return "MASTER_ADDR=$(sed -n '1s/[ :].*//p' /etc/mpi/hostfile); export MASTER_ADDR; " +
           shell_line(words);
}

Json mpi_replica(const LaunchRequest& request, Json container, int replicas) {
    Json pod = Json::object();
    mount_claim(pod, container, request);
    pod["containers"] = Json::array({container});
    return {{"replicas", replicas}, {"template", {{"spec", pod}}}};
}

Json mpi_job(const LaunchRequest& request) {
    for (const HostRanks& host : request.hosts) {
        if (host.ranks != request.hosts.front().ranks) {
            throw Error(ErrorKind::usage, "--hosts", "an MPIJob gives all workers as many ranks",
                        "Give all hosts the same number, or choose --kind JobSet.");
        }
    }
    const Json launcher{
        {"name", "launcher"},
        {"image", request.kubernetes.image},
        {"command", {"sh", "-c", mpirun_script(request)}},
        {"env", Json::array({variable("MASTER_PORT", std::to_string(port_of(request))),
                             secret_variable(request)})}};
    Json worker{{"name", "worker"},
                {"image", request.kubernetes.image},
                {"command", {"/usr/sbin/sshd", "-De"}}};
    limit_to_gpus(worker, request, request.hosts.front().ranks);
    return {
        {"apiVersion", "kubeflow.org/v2beta1"},
        {"kind", "MPIJob"},
        {"metadata", metadata(request, kubernetes_name(request.name))},
        {"spec",
         {{"slotsPerWorker", request.hosts.front().ranks},
          {"runPolicy", {{"cleanPodPolicy", "Running"}, {"backoffLimit", request.restarts}}},
          {"mpiReplicaSpecs",
           {{"Launcher", mpi_replica(request, launcher, 1)},
            {"Worker", mpi_replica(request, worker, static_cast<int>(request.hosts.size()))}}}}}};
}

} // namespace

std::string kubernetes_name(const std::string& name) {
    std::string out;
    for (const char letter : lowered(name)) {
        const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
        if (plain && out.size() < kMostNameLetters) {
            out += letter;
        } else if (!out.empty() && out.back() != '-' && out.size() < kMostNameLetters) {
            out += '-';
        }
    }
    while (!out.empty() && out.back() == '-') {
        out.pop_back();
    }
    const bool letter_first = !out.empty() && out.front() >= 'a';
    return letter_first ? out : "run" + (out.empty() ? "" : "-" + out);
}

std::string kubernetes_file(const LaunchRequest& request) {
    if (request.kubernetes.image.empty()) {
        throw Error(ErrorKind::usage, "--image", "is not given",
                    "Name a container image that holds weft and the run's data.");
    }
    const bool mpi = request.kubernetes.kind == "MPIJob";
    return "# Written by `weft launch`; kubectl apply -f reads it.\n" +
           yaml_text(secret_object(request)) + "---\n" +
           yaml_text(mpi ? mpi_job(request) : job_set(request));
}

} // namespace weft::launch
