// SPDX-License-Identifier: Apache-2.0
// Pointers: small JSON files that stand for the folder they lie in, so that a run or a checkpoint
// is found by a double click, a drop or an open dialog. `run.weftrun` in a run's folder,
// `checkpoint.weftckpt` in a checkpoint's: the version of the file and the folder, relative to the
// file, so that a folder can be moved or copied. Nothing needs them: older folders have none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace weft::checkpoint {

inline constexpr const char* kRunPointerName = "run.weftrun";
inline constexpr const char* kCheckpointPointerName = "checkpoint.weftckpt";

std::string run_pointer_text();
std::string checkpoint_pointer_text(std::int64_t step);

/// By the ending of the name.
bool is_run_pointer(const std::filesystem::path& path);
bool is_checkpoint_pointer(const std::filesystem::path& path);

/// The folder of the run or of the checkpoint that a pointer stands for; every other path as it is.
/// Throws weft::Error{usage}: no pointer of ours, of a newer version, or alone, without its folder.
std::filesystem::path follow_pointer(const std::filesystem::path& path);

} // namespace weft::checkpoint
