// SPDX-License-Identifier: Apache-2.0
// Each writer's pieces go into shards of its own, so that writers never wait for one another and a
// shard is complete when its writer says so.
#include "core/base/on_threads.h"
#include "core/checkpoint/block_sums.h"
#include "core/checkpoint/manifest_json.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <thread>

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

// Keeps files within what people can copy about.
constexpr std::int64_t kShardBytes = std::int64_t{4} << 30;
/// Runs below this many bytes are written together.
constexpr std::size_t kLongWriteRun = 64 * 1024;
constexpr std::size_t kWriteBufferBytes = 1 << 20;
constexpr std::ptrdiff_t kMostWaitedFor = 64; // other processes, at a time

/// One piece to write: from where, and where it is described.
struct Task {
    const TensorView* view = nullptr;
    PieceView piece;
    PieceInfo* info = nullptr;

    std::int64_t bytes() const {
        return piece.place.box.elements() * ir::dtype_bytes(view->type.dtype);
    }
};

struct Shard {
    std::vector<Task> tasks;
    ShardInfo* info = nullptr;

    bool is_elsewhere() const {
        return std::any_of(tasks.begin(), tasks.end(),
                           [](const Task& task) { return task.piece.is_elsewhere(); });
    }
};

std::string shard_name(std::size_t number) {
    char name[32];
    std::snprintf(name, sizeof(name), "arrays-%05zu.h5", number);
    return name;
}

/// Writes pieces that come in short runs in few calls.
class Gather {
public:
    Gather(File& file, std::int64_t offset) : file_(file), offset_(offset) {}

    void add(std::span<const std::byte> run) {
        if (run.size() >= kLongWriteRun) {
            flush();
            write(run);
            return;
        }
        if (buffer_.size() + run.size() > kWriteBufferBytes) {
            flush();
        }
        buffer_.insert(buffer_.end(), run.begin(), run.end());
    }

    void flush() {
        write(buffer_);
        buffer_.clear();
    }

    const BlockSums& sums() const { return sums_; }

private:
    void write(std::span<const std::byte> bytes) {
        if (!bytes.empty()) {
            file_.write_at(bytes, offset_);
            sums_.add(bytes);
            offset_ += static_cast<std::int64_t>(bytes.size());
        }
    }

    File& file_;
    std::int64_t offset_;
    std::vector<std::byte> buffer_;
    BlockSums sums_;
};

void write_piece(File& file, std::int64_t offset, const Task& task) {
    const std::int64_t size = ir::dtype_bytes(task.view->type.dtype);
    Gather gather(file, offset);
    for_each_run(task.piece.place, dense(task.piece.place.box), [&](const Run& run) {
        gather.add(task.piece.memory.subspan(static_cast<std::size_t>(run.from * size),
                                             static_cast<std::size_t>(run.count * size)));
    });
    gather.flush();
    task.info->offset = offset;
    task.info->crc32c = gather.sums().crc();
    if (gather.sums().blocks().size() > 1) {
        task.info->block_crc32c = gather.sums().blocks();
    }
}

void write_tasks(const fs::path& path, const std::vector<Task>& tasks, ShardInfo& info) {
    std::vector<Hdf5Spec> specs;
    for (const Task& task : tasks) {
        const Box& box = task.piece.place.box;
        const TensorView& view = *task.view;
        specs.push_back({dataset_name(view.kind, view.name, box, view.type.shape),
                         hdf5_type(view.type.dtype),
                         {box.count.begin(), box.count.end()}});
    }
    const std::vector<Hdf5Dataset> places =
        create_hdf5(path, specs, {{"format", "weft-checkpoint-shard"}});
    File file(path, File::Mode::read_write, ErrorKind::checkpoint);
    std::vector<ByteRange> payload;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const Task& task = tasks[i];
        const std::int64_t offset = places[i].offset;
        write_piece(file, offset, task);
        if (task.bytes() > 0) {
            payload.emplace_back(offset, offset + task.bytes());
        }
    }
    std::sort(payload.begin(), payload.end());
    info.bytes = file.size();
    info.structure_crc32c = structure_crc32c(file, payload);
    file.sync();
    file.close();
}

