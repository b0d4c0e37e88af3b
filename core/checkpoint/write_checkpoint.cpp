// SPDX-License-Identifier: Apache-2.0
// Order of a save, each step durable before the next: shards, pointer, manifest with its seal,
// folder, rename, parent folder. A kill at any point leaves a temporary folder or a complete
// checkpoint.
#include "core/checkpoint/manifest_json.h"
#include "core/checkpoint/pointer.h"

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/crc32c.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

/// The pieces tile the array, or there are none and `data` is all of it.
void check_data(const TensorView& view) {
    if (view.pieces.empty()) {
        WEFT_CHECK(static_cast<std::int64_t>(view.data.size()) == view.type.bytes(),
                   "an array has the bytes of its type: " + view.name);
        return;
    }
    std::vector<Box> boxes;
    for (const PieceView& piece : view.pieces) {
        const Placed& place = piece.place;
        WEFT_CHECK(inside(place.box, view.type.shape), "a piece of the array " + view.name);
        WEFT_CHECK(inside({place.at, place.box.count}, place.memory),
                   "a piece lies within its memory: " + view.name);
        WEFT_CHECK(piece.is_elsewhere() ||
                       static_cast<std::int64_t>(piece.memory.size()) ==
                           place.memory.elements() * ir::dtype_bytes(view.type.dtype),
                   "a piece has the bytes of its memory: " + view.name);
        boxes.push_back(place.box);
    }
    WEFT_CHECK(tiles(view.type.shape, boxes), "the pieces make up the array " + view.name);
}

void check_views(std::span<const TensorView> tensors) {
    std::set<std::string_view> names;
    for (const TensorView& view : tensors) {
        WEFT_CHECK(!view.name.empty() && !view.kind.empty(), "arrays have a name and a kind");
        WEFT_CHECK(names.insert(view.name).second, "array names are unique: " + view.name);
        check_data(view);
    }
}

void write_small_file(const fs::path& path, const std::string& text) {
    File file(path, File::Mode::write_new, ErrorKind::checkpoint);
    file.write(text);
    file.sync();
    file.close();
}

/// Puts `temporary` at `target`; a damaged checkpoint that is there goes once the new one is whole.
void put_in_place(const fs::path& temporary, const fs::path& target) {
    if (!fs::exists(fs::symlink_status(target))) {
        rename_durably(temporary, target);
        return;
    }
    fs::path damaged = temporary;
    damaged += "-damaged";
    remove_tree(damaged);
    rename_durably(target, damaged);
    rename_durably(temporary, target);
    remove_tree(damaged);
}

std::optional<Manifest> complete_checkpoint(const fs::path& folder) {
    try {
        return read_manifest(folder);
    } catch (const Error&) {
        return std::nullopt;
    }
}

Manifest write_all(const fs::path& parent, std::span<const TensorView> tensors,
                   const Record& record, const WriteElsewhere& elsewhere) {
    const fs::path target = parent / folder_name(record.step);
    const fs::path temporary = parent / temporary_name(record.step);
    make_directories(parent);
    if (is_being_written(temporary)) {
        fail(target, "another program is writing this checkpoint now", "Wait until it is done.");
    }
    remove_tree(temporary);
    make_directories(temporary);
    File writing(temporary / kWritingName, File::Mode::write_new, ErrorKind::checkpoint);
    writing.try_lock();
    Manifest manifest;
    manifest.path = temporary;
    manifest.record = record;
    manifest.saved_time = SystemClock().epoch_s();
    try {
        write_shards(temporary, tensors, elsewhere, manifest);
        if (record.tokenizer != nullptr) {
            write_small_file(temporary / kTokenizerName, *record.tokenizer);
            manifest.tokenizer = {std::ssize(*record.tokenizer), crc32c(*record.tokenizer)};
        }
        write_small_file(temporary / kCheckpointPointerName, checkpoint_pointer_text(record.step));
        write_small_file(temporary / kManifestName, manifest_text(manifest));
        remove_tree(temporary / kWritingName);
        sync_directory(temporary);
        put_in_place(temporary, target);
    } catch (...) {
        std::error_code ignored;
        fs::remove_all(temporary, ignored);
        throw;
    }
    return read_manifest(target);
}

/// Runs a save; faults of the file system become faults of the checkpoint.
template <class Save>
Manifest as_checkpoint_error(Save save) {
    try {
        return save();
    } catch (const Error& error) {
        throw Error(ErrorKind::checkpoint, error.where(), error.text(), error.hint());
    } catch (const fs::filesystem_error& error) {
        throw Error(ErrorKind::checkpoint, error.path1().string(), error.code().message());
    }
}

} // namespace

std::string folder_name(std::int64_t step) {
    char name[40];
    std::snprintf(name, sizeof(name), "step-%08lld", static_cast<long long>(step));
    return name;
}

Manifest write_checkpoint(const fs::path& parent, std::span<const TensorView> tensors,
                          const Record& record, const WriteElsewhere& elsewhere) {
    WEFT_CHECK(record.step >= 0, "steps count up from 0");
    check_views(tensors);
    if (std::optional<Manifest> existing = complete_checkpoint(parent / folder_name(record.step))) {
        return *std::move(existing);
    }
    return as_checkpoint_error([&] { return write_all(parent, tensors, record, elsewhere); });
}

Manifest rewrite_record(const fs::path& folder,
                        const std::function<Record(const Record&)>& change) {
    return as_checkpoint_error([&] {
        FileReplacement replacement(folder / kManifestName);
        Manifest manifest = read_manifest(folder);
        Record record = change(manifest.record);
        WEFT_CHECK(record.step == manifest.record.step, "the step of a checkpoint stays");
        record.mesh = manifest.record.mesh;
        manifest.record = std::move(record);
        replacement.part().write(manifest_text(manifest));
        replacement.commit();
        return read_manifest(folder);
    });
}

Manifest update_record(const Manifest& manifest, const Record& record) {
    return rewrite_record(manifest.path, [&](const Record&) { return record; });
}

bool is_pinned(const Record& record) {
    return std::find(record.kept_for.begin(), record.kept_for.end(), kByHand) !=
           record.kept_for.end();
}

Manifest set_pinned(const Manifest& manifest, bool pinned) {
    return rewrite_record(manifest.path, [&](Record record) {
        std::erase(record.kept_for, kByHand);
        if (pinned) {
            record.kept_for.emplace_back(kByHand);
        }
        return record;
    });
}

bool is_being_written(const fs::path& temporary) {
    const fs::path path = temporary / kWritingName;
    std::error_code code;
    if (!fs::exists(path, code)) {
        return false;
    }
    try {
        return !File(path, File::Mode::read_write).try_lock();
    } catch (const Error&) {
        return false; // it has just gone
    }
}

} // namespace weft::checkpoint
