// SPDX-License-Identifier: Apache-2.0
#include "core/data/files/named_files.h"

#include "core/base/error.h"
#include "core/config/pointer.h"
#include "core/data/formats/format.h"
#include "core/store/address.h"

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

std::vector<NamedFile> files_of_section(const config::Json& section,
                                        const std::filesystem::path& base) {
    std::vector<NamedFile> out;
    for (const char* part : {"train", "validation", "test"}) {
        const config::Json& source = section.at(part);
        if (!source.is_object() || !source.contains("type")) {
            continue; // none, or a share of the training samples
        }
        for (NamedFile& named : named_files(source, base)) {
            named.pointer = config::pointer_to("", part) + named.pointer;
            out.push_back(std::move(named));
        }
    }
    return out;
}

std::vector<NamedFile> missing_files(const config::Json& section,
                                     const std::filesystem::path& base) {
    std::vector<NamedFile> out = files_of_section(section, base);
    std::erase_if(out, [&](const NamedFile& named) {
        const auto text = section.at(config::Json::json_pointer(named.pointer)).get<std::string>();
        if (store::is_address(text)) {
            return true; // it comes when the data are opened
        }
        std::error_code problem;
        return std::filesystem::exists(named.path, problem);
    });
    return out;
}

void refuse_devices(const config::Json& section, const std::filesystem::path& base) {
    for (const NamedFile& named : files_of_section(section, base)) {
        std::error_code problem;
        const std::filesystem::file_status status = std::filesystem::status(named.path, problem);
        if (std::filesystem::is_other(status)) {
            throw Error(ErrorKind::data, named.path.string(),
                        "this is a pipe, a socket or a device, and a file or a folder is wanted",
                        "Write what comes out of it to a file first.");
        }
    }
}

} // namespace weft::data
