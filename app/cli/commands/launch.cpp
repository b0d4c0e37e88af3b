// SPDX-License-Identifier: Apache-2.0
// weft launch CONFIG|RUN: the ranks of a run, started as this machine, others or a queue start
// things.
#include "app/cli/commands/commands.h"
#include "app/cli/launch_request.h"
#include "app/cli/run_file.h"
#include "app/cli/signals.h"
#include "core/base/build_config.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/launch/kubernetes_file.h"
#include "core/launch/local_members.h"
#include "core/launch/mpirun_member.h"
#include "core/launch/process_group.h"
#include "core/launch/shell_text.h"
#include "core/launch/slurm_file.h"
#include "core/launch/spawn.h"
#include "core/launch/torchrun_lines.h"
#include "core/train/record/run_folder.h"

#include <cstdio>

namespace weft::cli {
namespace {

using launch::GroupEnd;
using launch::LaunchRequest;
using launch::Member;
using launch::Way;

void tell(const std::string& line) {
    std::fprintf(stderr, "weft launch: %s\n", line.c_str());
}

std::vector<Member> members_of(const PreparedLaunch& launch, bool begun) {
    switch (launch.choice.way) {
    case Way::ssh: return launch::ssh_members(launch.request, begun, launch.own_name);
    case Way::mpirun: return {launch::mpirun_member(launch.request, begun)};
    default: return launch::process_members(launch.request, begun);
    }
}

// What a queue is given: its file, and the command that hands it over.
struct QueueFile {
    std::string path;
    std::string text;
    std::vector<std::string> command;
};

QueueFile queue_file(const PreparedLaunch& launch) {
    const LaunchRequest& request = launch.request;
    if (launch.choice.way == Way::slurm) {
        const std::string path = request.run_folder + "/logs/launch.sbatch";
        return {path, launch::slurm_file(request), {"sbatch", path}};
    }
    const std::string path = request.run_folder + "/logs/launch.yaml";
    return {path, launch::kubernetes_file(request), {"kubectl", "apply", "-f", path}};
}

void print_group(const PreparedLaunch& launch) {
    for (const Member& member : members_of(launch, launch.begun())) {
        std::string about = member.all_ranks
                                ? "all ranks"
                                : "rank " + std::to_string(member.rank) + " on " + member.host;
        about += member.reads_secret
                     ? "; stdin: the secret " + launch.request.secret + ", then names of signals"
                 : member.reads_signals ? "; stdin: names of signals, for rank 0"
                                        : "";
        std::printf("# %s\n%s\n", about.c_str(), launch::member_line(member).c_str());
    }
}

void print_launch(const PreparedLaunch& launch) {
    if (!launch.choice.why.empty()) {
        std::printf("# %s: %s\n", launch::way_name(launch.choice.way).c_str(),
                    launch.choice.why.c_str());
    }
    switch (launch.choice.way) {
    case Way::torchrun: std::printf("%s", launch::torchrun_lines(launch.request).c_str()); return;
    case Way::slurm:
    case Way::kubernetes: {
        const QueueFile file = queue_file(launch);
        std::printf("# %s:\n%s\n# then:\n%s\n", file.path.c_str(), file.text.c_str(),
                    launch::shell_line(file.command).c_str());
        return;
    }
    default: print_group(launch);
    }
}

// The file may hold the secret.
int hand_over(const PreparedLaunch& launch) {
    namespace fs = std::filesystem;
    const QueueFile file = queue_file(launch);
    make_directories(fs::path(file.path).parent_path());
    write_file_atomically(file.path, "");
    fs::permissions(file.path, fs::perms::owner_read | fs::perms::owner_write);
    File(file.path, File::Mode::write).write(file.text);
    const launch::Answer answer = ask_hosts({file.command}).front();
    std::fputs(answer.out.c_str(), stdout);
    std::fputs(answer.error.c_str(), stderr);
    if (answer.code != 0) {
        throw Error(ErrorKind::runtime, launch::shell_line(file.command),
                    answer.code == -1 ? "did not end in time"
                                      : "ended with exit code " + std::to_string(answer.code),
                    "The file stays; it can be handed over by hand.");
    }
    std::printf("Run folder: %s\n", launch.request.run_folder.c_str());
    return 0;
}

// On the host of rank 0, whose run folder counts.
bool is_begun(const PreparedLaunch& launch) {
    const LaunchRequest& request = launch.request;
    const std::string& host = request.hosts.front().name;
    if (launch.choice.way == Way::ssh && !launch::is_this_machine(host, launch.own_name)) {
        std::vector<std::string> words = launch::ssh_words(host);
        words.push_back("test -e " + launch::shell_quoted(request.run_folder + "/run.json"));
        return ask_hosts({words}).front().code == 0;
    }
    return train::is_run_folder(request.run_folder);
}

// Where the folder is here, between two sessions. Nobody else writes: the lock is taken for it.
void note_restart(const std::string& folder, const train::RestartEvent& event) {
    if (!train::is_run_folder(folder)) {
        return;
    }
    try {
        const train::RunLock lock(folder);
        train::EventLog log(folder);
        log.write(event);
        log.sync();
    } catch (const Error& fault) {
        tell("the restart is not in the run's events: " + fault.message());
    }
}

int watch_run(PreparedLaunch& launch, const LaunchOptions& options) {
    const launch::Descriptor signals(open_signals());
    launch::WatchOptions watching;
    watching.signal_descriptor = signals.number();
    watching.tell = tell;
    bool begun = launch.begun();
    for (int attempt = 1;; ++attempt) {
        const GroupEnd end =
            launch::watch_group(members_of(launch, begun), launch.request.secret, watching);
        if (!end.is_fault() || attempt > options.restarts) {
            return end.code;
        }
        std::string why = end.cause.empty()
                              ? "rank 0 ended with exit code " + std::to_string(end.code)
                              : end.cause;
        if (options.elastic) {
            const std::string fewer = take_hosts_that_answer(launch);
            why += (fewer.empty() ? "" : "; ") + fewer;
        }
        begun = launch.begun() || is_begun(launch);
        if (!begun && launch.request.hosts.front().name != launch.hosts.front().name) {
            throw Error(ErrorKind::runtime, launch.request.run_folder,
                        launch.hosts.front().name + " has it, and does not answer",
                        "A folder that all hosts share outlives the host of rank 0.");
        }
        tell("restart " + std::to_string(attempt) + " of at most " +
             std::to_string(options.restarts) + ": " + why);
        note_restart(launch.request.run_folder, {attempt, options.restarts, end.code, why});
        choose_meeting_point(launch, options); // what may still live of these ranks stays outside
    }
}

// What can be known before anything is written.
void check_surroundings(const PreparedLaunch& launch, const Context& context) {
    launch::require_programs(launch.choice.way, launch.request, launch.own_name,
                             [&](const std::string& program) {
                                 return launch::is_installed(program, context.program_path);
                             });
    if (launch.choice.way == Way::slurm || launch.choice.way == Way::kubernetes) {
        queue_file(launch); // throws where it cannot be written
    }
    if (launch.choice.way == Way::ssh) {
        launch::check_versions(launch.request, std::string("weft ") + WEFT_VERSION, launch.own_name,
                               ask_hosts);
    }
}

int launch_run(const LaunchOptions& options, const Context& context) {
    std::optional<PreparedLaunch> launch = read_launch(options, context);
    if (!launch) {
        return kExitUsage;
    }
    if (!options.dry_run) {
        check_surroundings(*launch, context);
    }
    choose_meeting_point(*launch, options);
    make_place(*launch, options, context);
    const Way way = launch->choice.way;
    if (options.dry_run || way == Way::torchrun) {
        print_launch(*launch);
        return 0;
    }
    if (way == Way::slurm || way == Way::kubernetes) {
        return hand_over(*launch);
    }
    return watch_run(*launch, options);
}

void add_queue_options(const Command& command, LaunchOptions& options) {
    command.option("--nodes", &options.nodes, "with slurm or kubernetes: so many hosts")
        .between(1, 100000);
    command.option("--time", &options.slurm.time, "with slurm: the limit, as sbatch takes it");
    command.option("--partition", &options.slurm.partition, "with slurm");
    command.option("--account", &options.slurm.account, "with slurm");
    command.option("--image", &options.kubernetes.image,
                   "with kubernetes: the container image, which holds weft");
    command.option("--namespace", &options.kubernetes.name_space, "with kubernetes");
    command
        .option("--kind", &options.kubernetes.kind,
                "with kubernetes: JobSet (a pod for each rank) or MPIJob (one for each host)")
        .one_of({"JobSet", "MPIJob"})
        .show_default();
    command.option("--claim", &options.claim,
                   "with kubernetes: NAME:/PATH of a volume claim that keeps the run folder");
}

} // namespace

void add_launch(Command app, Context& context) {
    auto options = std::make_shared<LaunchOptions>();
    const Command command = app.subcommand(
        "launch", "train with several processes, here, on other hosts or by a queue");
    command
        .positional("CONFIG|RUN", &options->target,
                    std::string(kRunFileHelp) + "; or a run folder, to go on with it")
        .required();
    command.positional("OPTION", &options->more, "after --: options of `weft train` or `resume`");
    command.option("--hosts", &options->hosts, "hosts for the ranks, a,b, or ranks too: a:4,b:4");
    command.option("--per-host", &options->per_host, "so many ranks on each host").between(1, 4096);
    std::vector<std::string> ways = launch::way_names();
    ways.insert(ways.begin(), "auto");
    command.option("--with", &options->with, "what starts the ranks").one_of(ways).show_default();
    command.option("--backend", &options->backend, "how ranks talk: sets mesh.backend")
        .one_of({"auto", "mpi", "gloo", "nccl"})
        .show_default();
    command
        .option("--set", &options->overrides, "change a setting: key.path=value (may be repeated)")
        .one_value();
    command.option("--run-dir", &options->run_dir,
                   "use exactly this new or empty folder (default: a numbered one in ~/WeftRuns)");
    command.flag("--elastic", &options->elastic,
                 "a run goes on on as many ranks as are asked for now, and is the same run; "
                 "--restarts leave out hosts that do not answer");
    command.flag("--dry-run", &options->dry_run, "print what would be written and run, and end");
    command
        .option("--restarts", &options->restarts,
                "start failed ranks again from the last commit, so many times at most")
        .between(0, 1000000)
        .show_default();
    command.option("--port", &options->port, "where rank 0 listens (default: a free one)")
        .between(1024, 65535);
    command.option("--interface", &options->interface,
                   "the network interface for it, e.g. eth0, where hosts have several");
    command.option("--program", &options->program,
                   "weft on all hosts (default: the path of this one)");
    add_queue_options(command, *options);
    command.callback([options, &context] { context.exit_code = launch_run(*options, context); });
}

} // namespace weft::cli
