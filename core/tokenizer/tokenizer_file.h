// SPDX-License-Identifier: Apache-2.0
// The names under which tokenizers lie beside models and files of tokens.
#pragma once

#include <filesystem>
#include <string>

namespace weft::tokenizer {

/// What a path means: a folder its tokenizer.json, tokenizer.model or spiece.model, the first that
/// is there (tokenizer.json where none is); anything else itself.
std::filesystem::path tokenizer_file(const std::filesystem::path& path);

/// The name that other programs look for: of a document of Tokenizer::document, "tokenizer.json" or
/// "tokenizer.model".
const char* name_of_document(const std::string& document);

} // namespace weft::tokenizer
