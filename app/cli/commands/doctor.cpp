// SPDX-License-Identifier: Apache-2.0
// weft doctor: what this machine offers, and why what is missing is missing.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "core/base/build_config.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/machine.h"
#include "core/base/team_wait.h"
#include "core/base/text.h"
#include "core/train/compute.h"
#include "core/train/measure/system_reader.h"
#include "core/train/ranks/load_transport.h"
#include "core/train/record/host_info.h"
#include "core/train/self_test/gpu_verdict.h"

#include <cmath>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using config::Json;

bool is_there(const fs::path& path) {
    std::error_code problem;
    return fs::exists(path, problem);
}

/// What is not known is left out.
Json gpu_json(const weft_device_health& gpu) {
    Json out{{"name", gpu.name},
             {"id", gpu.id},
             {"capability", gpu.capability},
             {"processors", gpu.processors},
             {"memory_bytes", gpu.memory_bytes}};
    const auto add = [&](const char* key, auto value) {
        if (value >= 0) {
            out[key] = value;
        }
    };
    add("memory_used_bytes", gpu.memory_used_bytes);
    add("utilisation", gpu.utilisation);
    add("power_w", gpu.power_w);
    add("power_limit_w", gpu.power_limit_w);
    add("temperature_c", gpu.temperature_c);
    if (*gpu.unknown != '\0') {
        out["unknown"] = gpu.unknown;
    }
    return out;
}

// The driver is found by looking at the places where it puts itself.
std::vector<std::string> missing_for(const train::Gpus& gpus, bool driver) {
    std::vector<std::string> missing;
    if (gpus.missing.empty()) {
        return missing;
    }
    if (!driver) {
        missing.emplace_back("no NVIDIA driver is loaded (/dev/nvidiactl is absent)");
    }
    if (!is_there("/usr/lib/x86_64-linux-gnu/libcuda.so.1") &&
        !is_there("/usr/lib64/libcuda.so.1")) {
        missing.emplace_back("the driver's library libcuda.so.1 is not installed");
    }
    if (WEFT_HAS_CUDA_TOOLKIT == 0) {
        missing.emplace_back(WEFT_CUDA_REASON);
    }
    missing.emplace_back(gpus.missing + "; runs use the CPU");
    return missing;
}

Json cuda_json() {
    const bool driver = is_there("/proc/driver/nvidia/version") || is_there("/dev/nvidiactl");
    const train::Gpus gpus = train::find_gpus();
    Json devices = Json::array();
    for (std::size_t i = 0; i < gpus.devices.size(); ++i) {
        devices.push_back(gpu_json(gpus.devices[i]));
        if (const auto passed = train::passed_before(static_cast<int>(i))) {
            devices.back()["passed"] = *passed;
        }
    }
    Json links = Json::array();
    for (const train::Gpus::Link& link : gpus.links) {
        links.push_back({{"between", {link.one, link.other}},
                         {"nvlinks", link.link.nvlinks},
                         {"path", link.link.path}});
    }
    Json libraries = Json::array();
    for (const weft_library& library : gpus.libraries) {
        libraries.push_back(
            {{"name", library.name}, {"version", library.version}, {"missing", library.missing}});
    }
    return {{"available", gpus.missing.empty()},     {"driver", driver},
            {"toolkit", WEFT_HAS_CUDA_TOOLKIT != 0}, {"build", WEFT_CUDA_REASON},
            {"devices", std::move(devices)},         {"links", std::move(links)},
            {"libraries", std::move(libraries)},     {"missing", missing_for(gpus, driver)}};
}

/// "12 GB of 80 GB used, 35 % busy, 310 of 700 W, 54 °C": as far as it is known.
std::string load_text(const Json& gpu) {
    const auto number = [&](const char* key) { return gpu[key].get<double>(); };
    const std::string memory = format_bytes(gpu["memory_bytes"].get<std::int64_t>());
    std::vector<std::string> parts;
    parts.push_back(gpu.contains("memory_used_bytes")
                        ? format_bytes(gpu["memory_used_bytes"].get<std::int64_t>()) + " of " +
                              memory + " used"
                        : memory);
    if (gpu.contains("utilisation")) {
        parts.push_back(std::to_string(std::lround(number("utilisation") * 100)) + " % busy");
    }
    if (gpu.contains("power_w")) {
        parts.push_back(std::to_string(std::lround(number("power_w"))) +
                        (gpu.contains("power_limit_w")
                             ? " of " + std::to_string(std::lround(number("power_limit_w")))
                             : "") +
                        " W");
    }
    if (gpu.contains("temperature_c")) {
        parts.push_back(std::to_string(std::lround(number("temperature_c"))) + " °C");
    }
    return join(parts, ", ");
}