/// By the process that has the arrays.
void have_written(const fs::path& path, const Shard& shard, const WriteElsewhere& elsewhere) {
    ShardOrder order{shard.info->writer, path, {}};
    for (const Task& task : shard.tasks) {
        order.pieces.emplace_back(task.view->name, task.piece.place.box);
    }
    WEFT_CHECK(elsewhere != nullptr, "somebody writes what is elsewhere");
    WrittenShard written = elsewhere(order);
    WEFT_CHECK(written.pieces.size() == shard.tasks.size(), "all pieces of a shard are written");
    shard.info->bytes = written.bytes;
    shard.info->structure_crc32c = written.structure_crc32c;
    for (std::size_t i = 0; i < shard.tasks.size(); ++i) {
        *shard.tasks[i].info = std::move(written.pieces[i]);
    }
}

void write(const fs::path& folder, const Shard& shard, const WriteElsewhere& elsewhere) {
    const fs::path path = folder / shard.info->file;
    if (shard.is_elsewhere()) {
        have_written(path, shard, elsewhere);
    } else {
        write_tasks(path, shard.tasks, *shard.info);
    }
    for (const Task& task : shard.tasks) {
        task.info->box = task.piece.place.box;
        task.info->shard = shard.info->file;
    }
}

/// The tasks of each writer, and room for what they find out in `out`.
std::map<int, std::vector<Task>> tasks_by_writer(std::span<const TensorView> tensors,
                                                 Manifest& out) {
    std::map<int, std::vector<Task>> tasks;
    out.tensors.resize(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const TensorView& view = tensors[i];
        out.tensors[i] = {view.name, view.kind, view.type, view.spec, {}};
        std::vector<PieceView> pieces = view.pieces;
        if (pieces.empty()) {
            pieces = {{dense(whole_box(view.type.shape)), view.data}};
        }
        out.tensors[i].pieces.resize(pieces.size());
        for (std::size_t p = 0; p < pieces.size(); ++p) {
            tasks[pieces[p].writer].push_back({&view, pieces[p], &out.tensors[i].pieces[p]});
        }
    }
    if (tasks.empty()) {
        tasks[0] = {}; // a state without arrays has a shard too
    }
    return tasks;
}

/// Cuts the tasks of one writer into shards.
void add_shards(std::vector<Task> tasks, std::vector<Shard>& out) {
    std::int64_t bytes = 0;
    bool begun = false;
    for (Task& task : tasks) {
        if (!begun || bytes + task.bytes() > kShardBytes) {
            out.emplace_back();
            bytes = 0;
            begun = true;
        }
        bytes += task.bytes();
        out.back().tasks.push_back(std::move(task));
    }
    if (!begun) {
        out.emplace_back();
    }
}

} // namespace

WrittenShard write_shard(const fs::path& file, std::span<const TensorView> pieces) {
    WrittenShard out;
    out.pieces.resize(pieces.size());
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const TensorView& view = pieces[i];
        WEFT_CHECK(view.pieces.size() <= 1, "one piece of each view");
        tasks.push_back({&view,
                         view.pieces.empty()
                             ? PieceView{dense(whole_box(view.type.shape)), view.data}
                             : view.pieces.front(),
                         &out.pieces[i]});
    }
    ShardInfo info;
    write_tasks(file, tasks, info);
    out.bytes = info.bytes;
    out.structure_crc32c = info.structure_crc32c;
    return out;
}

void write_shards(const fs::path& folder, std::span<const TensorView> tensors,
                  const WriteElsewhere& elsewhere, Manifest& out) {
    std::vector<Shard> shards;
    for (auto& [writer, tasks] : tasks_by_writer(tensors, out)) {
        const std::size_t first = shards.size();
        add_shards(std::move(tasks), shards);
        for (std::size_t i = first; i < shards.size(); ++i) {
            out.shards.push_back({shard_name(i), 0, 0, writer});
        }
    }
    for (std::size_t i = 0; i < shards.size(); ++i) {
        shards[i].info = &out.shards[i];
    }
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const auto away = std::count_if(shards.begin(), shards.end(),
                                    [](const Shard& shard) { return shard.is_elsewhere(); });
    const int waiting = static_cast<int>(std::min<std::ptrdiff_t>(away, kMostWaitedFor));
    for_each_on(cores + waiting, shards.size(),
                [&](std::size_t i) { write(folder, shards[i], elsewhere); });
}

} // namespace weft::checkpoint
