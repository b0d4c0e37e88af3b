// SPDX-License-Identifier: Apache-2.0
#include "core/hosts/remote.h"

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/launch/shell_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace weft::hosts {
namespace {

using config::Json;
using launch::shell_quoted;

constexpr std::int64_t kLinkBytes = std::int64_t{4} << 20;
constexpr double kMostClockApart = 5; // s; heartbeats of runs are looked at a minute after

/// The lines of "name value" of a script's answer.
std::string value_of(const std::string& text, const std::string& name) {
    for (const std::string& line : split(text, '\n')) {
        if (line.starts_with(name + " ")) {
            return line.substr(name.size() + 1);
        }
    }
    return {};
}

HostCheck check(std::string name, bool good, std::string text, std::string hint) {
    return {std::move(name), good, std::move(text), good ? std::string() : std::move(hint)};
}

/// Seconds that the host's clock is ahead.
HostCheck clock_check(const std::string& said, double before_s, double after_s) {
    const double apart = std::strtod(said.c_str(), nullptr) - (before_s + after_s) / 2;
    // The half of the way is not known.
    const bool good = std::abs(apart) < kMostClockApart + (after_s - before_s) / 2;
    return check("clocks", good, format_duration(std::abs(apart)) + " apart",
                 "Let both keep time by NTP: signs of life of runs are compared with the clock.");
}

void measure_link(const Connection& connection, HostLook& look) {
    const SystemClock clock;
    double begin = clock.steady_s();
    connection.ask(":");
    look.round_trip_s = clock.steady_s() - begin;
    begin = clock.steady_s();
    // Made there and read here: it takes the way that curves and checkpoints take.
    const std::string got = connection.ask("head -c " + std::to_string(kLinkBytes) + " /dev/zero");
    const double took = clock.steady_s() - begin - look.round_trip_s;
    look.link_bytes_per_s = took > 0 ? static_cast<double>(got.size()) / took : 0;
}

std::optional<double> number_of(const Json& object, const char* key) {
    return object.contains(key) && object.at(key).is_number()
               ? std::optional(object.at(key).get<double>())
               : std::nullopt;
}

/// What a folder may be called after a run.
std::string slug_of(const std::string& name) {
    std::string out;
    for (const char c : name) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.';
        out += plain ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
    }
    return out.empty() ? "run" : out.substr(0, 60);
}

} // namespace

bool HostLook::usable() const {
    return std::all_of(checks.begin(), checks.end(), [](const HostCheck& one) { return one.good; });
}

HostLook look_at(const Connection& connection, const std::string& version) {
    HostLook look;
    connection.ask(":"); // the connection is opened outside of what is timed
    const SystemClock clock;
    const double before_s = clock.epoch_s();
    const std::string said =
        connection.ask("echo time $(date +%s.%N); echo runs $runs\n"
                       "echo version $(weft --version 2>&1 | head -n 1)\n"
                       "mkdir -p \"$runs\" 2>/dev/null && [ -w \"$runs\" ] && echo writable yes\n"
                       "command -v rsync >/dev/null && echo rsync yes\n"
                       "echo free $(df -Pk \"$runs\" 2>/dev/null | awk 'NR==2 {print $4}')\n" +
                       std::string(kAskForPartitions));
    const double after_s = clock.epoch_s();
    look.runs = value_of(said, "runs");
    const std::string there = value_of(said, "version");
    look.checks.push_back(check("same weft", there == version, shown(there, 80),
                                "This is " + version +
                                    ". Install the same there, or name its path "
                                    "with --program: weft hosts remove, then add."));
    look.checks.push_back(clock_check(value_of(said, "time"), before_s, after_s));
    look.checks.push_back(check("folder of runs", value_of(said, "writable") == "yes",
                                shown(look.runs, 80),
                                "It cannot be written. Name another with --runs."));
    look.checks.push_back(check("rsync", value_of(said, "rsync") == "yes",
                                value_of(said, "rsync") == "yes" ? "is there" : "is not there",
                                "Install rsync there: it brings runs and checkpoints here."));
    const double free_kib = std::strtod(value_of(said, "free").c_str(), nullptr);
    look.checks.push_back(check("room for runs", free_kib > 1 << 20,
                                format_bytes(static_cast<std::int64_t>(free_kib) * 1024) + " free",
                                "Less than 1 GiB: make room there."));
    if (there.starts_with("weft ")) {
        if (Json said_of_it = config::json_or_discarded(connection.ask("weft doctor --json"));
            said_of_it.is_object()) {
            look.doctor = std::move(said_of_it);
        }
    }
    look.partitions = read_partitions(said);
    measure_link(connection, look);
    return look;
}