std::string link_text(const Json& link) {
    const int nvlinks = link["nvlinks"].get<int>();
    const auto path = link["path"].get<std::string>();
    const std::string pcie = path.empty() ? "" : "PCIe by " + path;
    return nvlinks == 0 ? pcie
                        : std::to_string(nvlinks) + " NVLinks" + (pcie.empty() ? "" : ", " + pcie);
}

void print_gpus(const Json& cuda) {
    const auto text = [](const Json& value) { return value.get<std::string>(); };
    std::printf("CUDA          %s (build: %s)\n",
                cuda["available"].get<bool>() ? "available" : "not available",
                text(cuda["build"]).c_str());
    int number = 0;
    for (const Json& gpu : cuda["devices"]) {
        const int capability = gpu["capability"].get<int>();
        std::printf("  cuda:%-7d%s, compute capability %d.%d, %s\n", number++,
                    text(gpu["name"]).c_str(), capability / 10, capability % 10,
                    load_text(gpu).c_str());
        if (gpu.contains("unknown")) {
            std::printf("              %s\n", text(gpu["unknown"]).c_str());
        }
    }
    for (const Json& link : cuda["links"]) {
        const std::string pair = std::to_string(link["between"][0].get<int>()) + "-" +
                                 std::to_string(link["between"][1].get<int>());
        std::printf("  cuda:%-7s%s\n", pair.c_str(), link_text(link).c_str());
    }
    for (const Json& library : cuda["libraries"]) {
        const auto version = text(library["version"]);
        std::printf("  %-12s%s\n", text(library["name"]).c_str(),
                    (version.empty() ? "missing: " + text(library["missing"]) : version).c_str());
    }
    for (const Json& missing : cuda["missing"]) {
        std::printf("              %s\n", text(missing).c_str());
    }
}

Json data_json() {
    Json out = Json::array();
    const auto add = [&](const char* name, const fs::path& path, const char* package) {
        const bool found = is_there(path);
        out.push_back({{"name", name},
                       {"path", path.string()},
                       {"found", found},
                       {"hint", found ? "" : std::string("apt install ") + package}});
    };
    add("fashion-mnist", "/usr/share/datasets/fashion-mnist", "dataset-fashion-mnist");
    add("common-licenses", "/usr/share/common-licenses", "base-files");
    return out;
}

/// What the processes of a run can exchange through.
Json transports_json() {
    Json out = Json::array();
    for (const train::TransportChoice& one : train::transports()) {
        out.push_back({{"name", one.name}, {"library", one.library}, {"missing", one.missing}});
    }
    return out;
}

void print_transports(const Json& transports) {
    std::printf("processes     exchange through\n");
    for (const Json& one : transports) {
        const auto library = one["library"].get<std::string>();
        std::printf("  %-12s%s\n", one["name"].get<std::string>().c_str(),
                    library.empty() ? ("missing: " + one["missing"].get<std::string>()).c_str()
                                    : library.c_str());
    }
}

Json waiting_json() {
    const TeamWait wait = read_team_wait();
    return {{"variable", wait.variable},
            {"value", wait.value},
            {"set_by", wait.variable.empty() ? "nobody"
                       : wait.chosen_here    ? "weft"
                                             : "user"}};
}

std::string waiting_text(const Json& waiting) {
    if (waiting["set_by"] == "nobody") {
        return "long looks: this program cannot start itself again with GOMP_SPINCOUNT set; "
               "beside other work a step takes much longer";
    }
    return waiting["variable"].get<std::string>() + "=" + waiting["value"].get<std::string>() +
           (waiting["set_by"] == "weft"
                ? " (threads sleep at once while other programs want their cores)"
                : " (your choice)");
}

Json doctor_json(const Context& context) {
    const Machine machine = read_machine();
    const Json environment = train::environment_json(WEFT_VERSION, machine.usable_cores);
    return {{"version", WEFT_VERSION},
            {"build", {{"type", WEFT_BUILD_TYPE}, {"compiler", WEFT_COMPILER}}},
            {"cpu",
             {{"name", machine.cpu_name},
              {"logical_cores", machine.logical_cores},
              {"usable_cores", machine.usable_cores},
              {"instruction_sets", machine.sets.names()}}},
            {"memory_bytes", machine.memory_bytes},
            {"memory_free_bytes", machine.memory_free_bytes},
            {"system", machine.system},
            {"kernel_library", environment["kernel_library"]},
            {"kernel_instruction_set", environment["instruction_set"]},
            {"thread_waiting", waiting_json()},
            {"cuda", cuda_json()},
            {"transports", transports_json()},
            {"runs_root", context.runs_root.string()},
            {"disk_free_bytes", disk_free_bytes(context.runs_root)},
            {"missing_sensors", train::missing_sensors(train::read_system())},
            {"data", data_json()}};
}

