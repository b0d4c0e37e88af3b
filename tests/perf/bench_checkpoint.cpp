// SPDX-License-Identifier: Apache-2.0
// bench_checkpoint <folder> [--gb N]
//
// Two questions about checkpoints, each answered by a ratio or a limit in one run:
// - What does the step loop wait for? The staging copy of GPT-2 124M with AdamW (parameters and two
//   moments in f32, 1.5 GB) beside one memcpy of the same bytes; the write beside an O_DIRECT one.
// - How fast is a large checkpoint open? N GB (10 unless told otherwise) out of the page cache: the
//   manifest, the structure of every shard, and the first MiB of an array, checked; then all of it.
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/checkpoint/array_reader.h"
#include "core/checkpoint/block_sums.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

using namespace weft;
using namespace weft::checkpoint;

namespace {

constexpr int kTurns = 5;
constexpr std::int64_t kDirectBytes = std::int64_t{8} << 20;
constexpr std::int64_t kLargeArray = std::int64_t{256} << 20;

double now_ms() {
    return SystemClock().steady_s() * 1000;
}

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Names and shapes of GPT-2 124M (Radford et al. 2019), tied embedding.
std::vector<std::pair<std::string, ir::Shape>> gpt2_arrays() {
    std::vector<std::pair<std::string, ir::Shape>> out = {
        {"wte", {50257, 768}}, {"wpe", {1024, 768}}, {"norm.gain", {768}}, {"norm.bias", {768}}};
    for (int layer = 0; layer < 12; ++layer) {
        const std::string name = "h." + std::to_string(layer) + ".";
        for (const char* norm : {"norm1", "norm2"}) {
            out.push_back({name + norm + ".gain", {768}});
            out.push_back({name + norm + ".bias", {768}});
        }
        out.push_back({name + "qkv.weight", {768, 2304}});
        out.push_back({name + "qkv.bias", {2304}});
        out.push_back({name + "out.weight", {768, 768}});
        out.push_back({name + "out.bias", {768}});
        out.push_back({name + "up.weight", {768, 3072}});
        out.push_back({name + "up.bias", {3072}});
        out.push_back({name + "down.weight", {3072, 768}});
        out.push_back({name + "down.bias", {768}});
    }
    return out;
}

/// A state in one stretch of memory, as an arena holds it.
struct TrainingState {
    std::vector<std::byte> memory;
    std::vector<TensorView> views;
};

TrainingState gpt2_with_adamw() {
    TrainingState out;
    std::int64_t bytes = 0;
    const auto arrays = gpt2_arrays();
    for (const char* kind : {"parameters", "optimizer/m", "optimizer/v"}) {
        for (const auto& [name, shape] : arrays) {
            const std::string suffix = std::string(kind).substr(std::strlen(kind) - 1);
            TensorView view{suffix == "s" ? name : name + "." + suffix,
                            suffix == "s" ? kind : "optimizer",
                            {ir::DType::f32, shape}};
            bytes += view.type.bytes();
            out.views.push_back(std::move(view));
        }
    }
    out.memory.resize(static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < out.memory.size(); i += 64) {
        out.memory[i] = static_cast<std::byte>(i / 64 * 37);
    }
    std::size_t at = 0;
    for (TensorView& view : out.views) {
        const auto size = static_cast<std::size_t>(view.type.bytes());
        view.data = std::span(out.memory).subspan(at, size);
        at += size;
    }
    return out;
}

Record record_at(std::int64_t step) {
    Record record;
    record.step = step;
    return record;
}

/// The same bytes past the page cache: what the disk takes at best.
double direct_write_ms(const Path& path, std::int64_t bytes) {
    auto* buffer = static_cast<std::byte*>(std::aligned_alloc(4096, kDirectBytes));
    std::memset(buffer, 7, kDirectBytes);
    const double begun_ms = now_ms();
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT, 0644);
    for (std::int64_t at = 0; file >= 0 && at < bytes; at += kDirectBytes) {
        if (::pwrite(file, buffer, kDirectBytes, at) != kDirectBytes) {
            std::printf("O_DIRECT stopped at %lld bytes\n", static_cast<long long>(at));
            break;
        }
    }
    if (file >= 0) {
        ::fsync(file);
        ::close(file);
    }
    const double spent_ms = now_ms() - begun_ms;
    std::free(buffer);
    ::unlink(path.c_str());
    return spent_ms;
}

