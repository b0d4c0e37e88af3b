// SPDX-License-Identifier: Apache-2.0
#include "app/cli/store_paths.h"

#include "core/store/address.h"
#include "core/train/engine.h"

#include <cstdio>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

/// One line on stderr, where that is a terminal.
class FetchLine {
public:
    FetchLine(const Context& context, std::string name)
        : live_(context.error_terminal), name_(std::move(name)) {}
    ~FetchLine() {
        if (live_) {
            std::fprintf(stderr, "\r\033[K");
        }
    }
    FetchLine(const FetchLine&) = delete;
    FetchLine& operator=(const FetchLine&) = delete;

    void show(double share) {
        if (live_) {
            std::fprintf(stderr, "\rFetching %s: %.0f %%\033[K", name_.c_str(), share * 100);
        }
    }

private:
    const bool live_;
    const std::string name_;
};

} // namespace

fs::path checkpoint_at(const std::string& path, const std::string& from, const Context& context) {
    if (!store::is_address(path)) {
        return train::find_checkpoint(path, from);
    }
    FetchLine line(context, path);
    return train::fetch_checkpoint_at(path, from,
                                      {.progress = [&line](double share) { line.show(share); }});
}

train::FetchedRun fetch_run(const std::string& address, const std::string& from,
                            const Context& context) {
    FetchLine line(context, address);
    return train::fetch_run(address, from, context.runs_root,
                            {.progress = [&line](double share) { line.show(share); }});
}

} // namespace weft::cli