/// All GPUs, and what they exchange.
Json self_test_json() {
    Json out = Json::array();
    if (!train::missing_gpus().empty()) {
        return out;
    }
    const auto on_test = [](const std::string& of) {
        std::fprintf(stderr, "Testing %s against the reference ...\n", of.c_str());
    };
    for (const auto& one :
         train::gpu_verdicts(train::all_gpus(), train::TestWhen::always, on_test)) {
        out.push_back({{"of", one.of},
                       {"passed", one.result.passed},
                       {"cases", one.result.cases},
                       {"seconds", one.result.seconds},
                       {"failure", one.result.failure}});
    }
    return out;
}

int exit_code_of_tests(const Json& tests) {
    for (const Json& one : tests) {
        if (!one["passed"].get<bool>()) {
            return exit_code(ErrorKind::device);
        }
    }
    return 0;
}

void print_tests(const Json& tests) {
    for (const Json& one : tests) {
        const auto of = one["of"].get<std::string>();
        if (one["passed"].get<bool>()) {
            std::printf("self-test     %s passed, %d cases in %.1f s\n", of.c_str(),
                        one["cases"].get<int>(), one["seconds"].get<double>());
        } else {
            std::printf("self-test     %s failed: %s\n", of.c_str(),
                        one["failure"].get<std::string>().c_str());
        }
    }
    if (tests.empty()) {
        std::printf("self-test     there is no GPU to test\n");
    }
}

void print_text(const Json& doctor) {
    const auto text = [](const Json& value) { return value.get<std::string>(); };
    const Json& cpu = doctor["cpu"];
    std::printf("weft %s on %s\n", text(doctor["version"]).c_str(), text(doctor["system"]).c_str());
    std::printf("processor     %s, %lld of %lld cores usable\n", text(cpu["name"]).c_str(),
                cpu["usable_cores"].get<long long>(), cpu["logical_cores"].get<long long>());
    const auto sets = cpu["instruction_sets"].get<std::vector<std::string>>();
    std::printf("instructions  %s\n", join(sets, ", ").c_str());
    std::printf("kernels       %s, using %s\n", text(doctor["kernel_library"]).c_str(),
                text(doctor["kernel_instruction_set"]).c_str());
    std::printf("waiting       %s\n", waiting_text(doctor["thread_waiting"]).c_str());
    std::printf("memory        %s, %s free\n",
                format_bytes(doctor["memory_bytes"].get<std::int64_t>()).c_str(),
                format_bytes(doctor["memory_free_bytes"].get<std::int64_t>()).c_str());
    std::printf("disk          %s free for runs in %s\n",
                format_bytes(doctor["disk_free_bytes"].get<std::int64_t>()).c_str(),
                text(doctor["runs_root"]).c_str());
    if (const auto& missing = doctor["missing_sensors"]; !missing.empty()) {
        std::printf("sensors       this machine does not tell: %s; runs have no curves of it\n",
                    join(missing.get<std::vector<std::string>>(), ", ").c_str());
    }
    print_gpus(doctor["cuda"]);
    print_transports(doctor["transports"]);
    if (doctor.contains("self_test")) {
        print_tests(doctor["self_test"]);
    }
    for (const Json& data : doctor["data"]) {
        std::printf("data          %s: %s\n", text(data["name"]).c_str(),
                    data["found"].get<bool>() ? text(data["path"]).c_str()
                                              : ("not found; " + text(data["hint"])).c_str());
    }
}

} // namespace

void add_doctor(Command app, Context& context) {
    auto json = std::make_shared<bool>(false);
    auto tests = std::make_shared<bool>(false);
    const Command command =
        app.subcommand("doctor", "say what this machine offers and what is missing");
    command.flag("--json", json.get(), "print JSON");
    command.flag("--self-test", tests.get(), "test the GPUs against the reference again");
    command.callback([json, tests, &context] {
        Json doctor = doctor_json(context);
        if (*tests) {
            doctor["self_test"] = self_test_json();
            context.exit_code = exit_code_of_tests(doctor["self_test"]);
        }
        if (*json) {
            print_json(doctor);
        } else {
            print_text(doctor);
        }
    });
}

} // namespace weft::cli
