// SPDX-License-Identifier: Apache-2.0
#include "core/data/files/store_files.h"

#include "core/data/formats/format.h"
#include "core/store/local_copy.h"

#include <set>

namespace weft::data {
namespace {

using config::Json;

void add_address(const Json& value, std::set<std::string>& out) {
    if (value.is_string() && store::is_address(value.get_ref<const std::string&>())) {
        out.insert(value.get<std::string>());
    }
}

std::set<std::string> addresses_in(const Json& section) {
    std::set<std::string> out;
    for (const char* part : {"train", "validation", "test"}) {
        const Json& source = section.at(part);
        if (!source.is_object() || !source.contains("type")) {
            continue;
        }
        for (const config::Field& field : format_of(source).fields()) {
            if (field.type == config::FieldType::path) {
                add_address(source.at(field.name), out);
            }
        }
    }
    add_address(section.at("tokenizer"), out);
    return out;
}

} // namespace

Notes fetch_from_stores(const Json& section, const OpenContext& context, StoreCheck check) {
    Notes notes;
    for (const std::string& text : addresses_in(section)) {
        const store::Address address = store::parse_address(text);
        store::ObjectStore store(address, store::access_of(address), {}, context.stop);
        std::optional<OpeningWatch> known; // once the size is
        const store::CopyOptions options{.folder = store::copies_folder(),
                                         .on_bytes =
                                             [&](std::int64_t done, std::int64_t total) {
                                                 if (!known) {
                                                     known.emplace(context,
                                                                   Opening{.name = address.name(),
                                                                           .unit = "bytes",
                                                                           .total = total,
                                                                           .total_bytes = total});
                                                 }
                                                 known->reached(done, done);
                                             },
                                         .any_age = check == StoreCheck::any};
        if (const store::LocalCopy copy = store::local_copy(store, address, options);
            !copy.doubt.empty()) {
            notes.emplace_back(copy.doubt);
        }
    }
    return notes;
}

} // namespace weft::data
