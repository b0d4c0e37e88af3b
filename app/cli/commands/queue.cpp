// SPDX-License-Identifier: Apache-2.0
// weft queue add|list|show|move|hold|release|stop|remove|run: runs one after another, or as devices
// get free.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/run_file.h"
#include "app/cli/signals.h"
#include "core/base/text.h"
#include "core/checkpoint/pointer.h"
#include "core/launch/request.h"
#include "core/queue/edit.h"
#include "core/queue/plan_sweep.h"
#include "core/queue/scheduler.h"
#include "core/queue/view.h"
#include "core/train/compute.h"
#include "core/train/engine.h"
#include "core/train/record/run_folder.h"
#include "core/train/start_check.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <ctime>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using queue::Book;
using queue::Entry;
using queue::State;

struct QueueOptions {
    std::vector<std::string> what;      // of add: configurations and runs
    std::vector<std::string> overrides; // --set
    std::string devices;
    std::string hosts;
    std::vector<std::string> ids;
    std::string id;
    std::string root; // of run
    std::string before;
    bool first = false;
    bool last = false;
    bool hold = false;
    bool ended = false;
    bool json = false;
    bool quiet = false;
    bool until_empty = false;
    int parallel = 1;
};

double epoch_now() {
    return SystemClock().epoch_s();
}

std::int64_t id_of(std::string_view text) {
    const std::string_view digits = text.starts_with('#') ? text.substr(1) : text;
    std::int64_t id = 0;
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, id);
    if (read.ec != std::errc() || read.ptr != end) {
        throw Error(ErrorKind::usage, std::string(text), "is no number of an entry",
                    "See `weft queue list`.");
    }
    return id;
}

Entry& entry_in(Book& book, const std::string& text) {
    return queue::entry_of_id(book, id_of(text));
}

/// A run may be named by its folder's name alone. Empty: `text` names no run.
fs::path run_named(const std::string& text, const Context& context) {
    std::error_code problem;
    if (fs::is_regular_file(text, problem) && fs::path(text).extension() == ".json") {
        return {};
    }
    const fs::path named = checkpoint::follow_pointer(text);
    if (train::is_run_folder(named)) {
        return fs::absolute(named).lexically_normal();
    }
    const fs::path below = context.runs_root / text;
    return !text.empty() && train::is_run_folder(below) ? below : fs::path();
}

struct NewEntry {
    fs::path run; // goes on; empty: `config` is trained
    compile::RunConfig config;
};

/// Everything is checked before anything is queued.
std::optional<NewEntry> check_new(const std::string& what, const QueueOptions& options,
                                  const Context& context) {
    NewEntry out;
    out.run = run_named(what, context);
    std::vector<std::string> overrides = options.overrides;
    if (!options.devices.empty()) {
        overrides.push_back("mesh.devices=\"" + options.devices + "\"");
    }
    compile::CheckedRun checked = out.run.empty()
                                      ? read_run_file(what, overrides, MadeUpData::refused)
                                      : train::read_frozen_config(out.run, overrides);
    if (checked.ok()) {
        for (config::Diagnostic missing : train::missing_files(checked.config)) {
            missing.severity = config::Severity::warning; // it may be there when its turn comes
            checked.diagnostics.push_back(std::move(missing));
        }
    }
    print_diagnostics(checked.diagnostics);
    if (!checked.ok()) {
        std::fprintf(stderr, "%s is not queued, and nothing else is.\n", what.c_str());
        return std::nullopt;
    }
    out.config = std::move(checked.config);
    return out;
}

Entry& put(Book& book, const NewEntry& what, const QueueOptions& options, const Context& context) {
    if (what.run.empty()) {
        return queue::add_run(book, queue::folder_under(context.runs_root), what.config,
                              epoch_now());
    }
    for (const Entry& entry : book.entries) {
        const bool same = entry.run == what.run || entry.resumes == what.run;
        if (same && !has_ended(entry.state) && options.overrides.empty()) {
            throw Error(ErrorKind::usage, "#" + std::to_string(entry.id) + " " + entry.name,
                        "has this run already", "It goes on when its turn comes.");
        }
    }
    Entry entry;
    entry.name = what.config.name;
    entry.resumes = what.run.string();
    entry.overrides = options.overrides;
    if (!options.devices.empty()) {
        entry.overrides.push_back("mesh.devices=\"" + options.devices + "\"");
    }
    entry.devices = what.config.section("mesh").at("devices").get<std::string>();
    entry.added = epoch_now();
    return book.add(std::move(entry));
}

