// SPDX-License-Identifier: Apache-2.0
#include "core/train/ranks/load_transport.h"

#include "core/base/error.h"
#include "core/train/compute.h"

#include <array>
#include <dlfcn.h>

namespace weft::train {
namespace {

using exec::comm::TransportEntry;
using exec::comm::TransportModule;

struct KnownTransport {
    const char* name;
    const char* package; // of Debian
};
constexpr std::array kKnown = {KnownTransport{"mpi", "libopenmpi3 and openmpi-bin"},
                               KnownTransport{"gloo", "libgloo0"}};

/// Null with `missing` set.
const TransportModule* module_of(const KnownTransport& known, std::string& missing) {
    const std::string file_name = std::string("weft-transport-") + known.name + ".so";
    missing = "this program came without " + file_name + ": it was built without the library";
    for (const auto& folder : module_folders()) {
        const auto file = folder / file_name;
        std::error_code ignored;
        if (!std::filesystem::exists(file, ignored)) {
            continue;
        }
        // Open MPI's own parts look for it among what everybody sees.
        void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
        if (library == nullptr) {
            missing = std::string(dlerror()) + "; install " + known.package;
            return nullptr;
        }
        const auto entry =
            reinterpret_cast<TransportEntry>(dlsym(library, exec::comm::kTransportEntry));
        const TransportModule* const found = entry != nullptr ? entry() : nullptr;
        if (found == nullptr || found->edge != exec::comm::kTransportEdge) {
            missing = file.string() + " belongs to another version of this program";
            return nullptr;
        }
        missing.clear();
        return found;
    }
    return nullptr;
}

} // namespace

std::vector<TransportChoice> transports() {
    std::vector<TransportChoice> out;
    for (const KnownTransport& known : kKnown) {
        TransportChoice& choice = out.emplace_back();
        choice.name = known.name;
        if (const TransportModule* const found = module_of(known, choice.missing)) {
            choice.library = found->library;
        }
    }
    return out;
}

std::string chosen_transport(const std::string& backend, bool started_by_mpi) {
    if (backend != "auto") {
        return backend;
    }
    std::string missing;
    return started_by_mpi && module_of(kKnown.front(), missing) != nullptr ? "mpi" : "gloo";
}

std::unique_ptr<exec::comm::Transport> load_transport(const std::string& name,
                                                      const exec::comm::TransportOptions& options) {
    for (const KnownTransport& known : kKnown) {
        if (name != known.name) {
            continue;
        }
        std::string missing;
        const TransportModule* const module = module_of(known, missing);
        if (module == nullptr) {
            throw Error(ErrorKind::usage, "mesh.backend '" + name + "'", missing,
                        "`weft doctor` says what this machine offers");
        }
        try {
            return std::unique_ptr<exec::comm::Transport>(module->make(options));
        } catch (const std::exception& fault) {
            throw Error(ErrorKind::device, module->library, fault.what(),
                        "`weft doctor` says what this machine offers");
        }
    }
    throw Error(ErrorKind::usage, "mesh.backend '" + name + "'",
                "processes cannot communicate through it", "use auto, mpi or gloo");
}

} // namespace weft::train
