// SPDX-License-Identifier: Apache-2.0
#include "core/hosts/host_list.h"

#include "core/base/text.h"
#include "core/config/json.h"

#include <algorithm>

namespace weft::hosts {
namespace {

using config::Json;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 20;

auto named(const std::string& name) {
    return [&name](const Host& host) { return host.name == name; };
}

[[noreturn]] void refuse_unknown(const std::vector<Host>& hosts, const std::string& name) {
    std::vector<std::string> known;
    for (const Host& host : hosts) {
        known.push_back(host.name);
    }
    throw Error(ErrorKind::usage, shown(name), "is no host that was added",
                known.empty() ? "There are none: weft hosts add NAME."
                              : "There are " + shown(join(known, ", ")) + ".");
}

void write_hosts(FileReplacement& file, const std::vector<Host>& hosts) {
    Json list = Json::array();
    for (const Host& host : hosts) {
        list.push_back({{"name", host.name}, {"program", host.program}, {"runs", host.runs}});
    }
    file.part().write(Json{{"hosts", std::move(list)}}.dump(2) + "\n");
    file.commit();
}

} // namespace

Path list_file(const Path& runs_root) {
    return runs_root / "hosts.json";
}

std::vector<Host> read_hosts(const Path& runs_root) {
    const Path path = list_file(runs_root);
    std::error_code problem;
    if (!std::filesystem::exists(path, problem)) {
        return {};
    }
    std::vector<Host> out;
    const Json document = config::json_or_discarded(read_file(path, kMostBytes));
    const bool whole =
        document.is_object() && document.contains("hosts") && document.at("hosts").is_array();
    for (const Json& one : whole ? document.at("hosts") : Json::array()) {
        const auto text = [&one](const char* key, const char* otherwise) {
            return one.is_object() && one.contains(key) && one.at(key).is_string()
                       ? one.at(key).get<std::string>()
                       : otherwise;
        };
        out.push_back({text("name", ""), text("program", "weft"), text("runs", "")});
    }
    if (!whole || std::any_of(out.begin(), out.end(), named(""))) {
        throw Error(ErrorKind::runtime, path.string(), "is no list of hosts",
                    "Mend it, or move it away and add the hosts anew.");
    }
    return out;
}

Host find_host(const Path& runs_root, const std::string& name) {
    const std::vector<Host> hosts = read_hosts(runs_root);
    const auto found = std::find_if(hosts.begin(), hosts.end(), named(name));
    if (found == hosts.end()) {
        refuse_unknown(hosts, name);
    }
    return *found;
}

void add_host(const Path& runs_root, const Host& host) {
    const auto is_space = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    if (host.name.empty() || host.name.starts_with('-') ||
        std::any_of(host.name.begin(), host.name.end(), is_space)) {
        throw Error(ErrorKind::usage, shown(host.name), "is no name of a host",
                    "Give what ssh takes: gpu-box, you@10.0.0.14, or a Host of ~/.ssh/config.");
    }
    make_directories(runs_root);
    FileReplacement file(list_file(runs_root));
    std::vector<Host> hosts = read_hosts(runs_root);
    if (std::any_of(hosts.begin(), hosts.end(), named(host.name))) {
        throw Error(ErrorKind::usage, shown(host.name), "is there already",
                    "Remove it first to change how weft is called there.");
    }
    hosts.push_back(host);
    write_hosts(file, hosts);
}

void remove_host(const Path& runs_root, const std::string& name) {
    make_directories(runs_root);
    FileReplacement file(list_file(runs_root));
    std::vector<Host> hosts = read_hosts(runs_root);
    if (std::erase_if(hosts, named(name)) == 0) {
        refuse_unknown(hosts, name);
    }
    write_hosts(file, hosts);
}

} // namespace weft::hosts
