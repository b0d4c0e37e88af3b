// SPDX-License-Identifier: Apache-2.0
#include "core/data/named_files.h"

#include "core/config/pointer.h"
#include "core/data/formats/format.h"

namespace weft::data {

std::vector<NamedFile> named_files(const config::Json& source, const std::filesystem::path& base) {
    std::vector<NamedFile> out;
    for (const config::Field& field : format_of(source).fields()) {
        if (field.type == config::FieldType::path && !source.at(field.name).is_null()) {
            out.push_back({config::pointer_to("", field.name),
                           resolve(base, source.at(field.name).get<std::string>())});
        }
    }
    return out;
}

std::vector<NamedFile> missing_files(const config::Json& section,
                                     const std::filesystem::path& base) {
    std::vector<NamedFile> out;
    for (const char* part : {"train", "validation", "test"}) {
        const config::Json& source = section.at(part);
        if (!source.is_object() || !source.contains("type")) {
            continue; // none, or a share of the training samples
        }
        for (NamedFile& named : named_files(source, base)) {
            std::error_code problem;
            if (!std::filesystem::exists(named.path, problem)) {
                named.pointer = config::pointer_to("", part) + named.pointer;
                out.push_back(std::move(named));
            }
        }
    }
    return out;
}

} // namespace weft::data