int queue_add(const QueueOptions& options, const Context& context) {
    if (!options.hosts.empty()) {
        launch::parse_hosts(options.hosts, 0); // throws where they are none
    }
    std::vector<NewEntry> checked;
    for (const std::string& what : options.what) {
        auto one = check_new(what, options, context);
        if (!one) {
            return kExitUsage;
        }
        checked.push_back(std::move(*one));
    }
    std::vector<Entry> added;
    queue::change_book(queue::folder_under(context.runs_root), [&](Book& book) {
        for (const NewEntry& one : checked) {
            Entry& entry = put(book, one, options, context);
            entry.hosts = options.hosts;
            entry.state = options.hold ? State::held : State::waiting;
            added.push_back(entry);
        }
        if (options.first) {
            std::rotate(book.entries.begin(),
                        book.entries.end() - static_cast<std::ptrdiff_t>(added.size()),
                        book.entries.end());
        }
    });
    config::Json out = config::Json::array();
    for (const Entry& entry : added) {
        out.push_back(queue::to_json(entry));
        if (!options.json) {
            std::printf("#%lld %s\n", static_cast<long long>(entry.id), entry.name.c_str());
        }
    }
    if (options.json) {
        print_json(out);
    } else if (!queue::is_scheduled(queue::folder_under(context.runs_root))) {
        std::printf("Nothing runs the queue yet: weft queue run\n");
    }
    return 0;
}

std::string progress_text(const queue::EntryView& view) {
    if (view.step < 0) {
        return "";
    }
    std::string out = "step " + format_thousands(view.step);
    out += view.until > 0 ? " of " + format_thousands(view.until) : "";
    return out + (view.eta_s ? ", " + format_duration(*view.eta_s) + " left" : "");
}

int queue_list(const QueueOptions& options, const Context& context) {
    const fs::path folder = queue::folder_under(context.runs_root);
    const auto views = queue::view_entries(queue::read_book(folder));
    config::Json out = config::Json::array();
    for (const queue::EntryView& view : views) {
        if (options.json) {
            out.push_back(queue::to_json(view));
            continue;
        }
        const Entry& entry = view.entry;
        const std::string progress = progress_text(view);
        std::printf("%6s  %-8s %-28s %s%s%s\n", ("#" + std::to_string(entry.id)).c_str(),
                    std::string(state_name(entry.state)).c_str(), entry.name.c_str(),
                    progress.c_str(), progress.empty() || entry.reason.empty() ? "" : "; ",
                    entry.reason.c_str());
    }
    if (options.json) {
        print_json(out);
        return 0;
    }
    if (views.empty()) {
        std::printf("The queue of %s is empty.\n", context.runs_root.c_str());
    }
    const bool waits = std::any_of(views.begin(), views.end(), [](const queue::EntryView& view) {
        return view.entry.state == State::waiting;
    });
    if (waits && !queue::is_scheduled(folder)) {
        std::printf("Nothing runs the queue: weft queue run\n");
    }
    return 0;
}

int queue_show(const QueueOptions& options, const Context& context) {
    const fs::path folder = queue::folder_under(context.runs_root);
    Book book = queue::read_book(folder);
    Book one;
    one.entries.push_back(entry_in(book, options.id));
    const queue::EntryView view = queue::view_entries(one).front();
    if (options.json) {
        print_json(queue::to_json(view));
        return 0;
    }
    const Entry& entry = view.entry;
    const auto line = [](const char* name, const std::string& value) {
        if (!value.empty()) {
            std::printf("%-10s %s\n", name, value.c_str());
        }
    };
    line("entry", "#" + std::to_string(entry.id) + " " + entry.name);
    line("state", queue::state_text(entry));
    line("progress", progress_text(view));
    line("devices", entry.devices);
    line("hosts", entry.hosts);
    line("run", entry.run);
    line("goes on", entry.resumes);
    line("config", entry.config.empty() ? "" : (folder / entry.config).string());
    line("sweep", entry.sweep.empty() ? ""
                                      : entry.sweep + ", trial " + std::to_string(entry.trial) +
                                            " " + entry.settings.dump());
    std::error_code problem;
    const fs::path log = queue::log_file(folder, entry.id);
    line("log", fs::exists(log, problem) ? log.string() : "");
    return 0;
}

