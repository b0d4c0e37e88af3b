// SPDX-License-Identifier: Apache-2.0
// A copy of a run's checkpoints in an object store, kept up by a thread of its own: what is
// complete on disk is sent, newest first, and what retention has removed from the disk is removed
// there. No fault of the store is one of the run: it is told, and tried again after the next save.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/store/object_store.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft::checkpoint {

struct MirrorOptions {
    std::filesystem::path run; // its folder; config.json, run.json and checkpoints/ are sent
    store::Address to;         // the run's folder in the store
    store::Access access;
    store::Patience patience{};
    /// Called on the mirror's thread when there is news.
    std::function<void()> told = [] {};
};

/// Something to tell about a mirror.
struct MirrorNews {
    std::string text;
    std::string hint;
    bool is_problem = false;
};

class Mirror {
public:
    explicit Mirror(MirrorOptions options);
    /// Ends a transfer that is under way.
    ~Mirror();
    Mirror(const Mirror&) = delete;
    Mirror& operator=(const Mirror&) = delete;

    /// The checkpoints on disk have changed. Returns at once.
    void wake();
    bool has_news() const;
    std::vector<MirrorNews> take_news();
    /// Waits until everything that is on disk was sent or could not be; the steps that are not in
    /// the store as they are here. Ends early, with what is missing then, once `give_up` says so;
    /// it is asked a few times a second.
    std::vector<std::int64_t> settle(const std::function<bool()>& give_up = {});

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::checkpoint
