// SPDX-License-Identifier: Apache-2.0
// Readers of files that strangers may have made, as functions from bytes to nothing.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace weft::test {

struct Target {
    std::string_view name; // of its folder in corpus/, and of its rows
    /// Reads `bytes` as far as a program would; files go into `folder`, which nobody else uses. May
    /// throw weft::Error and nothing else.
    void (*read)(const std::string& bytes, const std::filesystem::path& folder);
    /// Sound files, from which the others are made.
    std::vector<std::string> (*seeds)();
    /// Texts that mean something to the reader.
    std::vector<std::string> words{};
};

extern const Target kConfigTarget;
extern const Target kManifestTarget;
extern const Target kTokenizerTarget;
extern const Target kSentencePieceTarget;
extern const Target kSafetensorsTarget;
extern const Target kOnnxTarget;
extern const Target kPeftTarget;
extern const Target kIdxTarget;
extern const Target kNpyTarget;
extern const Target kHdf5Target;
extern const Target kCsvTarget;
extern const Target kJsonlTarget;
extern const Target kTextTarget;
extern const Target kTokensTarget;
extern const Target kTarTarget;
extern const Target kImageTarget;
extern const Target kTensorboardTarget;
extern const Target kTensorboardEventTarget;
extern const Target kEventsTarget;

inline constexpr std::array kTargets = {
    &kConfigTarget,        &kManifestTarget,    &kTokenizerTarget,
    &kSentencePieceTarget, &kSafetensorsTarget, &kOnnxTarget,
    &kPeftTarget,          &kIdxTarget,         &kNpyTarget,
    &kHdf5Target,          &kCsvTarget,         &kJsonlTarget,
    &kTextTarget,          &kTokensTarget,      &kTarTarget,
    &kImageTarget,         &kTensorboardTarget, &kTensorboardEventTarget,
    &kEventsTarget};

/// A file of the source tree.
std::string file_of_tree(const std::string& path);
/// Puts a file into a folder, in the place of one that is there.
std::filesystem::path put(const std::filesystem::path& folder, const std::string& name,
                          const std::string& bytes);

} // namespace weft::test
