// SPDX-License-Identifier: Apache-2.0
// What is done on another host, by the weft there: its state, its runs, a run begun, orders to one,
// data brought to it.
#pragma once

#include "core/config/json.h"
#include "core/hosts/connection.h"
#include "core/hosts/partitions.h"

#include <functional>
#include <map>
#include <optional>

namespace weft::hosts {

/// Something that a host has to have.
struct HostCheck {
    std::string name; // "same weft"
    bool good = false;
    std::string text; // what was found: "0.9.2"
    std::string hint; // what to do; empty where it is good
};
struct HostLook {
    std::string runs; // folder of runs there
    std::vector<HostCheck> checks;
    config::Json doctor = config::Json::object(); // `weft doctor --json` there
    std::vector<Partition> partitions;            // of a host with Slurm
    double round_trip_s = 0;
    double link_bytes_per_s = 0; // to the host, measured with 4 MiB; 0: not measured
    bool usable() const;
};
/// `version` is that of this program, "weft 1.2". Throws weft::Error{device} where the host cannot
/// be reached; all that it lacks is in `checks`.
HostLook look_at(const Connection& connection, const std::string& version);

struct RemoteRun {
    std::string folder;
    std::string name, state;
    std::string problem;
    std::int64_t step = 0, total_steps = 0;
    std::optional<double> loss;
    std::string best_metric;
    std::optional<double> best_value;
    std::int64_t checkpoint_step = -1;
    double modified = 0; // s, UTC epoch
};
/// The newest first.
std::vector<RemoteRun> remote_runs(const Connection& connection);
/// The folder of a run there, named by it or by its last name. Throws weft::Error{usage}.
std::string find_run(const Connection& connection, const std::string& run);

/// Checks the configuration there, makes a run's folder and starts `weft train` in a session of its
/// own, which no connection ends. Returns the folder when the run has begun. Throws
/// weft::Error{usage} with what the host says of the configuration.
std::string start_run(const Connection& connection, const config::Json& config,
                      const std::vector<std::string>& arguments);

/// `weft tell RUN WORDS...` there. Returns what it says.
std::string tell_run(const Connection& connection, const std::string& run,
                     const std::vector<std::string>& words);

/// A file or folder into <runs>/data there, by rsync, sum by sum; what is there already and equal
/// is not sent again. Returns its path there. `progress` hears how much of it has gone, 0 to 1.
std::string copy_data(const Connection& connection, const Path& data,
                      const std::function<void(double)>& progress = {});

/// The configuration with files and folders of here brought there, and named as they are there.
/// `files` by the field that names each, "/data/train/path". `tell` hears of each how much of it
/// has gone, first 0.
/// Throws weft::Error{usage} where two of them have one name.
config::Json bring_data(const Connection& connection, config::Json config,
                        const std::map<std::string, Path>& files,
                        const std::function<void(const std::string&, double)>& tell);

} // namespace weft::hosts