int queue_move(const QueueOptions& options, const Context& context) {
    if ((options.first ? 1 : 0) + (options.last ? 1 : 0) + (options.before.empty() ? 0 : 1) != 1) {
        throw Error(ErrorKind::usage, "move", "where to is not said, or twice",
                    "One of --first, --last and --before ID.");
    }
    queue::change_book(queue::folder_under(context.runs_root), [&](Book& book) {
        const std::int64_t id = id_of(options.id);
        if (options.first) {
            queue::move_first(book, id);
            return;
        }
        queue::move_before(book, id,
                           options.last ? std::nullopt : std::optional(id_of(options.before)));
    });
    return 0;
}

using Change = std::function<void(Book&, std::int64_t)>;

/// All of them, or none where one cannot be changed so.
int change_entries(const QueueOptions& options, const Context& context, const Change& change) {
    queue::change_book(queue::folder_under(context.runs_root), [&](Book& book) {
        for (const std::string& id : options.ids) {
            change(book, id_of(id));
        }
    });
    return 0;
}

void hold_entry(Book& book, std::int64_t id) {
    queue::hold(queue::entry_of_id(book, id));
}

void release_entry(Book& book, std::int64_t id) {
    queue::release(queue::entry_of_id(book, id));
}

void stop_entry(Book& book, std::int64_t id) {
    queue::stop(book, id, epoch_now());
}

int queue_remove(QueueOptions options, const Context& context) {
    const fs::path folder = queue::folder_under(context.runs_root);
    if (options.ended != options.ids.empty()) {
        throw Error(ErrorKind::usage, "remove", "which entries is not said, or twice",
                    "Name them, or use --ended.");
    }
    if (options.ended) {
        for (const Entry& entry : queue::read_book(folder).entries) {
            if (has_ended(entry.state) && entry.sweep.empty()) {
                options.ids.push_back(std::to_string(entry.id));
            }
        }
    }
    change_entries(options, context, [](Book& book, std::int64_t id) { queue::remove(book, id); });
    for (const std::string& id : options.ids) {
        std::error_code problem;
        fs::remove(queue::config_file(folder, id_of(id)), problem);
    }
    return 0;
}

/// Where no scheduler lives to be asked: the run itself is told.
int queue_stop(const QueueOptions& options, const Context& context) {
    change_entries(options, context, stop_entry);
    const fs::path folder = queue::folder_under(context.runs_root);
    if (queue::is_scheduled(folder)) {
        return 0;
    }
    Book book = queue::read_book(folder);
    for (const std::string& id : options.ids) {
        const Entry& entry = entry_in(book, id);
        const auto lock =
            entry.state == State::running ? train::read_lock(entry.run) : std::nullopt;
        if (lock && lock->pid > 0) {
            ::kill(static_cast<pid_t>(lock->pid), SIGTERM);
        }
    }
    return 0;
}

/// Runs that share the cores get a part of them each, where nobody says otherwise.
std::vector<std::string> environment_of_runs(const Context& context, int runs_at_once) {
    std::vector<std::string> out = context.environment;
    if (context.threads == 0 && runs_at_once > 1) {
        const int threads = std::max(1, train::thread_count(0) / runs_at_once);
        out.push_back("OMP_NUM_THREADS=" + std::to_string(threads));
    }
    return out;
}

void print_news(const std::string& news) {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char time[16];
    std::strftime(time, sizeof time, "%H:%M:%S", &local);
    std::printf("%s %s\n", time, news.c_str());
    std::fflush(stdout);
}

int queue_run(const QueueOptions& options, const Context& context) {
    SignalWatcher signals; // before any thread
    queue::SchedulerOptions wanted;
    wanted.runs_root = options.root.empty() ? context.runs_root : fs::absolute(options.root);
    wanted.program = context.program;
    wanted.environment = environment_of_runs(context, options.parallel);
    wanted.machine.runs_at_once = options.parallel;
    const int gpus = static_cast<int>(train::find_gpus().devices.size());
    for (int gpu = 0; gpu < gpus; ++gpu) {
        wanted.machine.gpus.push_back(gpu);
    }
    wanted.until_empty = options.until_empty;
    if (!options.quiet) {
        wanted.tell = print_news;
    }
    queue::Scheduler scheduler(std::move(wanted));
    signals.start([&](const train::Command& command) {
        if (command.kind != train::CommandKind::checkpoint) {
            scheduler.stop();
        }
    });
    scheduler.run();
    signals.stop();
    return signals.ended_by() == 0 ? 0 : kExitStopped;
}

