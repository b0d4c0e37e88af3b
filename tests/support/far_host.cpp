// SPDX-License-Identifier: Apache-2.0
#include "tests/support/far_host.h"

#include <fstream>

namespace weft::test {
namespace {

namespace fs = std::filesystem;

// A forwarded socket is a link to the other.
constexpr const char* kSsh = R"(
while :; do case $1 in
    -T) shift ;;
    -o) shift 2 ;;
    -O) operation=$2; shift 2 ;;
    -L) forward=$2; shift 2 ;;
    --) shift; break ;;
    *) break ;;
esac; done
[ ! -e "$place/cut" ] || { echo "ssh: connect to host $1 port 22: No route to host" >&2; exit 255; }
[ "$1" = far ] || { echo "ssh: Could not resolve hostname $1" >&2; exit 255; }
[ "$2" != -- ] || shift
shift
case ${operation-} in
    forward) exec ln -sf "${forward#*:}" "${forward%%:*}" ;;
    cancel) exec rm -f "${forward%%:*}" ;;
esac
unset WEFT_RUNS
HOME=$place/far
export HOME
cd "$HOME" && exec sh -c "$*"
)";

QString text_of(const fs::path& path) {
    return QString::fromStdString(path.string());
}

} // namespace

FarHost::FarHost(fs::path place) : place_(std::move(place)) {
    for (const char* folder : {"far", "programs", "sockets"}) {
        fs::create_directories(place_ / folder);
    }
    fs::permissions(place_ / "sockets", fs::perms::owner_all);
    add_program("ssh", kSsh);
}

QStringList FarHost::environment() const {
    return {"PATH=" + text_of(place_ / "programs") + ":" + qEnvironmentVariable("PATH"),
            "place=" + text_of(place_), "XDG_RUNTIME_DIR=" + text_of(place_ / "sockets")};
}

void FarHost::cut() {
    std::ofstream(place_ / "cut") << "";
}

void FarHost::mend() {
    fs::remove(place_ / "cut");
}

void FarHost::add_program(const std::string& name, const std::string& script) {
    const fs::path file = place_ / "programs" / name;
    std::ofstream(file) << "#!/bin/sh\n" << script;
    fs::permissions(file, fs::perms::owner_all);
}

} // namespace weft::test
