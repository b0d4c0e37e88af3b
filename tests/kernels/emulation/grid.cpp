// SPDX-License-Identifier: Apache-2.0
// The host's version of a launch: block after block, a fiber per thread, each until it ends or
// waits for others. Always in the same order. Declared in kernels/cuda/dialect_host.h and
// kernels/cuda/wrappers/runtime.h.
#include "kernels/cuda/dialect.h"
#include "kernels/cuda/wrappers/runtime.h"
#include "kernels/op.h"
#include "tests/kernels/emulation/fiber.h"
#include "tests/kernels/emulation/machine.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft::kernels::cuda {
namespace emulation {

/// When a thread has last touched an element: counts of the barriers it has passed.
struct Stamp {
    int thread = -1;
    int block_epoch = 0, warp_epoch = 0;
    bool atomic = false;
};

class Block;

struct SharedState {
    Block* block;
    std::vector<unsigned char> bytes;
    std::vector<Stamp> written;
    std::vector<Stamp> read; // two of different threads: [2 i], [2 i + 1]
};

constexpr int kLanes = 32;
constexpr std::size_t kSharedBytes = 48 * 1024; // without asking for more

enum class Wait { none, warp_barrier, exchange, vote, block_barrier, ended };
constexpr const char* kWhere[] = {"runs",         "waits at a warp barrier",  "waits in a shuffle",
                                  "is in a vote", "waits at a block barrier", "has ended"};

/// One block that runs.
class Block {
public:
    Block(const Grid& grid, i64 x, i64 y, const std::function<void()>& work,
          std::vector<std::unique_ptr<test::Fiber>>& fibers)
        : place_{0, grid.threads, x, grid.x, y}, work_(work), fibers_(fibers),
          waits_(static_cast<std::size_t>(grid.threads)),
          words_(static_cast<std::size_t>(grid.threads)),
          lanes_(static_cast<std::size_t>(grid.threads)),
          warp_epochs_(static_cast<std::size_t>(grid.threads / kLanes)) {}

    /// Empty, or what went wrong.
    std::string run();

    const Place& place() const { return place_; }
    void wait(Wait what) {
        wait_of(place_.thread) = what;
        fibers_[static_cast<std::size_t>(place_.thread)]->yield();
    }
    u64 exchange(u64 mine, int lane);
    u32 vote(bool flag);
    [[noreturn]] void fault(const char* text);
    Shared shared(const void* key, std::size_t element_bytes, int count);
    void touch(SharedState& state, int element, Access access);

private:
    Wait& wait_of(int thread) { return waits_[static_cast<std::size_t>(thread)]; }
    u64& word_of(int thread) { return words_[static_cast<std::size_t>(thread)]; }
    int& epoch_of(int thread) { return warp_epochs_[static_cast<std::size_t>(thread / kLanes)]; }
    void run_thread(int thread);
    bool release(int first, int count);
    std::string stuck() const;
    bool orders(const Stamp& before) const;

    Place place_;
    const std::function<void()>& work_;
    std::vector<std::unique_ptr<test::Fiber>>& fibers_;
    std::vector<Wait> waits_;
    std::vector<u64> words_;
    std::vector<u64> lanes_; // what exchange gives to each thread
    std::vector<int> warp_epochs_;
    int block_epoch_ = 0;
    std::map<const void*, SharedState> shared_;
    std::size_t shared_bytes_ = 0;
    std::string fault_;
};

namespace {

// Read at every word of the dialect; the dynamic loader need not be asked each time.
[[gnu::tls_model("initial-exec")]] thread_local Block* running = nullptr;

} // namespace

void Block::run_thread(int thread) {
    place_.thread = thread;
    wait_of(thread) = Wait::none;
    if (fibers_[static_cast<std::size_t>(thread)]->resume(work_)) {
        wait_of(thread) = Wait::ended;
    }
}

/// Whether the threads first .. first + count all wait for each other in the same way; then they
/// get what they have waited for.
bool Block::release(int first, int count) {
    const Wait what = wait_of(first);
    for (int t = first; t < first + count; ++t) {
        if (wait_of(t) != what) {
            return false;
        }
    }
    if (what == Wait::block_barrier) {
        ++block_epoch_;
    }
    if (what == Wait::warp_barrier) {
        ++epoch_of(first);
    }
    if (what == Wait::exchange || what == Wait::vote) {
        for (int t = first; t < first + count; ++t) {
            lanes_[static_cast<std::size_t>(t)] = word_of(t);
        }
    }
    return true;
}

std::string Block::run() {
    running = this;
    const int threads = place_.threads;
    for (int t = 0; t < threads && fault_.empty(); ++t) {
        run_thread(t);
    }
    bool ended = false;
    while (!ended && fault_.empty()) {
        bool moved = false;
        ended = true;
        for (int warp = 0; warp < threads && fault_.empty(); warp += kLanes) {
            const Wait what = wait_of(warp);
            ended = ended && what == Wait::ended;
            const bool of_warp =
                what == Wait::warp_barrier || what == Wait::exchange || what == Wait::vote;
            if (of_warp && release(warp, kLanes)) {
                moved = true;
                for (int t = warp; t < warp + kLanes && fault_.empty(); ++t) {
                    run_thread(t);
                }
            }
        }
        if (!moved && !ended && fault_.empty()) {
            if (wait_of(0) != Wait::block_barrier || !release(0, threads)) {
                fault_ = stuck();
                break;
            }
            for (int t = 0; t < threads && fault_.empty(); ++t) {
                run_thread(t);
            }
        }
    }
    for (int t = 0; t < threads && fault_.empty(); ++t) {
        if (wait_of(t) != Wait::ended) {
            fault_ = stuck();
        }
    }
    running = nullptr;
    return fault_;
}

std::string Block::stuck() const {
    for (std::size_t t = 1; t < waits_.size(); ++t) {
        if (waits_[t] != waits_[t - 1]) {
            return "threads part: thread " + std::to_string(t - 1) + " " +
                   kWhere[static_cast<int>(waits_[t - 1])] + " and thread " + std::to_string(t) +
                   " " + kWhere[static_cast<int>(waits_[t])];
        }
    }
    return "all threads wait for what cannot come";
}

u64 Block::exchange(u64 mine, int lane) {
    const int thread = place_.thread;
    word_of(thread) = mine;
    wait(Wait::exchange);
    return lanes_[static_cast<std::size_t>(thread / kLanes * kLanes + lane)];
}

u32 Block::vote(bool flag) {
    const int thread = place_.thread;
    word_of(thread) = flag ? 1 : 0;
    wait(Wait::vote);
    u32 bits = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
        const auto at = static_cast<std::size_t>(thread / kLanes * kLanes + lane);
        bits |= static_cast<u32>(lanes_[at]) << lane;
    }
    return bits;
}