void add_entry_commands(Command queue_command, const std::shared_ptr<QueueOptions>& options,
                        Context& context) {
    struct Listed {
        const char* name;
        const char* help;
        Change change;
    };
    const Listed commands[] = {
        {"hold", "do not start entries until they are released", hold_entry},
        {"release", "let entries wait for their turn: held ones, failed and stopped ones again",
         release_entry}};
    for (const Listed& one : commands) {
        const Command command = queue_command.subcommand(one.name, one.help);
        command.positional("ID", &options->ids, "numbers of entries").required();
        command.callback([options, change = one.change, &context] {
            context.exit_code = change_entries(*options, context, change);
        });
    }
    const Command stop =
        queue_command.subcommand("stop", "end entries; a run that is under way saves first");
    stop.positional("ID", &options->ids, "numbers of entries").required();
    stop.callback([options, &context] { context.exit_code = queue_stop(*options, context); });
    const Command remove =
        queue_command.subcommand("remove", "take entries out of the queue; their runs stay");
    remove.positional("ID", &options->ids, "numbers of entries");
    remove.flag("--ended", &options->ended, "all that are done, failed or stopped, but for trials");
    remove.callback([options, &context] { context.exit_code = queue_remove(*options, context); });
    const Command move = queue_command.subcommand("move", "change the order");
    move.positional("ID", &options->id, "number of the entry").required();
    move.flag("--first", &options->first, "before all others");
    move.flag("--last", &options->last, "behind all others");
    move.option("--before", &options->before, "before this entry");
    move.callback([options, &context] { context.exit_code = queue_move(*options, context); });
}

void add_run_command(Command queue_command, const std::shared_ptr<QueueOptions>& options,
                     Context& context) {
    const Command run = queue_command.subcommand(
        "run", "start what waits, in order, as devices get free; Ctrl-C: runs save, and go on with "
               "the next `weft queue run`");
    run.positional("ROOT", &options->root, "folder of runs (default: $WEFT_RUNS or ~/WeftRuns)");
    run.option("--parallel", &options->parallel,
               "so many runs on the CPU at a time; each GPU has one run")
        .between(1, 1000)
        .show_default();
    run.flag("--until-empty", &options->until_empty, "end when nothing can be started any more");
    run.flag("--quiet", &options->quiet, "nothing on stdout");
    run.callback([options, &context] { context.exit_code = queue_run(*options, context); });
}

} // namespace

void add_queue(Command app, Context& context) {
    auto options = std::make_shared<QueueOptions>();
    const Command command =
        app.subcommand("queue", "train runs one after another, or as devices get free");
    command.needs_subcommand();
    const Command add = command.subcommand("add", "queue configurations as they are now, or runs "
                                                  "to go on with");
    add.positional("CONFIG", &options->what,
                   "configuration files, or folders or names of runs to resume")
        .required();
    add.option("--set", &options->overrides, "change a setting: key.path=value; a run is forked")
        .one_value();
    add.option("--devices", &options->devices,
               "where to compute: auto, cpu, cpu:N, cuda, cuda:N (whichever are free) or cuda:0,2");
    add.option("--hosts", &options->hosts,
               "a process for each rank on these hosts, as `weft launch` takes them: localhost:4, "
               "or a:4,b:4");
    add.flag("--first", &options->first, "before all others");
    add.flag("--hold", &options->hold, "not started until it is released");
    add.flag("--json", &options->json, "print JSON");
    add.callback([options, &context] { context.exit_code = queue_add(*options, context); });
    const Command list = command.subcommand(
        "list", "every entry: what is to come in its order, then what has ended");
    list.flag("--json", &options->json, "print JSON");
    list.callback([options, &context] { context.exit_code = queue_list(*options, context); });
    const Command show = command.subcommand("show", "all about one entry");
    show.positional("ID", &options->id, "number of the entry").required();
    show.flag("--json", &options->json, "print JSON");
    show.callback([options, &context] { context.exit_code = queue_show(*options, context); });
    add_entry_commands(command, options, context);
    add_run_command(command, options, context);
}

} // namespace weft::cli