void measure_saves(const Path& folder) {
    const TrainingState state = gpt2_with_adamw();
    const auto bytes = static_cast<std::int64_t>(state.memory.size());
    std::printf("GPT-2 124M with AdamW: %zu arrays, %s\n", state.views.size(),
                format_bytes(bytes).c_str());
    ManagerOptions options;
    options.folder = folder / "saves";
    options.keep_latest = 1;
    Manager manager(options);
    std::vector<std::byte> copy(state.memory.size()); // its pages are there, as staging's are
    std::vector<double> memcpy_ms;
    std::vector<double> blocked_ms;
    std::vector<double> write_ms;
    std::vector<double> direct_ms;
    double first_ms = 0;
    const double reserve_ms = now_ms();
    manager.reserve(state.views); // as a run does after its first steps
    manager.wait();
    const double reserved_ms = now_ms() - reserve_ms;
    for (int turn = 0; turn <= kTurns; ++turn) {
        const double begun_ms = now_ms();
        std::memcpy(copy.data(), state.memory.data(), state.memory.size());
        const double copied_ms = now_ms() - begun_ms;
        manager.save(state.views, record_at(turn + 1));
        manager.wait();
        const Saved saved = manager.take_finished().at(0);
        if (!saved.error.empty()) {
            std::printf("not saved: %s\n", saved.error.c_str());
            return;
        }
        if (turn == 0) {
            first_ms = saved.blocked_ms;
            continue;
        }
        memcpy_ms.push_back(copied_ms);
        blocked_ms.push_back(saved.blocked_ms);
        write_ms.push_back(saved.write_ms);
        direct_ms.push_back(direct_write_ms(folder / "direct", bytes));
    }
    const double copied_ms = median_of(memcpy_ms);
    std::printf("  one memcpy            %8.0f ms\n", copied_ms);
    std::printf("  training waits        %8.0f ms   %.2f of it (target 1.2)\n",
                median_of(blocked_ms), median_of(blocked_ms) / copied_ms);
    std::printf("  for the first save    %8.0f ms   %.2f of it\n", first_ms, first_ms / copied_ms);
    std::printf("  memory taken before   %8.0f ms   in the background\n", reserved_ms);
    std::printf("  written, durable      %8.0f ms   %.2f GB/s\n", median_of(write_ms),
                static_cast<double>(bytes) / median_of(write_ms) / 1e6);
    std::printf("  O_DIRECT and fsync    %8.0f ms   the write takes %.2f of it\n",
                median_of(direct_ms), median_of(write_ms) / median_of(direct_ms));
}

void drop_from_cache(const Manifest& manifest) {
    for (const ShardInfo& shard : manifest.shards) {
        const int file = ::open((manifest.path / shard.file).c_str(), O_RDONLY);
        ::fdatasync(file);
        ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        ::close(file);
    }
}

void measure_opening(const Path& folder, std::int64_t gigabytes) {
    std::vector<std::byte> memory(kLargeArray);
    for (std::size_t i = 0; i < memory.size(); ++i) {
        memory[i] = static_cast<std::byte>(i * 31);
    }
    std::vector<TensorView> views;
    const std::int64_t count = gigabytes * 1'000'000'000 / kLargeArray + 1;
    for (std::int64_t i = 0; i < count; ++i) {
        views.push_back({"layers." + std::to_string(i) + ".weight",
                         "parameters",
                         {ir::DType::f32, {kLargeArray / 4096, 1024}},
                         memory});
    }
    const Manifest written = write_checkpoint(folder / "large", views, record_at(1));
    std::printf("A checkpoint of %s in %zu shards\n", format_bytes(written.bytes).c_str(),
                written.shards.size());
    for (const char* state : {"cold", "warm"}) {
        if (std::strcmp(state, "cold") == 0) {
            drop_from_cache(written);
        }
        const double begun_ms = now_ms();
        const Manifest manifest = read_manifest(written.path);
        ArrayReader reader(manifest);
        std::vector<std::byte> row(4096);
        for (const TensorInfo& tensor : manifest.tensors) { // one MiB of each array
            reader.read(tensor, dense({{0, 0}, {1, 1024}}), row);
        }
        const double opened_ms = now_ms() - begun_ms;
        std::printf("  %s: open, and the first MiB of each array checked %8.1f ms (target 200)\n",
                    state, opened_ms);
    }
    drop_from_cache(written);
    const double begun_ms = now_ms();
    for (const TensorInfo& tensor : written.tensors) {
        read_tensor(written, tensor.name, memory);
    }
    std::printf("  cold: all of it read and checked %8.0f ms, %.2f GB/s\n", now_ms() - begun_ms,
                static_cast<double>(written.bytes) / (now_ms() - begun_ms) / 1e6);
    remove_tree(folder / "large");
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: bench_checkpoint <folder> [--gb N]\n");
        return 2;
    }
    std::int64_t gigabytes = 10;
    for (int i = 2; i + 1 < argc; ++i) {
        if (std::strcmp(argv[i], "--gb") == 0) {
            gigabytes = std::atoll(argv[i + 1]);
        }
    }
    const Path folder = argv[1];
    make_directories(folder);
    try {
        measure_saves(folder);
        remove_tree(folder / "saves");
        measure_opening(folder, gigabytes);
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.message().c_str());
        return 1;
    }
    return 0;
}
