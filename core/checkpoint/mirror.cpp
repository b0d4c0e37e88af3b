// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/mirror.h"

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/checkpoint/manifest_json.h"
#include "core/checkpoint/remote.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kGiveUpPeriod{200};
constexpr std::int64_t kMostRunFileBytes = 64 << 20;

/// Folders of complete checkpoints under their own names, newest first.
std::map<std::int64_t, fs::path, std::greater<>> complete_here(const fs::path& checkpoints) {
    std::map<std::int64_t, fs::path, std::greater<>> out;
    for (const Entry& entry : find_checkpoints(checkpoints)) {
        if (entry.path.filename() == folder_name(entry.step) &&
            fs::exists(entry.path / kManifestName)) {
            out[entry.step] = entry.path;
        }
    }
    return out;
}

} // namespace

struct Mirror::State {
    MirrorOptions options;

    std::mutex mutex; // of what follows
    std::condition_variable_any changed;
    bool wanted = true; // what earlier sessions left unsent
    bool busy = false;
    std::vector<MirrorNews> news;
    std::set<std::int64_t> missing; // complete on disk, not in the store as they are

    // The thread's own.
    std::map<std::int64_t, std::string> sent; // manifests that the store has
    std::set<std::int64_t> seen;              // steps that were on disk in this session
    bool knows_the_store = false;

    std::jthread thread; // last: joined before anything else goes

    void tell(std::string text, std::string hint, bool is_problem) {
        {
            const std::lock_guard lock(mutex);
            news.push_back({std::move(text), std::move(hint), is_problem});
        }
        options.told();
    }

    void work(const std::stop_token& stop) {
        for (;;) {
            {
                std::unique_lock lock(mutex);
                if (!changed.wait(lock, stop, [this] { return wanted; })) {
                    return;
                }
                wanted = false;
                busy = true;
            }
            try {
                pass(stop);
            } catch (const std::exception& fault) {
                if (!stop.stop_requested()) {
                    tell_problem(fault);
                }
            }
            const std::lock_guard lock(mutex);
            busy = false;
            changed.notify_all();
        }
    }

    void tell_problem(const std::exception& fault) {
        const auto* error = dynamic_cast<const Error*>(&fault);
        tell("Checkpoints were not copied to " + options.to.text() + ": " +
                 (error != nullptr ? error->message() : std::string(fault.what())),
             "They are safe on this machine, and training goes on; the copy is tried again after "
             "the next save.",
             true);
    }

    /// Makes the store what the disk is.
    void pass(const std::stop_token& stop) {
        const auto here = complete_here(options.run / "checkpoints");
        {
            const std::lock_guard lock(mutex);
            missing.clear();
            for (const auto& [step, folder] : here) {
                missing.insert(step);
            }
        }
        store::ObjectStore store(options.to, options.access, options.patience, stop);
        const store::Address checkpoints = options.to.below("checkpoints");
        if (!knows_the_store) {
            learn(store, checkpoints);
        }
        bool changed_something = false;
        for (const auto& [step, folder] : here) {
            seen.insert(step);
            changed_something = send(store, checkpoints, step, folder) || changed_something;
        }
        changed_something = remove_old(store, checkpoints, here) || changed_something;
        if (changed_something) {
            for (const char* name : {"config.json", "run.json"}) {
                if (fs::exists(options.run / name)) {
                    store.put(options.to.below(name).key,
                              read_file(options.run / name, kMostRunFileBytes));
                }
            }
        }
    }

    /// What earlier sessions sent.
    void learn(store::ObjectStore& store, const store::Address& checkpoints) {
        for (const auto& [step, there] : remote_steps(store, checkpoints)) {
            if (there.complete) {
                sent[step] =
                    store.get(checkpoints.below(folder_name(step)).below(kManifestName).key,
                              kMostManifestBytes);
            }
        }
        knows_the_store = true;
    }

    /// True when it sent something.
    bool send(store::ObjectStore& store, const store::Address& checkpoints, std::int64_t step,
              const fs::path& folder) {
        std::string& there = sent[step];
        bool sends = false;
        try {
            if (there != read_file(folder / kManifestName, kMostManifestBytes)) {
                sends = true;
                const SystemClock clock;
                const double begun_s = clock.steady_s();
                const bool is_new = there.empty();
                there =
                    upload_checkpoint(store, checkpoints.below(folder_name(step)), folder, there);
                if (is_new) {
                    tell("step " + format_thousands(step) + " is at " +
                             checkpoints.below(folder_name(step)).text() + ", sent in " +
                             format_duration(clock.steady_s() - begun_s),
                         "", false);
                }
            }
        } catch (const Error&) {
            if (fs::exists(folder / kManifestName)) {
                throw;
            }
            // Retention removed it meanwhile; so does remove_old.
        }
        const std::lock_guard lock(mutex);
        missing.erase(step);
        return sends;
    }

    /// Only what this session had on disk: what others left in the store is theirs. Nothing goes
    /// where nothing is on disk: a folder that was deleted or moved costs no copy.
    bool remove_old(store::ObjectStore& store, const store::Address& checkpoints,
                    const std::map<std::int64_t, fs::path, std::greater<>>& here) {
        std::set<std::int64_t> gone;
        for (const std::int64_t step : seen) {
            if (!here.contains(step) &&
                !fs::exists(options.run / "checkpoints" / folder_name(step))) {
                gone.insert(step);
            }
        }
        if (here.empty() || gone.empty()) {
            return false;
        }
        const auto there = remote_steps(store, checkpoints);
        for (const std::int64_t step : gone) {
            if (const auto found = there.find(step); found != there.end()) {
                remove_remote(store, found->second);
            }
            seen.erase(step);
            sent.erase(step);
        }
        return true;
    }
};

Mirror::Mirror(MirrorOptions options) : state_(std::make_unique<State>()) {
    state_->options = std::move(options);
    state_->thread =
        std::jthread([state = state_.get()](const std::stop_token& stop) { state->work(stop); });
}

Mirror::~Mirror() = default;

void Mirror::wake() {
    const std::lock_guard lock(state_->mutex);
    state_->wanted = true;
    state_->changed.notify_all();
}

bool Mirror::has_news() const {
    const std::lock_guard lock(state_->mutex);
    return !state_->news.empty();
}

std::vector<MirrorNews> Mirror::take_news() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->news, {});
}

std::vector<std::int64_t> Mirror::settle(const std::function<bool()>& give_up) {
    std::unique_lock lock(state_->mutex);
    while (!state_->changed.wait_for(lock, kGiveUpPeriod,
                                     [this] { return !state_->wanted && !state_->busy; })) {
        if (give_up) {
            lock.unlock();
            const bool enough = give_up();
            lock.lock();
            if (enough) {
                break;
            }
        }
    }
    return {state_->missing.begin(), state_->missing.end()};
}

} // namespace weft::checkpoint