void Block::fault(const char* text) {
    fault_ = std::string(text) + ", in thread " + std::to_string(place_.thread) + " of block " +
             std::to_string(place_.block);
    while (true) { // its fiber is thrown away
        fibers_[static_cast<std::size_t>(place_.thread)]->yield();
    }
}

Shared Block::shared(const void* key, std::size_t element_bytes, int count) {
    const auto [found, fresh] = shared_.try_emplace(key);
    SharedState& state = found->second;
    if (fresh) {
        const auto elements = static_cast<std::size_t>(count);
        state.block = this;
        state.bytes.assign(element_bytes * elements, 0xff);
        state.written.resize(elements);
        state.read.resize(2 * elements);
        shared_bytes_ += state.bytes.size();
        if (shared_bytes_ > kSharedBytes) {
            fault("more than 48 KiB of shared memory");
        }
    }
    return {state.bytes.data(), &state};
}

/// Whether that access has ended before the present one, for all that the barriers say.
bool Block::orders(const Stamp& before) const {
    const int mine = place_.thread;
    return before.thread < 0 || before.thread == mine || before.block_epoch < block_epoch_ ||
           (before.thread / kLanes == mine / kLanes &&
            before.warp_epoch < warp_epochs_[static_cast<std::size_t>(mine / kLanes)]);
}

void Block::touch(SharedState& state, int element, Access access) {
    const auto i = static_cast<std::size_t>(element);
    const Stamp now{place_.thread, block_epoch_, epoch_of(place_.thread), access == Access::atomic};
    Stamp& written = state.written[i];
    Stamp* read = &state.read[2 * i];
    if (!orders(written) && !(now.atomic && written.atomic)) {
        fault("a shared element is touched without a barrier after another thread wrote it");
    }
    if (access == Access::read) {
        // The second keeps a reader of another thread, of which one is enough.
        if (read[0].thread != now.thread) {
            read[1] = read[0];
        }
        read[0] = now;
        return;
    }
    if (!orders(read[0]) || !orders(read[1])) {
        fault("a shared element is written without a barrier after another thread read it");
    }
    written = now;
}

const Place& place() {
    return running->place();
}
void block_barrier() {
    running->wait(Wait::block_barrier);
}
void warp_barrier() {
    running->wait(Wait::warp_barrier);
}
u64 exchange(u64 mine, int lane) {
    return running->exchange(mine, lane);
}
u32 vote(bool flag) {
    return running->vote(flag);
}
void fault(const char* text) {
    running->fault(text);
}
Shared shared_array(const void* key, std::size_t element_bytes, int count) {
    return running->shared(key, element_bytes, count);
}
void touch(SharedState* state, int element, Access access) {
    state->block->touch(*state, element, access);
}

} // namespace emulation

namespace {

void run_grid(const Grid& grid, const std::function<void()>& thread) {
    // Kept from launch to launch; those of a launch that failed are in the middle of something.
    thread_local std::vector<std::unique_ptr<test::Fiber>> fibers;
    while (fibers.size() < static_cast<std::size_t>(grid.threads)) {
        fibers.push_back(std::make_unique<test::Fiber>());
    }
    for (i64 y = 0; y < grid.y; ++y) {
        for (i64 x = 0; x < grid.x; ++x) {
            emulation::Block block(grid, x, y, thread, fibers);
            const std::string text = block.run();
            if (!text.empty()) {
                fibers.clear();
                throw Failure{WEFT_LIBRARY_ERROR, text};
            }
        }
    }
}

} // namespace

void emulate(weft_stream* stream, const Grid& grid, std::function<void()> thread) {
    if (grid.threads <= 0 || grid.threads > 1024 || grid.threads % 32 != 0 || grid.y > 65535 ||
        grid.x > 2147483647) {
        throw Failure{WEFT_LIBRARY_ERROR, "no GPU starts a grid of this size"};
    }
    test::queue_work(stream, [=] { run_grid(grid, thread); });
}

void* memory_of_host_and_device(std::size_t bytes) {
    void* memory = std::calloc(1, bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

} // namespace weft::kernels::cuda