std::vector<RemoteRun> remote_runs(const Connection& connection) {
    const Json all = config::json_or_discarded(connection.ask("weft runs list --json"));
    std::vector<RemoteRun> out;
    for (const Json& one : all.is_array() ? all : Json::array()) {
        RemoteRun& run = out.emplace_back();
        run.folder = one.value("folder", "");
        run.name = one.value("name", "");
        run.state = one.value("state", "");
        run.problem = one.value("problem", "");
        run.step = one.value("step", std::int64_t{0});
        run.total_steps = one.value("total_steps", std::int64_t{0});
        run.loss = number_of(one, "loss");
        run.best_metric = one.value("best_metric", "");
        run.best_value = number_of(one, "best_value");
        run.checkpoint_step = one.value("checkpoint_step", std::int64_t{-1});
        run.modified = one.value("modified", 0.0);
    }
    std::stable_sort(out.begin(), out.end(), [](const RemoteRun& one, const RemoteRun& other) {
        return one.modified > other.modified;
    });
    return out;
}

std::string find_run(const Connection& connection, const std::string& run) {
    return std::string(trim(connection.ask(
        "run=" + shell_quoted(run) + "; case $run in /*) ;; *) run=$runs/$run;; esac\n" +
        "[ -f \"$run/run.json\" ] || { echo \"there is no run in $run\" >&2; exit 1; }\n"
        "cd \"$run\" && pwd -P")));
}

std::string start_run(const Connection& connection, const Json& config,
                      const std::vector<std::string>& arguments) {
    const std::string with = launch::shell_line(arguments);
    const std::string checked = connection.ask(
        "mkdir -p \"$runs\" && file=$(mktemp \"$runs/.start-XXXXXX.json\") || exit 1\n"
        "printf %s " +
        shell_quoted(config.dump()) + " > \"$file\"\n" + "said=$(weft check \"$file\" " + with +
        " 2>&1) && echo \"file $file\" && exit\n" + "rm -f \"$file\"; echo \"$said\"");
    const std::string file = value_of(checked, "file");
    if (file.empty()) {
        throw Error(ErrorKind::usage, connection.host().name,
                    "refuses the configuration:\n" + std::string(trim(checked)),
                    "Paths are of that machine: weft hosts copy " + connection.host().name +
                        " DATA brings data there.");
    }
    const std::string slug = slug_of(config.value("name", "run"));
    return std::string(trim(
        connection.ask("file=" + shell_quoted(file) + "; trap 'rm -f \"$file\"' EXIT\n" +
                       "number=1; until run=$runs/$(date +%Y-%m-%d)_" + shell_quoted(slug) +
                       "_$(printf %03d $number); mkdir \"$run\" 2>/dev/null; do\n"
                       "number=$((number+1)); [ $number -lt 1000 ] || exit 1; done\n"
                       "mkdir \"$run/logs\" && mv \"$file\" \"$run/config.json\"\n"
                       "setsid \"$weft_program\" train \"$run/config.json\" --run-dir \"$run\" " +
                       with +
                       " > \"$run/logs/weft.log\" 2>&1 < /dev/null &\n"
                       "child=$!; until [ -s \"$run/events.jsonl\" ]; do\n"
                       "kill -0 $child 2>/dev/null || { [ -s \"$run/events.jsonl\" ] && break;\n"
                       "cat \"$run/logs/weft.log\" >&2; exit 1; }; sleep 0.1; done\n"
                       "echo \"$run\"")));
}

std::string tell_run(const Connection& connection, const std::string& run,
                     const std::vector<std::string>& words) {
    return std::string(trim(connection.ask("weft tell " + shell_quoted(run) + " " +
                                           launch::shell_line(words) + " 2>&1")));
}

std::string copy_data(const Connection& connection, const Path& data,
                      const std::function<void(double)>& progress) {
    std::error_code problem;
    if (!std::filesystem::exists(data, problem)) {
        throw Error(ErrorKind::usage, data.string(), "is not there", "Name a file or a folder.");
    }
    const Path whole = std::filesystem::canonical(data);
    const std::string folder =
        std::string(trim(connection.ask("mkdir -p \"$runs/data\" && cd \"$runs/data\" && pwd -P")));
    connection.push({"-rlt", "--checksum", "--partial"}, whole, folder + "/", progress);
    return folder + "/" + whole.filename().string();
}

Json bring_data(const Connection& connection, Json config, const std::map<std::string, Path>& files,
                const std::function<void(const std::string&, double)>& tell) {
    std::map<std::string, Path> brought; // by the name that it has there
    for (const auto& [pointer, path] : files) {
        const Path& before = brought.emplace(path.filename().string(), path).first->second;
        if (before != path) {
            throw Error(ErrorKind::usage, path.string(),
                        "has the name of " + before.string() + ", which is brought, too",
                        "Give one of them another name.");
        }
        const auto told = [&tell, name = path.string()](double share) { tell(name, share); };
        told(0);
        config[Json::json_pointer(pointer)] = copy_data(connection, path, told);
    }
    return config;
}

} // namespace weft::hosts
